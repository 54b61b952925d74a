"""What a schema is hashed from: facts of Confluent's registry, written out by hand."""

from __future__ import annotations

import hashlib
import json
import uuid

import pytest

from odradek.registry.entries import (
    Content,
    Reference,
    Subject,
    Version,
    begins,
    context_of,
    context_subject,
    in_context,
    is_valid,
    normal,
    sorted_text,
)


@pytest.mark.parametrize(
    ("text", "context", "name", "stored"),
    [
        ("orders", ".", "orders", "orders"),
        (":.:orders", ".", "orders", "orders"),
        (":.test:orders", ".test", "orders", ":.test:orders"),
        (":.test:", ".test", "", ":.test:"),
        (":.test", ".test", "", ":.test:"),
        (":.test:a:b", ".test", "a:b", ":.test:a:b"),
        (":orders", ".", ":orders", ":orders"),
    ],
)
def test_a_text_means_a_subject(text: str, context: str, name: str, stored: str) -> None:
    assert Subject.of(text) == (context, name)
    assert normal(text) == stored
    assert context_of(text) == context


def test_no_subject_is_in_the_default_context() -> None:
    assert context_of(None) == "."
    assert context_subject(".") is None
    assert context_subject(".test") == ":.test:"


@pytest.mark.parametrize("text", ["", "__GLOBAL", "__EMPTY", "a\nb", "a\x7fb", ":.test:", ":.test:__GLOBAL"])
def test_not_every_text_is_a_subject(text: str) -> None:
    assert not is_valid(text)


def test_a_subject_may_have_any_letters() -> None:
    assert is_valid("Bücher/värde 1")
    assert is_valid(":.test:orders")


@pytest.mark.parametrize(
    ("context", "subject", "meant"),
    [
        (".test", "orders", ":.test:orders"),
        ("test", "orders", ":.test:orders"),
        (".", "orders", "orders"),
        (".test", None, ":.test:"),
        (".", None, None),
        (".test", ":.other:orders", ":.other:orders"),
    ],
)
def test_a_request_may_name_the_context(context: str, subject: str | None, meant: str | None) -> None:
    assert in_context(context, subject) == meant


@pytest.mark.parametrize(
    ("subject", "prefix", "meant"),
    [
        ("orders", "", True),
        ("orders", "ord", True),
        ("orders", "x", False),
        (":.test:orders", "ord", False),
        (":.test:orders", ":*:", True),
        (":.test:orders", ":*:ord", True),
        (":.test:orders", ":.test:", True),
        ("orders", ":.:", True),
    ],
)
def test_registry_subjects_are_selected_by_prefix(subject: str, prefix: str, meant: bool) -> None:
    assert begins(subject, prefix) is meant


def md5(*pieces: bytes) -> str:
    return str(uuid.UUID(bytes=hashlib.md5(b"".join(pieces)).digest()))


def test_the_guid_of_a_plain_schema_is_that_of_its_text() -> None:
    assert Content('"string"').guid == md5(b'"string"')


def test_references_count_with_name_subject_and_version() -> None:
    content = Content("x", references=(Reference("n", "s", 258),))
    assert content.guid == md5(b"x", b"n", b"s", b"\x00\x00\x01\x02")


def test_metadata_count_by_name_behind_a_mark() -> None:
    data = {"properties": {"b": "2", "a": "1"}, "tags": {"t": ["y", "x"]}, "sensitive": ["s"]}
    assert Content("x", metadata=sorted_text(data)).guid == md5(b"x", b"\x01", b"txy", b"a1", b"b2", b"s")
    assert Content("x", metadata="{}").guid == md5(b"x", b"\x01")


def test_registry_guid_counts_rules_by_kind() -> None:
    rule = {"name": "n", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "e", "params": {"p": "q"}}
    rules = {"domainRules": [{**rule, "disabled": True}], "migrationRules": [{"name": "m"}]}
    guid = Content("x", rules=sorted_text(rules)).guid
    assert guid == md5(b"x", b"\x01", b"m", b"nCONDITIONWRITECEL", b"pq", b"e", b"\x01")


def test_what_is_usual_is_not_told() -> None:
    assert Content('"int"').to_json() == {"schema": '"int"'}
    full = Content("{}", "JSON", (Reference("n", "s", 1),), '{"properties":{"a":"1"}}', '{"domainRules":[]}')
    assert full.to_json() == {
        "schemaType": "JSON",
        "references": [{"name": "n", "subject": "s", "version": 1}],
        "metadata": {"properties": {"a": "1"}},
        "ruleSet": {"domainRules": []},
        "schema": "{}",
    }


def test_a_version_tells_its_place() -> None:
    told = Version("s", 2, 7, Content('"int"')).to_json()
    assert told == {"subject": "s", "version": 2, "id": 7, "guid": md5(b'"int"'), "schema": '"int"'}


def test_registry_metadata_and_rules_are_replaced_together() -> None:
    content = Content("x").with_extras({"properties": {"b": "ä"}}, None)
    assert json.loads(content.metadata or "") == {"properties": {"b": "ä"}}
    assert content.rules is None
