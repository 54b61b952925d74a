"""What registering and deleting lead to, without a broker: each step is replayed from its bytes and compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from odradek.registry.decisions import (
    Decision,
    SchemaRequest,
    compatibility,
    delete_config,
    delete_mode,
    delete_subject,
    delete_version,
    set_config,
    set_mode,
)
from odradek.registry.entries import Content, Reference, sorted_text
from odradek.registry.errors import RegistryError
from tests.frontdoor.registry.conftest import Pure


def refused(code: int) -> Any:
    class Refused:
        def __enter__(self) -> None:
            self.raised = pytest.raises(RegistryError)
            self.info = self.raised.__enter__()

        def __exit__(self, *error: Any) -> bool:
            swallowed = bool(self.raised.__exit__(*error))
            assert self.info.value.code == code
            return swallowed

    return Refused()


ONE = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'
TWO = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int","default":0}]}'
OTHER = '{"type":"record","name":"R","fields":[{"name":"a","type":"string"}]}'


def kinds(pure: Pure) -> list[str]:
    return [each.kind if each.value is not None else f"-{each.kind}" for each in pure.log]


# -- registering


def test_ids_count_up_in_a_context_and_equal_schemas_share_one(pure: Pure) -> None:
    assert pure.register("s", ONE) == {"id": 1}
    assert pure.register("t", TWO) == {"id": 2}
    assert pure.register("t2", f" {ONE} ") == {"id": 1}
    assert pure.register(":.c:s", TWO) == {"id": 1}
    assert kinds(pure) == ["SCHEMA", "SCHEMA", "SCHEMA", "CONTEXT", "SCHEMA"]
    assert pure.state.contexts == [".", ".c"]


def test_registry_registers_the_same_schema_once(pure: Pure) -> None:
    pure.register("s", ONE)
    assert pure.register("s", json.dumps(json.loads(ONE), indent=2)) == {"id": 1}
    assert len(pure.log) == 1


def test_a_schema_that_was_deleted_comes_back_as_a_new_version_with_its_id(pure: Pure) -> None:
    pure.register("s", ONE)
    pure.take(delete_subject(pure.state, "s", permanent=False))
    assert pure.register("s", ONE) == {"id": 1}
    assert [(each.version, each.id, each.deleted) for each in pure.state.all_of("s")] == [(2, 1, False)]
    assert kinds(pure) == ["SCHEMA", "DELETE_SUBJECT", "-SCHEMA", "SCHEMA"]


def test_an_id_is_not_given_twice(pure: Pure) -> None:
    pure.register("s", ONE)
    pure.take(delete_subject(pure.state, "s", permanent=False))
    pure.take(delete_subject(pure.state, "s", permanent=True))
    assert pure.register("s", TWO) == {"id": 2}
    assert pure.state.latest("s").version == 1  # type: ignore[union-attr]


def test_registry_refuses_an_incompatible_schema(pure: Pure) -> None:
    pure.register("s", ONE)
    with refused(40901):
        pure.register("s", OTHER)
    pure.take(set_config(pure.state, "s", {"compatibility": "none"}))
    assert pure.register("s", OTHER) == {"id": 2}


def test_a_group_of_versions_is_compatible_in_itself(pure: Pure) -> None:
    pure.take(set_config(pure.state, None, {"compatibilityGroup": "major"}))
    pure.register("s", ONE, metadata=sorted_text({"properties": {"major": "1"}}))
    with refused(40901):
        pure.register("s", OTHER, metadata=sorted_text({"properties": {"major": "1"}}))
    told = pure.register("s", OTHER, metadata=sorted_text({"properties": {"major": "2"}}))
    assert (told["id"], told["version"], told["metadata"]) == (2, 2, {"properties": {"major": "2"}})


def test_the_next_version_may_be_named(pure: Pure) -> None:
    pure.register("s", ONE, version=1)
    with refused(42201):
        pure.register("s", TWO, version=3)
    told = pure.register("s", TWO, version=2)
    assert told["metadata"] == {"properties": {"confluent:version": "2"}}


@pytest.mark.parametrize("subject", ["", "__GLOBAL", "a\nb"])
def test_a_subject_needs_a_name(pure: Pure, subject: str) -> None:
    with refused(42208):
        pure.register(subject, ONE)


def test_registry_stores_nothing_of_a_malformed_schema(pure: Pure) -> None:
    for code, schema, more in (
        (42201, "", {}),
        (42201, "{", {}),
        (42201, ONE, {"kind": "XML"}),
        (42201, ONE, {"references": (Reference("n", "unknown", 1),)}),
        (42210, ONE, {"rules": '{"domainRules":[{}]}'}),
        (42205, ONE, {"id": 7}),
    ):
        with refused(code):
            pure.register("s", schema, **more)
    assert pure.log == []


def test_references_to_the_latest_are_stored_with_its_number(pure: Pure) -> None:
    pure.register("inner", '{"type":"record","name":"Inner","fields":[]}')
    outer = '{"type":"record","name":"O","fields":[{"name":"i","type":"Inner"}]}'
    pure.register("outer", outer, references=(Reference("Inner", "inner", -1),))
    assert pure.state.latest("outer").content.references == (Reference("Inner", "inner", 1),)  # type: ignore[union-attr]
    for permanent in (False, True):
        with refused(42206):
            pure.take(delete_subject(pure.state, "inner", permanent))
        with refused(42206):
            pure.take(delete_version(pure.state, "inner", 1, permanent))
    pure.take(delete_subject(pure.state, "outer", permanent=False))
    assert pure.take(delete_subject(pure.state, "inner", permanent=False)) == [1]


def test_metadata_and_rules_are_taken_over_and_merged(pure: Pure) -> None:
    rules = {"domainRules": [{"name": "n", "type": "CEL", "mode": "WRITE"}]}
    pure.take(set_config(pure.state, "s", {"defaultMetadata": {"properties": {"owner": "a"}}}))
    first = pure.register("s", ONE, rules=sorted_text(rules))
    assert (first["metadata"], first["ruleSet"]) == ({"properties": {"owner": "a"}}, rules)
    second = pure.register("s", TWO, metadata=sorted_text({"properties": {"owner": "b"}}))
    assert (second["metadata"], second["ruleSet"]) == ({"properties": {"owner": "b"}}, rules)
    third = pure.register("s", "", metadata=sorted_text({"properties": {"owner": "c"}}))
    assert (third["schema"], third["version"], third["id"]) == (TWO, 3, 3)
    assert "subject" not in third


def test_normalizing_is_asked_for_or_configured(pure: Pure) -> None:
    written = '{"type":"string","b":1,"a":2}'
    pure.register("s", written)
    pure.register("t", written, normalize=True)
    pure.take(set_config(pure.state, "u", {"normalize": True}))
    pure.register("u", written)
    texts = [each.content.schema for name in "stu" for each in pure.state.all_of(name)]
    assert texts == [written, '{"type":"string","a":2,"b":1}', '{"type":"string","a":2,"b":1}']


# -- compatibility


def test_compatibility_is_asked_without_storing(pure: Pure) -> None:
    pure.register("s", ONE)
    live = pure.state.all_of("s", deleted=False)
    ask = SchemaRequest(Content(OTHER))
    (reason,) = compatibility(pure.state, pure.parser, "s", ask, live, normalize=False)
    assert reason.startswith("cannot read version 1: type_mismatch")
    assert compatibility(pure.state, pure.parser, "s", SchemaRequest(Content(TWO)), live, normalize=False) == []
    assert compatibility(pure.state, pure.parser, "new", ask, [], normalize=False) == []
    with refused(42201):
        compatibility(pure.state, pure.parser, "s", SchemaRequest(Content(" ")), live, normalize=False)
    assert len(pure.log) == 1


# -- deleting


def test_a_version_is_deleted_softly_first(pure: Pure) -> None:
    pure.register("s", ONE)
    pure.register("s", TWO)
    with refused(40407):
        delete_version(pure.state, "s", 1, permanent=True)
    assert pure.take(delete_version(pure.state, "s", 1, permanent=False)) == 1
    with refused(40406):
        delete_version(pure.state, "s", 1, permanent=False)
    assert pure.take(delete_version(pure.state, "s", -1, permanent=False)) == 2
    assert pure.take(delete_version(pure.state, "s", 1, permanent=True)) == 1
    assert [each.version for each in pure.state.all_of("s")] == [2]
    with refused(40402):
        delete_version(pure.state, "s", 1, permanent=True)
    with refused(40401):
        delete_version(pure.state, "t", 1, permanent=True)


def test_a_subject_is_deleted_softly_first(pure: Pure) -> None:
    pure.register("s", ONE)
    pure.register("s", TWO)
    with refused(40405):
        delete_subject(pure.state, "s", permanent=True)
    assert pure.take(delete_subject(pure.state, "s", permanent=False)) == [1, 2]
    with refused(40404):
        delete_subject(pure.state, "s", permanent=False)
    assert pure.take(delete_subject(pure.state, "s", permanent=True)) == [1, 2]
    with refused(40401):
        delete_subject(pure.state, "s", permanent=True)
    assert pure.state.versions == {}


def test_config_and_mode_end_with_the_last_version(pure: Pure) -> None:
    ends: tuple[Callable[[], Decision], ...] = (
        lambda: delete_version(pure.state, "s", -1, permanent=False),
        lambda: delete_subject(pure.state, "s", permanent=False),
    )
    for end in ends:
        pure.register("s", ONE)
        pure.take(set_config(pure.state, "s", {"compatibility": "FULL"}))
        pure.take(set_mode(pure.state, "s", {"mode": "READWRITE"}, force=False))
        pure.take(end())
        assert (pure.state.configs, pure.state.modes) == ({}, {})


# -- config and mode


def test_a_config_keeps_what_is_not_set_anew(pure: Pure) -> None:
    assert pure.take(set_config(pure.state, "s", {"compatibility": "full"})) == {"compatibility": "full"}
    pure.take(set_config(pure.state, "s", {"normalize": True}))
    assert pure.state.configs["s"] == {"compatibilityLevel": "FULL", "normalize": True}
    assert pure.take(delete_config(pure.state, "s")) == {"compatibilityLevel": "FULL", "normalize": True}
    with refused(40401):
        delete_config(pure.state, "s")
    assert pure.take(delete_config(pure.state, None)) == {"compatibilityLevel": "BACKWARD"}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"compatibility": "SOMETIMES"},
        {"compatibility": 1},
        {"compatibility": None},
        {"alias": "t"},
        {"normalize": "yes"},
        {"compatibilityGroup": 1},
        {"defaultMetadata": []},
    ],
)
def test_a_config_that_means_nothing(pure: Pure, body: dict[str, Any]) -> None:
    with refused(42203):
        set_config(pure.state, "s", body)


@pytest.mark.parametrize("body", [{}, {"mode": "SLEEPING"}, {"mode": None}, {"mode": "IMPORT", "x": 1}])
def test_a_mode_that_means_nothing(pure: Pure, body: dict[str, Any]) -> None:
    with refused(42204):
        set_mode(pure.state, "s", body, force=False)


@pytest.mark.parametrize("mode", ["READONLY", "READONLY_OVERRIDE"])
def test_registry_reads_change_nothing(pure: Pure, mode: str) -> None:
    pure.register("s", ONE)
    pure.take(set_mode(pure.state, None, {"mode": mode}, force=False))
    for change in (
        lambda: pure.register("s", TWO),
        lambda: delete_version(pure.state, "s", 1, permanent=False),
        lambda: delete_subject(pure.state, "s", permanent=False),
        lambda: set_config(pure.state, "s", {"compatibility": "FULL"}),
        lambda: delete_config(pure.state, "s"),
    ):
        with refused(42205):
            change()
    assert pure.take(delete_mode(pure.state, None)) == {"mode": mode}
    assert pure.register("s", TWO) == {"id": 2}


def test_an_import_keeps_ids_and_versions(pure: Pure) -> None:
    pure.take(set_mode(pure.state, "s", {"mode": "import"}, force=False))
    with refused(42205):
        pure.register("s", ONE)
    assert pure.register("s", ONE, id=50, version=3) == {"id": 50}
    assert pure.register("s", OTHER, id=40, version=1) == {"id": 40}
    with refused(42205):
        pure.register("s", TWO, id=50)
    assert [(each.version, each.id) for each in pure.state.all_of("s")] == [(1, 40), (3, 50)]
    assert pure.take(delete_mode(pure.state, "s")) == {"mode": "IMPORT"}
    assert pure.register("t", TWO) == {"id": 51}
    with refused(40401):
        delete_mode(pure.state, "s")


def test_an_import_begins_without_schemas_unless_it_is_forced(pure: Pure) -> None:
    pure.register("s", ONE)
    pure.register(":.c:s", ONE)
    with refused(42205):
        set_mode(pure.state, "s", {"mode": "IMPORT"}, force=False)
    with refused(42205):
        set_mode(pure.state, ":.c:", {"mode": "IMPORT"}, force=False)
    pure.take(set_mode(pure.state, ":.c:", {"mode": "IMPORT"}, force=True))
    pure.take(delete_subject(pure.state, "s", permanent=False))
    pure.take(set_mode(pure.state, None, {"mode": "IMPORT"}, force=False))
    assert list(pure.state.versions) == [":.c:s"]
    assert kinds(pure)[-3:] == ["-SCHEMA", "CLEAR_SUBJECT", "MODE"]
