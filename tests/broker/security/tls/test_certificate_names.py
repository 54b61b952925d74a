"""Names of certificates against what a JDK prints (`tests/vectors/x500_names.json`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.tls.certificate_names import (
    NoMatchingRuleError,
    PrincipalRules,
    alternative_names,
    elements,
    issuer_and_subject,
    name_text,
    object_id,
    read,
    subject_of,
)
from odradek.protocol.errors import CorruptDataError
from tests.fakes.certificates import issued_by, new_authority

# -- The small DER reader.


def test_an_element_ends_where_its_length_says() -> None:
    element = read(bytes.fromhex("0401aa0402bbcc"))
    assert (element.tag, element.content, element.encoded.hex()) == (4, b"\xaa", "0401aa")
    assert [part.content.hex() for part in elements(bytes.fromhex("0401aa0402bbcc"))] == ["aa", "bbcc"]


def test_der_with_long_lengths_is_read() -> None:
    assert len(read(b"\x04\x82\x01\x00" + bytes(256)).content) == 256


@pytest.mark.parametrize("text", ["", "04", "0402aa", "0480", "0485000000000100", "048201", "04820100"])
def test_what_is_not_whole_is_damaged(text: str) -> None:
    with pytest.raises(CorruptDataError):
        read(bytes.fromhex(text))


@pytest.mark.parametrize(
    ("content", "text"),
    [("550403", "2.5.4.3"), ("2a864886f70d010901", "1.2.840.113549.1.9.1"), ("883701", "2.999.1"), ("00", "0.0")],
)
def test_der_object_identifiers_are_read(content: str, text: str) -> None:
    assert object_id(bytes.fromhex(content)) == text


@pytest.mark.parametrize("content", ["", "5504c0"])
def test_der_object_identifiers_that_are_cut_are_refused(content: str) -> None:
    with pytest.raises(CorruptDataError):
        object_id(bytes.fromhex(content))


VECTORS: list[dict[str, str]] = json.loads(
    (Path(__file__).parents[3] / "vectors" / "x500_names.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: ascii(vector["name"])[:40])
def test_names_are_printed_as_a_jdk_prints_them(vector: dict[str, str]) -> None:
    assert name_text(bytes.fromhex(vector["der"])) == vector["name"]


def test_the_names_of_a_certificate() -> None:
    authority = new_authority("Test CA")
    leaf = issued_by(authority, "alice", organisation="Odradek, Inc.", hosts=["localhost", "127.0.0.1", "::1"])
    assert subject_of(leaf.der) == "CN=alice,O=Odradek\\, Inc."
    assert alternative_names(leaf.der) == {"[2, localhost]", "[7, 127.0.0.1]", "[7, ::1]"}
    assert issuer_and_subject(leaf.der)[0] == issuer_and_subject(authority.der)[1]


def test_a_certificate_without_alternative_names_has_none() -> None:
    assert alternative_names(new_authority("Test CA").der) == frozenset()


@pytest.mark.parametrize(
    "text", ["", "30", "3003", "30053103", "3080", "0500", "300131", "30023100ff", "30053103300106", "3006310430020601"]
)
def test_damaged_names_are_damaged_data(text: str) -> None:
    if text == "30023100ff":
        assert name_text(bytes.fromhex(text)) == ""  # what follows is not part of the name
        return
    with pytest.raises(CorruptDataError):
        name_text(bytes.fromhex(text))


def test_something_else_is_no_certificate() -> None:
    with pytest.raises(CorruptDataError):
        subject_of(bytes.fromhex("30023000"))


# -- `ssl.principal.mapping.rules` against what a real Kafka's class answers (`tests/vectors/principal_rules.json`).

VECTORS_OF_PRINCIPAL_RULES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "vectors" / "principal_rules.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("vector", VECTORS_OF_PRINCIPAL_RULES, ids=lambda vector: vector["rules"])
def test_rules_answer_what_kafka_answers(vector: dict[str, Any]) -> None:
    if vector["refused"]:
        with pytest.raises(ConfigError, match="Invalid rule"):
            PrincipalRules(vector["rules"])
        return
    rules = PrincipalRules(vector["rules"])
    for subject, outcome in vector["names"].items():
        if outcome.startswith("="):
            assert rules.name_of(subject) == outcome[1:]
        else:
            with pytest.raises(NoMatchingRuleError):
                rules.name_of(subject)


def test_a_refused_rule_says_what_is_left_over() -> None:
    with pytest.raises(ConfigError, match=r"Invalid rule: `RULE:x/y/X`, unmatched substring: `X`"):
        PrincipalRules("RULE:x/y/X")


def test_no_rule_names_subject_and_rules() -> None:
    with pytest.raises(NoMatchingRuleError, match="No rules apply to CN=a, rules RULE:b/c/"):
        PrincipalRules("RULE:b/c/").name_of("CN=a")
