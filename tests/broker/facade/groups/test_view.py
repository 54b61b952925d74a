"""Looking at groups from Python, their lag, and waiting for them without polling."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from functools import partial
from struct import pack

import pytest
import trio
from confluent_kafka import Consumer

from odradek.broker.coordinator.group.groups import OffsetToCommit
from odradek.broker.facade.broker import Broker
from odradek.broker.facade.groups.info import GroupInfo, LagUnknownError, MemberInfo, OffsetInfo
from odradek.broker.facade.groups.view import condition_of, lag_of, late
from odradek.broker.facade.open_broker import open_broker
from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.leave_group import LeaveGroupRequest, MemberIdentity
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.fakes.brokers import broker_fixture
from tests.fakes.group_driver import commit_offsets
from tests.fakes.wire_client import WireClient

SUBSCRIPTION = pack(">hih1s", 1, 1, 1, b"t") + b"\xff\xff\xff\xff" + b"\0\0\0\0"
ASSIGNMENT = pack(">hih1si2i", 1, 1, 1, b"t", 2, 0, 1) + b"\xff\xff\xff\xff"
HALF_ASSIGNMENT = pack(">hih1sii", 1, 1, 1, b"t", 1, 0) + b"\xff\xff\xff\xff"
broker = broker_fixture(topics={"t": 2})


def member(broker: KafkaBroker | Broker, group: str = "g", assignment: bytes = ASSIGNMENT) -> str:
    """One raw member that joins, syncs and commits."""
    with WireClient.at(broker.bootstrap_servers, client_id="c") as client:
        client.request(FindCoordinatorRequest(key_type=0, coordinator_keys=[group]))
        protocols = [JoinGroupRequestProtocol("range", SUBSCRIPTION)]
        joined = client.request(JoinGroupRequest(group, 30_000, 40_000, "", None, "consumer", protocols), 5)
        joined = client.request(
            JoinGroupRequest(group, 30_000, 40_000, joined.member_id, None, "consumer", protocols), 5
        )
        me = str(joined.member_id)
        assignments = [SyncGroupRequestAssignment(me, assignment)]
        client.request(SyncGroupRequest(group, 1, me, None, "consumer", "range", assignments), 5)
        partitions = [OffsetCommitRequestPartition(1, 0, -1, committed_metadata="note")]
        topics = [OffsetCommitRequestTopic("t", partitions=partitions)]
        client.request(OffsetCommitRequest(group, 1, me, topics=topics), 8)
    return me


def leave(broker: KafkaBroker, member_id: str, group: str = "g") -> None:
    with WireClient.at(broker.bootstrap_servers) as client:
        client.request(LeaveGroupRequest(group, members=[MemberIdentity(member_id)]), 4)


def test_group_handle_tells_state_members_offsets_and_lag(broker: KafkaBroker) -> None:
    me = member(broker)
    info = broker.groups["g"]
    assert info == broker.group("g").info
    assert (info.state, info.generation, info.protocol, info.protocol_type) == ("Stable", 1, "range", "consumer")
    assert (info.leader, info.coordinator) == (me, 1)
    (only,) = info.members
    assert (only.client_id, only.host, only.instance_id) == ("c", "/127.0.0.1", None)
    assert (only.subscription, only.assignment) == (("t",), {"t": (0, 1)})
    assert (only.session_timeout_ms, only.rebalance_timeout_ms) == (30_000, 40_000)
    assert info.assignments == {("t", 0): [me], ("t", 1): [me]}
    offset = info.offsets["t", 1]
    assert (offset.offset, offset.metadata, offset.lag, info.lag) == (0, "note", 0, 0)
    group = broker.group("g")
    assert (group.state, group.generation, group.protocol, group.leader) == ("Stable", 1, "range", me)
    assert (group.members, group.offsets, group.lag) == (info.members, info.offsets, 0)


def test_a_group_that_is_not_there_is_dead(broker: KafkaBroker) -> None:
    assert broker.groups == {}
    assert broker.group("g").state == "Dead"
    member(broker)
    assert broker.group("other").state == "Dead"


def test_waiting_ends_when_the_group_gets_there(broker: KafkaBroker) -> None:
    late = threading.Timer(0.05, member, [broker])
    late.start()
    info = broker.group("g").wait(members=1)
    assert [m.client_id for m in info.members] == ["c"]
    late.join()
    late = threading.Timer(0.05, leave, [broker, info.members[0].member_id])
    late.start()
    assert broker.group("g").wait(lambda g: g.state == "Empty").generation == 2
    late.join()
    assert broker.cluster.groups.watchers == {}


def test_waiting_ends_with_an_error_that_says_how_it_stands(broker: KafkaBroker) -> None:
    me = member(broker)
    with pytest.raises(TimeoutError, match=f"Stable, generation 1, members: {me}"):
        broker.group("g").wait(members=2, timeout=0.05)

    def odd(info: GroupInfo) -> bool:
        raise LookupError(info.group_id)

    with pytest.raises(LookupError):
        broker.group("g").wait(odd)
    assert broker.cluster.groups.watchers == {}


def test_a_generation_that_leaves_partitions_out_is_not_stable(broker: KafkaBroker) -> None:
    me = member(broker, assignment=HALF_ASSIGNMENT)
    group = broker.group("g")
    seen = f"Stable, generation 1, members: {me}, assigned: t-0, missing: t-1"
    with pytest.raises(TimeoutError, match=seen):
        group.wait(members=1, timeout=0.01)
    assert group.wait(members=1, partitions=1).assignments == {("t", 0): [me]}
    with pytest.raises(TimeoutError, match=seen):
        group.wait(partitions=2, timeout=0.01)


@pytest.mark.long
def test_cooperative_members_have_all_partitions_when_the_wait_is_over(broker: KafkaBroker) -> None:
    broker.create_topic("many", 4)
    consumers: list[Consumer] = []
    over = threading.Event()

    def poll() -> None:
        while not over.is_set():
            for each in list(consumers):
                each.poll(0.01)

    poller = threading.Thread(target=poll)
    poller.start()
    try:
        for members in (1, 2, 3):
            config = {"bootstrap.servers": broker.bootstrap_servers, "group.id": "coop"}
            consumers.append(Consumer({**config, "partition.assignment.strategy": "cooperative-sticky"}))
            consumers[-1].subscribe(["many"])
            info = broker.group("coop").wait(members=members)
            assert list(info.assignments) == [("many", index) for index in range(4)]
    finally:
        over.set()
        poller.join()
        for each in consumers:
            each.close()


def test_group_wait_works_in_asyncio(broker: KafkaBroker) -> None:
    late = threading.Timer(0.05, member, [broker])
    late.start()

    async def main() -> None:
        info = await asyncio.to_thread(broker.group("g").wait, members=1)
        assert info.generation == 1
        with pytest.raises(TimeoutError):
            await asyncio.to_thread(broker.group("x").wait, timeout=0.01)

    asyncio.run(main())
    late.join()


def test_waiting_in_trio_for_a_broker_in_the_same_run() -> None:
    async def main() -> None:
        async with open_broker(topics={"t": 2}) as own:
            with pytest.raises(TimeoutError):
                await own.group("g").wait(timeout=0.01)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(partial(trio.to_thread.run_sync, member, own))
                assert (await own.group("g").wait(members=1)).state == "Stable"

    trio.run(main)


def test_a_coordinator_can_be_made_to_load_again(broker: KafkaBroker) -> None:
    me = member(broker)
    broker.reload_coordinator(broker.cluster.groups.partition_for("g"))
    info = broker.group("g").wait(timeout=30)
    assert [m.member_id for m in info.members] == [me]


def test_a_look_finds_a_coordinator_loaded() -> None:
    async def main() -> None:
        async with open_broker(topics={"t": 2}) as own:
            await trio.to_thread.run_sync(member, own)
            partition = own.cluster.groups.partition_for("g")
            await own.reload_coordinator(partition)
            assert own.group("g").state == "Stable"
            await own.reload_coordinator(partition)
            assert list(own.groups) == ["g"]
            await own.reload_coordinator(partition)
            assert (await own.group("g").wait(timeout=30)).state == "Stable"

    trio.run(main)


STABLE_MEMBER = MemberInfo("m", None, "c", "/127.0.0.1", ("t",), {"t": (0,)}, 1, 1)
STABLE = GroupInfo("g", "Stable", 1, "consumer", "range", "m", (STABLE_MEMBER,), {}, 1)


def test_all_partitions_are_to_be_assigned_unless_a_number_is_asked_for() -> None:
    half = replace(STABLE, unassigned=(("t", 1),))
    assert condition_of(None, 1, None)(STABLE)
    assert condition_of(None, None, None)(STABLE)
    assert not condition_of(None, 2, None)(STABLE)
    assert not condition_of(None, 1, None)(half)
    assert condition_of(None, 1, 1)(half)
    assert not condition_of(None, 1, 2)(STABLE)
    assert not condition_of(None, None, None)(replace(STABLE, state="PreparingRebalance"))
    with pytest.raises(TypeError, match="check them in the function"):
        condition_of(lambda info: True, 1, None)
    with pytest.raises(TypeError, match=r"wait\(1\): the first argument is a condition; wait\(members=1\) waits"):
        condition_of(1, None, None)  # type: ignore[arg-type]


def test_a_wait_in_vain_says_how_the_group_stands() -> None:
    text = str(late(replace(STABLE, unassigned=(("t", 1),)), 1.5, condition_of(None, 2, None)))
    assert text == (
        "group 'g' after 1.5 s: Stable, generation 1, members: m, assigned: t-0, missing: t-1; "
        "wanted: Stable, members=2, all partitions assigned"
    )
    assert str(condition_of(None, None, 3)) == "Stable, 3 partitions assigned"

    def is_new(info: GroupInfo) -> bool:
        return info.generation == 1

    assert str(late(STABLE, 1.5, is_new)).endswith("wanted: is_new")


KINDS = ("classic", "consumer", "streams", "share")


def commit(broker: KafkaBroker, group_id: str, topic: str, index: int, offset: int) -> None:
    def run() -> None:
        groups = broker.cluster.groups
        groups.topic.ensure()
        stored = OffsetToCommit(topic, broker.cluster.topics.by_name(topic).topic_id, index, offset, -1, "")
        assert groups.ask_now(group_id, commit_offsets(group_id, [stored])) == [0]

    broker._call(run)


def info(kind: str, **more: object) -> GroupInfo:
    fields: dict[str, object] = {"state": "Stable", "offsets": {}, **more}
    return GroupInfo("g", generation=1, protocol_type=kind, protocol=None, leader=None, members=(), coordinator=1,
                     type=kind, **fields)  # type: ignore[arg-type]  # fmt: skip


def test_a_group_that_does_not_exist_has_none_and_the_message_names_the_groups() -> None:
    with KafkaBroker(topics={"t": 1}) as broker:
        with pytest.raises(LagUnknownError, match="group 'shipping' does not exist; there are no groups"):
            _ = broker.group("shipping").lag
        assert broker.group("shipping").info.lag is None
        commit(broker, "shipping", "t", 0, 0)
        commit(broker, "billing", "t", 0, 0)
        assert broker.group("shipping").lag == 0
        with pytest.raises(
            LagUnknownError,
            match=r"'shiping' does not exist \(did you mean 'shipping'\?\); the groups are billing, shipping",
        ):
            _ = broker.group("shiping").lag


@pytest.mark.parametrize("kind", KINDS)
def test_a_group_of_any_kind_that_never_committed_has_none(kind: str) -> None:
    never = info(kind)
    assert never.lag is None
    with pytest.raises(LagUnknownError, match="group 'g' has not committed any offset"):
        lag_of(never, ())


@pytest.mark.parametrize("kind", KINDS)
def test_a_partition_with_records_that_was_never_committed_leaves_it_open(kind: str) -> None:
    some = info(kind, offsets={("t", 0): OffsetInfo(1, 0, "", 0, 0)}, uncommitted=(("t", 1), ("t", 2)))
    assert some.lag is None
    with pytest.raises(LagUnknownError, match="not committed any offset for t-1, t-2, which hold records"):
        lag_of(some, ())


def test_offsets_of_deleted_partitions_alone_tell_nothing() -> None:
    gone = info("classic", offsets={("t", 0): OffsetInfo(1, 0, "", 0, None)})
    assert gone.lag is None
    with pytest.raises(LagUnknownError, match="partitions that were deleted: t-0"):
        lag_of(gone, ())


def test_a_lag_that_is_known_is_told() -> None:
    offsets = {("t", 0): OffsetInfo(1, 0, "", 0, 3), ("t", 1): OffsetInfo(1, 0, "", 0, 4)}
    assert lag_of(info("classic", offsets=offsets), ()) == 7
