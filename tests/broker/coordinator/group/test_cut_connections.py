"""Members whose connections are cut at any moment, under a coordinator that reloads: no answer or commit is lost."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import trio

from odradek import open_broker
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.facade.broker import Broker
from odradek.broker.runtime.journal import PartitionJournal, load
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.leave_group import LeaveGroupRequest, MemberIdentity
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from odradek.protocol.message import ApiMessage
from odradek.types import TrioBroker
from tests.fakes.group_driver import SUBSCRIPTION, hard_state
from tests.fakes.wire_client import TrioWireClient

E = ErrorCode
MEMBERS = 6
BEGIN_ANEW = {
    E.MEMBER_ID_REQUIRED,
    E.UNKNOWN_MEMBER_ID,
    E.ILLEGAL_GENERATION,
    E.REBALANCE_IN_PROGRESS,
    E.NOT_COORDINATOR,
    E.COORDINATOR_LOAD_IN_PROGRESS,
}


class Member:
    """A consumer without a consumer behind it; ``number`` is the partition that it alone commits to."""

    def __init__(self, broker: Broker, number: int, random: Random) -> None:
        self.host, _, self.port = broker.bootstrap_servers.rpartition(":")
        self.number = number
        self.random = random
        self.member_id = ""
        self.generation = -1
        self.offset = 0
        self.acknowledged = -1
        self.answers = 0

    async def live(self, over: trio.Event) -> None:
        """Until it is over: connect, be a member for a while, be cut in the middle of something."""
        while not over.is_set():
            async with await TrioWireClient.connect(self.host, int(self.port)) as self.client:
                with trio.move_on_after(self.random.choice([0.005, 0.02, 0.1])):
                    while not over.is_set():
                        await self.take_part()

    async def settle(self) -> None:
        """Be a member of a stable group."""
        async with await TrioWireClient.connect(self.host, int(self.port)) as self.client:
            while True:
                if await self.beat() is not E.NONE:
                    await self.join()
                await trio.sleep(0.01)

    async def take_part(self) -> None:
        if await self.join() is not E.NONE:
            return
        for _ in range(self.random.randint(0, 8)):
            if await self.beat() is not E.NONE or await self.commit() is not E.NONE:
                return
        if self.random.random() < 0.2:
            await self.ask(LeaveGroupRequest("g", members=[MemberIdentity(self.member_id)]), 4)
            self.member_id = ""

    async def join(self) -> ErrorCode:
        protocols = [JoinGroupRequestProtocol("range", SUBSCRIPTION)]
        answer = await self.ask(JoinGroupRequest("g", 30_000, 30_000, self.member_id, None, "consumer", protocols), 5)
        code = ErrorCode(answer.error_code)
        if code is E.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        if code not in (E.NONE, E.MEMBER_ID_REQUIRED):
            return code
        self.member_id, self.generation = answer.member_id, answer.generation_id
        if code is not E.NONE:
            return code
        given = [SyncGroupRequestAssignment(m.member_id, m.member_id.encode()) for m in answer.members]
        sync = SyncGroupRequest("g", self.generation, self.member_id, None, "consumer", "range", given)
        answer = await self.ask(sync, 5)
        assert answer.error_code != E.NONE or answer.assignment == self.member_id.encode()
        return ErrorCode(answer.error_code)

    async def beat(self) -> ErrorCode:
        return ErrorCode((await self.ask(HeartbeatRequest("g", self.generation, self.member_id), 4)).error_code)

    async def commit(self) -> ErrorCode:
        self.offset += 1
        offset = self.offset
        topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(self.number, offset)])]
        answer = await self.ask(OffsetCommitRequest("g", self.generation, self.member_id, topics=topics), 8)
        code = ErrorCode(answer.topics[0].partitions[0].error_code)
        if code is E.NONE:
            self.acknowledged = offset
        return code

    async def ask(self, request: ApiMessage, version: int) -> Any:
        answer = await self.client.request(request, version)
        code = getattr(answer, "error_code", 0)
        assert code == 0 or code in BEGIN_ANEW, answer
        self.answers += 1
        return answer


async def trouble(broker: TrioBroker, random: Random, members: list[Member]) -> None:
    """Reloads and time jumps, for half a second, and until the members have had some answers in spite of them."""
    partition = broker.cluster.groups.partition_for("g")
    half_a_second = trio.current_time() + 0.5
    while trio.current_time() < half_a_second or sum(member.answers for member in members) <= 50:
        await trio.sleep(random.choice([0, 0.005, 0.05]))
        if random.random() < 0.7:
            await broker.reload_coordinator(partition)
        else:
            broker.clock.advance(random.choice([1, 31]))


async def time_goes_on(broker: Broker) -> None:
    """Faster, so that sessions of the dead end."""
    while True:
        await trio.sleep(0.2)
        broker.clock.advance(8)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_join_group_of_a_cut_connection_holds_nobody_up(seed: int) -> None:
    random = Random(seed)

    async def main() -> None:
        async with open_broker(topics={"t": MEMBERS}) as broker:
            members = [Member(broker, number, Random(seed * 100 + number)) for number in range(MEMBERS)]
            async with await TrioWireClient.connect(members[0].host, int(members[0].port)) as client:
                await client.request(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]))
            over = trio.Event()
            with trio.fail_after(60):
                async with trio.open_nursery() as nursery:
                    for member in members:
                        nursery.start_soon(member.live, over)
                    await trouble(broker, random, members)
                    over.set()
                    await trio.sleep(0.2)
                    nursery.cancel_scope.cancel()  # some wait for members that will not come back
            broker.clock.advance(61)  # whoever is gone is out, but for those whose JoinGroup still waits
            fresh = [Member(broker, number, random) for number in range(MEMBERS)]
            async with trio.open_nursery() as nursery:
                for member in fresh:
                    nursery.start_soon(member.settle)
                nursery.start_soon(time_goes_on, broker)
                info = await broker.group("g").wait(
                    lambda g: g.state == "Stable" and {m.member_id for m in g.members} == {m.member_id for m in fresh},
                    timeout=60,
                )
                nursery.cancel_scope.cancel()
            for member in members:
                stored = info.offsets.get(("t", member.number))
                assert (-1 if stored is None else stored.offset) >= member.acknowledged
            assert_the_log_says_the_same(broker)
            assert broker.bugs == []

    trio.run(main)


def assert_the_log_says_the_same(broker: Broker) -> None:
    shard = broker.cluster.groups.shard_for("g")
    assert isinstance(shard.journal, PartitionJournal)
    rebuilt = GroupMachine()
    for _ in load(shard.journal, rebuilt):
        pass
    assert hard_state(rebuilt) == hard_state(shard.open_machine())
