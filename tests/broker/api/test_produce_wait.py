"""acks=all while records are kept from replicas: what the client hears, and when; what followers serve."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from odradek import KafkaBroker
from odradek.broker.facade.topics import PartitionInfo
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from odradek.protocol.generated.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from tests.fakes.wire_client import WireClient

VERSION = 12


class Trio3:
    """Three nodes, one partition, a client for each node."""

    def __init__(self, broker: KafkaBroker) -> None:
        self.broker = broker
        addresses = [address.rpartition(":") for address in broker.bootstrap_servers.split(",")]
        self.clients = {node: WireClient(host, int(port)) for node, (host, _, port) in enumerate(addresses, start=1)}

    @property
    def partition(self) -> PartitionInfo:
        return self.broker.topics["t"].partitions[0]

    @property
    def leader(self) -> int:
        return self.partition.leader

    @property
    def followers(self) -> list[int]:
        return [node for node in self.partition.replicas if node != self.leader]

    def send(
        self, value: bytes = b"v", *, acks: int = -1, timeout_ms: int = 30_000
    ) -> Callable[[], PartitionProduceResponse]:
        """Send a record to the leader; the answer is received by what is returned."""
        batch = build_batch([Record(0, 1, None, value)])
        request = ProduceRequest(
            None, acks, timeout_ms, [TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])]
        )
        client = self.clients[self.leader]
        number = client.send(request, VERSION)

        def receive() -> PartitionProduceResponse:
            response = client.receive(request, VERSION, number)
            answer: PartitionProduceResponse = response.responses[0].partition_responses[0]
            return answer

        return receive

    def taken(self, count: int) -> None:
        """Wait until the leader's log has so many records."""
        while self.partition.log_end_offset < count:
            pass

    def fetch(self, node: int, offset: int, *, version: int = 12, epoch: int = -1) -> PartitionData:
        asked = FetchPartition(0, fetch_offset=offset, current_leader_epoch=epoch, partition_max_bytes=1 << 20)
        request = FetchRequest(max_wait_ms=0, min_bytes=1, topics=[FetchTopic("t", partitions=[asked])])
        response = self.clients[node].request(request, version)
        found: PartitionData = response.responses[0].partitions[0]
        return found


def values(data: PartitionData) -> list[bytes | None]:
    assert isinstance(data.records, memoryview | bytes)
    return [record.value for batch in iter_batches(data.records) for record in batch.records()]


@pytest.fixture
def three() -> Iterator[Trio3]:
    topics = {"t": {"partitions": 1, "replication_factor": 3, "config": {"min.insync.replicas": 2}}}
    with KafkaBroker(nodes=3, topics=topics, config={"replica.lag.time.max.ms": 3000}) as broker:
        broker.clock.freeze()
        three = Trio3(broker)
        yield three
        for client in three.clients.values():
            client.close()
        assert not broker.bugs, broker.bugs[0]


def test_acks_all_waits_for_a_replica_that_is_kept_behind(three: Trio3) -> None:
    slow = three.followers[0]
    with three.broker.topic("t").pause_replication(0, slow):
        receive = three.send()
        three.taken(1)
        assert three.partition.high_watermark == 0
    answer = receive()
    assert (answer.error_code, answer.base_offset) == (0, 0)


def test_acks_1_waits_for_nobody(three: Trio3) -> None:
    three.broker.topic("t").pause_replication(0, three.followers[0])
    assert three.send(acks=1)().error_code == 0


def test_a_replica_that_falls_out_of_sync_is_waited_for_no_longer(three: Trio3) -> None:
    three.broker.topic("t").pause_replication(0, three.followers[0])
    receive = three.send()
    three.taken(1)
    three.broker.clock.advance(seconds=5)
    assert receive().error_code == 0
    assert len(three.partition.isr) == 2


def test_below_min_insync_replicas_a_waiting_producer_times_out(three: Trio3) -> None:
    for node in three.followers:
        three.broker.topic("t").pause_replication(0, node)
    receive = three.send(timeout_ms=10_000)
    three.taken(1)
    three.broker.clock.advance(seconds=5)
    while len(three.partition.isr) > 1:
        three.broker.clock.advance(seconds=0.1)
    assert three.partition.high_watermark == 0
    three.broker.clock.advance(seconds=6)
    assert receive().error_code == ErrorCode.REQUEST_TIMED_OUT
    assert three.send()().error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert three.partition.log_end_offset == 1


def test_a_leader_that_moves_answers_who_waits(three: Trio3) -> None:
    slow, fast = three.followers
    three.broker.topic("t").pause_replication(0, slow)
    receive = three.send()
    three.taken(1)
    three.broker.topic("t").move_leader(0, fast)
    answer = receive()
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert answer.current_leader.leader_id == fast
    assert three.partition.log_end_offset == 1, "the record lives on"


def test_a_follower_serves_what_it_has_up_to_its_own_high_watermark(three: Trio3) -> None:
    slow = three.followers[0]
    three.send(b"a")()
    three.broker.topic("t").pause_replication(0, slow)
    three.send(b"b", acks=1)()
    at_leader, at_follower = three.fetch(three.leader, 0), three.fetch(slow, 0)
    assert [values(data) for data in (at_leader, at_follower)] == [[b"a"], [b"a"]]
    assert three.fetch(three.leader, 1).error_code == 0, "behind the high watermark there is nothing, and no error"
    assert three.fetch(slow, 1).error_code == 0
    assert three.fetch(slow, 2).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert three.fetch(slow, 0, version=10).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert three.fetch(slow, 0, epoch=9).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


def test_consumers_see_other_records_at_the_same_offsets_after_an_unclean_loss(three: Trio3) -> None:
    dead = three.leader
    three.send(b"kept")()
    paused = {node: three.broker.topic("t").pause_replication(0, node) for node in three.followers}
    three.send(b"lost", acks=1)()
    three.broker.kill_node(dead)
    leader = three.leader
    paused[next(node for node in three.followers if node != dead)].undo()
    three.send(b"new")()
    assert three.fetch(leader, 1).error_code == 0
    assert values(three.fetch(leader, 1)) == [b"new"]
