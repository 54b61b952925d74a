"""SyncGroup, Heartbeat, LeaveGroup and sessions, as Kafka 4.3.1 does them."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.coordinator.group.classic.commands import LeaveGroup
from odradek.protocol.errors import ErrorCode
from tests.fakes.group_driver import GroupDriver

E = ErrorCode


@pytest.fixture
def driver() -> GroupDriver:
    return GroupDriver()


def stable_static(driver: GroupDriver) -> str:
    joined = driver.join(instance_id="i", version=5).result()
    driver.sync(joined.member_id, 1, {joined.member_id: b"all"})
    return joined.member_id


def test_followers_wait_for_the_leader(driver: GroupDriver) -> None:
    (leader,) = driver.stable()
    follower = driver.join()
    driver.join(leader)
    follower_id = follower.result().member_id
    waiting = driver.sync(follower_id, 2)
    assert not waiting.done
    repeated = driver.sync(follower_id, 2)
    assert waiting.result().error_code == E.REBALANCE_IN_PROGRESS
    driver.sync(leader, 2, {leader: b"L", follower_id: b"F"})
    assert repeated.result().assignment == b"F"
    assert driver.sync(follower_id, 2).result().assignment == b"F"


def test_members_that_the_leader_leaves_out_get_nothing(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2)
    driver.join(leader)
    driver.join(follower)
    waiting = driver.sync(follower, 3)
    driver.sync(leader, 3, {"stranger": b"x"})
    assert waiting.result().assignment == b""
    assert [m.assignment for m in driver.machine.classic.stored["g"].members] == [b"", b""]


@pytest.mark.parametrize(
    ("member", "generation", "options", "error"),
    [
        ("nobody", 1, {}, E.UNKNOWN_MEMBER_ID),
        ("c-1", 2, {}, E.ILLEGAL_GENERATION),
        ("c-1", 1, {"protocol_name": "sticky"}, E.INCONSISTENT_GROUP_PROTOCOL),
        ("c-1", 1, {"protocol_type": "connect"}, E.INCONSISTENT_GROUP_PROTOCOL),
        ("c-1", 1, {"instance_id": "i"}, E.UNKNOWN_MEMBER_ID),
        ("c-1", 1, {"group_id": "other"}, E.UNKNOWN_MEMBER_ID),
    ],
)
def test_refused_syncs(
    driver: GroupDriver, member: str, generation: int, options: dict[str, Any], error: ErrorCode
) -> None:
    driver.stable()
    assert driver.sync(member, generation, **options).result().error_code == error


def test_members_that_never_sync_are_out(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2, session_timeout_ms=100_000, rebalance_timeout_ms=20_000)
    driver.join(leader, session_timeout_ms=100_000, rebalance_timeout_ms=20_000)
    driver.join(follower, session_timeout_ms=100_000, rebalance_timeout_ms=20_000)
    driver.sync(leader, 3, {})
    driver.wait(seconds=20)
    assert driver.state() == "PreparingRebalance"
    assert driver.beat(follower, 3) == E.UNKNOWN_MEMBER_ID
    assert driver.beat(leader, 3) == E.REBALANCE_IN_PROGRESS


def test_a_member_that_is_silent_is_out(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2, session_timeout_ms=10_000)
    for _ in range(4):
        driver.wait(seconds=4)
        driver.beat(leader, 2)
    assert driver.beat(follower, 2) == E.UNKNOWN_MEMBER_ID
    assert driver.beat(leader, 2) == E.REBALANCE_IN_PROGRESS


def test_a_group_whose_members_are_gone_is_empty_and_stored_so(driver: GroupDriver) -> None:
    driver.stable(session_timeout_ms=10_000)
    driver.wait(seconds=10)
    assert driver.state() == "Empty"
    stored = driver.machine.classic.stored["g"]
    assert (stored.generation, stored.protocol, stored.leader, stored.members) == (2, None, None, ())
    assert stored.protocol_type == "consumer"


def test_waiting_for_the_others_keeps_a_session(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2, session_timeout_ms=10_000, rebalance_timeout_ms=60_000)
    waiting = driver.join(leader, session_timeout_ms=10_000, rebalance_timeout_ms=60_000)
    for _ in range(5):
        driver.wait(seconds=9)
        driver.beat(follower, 2)
    assert not waiting.done
    driver.join(follower, session_timeout_ms=10_000)
    assert len(waiting.result().members) == 2


def test_a_new_member_that_never_comes_back_is_out_after_five_minutes(driver: GroupDriver) -> None:
    (leader,) = driver.stable(rebalance_timeout_ms=1_000_000)
    lost = driver.join(rebalance_timeout_ms=1_000_000)
    for _ in range(31):
        driver.wait(seconds=10)
        driver.beat(leader, 1)
    assert lost.result().error_code == E.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("member", "generation", "options", "error"),
    [
        ("c-1", 1, {}, E.NONE),
        ("c-1", 2, {}, E.ILLEGAL_GENERATION),
        ("nobody", 1, {}, E.UNKNOWN_MEMBER_ID),
        ("c-1", 1, {"group_id": "other"}, E.UNKNOWN_MEMBER_ID),
    ],
)
def test_heartbeats(
    driver: GroupDriver, member: str, generation: int, options: dict[str, Any], error: ErrorCode
) -> None:
    driver.stable()
    assert driver.beat(member, generation, **options) == error


def test_heartbeats_before_the_sync_are_fine(driver: GroupDriver) -> None:
    driver.join()
    assert driver.beat("c-1", 1) == E.NONE


def test_a_leaving_member_makes_room_for_the_others(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2)
    assert driver.leave(leader, "nobody") == [E.NONE, E.UNKNOWN_MEMBER_ID]
    assert driver.beat(follower, 2) == E.REBALANCE_IN_PROGRESS
    answer = driver.join(follower).result()
    assert (answer.generation_id, answer.leader) == (3, follower)


def test_a_member_that_leaves_while_it_waits_is_answered(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2)
    joining = driver.join(leader)
    driver.leave(leader)
    assert joining.result().error_code == E.UNKNOWN_MEMBER_ID
    assert driver.join(follower).result().generation_id == 3
    third = driver.join()
    driver.join(follower)
    syncing = driver.sync(third.result().member_id, 4)
    driver.leave(third.result().member_id)
    assert syncing.result().error_code == E.UNKNOWN_MEMBER_ID


def test_an_id_given_out_can_be_given_back(driver: GroupDriver) -> None:
    (leader,) = driver.stable()
    told = driver.join(version=4).result().member_id
    joining = driver.join(leader)
    assert not joining.done, "somebody has been given an id and may join"
    assert driver.leave(told) == [E.NONE]
    assert joining.done


def test_leaving_an_unknown_group(driver: GroupDriver) -> None:
    assert driver.leave("x", "y") == [E.UNKNOWN_MEMBER_ID] * 2


def test_members_can_be_removed_by_instance_id(driver: GroupDriver) -> None:
    stable_static(driver)
    assert driver.now(LeaveGroup("g", [("", "i"), ("", "nope"), ("i-1", "i")])) == [
        E.NONE,
        E.UNKNOWN_MEMBER_ID,
        E.UNKNOWN_MEMBER_ID,
    ]
    assert driver.state() == "Empty"
