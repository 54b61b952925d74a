"""The one group of each id."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from odradek.broker.coordinator.group.classic.group import ClassicGroup
from odradek.broker.coordinator.group.groups import Group, Groups, commit_error
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.errors import ErrorCode as E


class Other(ClassicGroup):
    """Stands for a group of another kind."""


class Sleepers:
    """Groups that wait in the log."""

    def __init__(self, *ids: str) -> None:
        self._ids = ids
        self.taken_up: list[str] = []

    def load(self, group_id: str) -> Group | None:
        if group_id not in self._ids:
            return None
        self.taken_up.append(group_id)
        return ClassicGroup(group_id, 0)

    def ids(self) -> Iterable[str]:
        return self._ids


@pytest.fixture
def groups() -> Groups:
    return Groups()


def test_a_stored_group_is_loaded_once(groups: Groups) -> None:
    groups.stored = sleepers = Sleepers("a", "b")
    assert groups.find_live("a", ClassicGroup) is None
    first = groups.get("a")
    assert groups.get("a") is first is groups.find_live("a", ClassicGroup)
    assert groups.get("c") is None
    assert sleepers.taken_up == ["a"]


def test_ids_are_those_in_memory_and_those_in_the_log(groups: Groups) -> None:
    groups.stored = Sleepers("a", "b")
    groups.put(Other("x", 0))
    groups.put(Other("b", 0))
    assert sorted(groups.ids()) == ["a", "b", "x"]
    assert {group.group_id: type(group) for group in groups.all()} == {"x": Other, "b": Other, "a": ClassicGroup}


def test_an_unknown_group_is_not_found(groups: Groups) -> None:
    with pytest.raises(KafkaError) as caught:
        groups.existing("g")
    assert (caught.value.code, caught.value.message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group g not found.")


def test_a_group_of_another_class_is_not_found_and_not_removed(groups: Groups) -> None:
    groups.put(ClassicGroup("g", 0))
    assert groups.find("g", Other) is None
    groups.remove("g", Other)
    assert groups.get("g") is not None
    groups.remove("g", ClassicGroup)
    assert groups.get("g") is None


def test_a_record_makes_its_group_or_takes_the_place_of_one_with_offsets_only(groups: Groups) -> None:
    made = groups.for_replay("g", Other, lambda group_id: Other(group_id, 0))
    assert groups.for_replay("g", Other, lambda group_id: Other(group_id, 0)) is made
    groups.put(ClassicGroup("simple", 0))
    assert isinstance(groups.for_replay("simple", Other, lambda group_id: Other(group_id, 0)), Other)


def test_a_record_about_a_group_of_another_kind_is_a_fault(groups: Groups) -> None:
    classic = ClassicGroup("g", 0)
    classic.protocol_type = "consumer"
    groups.put(classic)
    with pytest.raises(RuntimeError, match="is of type classic"):
        groups.for_replay("g", Other, lambda group_id: Other(group_id, 0))


@pytest.mark.parametrize("log", [E.MESSAGE_TOO_LARGE, E.RECORD_LIST_TOO_LARGE, E.INVALID_FETCH_SIZE])
def test_offset_commit_of_too_large_a_record_has_an_error_of_its_own(log: E) -> None:
    assert commit_error(log) is E.INVALID_COMMIT_OFFSET_SIZE
    assert commit_error(E.KAFKA_STORAGE_ERROR) is E.NOT_COORDINATOR
