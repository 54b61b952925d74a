"""Records of ``_schemas``: keys and values as registries of Confluent and others write them."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest

from odradek.registry.entries import Content, Reference, Version
from odradek.registry.errors import RegistryError
from odradek.registry.records import (
    check_rules,
    clear_subject_record,
    config_record,
    content_of,
    context_record,
    delete_subject_record,
    merged,
    merged_metadata,
    mode_record,
    parsed,
    schema_record,
    schema_tombstone,
    version_of,
)


def test_keys_of_the_schemas_topic_are_confluents() -> None:
    schema = Version("s", 3, 7, Content('"int"'))
    assert schema_record(schema).key_bytes == b'{"keytype":"SCHEMA","subject":"s","version":3,"magic":1}'
    assert schema_tombstone("s", 3).key_bytes == schema_record(schema).key_bytes
    assert config_record("s", {}).key_bytes == b'{"keytype":"CONFIG","subject":"s","magic":0}'
    assert config_record(None, {}).key_bytes == b'{"keytype":"CONFIG","subject":null,"magic":0}'
    assert mode_record("s", "IMPORT").key_bytes == b'{"keytype":"MODE","subject":"s","magic":0}'
    assert delete_subject_record("s", 3).key_bytes == b'{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}'
    assert clear_subject_record("s").key_bytes == b'{"keytype":"CLEAR_SUBJECT","subject":"s","magic":0}'
    assert context_record(".c").key_bytes == b'{"keytype":"CONTEXT","tenant":"default","context":".c"}'


def test_values_of_the_schemas_topic_are_confluents() -> None:
    value = json.loads(schema_record(Version("s", 3, 7, Content('"int"'), deleted=True)).value_bytes or b"")
    assert value == {
        "subject": "s",
        "version": 3,
        "id": 7,
        "md5": base64.b64encode(hashlib.md5(b'"int"').digest()).decode(),
        "schema": '"int"',
        "deleted": True,
    }
    assert schema_tombstone("s", 3).value_bytes is None
    assert config_record("s", None).value_bytes is None
    assert mode_record("s", None).value_bytes is None
    assert config_record("s", {"compatibilityLevel": "FULL"}).value == {"subject": "s", "compatibilityLevel": "FULL"}
    assert delete_subject_record("s", 3).value == {"subject": "s", "version": 3}
    assert context_record(".c").value == {"tenant": "default", "context": ".c"}


def test_a_version_comes_back_as_it_was() -> None:
    content = Content("{}", "JSON", (Reference("n", "t", 1),), '{"properties":{"a":"1"}}', '{"domainRules":[]}')
    version = Version(":.c:s", 2, 9, content, deleted=True)
    record = schema_record(version)
    back = parsed(record.key_bytes, record.value_bytes)
    assert back == record
    assert back.value is not None
    assert version_of(back.value) == version


def test_keys_of_other_registries_are_understood() -> None:
    other = parsed(b'{"subject":"s","magic":0,"keytype":"CONFIG"}', b'{"compatibilityLevel":"NONE"}')
    assert (other.kind, other.subject, other.value) == ("CONFIG", "s", {"compatibilityLevel": "NONE"})
    assert parsed(b'{"keytype":"CONFIG","magic":0}', b"{}").subject is None
    assert parsed(b'{"keytype":"NOOP","magic":0}', None).kind == "NOOP"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, b"{}"),
        (b"key", b"{}"),
        (b"[]", b"{}"),
        (b"{}", b"{}"),
        (b'{"keytype":"SCHEMA","subject":1}', b"{}"),
        (b'{"keytype":"SCHEMA","subject":"s","version":true}', b"{}"),
        (b'{"keytype":"SCHEMA","subject":"s","version":1}', b"no JSON"),
        (b'{"keytype":"SCHEMA","subject":"s","version":1}', b"[" * 100_000),
    ],
)
def test_registry_log_record_that_is_malformed_is_told(key: bytes | None, value: bytes) -> None:
    with pytest.raises(ValueError, match=r"key|value|keytype"):
        parsed(key, value)


@pytest.mark.parametrize(
    "data",
    [
        {"schema": 1},
        {"schemaType": 1},
        {"references": {"n": 1}},
        {"references": ["a"]},
        {"references": [{"name": "n", "subject": "s", "version": "1"}]},
        {"metadata": []},
    ],
)
def test_registry_log_schema_that_is_malformed_is_told(data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"schema|reference|metadata"):
        content_of({"schema": "x", **data})
    with pytest.raises(ValueError, match="needs subject"):
        version_of({"schema": "x", **data})


RULE = {"name": "n", "kind": "CONDITION", "mode": "WRITE", "type": "CEL"}


def test_rules_that_clients_can_run() -> None:
    check_rules(None)
    check_rules({"domainRules": [RULE], "migrationRules": [{**RULE, "name": "m", "mode": "UPGRADE"}]})


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ([{}], "needs a name"),
        (["n"], "needs a name"),
        ([RULE, RULE], "two rules have the name 'n'"),
        ([{**RULE, "type": ""}], "needs a type"),
        ([{**RULE, "mode": "UPGRADE"}], "expected WRITE, READ, WRITEREAD"),
        ([{**RULE, "kind": "WISH"}], "expected TRANSFORM or CONDITION"),
    ],
)
def test_rules_that_no_client_can_run(rules: list[Any], why: str) -> None:
    with pytest.raises(RegistryError, match=why) as refused:
        check_rules({"domainRules": rules})
    assert refused.value.code == 42210


def test_rules_are_merged_by_name() -> None:
    other = {**RULE, "type": "JSONATA"}
    above = {"domainRules": [other], "migrationRules": [{"name": "m"}]}
    below = {"domainRules": [{"name": "a"}, RULE]}
    assert merged(below, above) == {"migrationRules": [{"name": "m"}], "domainRules": [{"name": "a"}, other]}
    assert merged(None, above) == above
    assert merged(below, None) == below
    assert merged(None, None) is None


def test_metadata_are_merged_by_name() -> None:
    below = {"properties": {"a": "1", "b": "1"}, "sensitive": ["a"]}
    above = {"properties": {"b": "2"}, "tags": {"t": ["x"]}, "sensitive": ["b"]}
    assert merged_metadata(below, above) == {
        "properties": {"a": "1", "b": "2"},
        "tags": {"t": ["x"]},
        "sensitive": ["a", "b"],
    }
    assert merged_metadata({"properties": {"a": "1"}}, {"tags": {"t": []}}) == {
        "properties": {"a": "1"},
        "tags": {"t": []},
    }
    assert merged_metadata(None, above) == above
