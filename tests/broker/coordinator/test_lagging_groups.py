"""Groups whose coordinator's followers lag, fail or take over, as a real cluster of three shows it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek import KafkaBroker
from odradek.protocol.errors import ErrorCode as E
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.offset_commit import OffsetCommitRequest
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.fakes.lagging import Lagging, committed, fetched


def _group(max_lag_ms: int) -> Iterator[Lagging]:
    topics = {"t": {"partitions": 1, "replication_factor": 3}}
    with KafkaBroker(nodes=3, topics=topics, config={"replica.lag.time.max.ms": max_lag_ms}) as broker:
        broker.clock.freeze()
        one = Lagging(broker, "g")
        yield one
        one.close()
        assert not broker.bugs, broker.bugs[0]


@pytest.fixture
def group() -> Iterator[Lagging]:
    """A follower falls out of the replicas in sync before a commit has waited for too long."""
    yield from _group(3_000)


@pytest.fixture
def patient() -> Iterator[Lagging]:
    """A commit waits for too long before a follower falls out."""
    yield from _group(30_000)


def join(group: Lagging, member: str = "", session_ms: int = 10_000) -> JoinGroupRequest:
    return JoinGroupRequest(
        group.key, session_ms, 60_000, member, None, "consumer", [JoinGroupRequestProtocol("range", b"")]
    )


def member_of(group: Lagging) -> tuple[str, int]:
    """Make the group stable with one member; its id and generation."""
    joined = group.ask(join(group), 3)
    assert joined.error_code == 0
    rows = [SyncGroupRequestAssignment(joined.member_id, b"mine")]
    synced = group.ask(SyncGroupRequest(group.key, joined.generation_id, joined.member_id, assignments=rows), 2)
    assert (synced.error_code, synced.assignment) == (0, b"mine")
    return joined.member_id, joined.generation_id


def heartbeat(group: Lagging, member: tuple[str, int]) -> HeartbeatRequest:
    return HeartbeatRequest(group.key, member[1], member[0])


def test_a_commit_is_acknowledged_and_shown_when_the_replicas_have_it(group: Lagging) -> None:
    assert committed(group.ask(group.commit(1), 8)) == 0
    group.pause()
    waiting = group.send(group.commit(2), 8)
    group.waiting()
    assert group.fetched() == (0, 1)
    group.resume()
    assert committed(waiting.answer()) == 0
    assert group.fetched() == (0, 2)


def test_a_commit_waits_until_the_follower_falls_out_of_the_replicas_in_sync(group: Lagging) -> None:
    slow = group.followers[0]
    group.pause(slow)
    waiting = group.send(group.commit(1), 8)
    group.waiting()
    group.broker.clock.advance(seconds=4)
    assert committed(waiting.answer()) == 0
    assert slow not in group.partition.isr


def test_a_commit_that_waits_too_long_is_not_available_and_stored_all_the_same(patient: Lagging) -> None:
    patient.pause()
    waiting = patient.send(patient.commit(1), 8)
    patient.waiting()
    patient.broker.clock.advance(seconds=5)
    assert committed(waiting.answer()) == E.COORDINATOR_NOT_AVAILABLE
    assert patient.fetched() == (0, -1)
    patient.resume()
    assert patient.fetched() == (0, 1)


def test_offset_fetch_of_stable_offsets_waits_for_replication(group: Lagging) -> None:
    group.pause()
    commit = group.send(group.commit(5), 8)
    group.waiting()
    fetch = group.send(group.fetch(stable=True), 8)
    group.waiting(2)
    group.resume()
    assert fetched(fetch.answer()) == (0, 5)
    assert committed(commit.answer()) == 0


def test_offset_fetch_of_stable_offsets_times_out_with_not_coordinator(patient: Lagging) -> None:
    patient.pause()
    commit = patient.send(patient.commit(5), 8)
    patient.waiting()
    fetch = patient.send(patient.fetch(stable=True), 8)
    patient.waiting(2)
    patient.broker.clock.advance(seconds=5)
    assert fetched(fetch.answer())[0] == E.NOT_COORDINATOR
    assert committed(commit.answer()) == E.COORDINATOR_NOT_AVAILABLE


def test_a_commit_that_waits_dies_with_its_leader(group: Lagging) -> None:
    assert committed(group.ask(group.commit(1), 8)) == 0
    group.pause()
    waiting = group.send(group.commit(2), 8)
    group.waiting()
    successor = group.followers[0]
    group.broker.topic(group.topic).move_leader(group.index, successor)
    assert committed(waiting.answer()) == E.NOT_COORDINATOR
    assert group.find().node_id == successor
    assert group.fetched() == (0, 1)


def test_an_assignment_is_handed_out_when_the_replicas_have_it(group: Lagging) -> None:
    joined = group.ask(join(group), 3)
    group.pause()
    rows = [SyncGroupRequestAssignment(joined.member_id, b"mine")]
    sync = group.send(SyncGroupRequest(group.key, joined.generation_id, joined.member_id, assignments=rows), 2)
    group.waiting()
    beat = group.send(heartbeat(group, (joined.member_id, joined.generation_id)), 3)
    group.waiting(2)
    assert group.broker.groups["g"].state == "CompletingRebalance"
    group.resume()
    assert (sync.answer().error_code, beat.answer().error_code) == (0, 0)
    assert group.broker.groups["g"].state == "Stable"


def test_join_group_and_sync_group_that_are_refused_wait_for_nobody(group: Lagging) -> None:
    member, generation = member_of(group)
    group.pause()
    commit = group.send(OffsetCommitRequest(group.key, generation, member, topics=group.commit(1).topics), 8)
    group.waiting()
    other = join(group)
    other.protocol_type = "connect"
    for request, version, code in (
        (join(group, session_ms=1), 3, E.INVALID_SESSION_TIMEOUT),
        (other, 3, E.INCONSISTENT_GROUP_PROTOCOL),
        (join(group, "nobody"), 3, E.UNKNOWN_MEMBER_ID),
        (SyncGroupRequest(group.key, generation + 1, member), 2, E.ILLEGAL_GENERATION),
    ):
        assert group.ask(request, version).error_code == code
    group.waiting(1)
    group.resume()
    assert committed(commit.answer()) == 0


def test_an_assignment_that_waits_too_long_means_another_rebalance(patient: Lagging) -> None:
    joined = patient.ask(join(patient), 3)
    patient.pause()
    rows = [SyncGroupRequestAssignment(joined.member_id, b"mine")]
    sync = patient.send(SyncGroupRequest(patient.key, joined.generation_id, joined.member_id, assignments=rows), 2)
    patient.waiting()
    patient.broker.clock.advance(seconds=5)
    assert sync.answer().error_code == E.COORDINATOR_NOT_AVAILABLE
    patient.until(lambda: patient.service.shard(patient.index).machine.group("g").state.value == "PreparingRebalance")


def test_a_new_group_that_is_not_replicated_is_not_shown_and_its_member_joins_all_the_same(group: Lagging) -> None:
    group.pause()
    joined = group.ask(join(group), 3)
    assert joined.error_code == 0
    assert "g" not in group.broker.groups
    group.resume()
    assert group.broker.groups["g"].state == "CompletingRebalance"


def test_generation_and_members_survive_the_coordinator_and_sessions_start_anew(group: Lagging) -> None:
    member = member_of(group)
    before = group.leader
    group.broker.clock.advance(seconds=9)
    group.broker.kill_node(before)
    assert group.leader != before
    assert group.find().node_id == group.leader
    group.broker.clock.advance(seconds=9)
    assert group.ask(heartbeat(group, member), 3).error_code == 0
    seen = group.broker.groups["g"]
    assert (seen.state, seen.generation, seen.coordinator) == ("Stable", member[1], group.leader)
    group.broker.start_node(before)
    assert group.ask(heartbeat(group, member), 3, before).error_code == E.NOT_COORDINATOR


def test_group_coordinator_without_a_leader_is_not_available(group: Lagging) -> None:
    member = member_of(group)
    group.pause()
    commit = group.send(group.commit(1), 8)
    assert committed(commit.answer()) == E.UNKNOWN_MEMBER_ID
    beat = group.send(group.fetch(stable=True), 8)
    assert fetched(beat.answer()) == (0, -1)
    last, others = group.leader, group.followers
    late = Lagging(group.broker, "late")  # makes the followers leave the replicas in sync
    assert late.index != group.index
    late.close()
    group.ask(join(group, member[0]), 3)  # the leader joins again, alone: a rebalance, of which nothing is written
    sync = SyncGroupRequest(group.key, 2, member[0], assignments=[SyncGroupRequestAssignment(member[0], b"new")])
    waiting = group.send(sync, 2)
    group.waiting()
    group.broker.clock.advance(seconds=4)
    assert waiting.answer().error_code == 0
    assert group.partition.isr == (last,)
    group.broker.kill_node(last)
    assert group.leader == -1
    assert group.find().error_code == E.COORDINATOR_NOT_AVAILABLE
    assert group.ask(heartbeat(group, member), 3, others[0]).error_code == E.NOT_COORDINATOR
    group.broker.clock.advance(seconds=60)
    group.broker.start_node(last)
    assert group.find().node_id == last
    assert group.ask(heartbeat(group, (member[0], 2)), 3).error_code == 0


def test_a_load_that_is_held(group: Lagging) -> None:
    member = member_of(group)
    assert committed(group.ask(group.commit(1), 8)) == E.UNKNOWN_MEMBER_ID
    with group.broker.hold_load(group.topic, group.index):
        assert group.ask(heartbeat(group, member), 3).error_code == 0
        assert group.fetched() == (0, -1)
        group.broker.kill_node(group.leader)
        assert group.find().node_id == group.leader
        assert group.ask(heartbeat(group, (member[0], 77)), 3).error_code == 0
        assert group.fetched()[0] == E.COORDINATOR_LOAD_IN_PROGRESS
        assert committed(group.ask(group.commit(1), 8)) == E.COORDINATOR_LOAD_IN_PROGRESS
        assert group.ask(join(group), 3).error_code == E.COORDINATOR_LOAD_IN_PROGRESS
    assert group.ask(heartbeat(group, (member[0], 77)), 3).error_code == E.ILLEGAL_GENERATION
    assert group.fetched() == (0, -1)


def test_a_load_that_is_held_now(group: Lagging) -> None:
    assert committed(group.ask(group.commit(1), 8)) == 0
    with group.broker.hold_load(group.topic, now=True):
        assert group.fetched()[0] == E.COORDINATOR_LOAD_IN_PROGRESS
        with group.broker.hold_load(group.topic, group.index):
            pass
        assert group.fetched()[0] == E.COORDINATOR_LOAD_IN_PROGRESS
    assert group.fetched() == (0, 1)
    with pytest.raises(ValueError, match="__consumer_offsets"):
        group.broker.hold_load("t")
    with pytest.raises(ValueError, match="partition=77: __consumer_offsets has"):
        group.broker.hold_load(group.topic, 77)
