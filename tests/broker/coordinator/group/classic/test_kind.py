"""JoinGroup, SyncGroup, Heartbeat, LeaveGroup and sessions as Kafka 4.3.1 does them; loads, and refused records."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.coordinator.group.classic.group import ClassicGroup
from odradek.broker.coordinator.group.settings import GroupSettings
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.group_driver import START_MS, SUBSCRIPTION, GroupDriver, hard_state, join_group, rebuilt
from tests.fakes.journal import FakeJournal

E = ErrorCode


@pytest.fixture
def driver() -> GroupDriver:
    return GroupDriver()


def stable_static(driver: GroupDriver) -> str:
    joined = driver.join(instance_id="i", version=5).result()
    driver.sync(joined.member_id, 1, {joined.member_id: b"all"})
    return joined.member_id


def test_the_first_member_leads_and_is_stable_after_its_sync(driver: GroupDriver) -> None:
    joined = driver.join().result()
    assert joined.error_code == E.NONE
    assert (joined.generation_id, joined.protocol_name, joined.protocol_type) == (1, "range", "consumer")
    assert joined.leader == joined.member_id == "c-1"
    assert [m.member_id for m in joined.members] == ["c-1"]
    assert driver.state() == "CompletingRebalance"
    synced = driver.sync("c-1", 1, {"c-1": b"all"}).result()
    assert (synced.error_code, synced.assignment) == (E.NONE, b"all")
    assert driver.state() == "Stable"
    assert driver.machine.classic.stored["g"].members[0].assignment == b"all"


def test_a_new_group_is_stored_before_anybody_is_in(driver: GroupDriver) -> None:
    slot = driver.join(protocols=())
    assert slot.result().error_code == E.INCONSISTENT_GROUP_PROTOCOL
    stored = driver.machine.classic.stored["g"]
    assert (stored.protocol_type, stored.generation, stored.members) == ("", 0, [])


def test_from_version_4_a_member_is_told_its_id_first(driver: GroupDriver) -> None:
    told = driver.join(version=4).result()
    assert (told.error_code, told.member_id, told.generation_id) == (E.MEMBER_ID_REQUIRED, "c-1", -1)
    assert driver.state() == "Empty"
    assert driver.join("c-1", version=4, instance_id="i").result().error_code == E.UNKNOWN_SERVER_ERROR  # as Kafka
    assert driver.join("c-1", version=4).result().error_code == E.NONE


def test_an_id_given_out_is_forgotten_after_the_session_timeout(driver: GroupDriver) -> None:
    driver.join(version=4, session_timeout_ms=10_000)
    driver.wait(seconds=10)
    assert driver.join("c-1", version=4).result().error_code == E.UNKNOWN_MEMBER_ID


def test_join_group_that_does_not_fit_the_group_is_refused(driver: GroupDriver) -> None:
    driver.stable(protocols=("range", "sticky"))
    assert driver.join(protocols=("roundrobin",)).result().error_code == E.INCONSISTENT_GROUP_PROTOCOL
    assert driver.join(protocol_type="connect").result().error_code == E.INCONSISTENT_GROUP_PROTOCOL
    assert not driver.join(protocols=("roundrobin", "sticky")).done


def test_an_unchanged_member_is_told_its_generation_again(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2)
    answer = driver.join(follower).result()
    assert (answer.generation_id, answer.leader, answer.members) == (2, leader, [])
    assert driver.state() == "Stable"
    assert not driver.join(follower, protocols=("range", "new")).done
    assert driver.state() == "PreparingRebalance"


def test_the_leader_may_ask_for_a_rebalance(driver: GroupDriver) -> None:
    (leader,) = driver.stable()
    assert driver.join(leader).result().generation_id == 2


def test_a_join_sent_twice_is_answered_twice(driver: GroupDriver) -> None:
    leader, _ = driver.stable(2)
    first = driver.join(leader)
    second = driver.join(leader)
    assert first.result().error_code == E.REBALANCE_IN_PROGRESS
    assert not second.done


def test_a_full_group_takes_nobody() -> None:
    driver = GroupDriver(GroupSettings(max_size=2))
    leader, follower = driver.stable(2)
    refused = driver.join().result()
    assert (refused.error_code, refused.member_id) == (E.GROUP_MAX_SIZE_REACHED, "")
    assert driver.state() == "Stable"
    assert not driver.join(leader).done
    assert driver.join(follower).result().error_code == E.NONE


def test_a_static_member_comes_back_without_a_rebalance(driver: GroupDriver) -> None:
    old = stable_static(driver)
    assert old == "i-1"
    answer = driver.join(instance_id="i", version=5).result()
    assert (answer.error_code, answer.generation_id, answer.member_id) == (E.NONE, 1, "i-2")
    assert answer.leader == old, "so that it takes itself for a follower and does not assign"
    assert answer.members == []
    assert driver.state() == "Stable"
    assert driver.sync("i-2", 1).result().assignment == b"all"
    stored = driver.machine.classic.stored["g"]
    assert ([m.member_id for m in stored.members], stored.leader) == (["i-2"], "i-2")
    assert hard_state(rebuilt(driver.journal)) == hard_state(driver.machine)


def test_a_static_member_that_comes_back_begins_with_its_old_session_timeout(driver: GroupDriver) -> None:
    """As in Kafka; the new one counts from its next heartbeat."""
    joined = driver.join(instance_id="i", version=5, session_timeout_ms=30_000).result()
    driver.sync(joined.member_id, 1, {joined.member_id: b"all"})
    driver.join(instance_id="i", version=5, session_timeout_ms=10_000).result()
    driver.wait(seconds=20)
    assert driver.state() == "Stable"
    assert driver.beat("i-2", 1, "i") == E.NONE
    driver.wait(seconds=11)
    assert driver.state() == "Empty"


def test_a_record_tells_since_when_its_group_is_in_its_state(driver: GroupDriver) -> None:
    member_id = driver.join(instance_id="i", version=5).result().member_id
    joined_ms = driver.clock.now_ms()
    driver.wait(seconds=1)
    driver.sync(member_id, 1, {member_id: b"all"})
    synced_ms = driver.clock.now_ms()
    stored = driver.machine.classic.stored
    assert stored["g"].current_state_timestamp == joined_ms, "written while the group was completing its rebalance"
    driver.wait(seconds=1)
    driver.join(instance_id="i", version=5)
    assert stored["g"].current_state_timestamp == synced_ms, "written while the group was stable"


def test_a_static_member_that_comes_back_while_it_waits_fences_its_older_self(driver: GroupDriver) -> None:
    driver.stable(protocols=("range",))
    waiting = driver.join(instance_id="i", version=5)
    again = driver.join(instance_id="i", version=5)
    assert waiting.result().error_code == E.FENCED_INSTANCE_ID
    assert not again.done


def test_a_replacement_that_cannot_be_stored_does_not_happen(driver: GroupDriver) -> None:
    old = stable_static(driver)
    driver.journal.refuse = KafkaError(E.KAFKA_STORAGE_ERROR)
    assert driver.join(instance_id="i", version=5).result().error_code == E.NOT_COORDINATOR
    assert driver.beat(old, 1, instance_id="i") == E.NONE


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
def test_sync_group_is_refused(
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


def test_a_copy_of_a_group_gives_no_ticket_twice(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2)
    driver.join(leader)
    driver.join(follower)
    assert not driver.sync(follower, 3).done
    group = driver.machine.groups.find("g", ClassicGroup)
    assert group is not None
    waiting = group.members[follower].sync_ticket
    assert waiting is not None
    driver.machine.restore(driver.machine.snapshot())  # type: ignore[arg-type]
    ticket = driver.machine.decide(join_group("g", "", [("range", SUBSCRIPTION)]), START_MS).park
    assert isinstance(ticket, int)
    assert ticket > waiting


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
    assert (stored.generation, stored.protocol, stored.leader, stored.members) == (2, None, None, [])
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


def test_leave_group_of_an_unknown_group_is_refused(driver: GroupDriver) -> None:
    assert driver.leave("x", "y") == [E.UNKNOWN_MEMBER_ID] * 2


def test_a_group_that_is_too_large_at_the_load_rebalances(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2)
    smaller = GroupDriver(GroupSettings(max_size=1), driver.journal)
    assert smaller.state() == "PreparingRebalance"
    kept = smaller.join(leader)
    assert smaller.join(follower).result().error_code == E.GROUP_MAX_SIZE_REACHED
    assert [m.member_id for m in kept.result().members] == [leader]


def test_members_survive_a_reload_with_a_whole_session_before_them(driver: GroupDriver) -> None:
    leader, follower = driver.stable(2, session_timeout_ms=10_000)
    driver.wait(seconds=9)
    driver.shard.reload()
    driver.load()
    driver.wait(seconds=9)
    assert driver.state() == "Stable"
    assert driver.beat(leader, 2) == E.NONE
    assert driver.sync(follower, 2).result().assignment == follower.encode()
    driver.wait(seconds=2)
    assert driver.beat(leader, 2) == E.REBALANCE_IN_PROGRESS
    assert driver.beat(follower, 2) == E.UNKNOWN_MEMBER_ID


def test_join_group_that_waits_is_answered_by_a_reload(driver: GroupDriver) -> None:
    driver.stable()
    waiting = driver.join()
    driver.shard.reload()
    with pytest.raises(KafkaError) as caught:
        waiting.result()
    assert caught.value.code is E.NOT_COORDINATOR


def test_a_group_that_cannot_be_stored_does_not_exist() -> None:
    driver = GroupDriver(journal=FakeJournal())
    driver.journal.refuse = KafkaError(E.KAFKA_STORAGE_ERROR)
    assert driver.join().result().error_code == E.NOT_COORDINATOR
    assert driver.state() == "none"
    assert len(driver.shard.timers) == 1, "only the look for expired offsets"
