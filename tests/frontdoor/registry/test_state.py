"""A state out of records, whoever wrote them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from odradek.registry.entries import Content, Reference, Version
from odradek.registry.records import (
    RegistryRecord,
    clear_subject_record,
    config_record,
    context_record,
    delete_subject_record,
    mode_record,
    parsed,
    schema_record,
    schema_tombstone,
)
from odradek.registry.state import RegistryState, in_context_of

ODD: list[dict[str, Any]] = [
    {"references": [{"name": "n", "subject": "s", "version": 2**31}]},
    {"references": [{"name": "n", "subject": "s", "version": -2}]},
    {"metadata": {"tags": 5}},
    {"metadata": {"properties": {"a": 5}}},
    {"metadata": {"sensitive": [None]}},
    {"ruleSet": {"domainRules": {}}},
    {"ruleSet": {"domainRules": [{"name": "r", "params": {"a": 1}}]}},
    {"ruleSet": {"migrationRules": [{"name": 1}]}},
]
"""Fields of schemas that are not of their type."""
INT, STRING = Content('"int"'), Content('"string"')


def state_of(*records: RegistryRecord) -> RegistryState:
    state = RegistryState()
    for each in records:
        state.replay(parsed(each.key_bytes, each.value_bytes))
    return state


def of(subject: str, version: int, number: int, content: Content = INT, *, deleted: bool = False) -> RegistryRecord:
    return schema_record(Version(subject, version, number, content, deleted))


def test_a_log_that_another_registry_wrote() -> None:
    """Keys and values in the forms of Confluent's and Aiven's registries."""
    state = RegistryState()
    log: list[tuple[str, object]] = [
        ('{"keytype":"NOOP","magic":0}', None),
        ('{"keytype":"CONFIG","subject":null,"magic":0}', {"compatibilityLevel": "NONE"}),
        (
            '{"keytype":"SCHEMA","subject":"Car","version":1,"magic":1}',
            {"subject": "Car", "version": 1, "id": 1, "schema": '"int"', "deleted": False},
        ),
        (
            '{"subject":"Fruit","version":1,"magic":1,"keytype":"SCHEMA"}',
            {
                "subject": "Fruit",
                "version": 1,
                "id": 4,
                "schemaType": "JSON",
                "schema": "{}",
                "ts": 5,
                "deleted": False,
            },
        ),
    ]
    for key, value in log:
        state.replay(parsed(key.encode(), None if value is None else json.dumps(value).encode()))
    assert state.subjects("") == ["Car", "Fruit"]
    assert state.latest("Fruit") == Version("Fruit", 1, 4, Content("{}", "JSON"))
    assert state.largest_id(".") == 4
    assert state.config_in_scope("Car") == {"compatibilityLevel": "NONE"}


def test_versions_come_in_their_order_and_deleted_ones_when_they_are_asked_for() -> None:
    state = state_of(of("s", 10, 2, STRING), of("s", 9, 1), of("s", 10, 2, STRING, deleted=True))
    assert [each.version for each in state.all_of("s")] == [9, 10]
    assert [each.version for each in state.all_of("s", deleted=False)] == [9]
    assert state.version("s", -1) == state.latest("s") == state.version("s", 9)
    assert state.version("s", 10) is None
    assert state.version("s", 10, deleted=True) is not None


def test_a_deleted_subject_is_there_for_who_asks() -> None:
    state = state_of(of("s", 1, 1), of("s", 2, 2, STRING), delete_subject_record("s", 1))
    assert [each.deleted for each in state.all_of("s")] == [True, False]
    state.replay(delete_subject_record("s", 2))
    assert state.subjects("") == []
    assert state.subjects("", deleted=True) == state.subjects("", deleted_only=True) == ["s"]
    assert not state.has("s")
    assert state.has("s", deleted=True)
    found = state.with_id(1, None)
    assert found is not None
    assert found.deleted


def test_what_ends_for_good_leaves_no_id() -> None:
    state = state_of(of("s", 1, 1), of("t", 1, 1), schema_tombstone("s", 1))
    assert state.id_of(".", INT) == 1
    state.replay(schema_tombstone("t", 1))
    state.replay(schema_tombstone("t", 1))
    assert state.id_of(".", INT) is None
    assert state.with_id(1, None) is None
    assert state.versions == {}
    assert state.largest_id(".") == 1


def test_clearing_drops_what_is_deleted() -> None:
    state = state_of(of("s", 1, 1, deleted=True), of("s", 2, 2, STRING), clear_subject_record("s"))
    assert [each.version for each in state.all_of("s")] == [2]


def test_an_id_is_of_one_schema() -> None:
    state = state_of(of("s", 1, 1))
    with pytest.raises(ValueError, match="another schema has the id 1"):
        state.replay(of("t", 1, 1, STRING))
    assert state.subjects("") == ["s"]
    state.replay(of(":.c:t", 1, 1, STRING))


@pytest.mark.parametrize(
    "record",
    [
        RegistryRecord("ASSOCIATION", "s", 0, {}),
        RegistryRecord("DELETE_SUBJECT", "s", 0, {}),
        RegistryRecord("SCHEMA", "s", 1, {"subject": "s"}),
        RegistryRecord("SCHEMA", "s", 1, {"subject": "s", "version": 2**40, "id": 1, "schema": "int"}),
        RegistryRecord("SCHEMA", "s", 1, {"subject": "s", "version": 1, "id": -1, "schema": "int"}),
        *(
            RegistryRecord("SCHEMA", "s", 1, {"subject": "s", "version": 1, "id": 1, "schema": "int", **odd})
            for odd in ODD
        ),
        RegistryRecord("CONFIG", "s", 0, {"compatibilityLevel": "WHAT"}),
        RegistryRecord("CONFIG", None, 0, {"compatibilityLevel": 5}),
        RegistryRecord("CONFIG", "s", 0, {"normalize": "yes"}),
        RegistryRecord("CONFIG", "s", 0, {"compatibilityGroup": []}),
        RegistryRecord("CONFIG", "s", 0, {"defaultMetadata": 5}),
        RegistryRecord("CONFIG", "s", 0, {"overrideRuleSet": {"domainRules": [5]}}),
        RegistryRecord("MODE", "s", 0, {"mode": "WHAT"}),
        RegistryRecord("MODE", None, 0, {}),
    ],
)
def test_what_says_nothing_is_refused(record: RegistryRecord) -> None:
    state = RegistryState()
    with pytest.raises(ValueError, match=r"\w"):
        state.replay(record)
    assert (state.versions, state.configs, state.modes) == ({}, {}, {})


def test_a_state_goes_on_as_a_copy_that_shares_what_stays() -> None:
    records = [of("s", 1, 1), of("s", 2, 2, STRING), of("t", 1, 1), config_record("s", {"normalize": True})]
    later = [
        of("s", 3, 3, Content('"long"')),
        schema_tombstone("t", 1),
        of(":.c:s", 1, 1),
        config_record("s", None),
        delete_subject_record("s", 2),
        clear_subject_record("s"),
    ]
    before = state_of(*records)
    copied = before.copied()
    for each in later:
        copied.replay(each)
    assert known(copied) == known(state_of(*records, *later))
    assert known(before) == known(state_of(*records))
    assert copied.copied().versions["s"] is copied.versions["s"]


def known(state: RegistryState) -> dict[str, object]:
    """All that a state knows."""
    return {name: each for name, each in vars(state).items() if name != "_own"}


def test_ids_are_found_by_context_and_subject() -> None:
    state = state_of(of("a", 1, 1), of(":.c:b", 1, 1, STRING), of(":.c:d", 1, 2), context_record(".e"))
    assert state.contexts == [".", ".c", ".e"]
    for number, subject, found in (
        (1, None, "a"),
        (1, "a", "a"),
        (1, "b", ":.c:b"),
        (1, "unknown", "a"),
        (1, ":.c:", ":.c:b"),
        (2, None, None),
        (2, "d", ":.c:d"),
        (1, ":.c:d", None),
    ):
        version = state.with_id(number, subject)
        assert (None if version is None else version.subject) == found, (number, subject)
    assert [(each.subject, each.id) for each in state.with_guid(INT.guid)] == [("a", 1), (":.c:d", 2)]


def test_who_refers_to_a_version() -> None:
    refers = Content('"string"', references=(Reference("n", "s", 1),))
    state = state_of(of("s", 1, 1), of("t", 1, 2, refers), of(":.c:t", 1, 3, refers))
    assert state.referencing("s", 1) == [2]
    assert state.referencing(":.c:s", 1) == [3]
    state.replay(of("t", 1, 2, refers, deleted=True))
    assert state.referencing("s", 1) == []
    assert in_context_of(":.c:t", ":.:s") == "s"


def test_configs_fall_back_from_subject_to_context_to_all() -> None:
    state = RegistryState()
    assert state.config_in_scope("s") == {"compatibilityLevel": "BACKWARD"}
    state.replay(config_record(None, {"compatibilityLevel": "FULL", "normalize": True}))
    state.replay(config_record(":.c:", {"compatibilityLevel": "FORWARD"}))
    state.replay(config_record(":.c:s", {"compatibilityGroup": "major"}))
    assert state.config_in_scope("s") == {"compatibilityLevel": "FULL", "normalize": True}
    inner = {"compatibilityLevel": "FORWARD", "normalize": True, "compatibilityGroup": "major"}
    assert state.config_in_scope(":.c:s") == inner
    state.replay(config_record(":.c:", None))
    assert state.config_in_scope(":.c:t")["compatibilityLevel"] == "FULL"


def test_modes_fall_back_too_and_one_goes_before_all() -> None:
    state = state_of(mode_record("s", "IMPORT"), mode_record(":.c:", "READONLY"))
    assert [state.mode_in_scope(each) for each in ("s", "t", ":.c:s", None)] == [
        "IMPORT",
        "READWRITE",
        "READONLY",
        "READWRITE",
    ]
    state.replay(mode_record(None, "READONLY_OVERRIDE"))
    assert state.mode_in_scope("s") == "READONLY_OVERRIDE"
    state.replay(mode_record(None, None))
    state.replay(mode_record("s", None))
    assert state.mode_in_scope("s") == "READWRITE"
