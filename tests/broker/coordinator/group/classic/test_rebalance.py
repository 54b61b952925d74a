"""What a command causes, and the outcome that it becomes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from odradek.broker.coordinator.group.classic.group import ClassicGroup
from odradek.broker.coordinator.group.classic.rebalance import Changes
from odradek.broker.coordinator.group.settings import GroupSettings
from odradek.broker.runtime.machine import Cancel, Effect, NewRecord, Outcome
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.group_driver import GroupDriver, hard_state


def test_an_answered_and_a_parked_outcome() -> None:
    def then() -> Sequence[Effect]:
        return ()

    for ticket in (None, 7):
        changes = Changes(5)
        changes.records.append(NewRecord(b"k"))
        changes.effects.append(Cancel("timer"))
        changes.then = then
        outcome: Outcome[str] = changes.answered("reply") if ticket is None else changes.parked(ticket)
        assert outcome.park == ticket
        assert outcome.reply == ("reply" if ticket is None else None)
        assert outcome.records == [NewRecord(b"k")]
        assert outcome.effects is changes.effects
        assert outcome.then is then


E = ErrorCode


@pytest.fixture
def driver() -> GroupDriver:
    return GroupDriver()


@pytest.fixture
def running() -> GroupDriver:
    """A driver whose clock is not frozen."""
    return GroupDriver(pauses=True)


def stable_static(driver: GroupDriver) -> str:
    joined = driver.join(instance_id="i", version=5).result()
    driver.sync(joined.member_id, 1, {joined.member_id: b"all"})
    return joined.member_id


def _complete(driver: GroupDriver):  # type: ignore[no-untyped-def]
    from odradek.broker.coordinator.group.classic.group import EndJoinPhase

    return EndJoinPhase("g")


def test_all_members_join_again_when_one_more_comes(driver: GroupDriver) -> None:
    (leader,) = driver.stable()
    other = driver.join()
    assert driver.state() == "PreparingRebalance"
    assert driver.beat(leader, 1) == E.REBALANCE_IN_PROGRESS
    assert driver.sync(leader, 1).result().error_code == E.REBALANCE_IN_PROGRESS
    again = driver.join(leader)
    answer = again.result()
    assert (answer.generation_id, answer.leader, len(answer.members)) == (2, leader, 2)
    assert other.result().leader == leader
    assert other.result().members == []


def test_members_that_do_not_join_again_are_out(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2, rebalance_timeout_ms=30_000)
    again = driver.join(leader, rebalance_timeout_ms=30_000)
    for _ in range(3):
        driver.wait(seconds=9)
        driver.beat(follower, 2)
        assert not again.done
    driver.wait(seconds=4)
    assert [m.member_id for m in again.result().members] == [leader]
    assert driver.beat(follower, 2) == E.UNKNOWN_MEMBER_ID


def test_the_leader_is_one_of_those_who_have_joined(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2, session_timeout_ms=100_000, rebalance_timeout_ms=10_000)
    again = driver.join(follower, protocols=("range", "other"), rebalance_timeout_ms=10_000)
    driver.wait(seconds=10)
    assert again.result().leader == follower
    assert driver.machine.groups.find("g", ClassicGroup).members.keys() == {follower}  # type: ignore[union-attr]
    assert driver.beat(leader, 3) == E.UNKNOWN_MEMBER_ID


def test_a_first_rebalance_waits_for_more_members() -> None:
    driver = GroupDriver(GroupSettings(initial_rebalance_delay_ms=3_000))
    first = driver.join()
    driver.wait(seconds=2)
    second = driver.join()
    driver.wait(seconds=2)
    assert not first.done, "somebody came within the delay, so it is extended"
    driver.wait(seconds=2)
    assert first.result().generation_id == second.result().generation_id == 1
    assert len(first.result().members) == 2


def test_join_group_after_all_have_left_may_bring_another_protocol() -> None:
    """As a real Kafka answers: the group stays in its first rebalance, and nobody is there to disagree."""
    driver = GroupDriver(GroupSettings(initial_rebalance_delay_ms=3_000))
    first = driver.join(protocols=("range",))
    driver.wait(seconds=1)
    assert driver.leave("c-1") == [E.NONE]
    assert first.result().error_code == E.UNKNOWN_MEMBER_ID
    assert driver.state() == "PreparingRebalance"
    second = driver.join(protocols=("rr",))
    assert not second.done
    driver.wait(seconds=3)
    driver.wait(seconds=3)
    answer = second.result()
    assert (answer.error_code, answer.generation_id, answer.protocol_name) == (E.NONE, 1, "rr")


def test_a_first_rebalance_waits_for_who_has_just_been_told_an_id(running: GroupDriver) -> None:
    told = running.join(version=4).result().member_id
    first = running.join()
    assert not first.done
    second = running.join(told, version=4)
    assert first.result().generation_id == second.result().generation_id == 1
    assert len(first.result().members) == 2


def test_a_join_does_not_wait_long_for_a_member_that_was_only_given_its_id(running: GroupDriver) -> None:
    told = running.join(version=4).result().member_id
    first = running.join()
    running.wait(seconds=0.049)
    assert not first.done
    running.wait(seconds=0.002)
    assert len(first.result().members) == 1
    assert not running.join(told, version=4).done, "who comes later causes a rebalance"


def test_a_large_group_pauses_for_more_members(running: GroupDriver) -> None:
    told = [running.join(version=4).result().member_id for _ in range(200)]
    slots = [running.join(member_id, version=4) for member_id in told]
    running.wait(seconds=0.001)
    assert not any(slot.done for slot in slots)
    slots.append(running.join())
    running.wait(seconds=0.001)
    assert not any(slot.done for slot in slots), "somebody came, so the pause begins anew"
    running.wait(seconds=0.001)
    assert {slot.result().generation_id for slot in slots} == {1}


def test_a_hundred_members_pause_for_a_millisecond(running: GroupDriver) -> None:
    told = [running.join(version=4).result().member_id for _ in range(100)]
    slots = [running.join(member_id, version=4) for member_id in told]
    assert not any(slot.done for slot in slots)
    running.wait(seconds=0.001)
    assert {slot.result().generation_id for slot in slots} == {1}


def test_rebalance_makes_no_pause_while_the_clock_stands_still(driver: GroupDriver) -> None:
    driver.join(version=4)
    assert len(driver.join().result().members) == 1


def test_the_initial_wait_ends_with_the_rebalance_timeout() -> None:
    driver = GroupDriver(GroupSettings(initial_rebalance_delay_ms=3_000))
    first = driver.join(rebalance_timeout_ms=7_000)
    for _ in range(3):
        driver.wait(seconds=2)
        driver.join(rebalance_timeout_ms=7_000)
    driver.wait(seconds=1.1)
    assert len(first.result().members) == 4


def test_a_rebalance_lets_waiting_followers_go(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2)
    driver.join(leader)
    driver.join(follower)
    waiting = driver.sync(follower, 3)
    driver.join()
    assert waiting.result().error_code == E.REBALANCE_IN_PROGRESS


def test_an_assignment_that_cannot_be_stored_fails_for_all(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2)
    driver.join(leader)
    driver.join(follower)
    waiting = driver.sync(follower, 3)
    before = hard_state(driver.machine)
    driver.journal.refuse = KafkaError(E.MESSAGE_TOO_LARGE)
    refused = driver.sync(leader, 3, {leader: b"x"})
    assert refused.result().error_code == waiting.result().error_code == E.UNKNOWN_SERVER_ERROR
    assert driver.state() == "PreparingRebalance"
    assert hard_state(driver.machine) == before
    driver.journal.refuse = None
    driver.join(leader)
    assert driver.join(follower).result().error_code == E.NONE


def test_a_leaving_member_may_end_the_join_phase(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2)
    waiting = driver.join(leader)
    driver.leave(follower)
    assert len(waiting.result().members) == 1


def test_a_static_member_keeps_its_place_through_a_rebalance_until_its_session_ends(driver: GroupDriver) -> None:
    first = stable_static(driver)
    other = driver.join(rebalance_timeout_ms=10_000)
    driver.machine.groups.find("g", ClassicGroup).members[first].rebalance_timeout_ms = 10_000  # type: ignore[union-attr]
    driver.shard.timers.schedule(("join", "g"), driver.clock.now_ms() + 10_000, _complete(driver))
    driver.wait(seconds=10)
    assert {m.member_id for m in other.result().members} == {first, other.result().member_id}
