"""A member's way to its target."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.streams.holders import Holders
from odradek.broker.coordinator.group.streams.member import Member, MemberState
from odradek.broker.coordinator.group.streams.reconciliation import reconcile
from odradek.broker.coordinator.group.streams.tasks import NO_TARGET, Held, Owned, Target
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.coordinator.group.streams.driver import owned


def tasks(*partitions: int) -> dict[str, frozenset[int]]:
    return {"0": frozenset(partitions)} if partitions else {}


def holders(*members: Member) -> Holders:
    made = Holders()
    for member in members:
        made.add(member)
    return made


NEW = Member("m", process_id="p")
HAS = Member("m", 4, process_id="p", assigned=Held({"0": {0: 4, 1: 4}}))


def test_what_is_free_is_taken_up() -> None:
    after = reconcile(NEW, 3, Target(tasks(0, 1), tasks(2)), None, holders())
    assert (after.state, after.epoch, after.previous_epoch) == (MemberState.STABLE, 3, 0)
    assert after.assigned == Held({"0": {0: 3, 1: 3}}, tasks(2))


def test_what_another_process_has_is_waited_for() -> None:
    other = Member("n", process_id="q", assigned=Held({"0": {0: 2}}))
    after = reconcile(NEW, 3, Target(tasks(0, 1)), None, holders(other))
    assert (after.state, after.epoch) == (MemberState.UNRELEASED_TASKS, 3)
    assert after.assigned == Held({"0": {1: 3}})
    done = reconcile(after, 3, Target(tasks(0, 1)), None, holders(after))
    assert (done.state, done.assigned.active) == (MemberState.STABLE, {"0": {0: 3, 1: 3}})


def test_a_process_has_a_task_in_one_role_only() -> None:
    sibling = Member("n", process_id="p", assigned=Held({"0": {0: 2}}, tasks(1)))
    after = reconcile(NEW, 3, Target(tasks(1), tasks(0)), None, holders(sibling))
    assert (after.state, after.assigned.is_empty) == (MemberState.UNRELEASED_TASKS, True)
    stranger = sibling._replace(process_id="q")
    after = reconcile(NEW, 3, Target(tasks(1), tasks(0)), None, holders(stranger))
    assert after.assigned == Held({"0": {1: 3}}, tasks(0))


def test_tasks_are_given_up_before_the_epoch_moves() -> None:
    target = Target(tasks(1), tasks(0))
    after = reconcile(HAS, 6, target, None, holders(HAS))
    assert (after.state, after.epoch) == (MemberState.UNREVOKED_TASKS, 4)
    assert (after.assigned.active, after.revoking.active) == ({"0": {1: 4}}, {"0": {0: 4}})
    assert reconcile(after, 6, target, None, holders(after)) is after
    assert reconcile(after, 6, target, owned((0, 1)), holders(after)) is after
    freed = reconcile(after, 6, target, owned((1,)), holders(after._replace(revoking=Held())))
    assert (freed.state, freed.epoch, freed.previous_epoch) == (MemberState.STABLE, 6, 4)
    assert freed.assigned == Held({"0": {1: 4}}, tasks(0))


def test_who_says_that_it_owns_less_need_not_give_up() -> None:
    after = reconcile(HAS, 6, Target(tasks(1)), owned((1,)), holders(HAS))
    assert (after.state, after.epoch, after.assigned.active) == (MemberState.STABLE, 6, {"0": {1: 4}})


def test_nothing_changes_at_the_target() -> None:
    member = HAS._replace(epoch=6)
    assert reconcile(member, 6, NO_TARGET, None, holders(member)) is member


def test_a_state_that_nobody_knows() -> None:
    member = HAS._replace(state=MemberState.UNKNOWN)
    with pytest.raises(KafkaError) as error:
        reconcile(member, 6, Target(tasks(1)), None, holders(member))
    assert error.value.code is ErrorCode.FENCED_MEMBER_EPOCH
    after = reconcile(member, 6, Target(tasks(1)), Owned({}, {}, {}), holders(member))
    assert (after.state, after.epoch) == (MemberState.STABLE, 6)
