"""What a schema is hashed from: facts of Confluent's registry, written out by hand."""

from __future__ import annotations

import hashlib
import json
import uuid

from odradek.registry.entries import Content, Reference, Version, sorted_text


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


def test_rules_count_by_kind() -> None:
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


def test_extras_are_replaced_together() -> None:
    content = Content("x").with_extras({"properties": {"b": "ä"}}, None)
    assert json.loads(content.metadata or "") == {"properties": {"b": "ä"}}
    assert content.rules is None
