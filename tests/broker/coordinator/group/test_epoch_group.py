"""Groups whose members have epochs: states, members, and what goes on after a load."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import pytest

from odradek.broker.coordinator.group.epoch_group import EMPTY, EpochGroup, MemberTimers, known_member, resumed
from odradek.broker.runtime.machine import Schedule
from odradek.protocol.errors import ErrorCode, KafkaError


class Member(NamedTuple):
    epoch: int
    rebalance_timeout_ms: int = 700

    def is_reconciled_to(self, target_epoch: int) -> bool:
        return self.epoch == target_epoch


class Crowd(EpochGroup):
    def __init__(self, group_id: str) -> None:
        super().__init__(group_id)
        self.members: dict[str, Member] = {}

    def _by_id(self) -> Mapping[str, Member]:
        return self.members

    def _compute_state(self) -> str:
        return self._progress() if self.members else EMPTY

    def put(self, member_id: str, member: Member) -> None:
        self.members[member_id] = member
        self._state = None


class Expire:
    __slots__ = ("said",)
    reply: None

    def __init__(self, *said: Any) -> None:
        self.said = said


def key(*parts: str) -> Hashable:
    return parts


def test_states() -> None:
    group = Crowd("g")
    assert (group.state_name, group.is_empty) == ("Empty", True)
    group.check_delete()
    group.put("m", Member(2))
    assert (group.state_name, group.is_empty) == ("Reconciling", False)
    group.epoch = 2
    group.set_assignment(1, 10)
    assert group.state_name == "Assigning"
    group.set_assignment(2, 20)
    assert (group.state_name, group.assignment_timestamp) == ("Stable", 20)
    assert repr(group) == "Crowd('g', Stable, epoch 2, ['m'])"
    with pytest.raises(KafkaError) as full:
        group.check_delete()
    assert full.value.code is ErrorCode.NON_EMPTY_GROUP


def test_members_by_id() -> None:
    members = {"m": Member(2)}
    assert known_member("g", members, "m") == Member(2)
    for unknown in ("x", None):
        with pytest.raises(KafkaError, match=f"Member {unknown} is not a member of group g"):
            known_member("g", members, unknown)


def test_a_loaded_group_has_its_timers() -> None:
    group = Crowd("g")
    group.put("m", Member(2))
    group.put("n", Member(3))
    timers = MemberTimers(key, Expire, lambda *parts: ("rebalance", *parts), Expire)
    effects = resumed("g", group.members, timers, 4_000, lambda member: member.epoch == 3)
    found = [
        (each.key, each.after_ms, each.command.said)
        for each in effects
        if isinstance(each, Schedule) and isinstance(each.command, Expire)
    ]
    assert found == [
        (("g", "m"), 4_000, ("g", "m")),
        (("g", "n"), 4_000, ("g", "n")),
        (("rebalance", "g", "n"), 700, ("g", "n", 3)),
    ]
