"""Share groups whose share coordinator's followers lag, and leaders that move under them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from odradek import KafkaBroker
from odradek.broker.partitions.share.states import ShareKey
from odradek.protocol.errors import ErrorCode as E
from odradek.protocol.generated.messages import share_acknowledge, share_fetch
from odradek.protocol.generated.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.fakes.lagging import Lagging, Pending
from tests.fakes.wire_client import WireClient

MEMBER = "00000000-0000-0000-0000-000000000001"
ACCEPT = 1


class ShareMember(Lagging):
    """The one member of a share group on topic "t", by hand: a session on the connection to each leader."""

    def __init__(self, broker: KafkaBroker) -> None:
        super().__init__(broker, "g")
        joined = self.ask(ShareGroupHeartbeatRequest("g", MEMBER, 0, None, ["t"]), 1)
        assert joined.error_code == 0
        self.topic_id = broker.cluster.topics.by_name("t").topic_id
        self.state_index = broker._look(lambda: self.states.partition_for(self.state_key.text))
        self.session: WireClient
        self.epoch = 0

    @property
    def states(self) -> Any:
        return self.broker.cluster.services.share_states()

    @property
    def state_key(self) -> ShareKey:
        return ShareKey("g", self.topic_id, 0)

    @property
    def state_partition(self) -> Any:
        return self.broker.cluster.topics.by_name("__share_group_state").partitions[self.state_index]

    @property
    def data(self) -> Any:
        return self.broker.cluster.topics.by_name("t").partitions[0]

    def open(self) -> None:
        """A new session with the partition's leader; it acquires nothing."""
        self.session, self.epoch = self.wire(self.data.leader_id), 0
        self.fetch_shared()

    def fetch_shared(self) -> list[tuple[int, int, int]]:
        """(first offset, last offset, delivery count) of what is acquired now."""
        partition = share_fetch.FetchPartition(0)
        request = share_fetch.ShareFetchRequest(
            group_id="g",
            member_id=MEMBER,
            share_session_epoch=self.epoch,
            max_wait_ms=0,
            max_bytes=1 << 20,
            max_records=10,
            batch_size=10,
            topics=[share_fetch.FetchTopic(self.topic_id, [partition])],
        )
        answer = self.session.request(request, 1)
        assert answer.error_code == 0, E(answer.error_code)
        self.epoch += 1
        rows = [row for topic in answer.responses for row in topic.partitions]
        assert all(row.error_code == 0 for row in rows), [E(row.error_code) for row in rows]
        return [(run.first_offset, run.last_offset, run.delivery_count) for row in rows for run in row.acquired_records]

    def acknowledge(self, offset: int) -> Pending:
        batch = share_acknowledge.AcknowledgementBatch(offset, offset, [ACCEPT])
        partition = share_acknowledge.AcknowledgePartition(0, [batch])
        topics = [share_acknowledge.AcknowledgeTopic(self.topic_id, [partition])]
        request = share_acknowledge.ShareAcknowledgeRequest("g", MEMBER, self.epoch, topics=topics)
        self.epoch += 1
        return Pending(self.session, request, 1)

    def pause_states(self) -> None:
        for node in self.state_partition.replicas:
            if node != self.state_partition.leader_id:
                self.broker.topic("__share_group_state").pause_replication(self.state_index, node)

    def state_waits(self) -> bool:
        waiting: int = self.states.shard(self.state_index).uncommitted
        return waiting > 0


def acknowledged(answer: Any) -> int:
    assert answer.error_code == 0
    return int(answer.responses[0].partitions[0].error_code)


@pytest.fixture
def member() -> Iterator[ShareMember]:
    topics = {"t": {"partitions": 1, "replication_factor": 3}}
    with KafkaBroker(nodes=3, topics=topics, config={"replica.lag.time.max.ms": 30_000}) as broker:
        broker.clock.freeze()
        one = ShareMember(broker)
        one.open()
        yield one
        one.close()
        assert not broker.bugs, broker.bugs[0]


def test_an_acknowledgement_counts_when_the_share_coordinators_replicas_have_it(member: ShareMember) -> None:
    member.broker.produce("t", "a")
    assert member.fetch_shared() == [(0, 0, 1)]
    member.pause_states()
    waiting = member.acknowledge(0)
    member.until(member.state_waits)
    member.broker.heal()
    assert acknowledged(waiting.answer()) == 0
    assert member.fetch_shared() == []


def test_an_acknowledgement_that_waits_too_long_is_not_available(member: ShareMember) -> None:
    member.broker.produce("t", "a")
    assert member.fetch_shared() == [(0, 0, 1)]
    member.pause_states()
    waiting = member.acknowledge(0)
    member.until(member.state_waits)
    member.broker.clock.advance(seconds=5)
    assert acknowledged(waiting.answer()) == E.COORDINATOR_NOT_AVAILABLE


def test_an_acknowledgement_dies_with_its_share_coordinator_and_the_record_comes_again(member: ShareMember) -> None:
    for value in "ab":
        member.broker.produce("t", value)
    assert member.fetch_shared() == [(0, 1, 1)]
    assert acknowledged(member.acknowledge(0).answer()) == 0
    member.pause_states()
    waiting = member.acknowledge(1)
    member.until(member.state_waits)
    successor = next(n for n in member.state_partition.replicas if n != member.state_partition.leader_id)
    member.broker.topic("__share_group_state").move_leader(member.state_index, successor)
    assert acknowledged(waiting.answer()) == E.COORDINATOR_NOT_AVAILABLE
    member.broker.heal()
    assert [(first, last) for first, last, _ in member.fetch_shared()] == [(1, 1)]


def test_share_acknowledge_survives_a_leader_that_moves(member: ShareMember) -> None:
    for value in "abc":
        member.broker.produce("t", value)
    assert member.fetch_shared() == [(0, 2, 1)]
    assert acknowledged(member.acknowledge(0).answer()) == 0
    successor = next(node for node in member.data.replicas if node != member.data.leader_id)
    epoch = member.data.leader_epoch
    member.broker.topic("t").move_leader(0, successor)
    assert acknowledged(member.acknowledge(1).answer()) in (E.NOT_LEADER_OR_FOLLOWER, E.UNKNOWN_TOPIC_OR_PARTITION)
    member.open()
    held = member.broker.cluster.services.share_partitions()
    live = member.broker._look(lambda: held.find(member.state_key))
    assert live is not None
    assert (live.leader_epoch, live.node_id) == (epoch + 1, successor)
    assert live.machine.start_offset == 1


def test_a_share_coordinator_that_loads(member: ShareMember) -> None:
    member.broker.produce("t", "a")
    assert member.fetch_shared() == [(0, 0, 1)]
    with member.broker.hold_load("__share_group_state", now=True):
        assert acknowledged(member.acknowledge(0).answer()) == E.COORDINATOR_NOT_AVAILABLE
    assert acknowledged(member.acknowledge(0).answer()) == 0
