"""Transactions whose coordinator's or partition's followers lag, fail or take over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from odradek import KafkaBroker
from odradek.protocol.errors import ErrorCode as E
from odradek.protocol.generated.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from odradek.protocol.generated.messages.describe_producers import DescribeProducersRequest, TopicRequest
from odradek.protocol.generated.messages.describe_transactions import DescribeTransactionsRequest
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from tests.fakes.lagging import TRANSACTION, Lagging, Pending

Producer = tuple[int, int]


class Transactions(Lagging):
    """A transactional producer by hand."""

    def __init__(self, broker: KafkaBroker) -> None:
        super().__init__(broker, "tx", TRANSACTION)

    def begun(self) -> Pending:
        return self.send(InitProducerIdRequest(self.key, 60_000), 4)

    def begin(self) -> Producer:
        answer = self.begun().answer()
        assert answer.error_code == 0
        return answer.producer_id, answer.producer_epoch

    def added(self, producer: Producer) -> Pending:
        topics = [AddPartitionsToTxnTopic("t", [0])]
        return self.send(AddPartitionsToTxnRequest([], self.key, *producer, topics), 3)

    def produced(self, producer: Producer, sequence: int = 0, version: int = 12) -> Pending:
        batch = build_batch(
            [Record(0, 0, None, b"v")],
            producer_id=producer[0],
            producer_epoch=producer[1],
            base_sequence=sequence,
            transactional=True,
        )
        data = [TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])]
        return self.send(ProduceRequest(self.key, -1, 30_000, data), version, self.data.leader_id)

    @property
    def data(self) -> Any:
        return self.broker.cluster.topics.by_name("t").partitions[0]

    def ended(self, producer: Producer, commit: bool = True, version: int = 5) -> Pending:
        return self.send(EndTxnRequest(self.key, *producer, commit), version)

    def state(self) -> str:
        (found,) = self.ask(DescribeTransactionsRequest([self.key]), 0).transaction_states
        assert found.error_code == 0, E(found.error_code)
        return str(found.transaction_state)

    def visible(self) -> int:
        return len(list(self.broker.records("t", isolation="read_committed")))

    def idempotent(self, sequence: int) -> tuple[int, int]:
        """(error, offset) of a batch with acks=1."""
        batch = build_batch([Record(0, 0, None, b"v")], producer_id=77, producer_epoch=0, base_sequence=sequence)
        data = [TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])]
        answer = self.ask(ProduceRequest(None, 1, 30_000, data), 12, self.data.leader_id)
        result = answer.responses[0].partition_responses[0]
        return result.error_code, result.base_offset

    def read_committed(self, node: int) -> tuple[int, int, int]:
        """High watermark, stable offset and number of batches that a node's replica gives a reader from 0 on."""
        partition = FetchPartition(0, -1, 0, -1, -1, 1 << 20)
        request = FetchRequest(
            max_wait_ms=0, max_bytes=1 << 20, isolation_level=1, topics=[FetchTopic("t", b"", [partition])]
        )
        (row,) = self.ask(request, 12, node).responses[0].partitions
        assert row.error_code == 0, E(row.error_code)
        batches = [batch for batch in iter_batches(row.records or b"") if not batch.is_control]
        return row.high_watermark, row.last_stable_offset, len(batches)

    def open_transactions(self, node: int) -> list[int]:
        """The first offsets of transactions that a node's replica knows to be open."""
        answer = self.ask(DescribeProducersRequest([TopicRequest("t", [0])]), 0, node)
        row = answer.topics[0].partitions[0]
        assert row.error_code == 0, E(row.error_code)
        return [p.current_txn_start_offset for p in row.active_producers if p.current_txn_start_offset >= 0]


def added(answer: Any) -> int:
    return int(answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code)


def produced(answer: Any) -> int:
    return int(answer.responses[0].partition_responses[0].error_code)


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    topics = {"t": {"partitions": 1, "replication_factor": 3}}
    with KafkaBroker(nodes=3, topics=topics, config={"replica.lag.time.max.ms": 3000}) as running:
        running.clock.freeze()
        yield running
        assert not running.bugs, running.bugs[0]


@pytest.fixture
def tx(broker: KafkaBroker) -> Iterator[Transactions]:
    one = Transactions(broker)
    yield one
    one.close()


# -- the coordinator's followers lag


def test_an_id_is_given_when_the_replicas_know_of_it(tx: Transactions) -> None:
    tx.pause()
    first = tx.begun()
    tx.waiting()
    assert tx.begun().answer().error_code == E.CONCURRENT_TRANSACTIONS
    tx.resume()
    assert first.answer().error_code == 0


def test_partitions_are_added_when_the_replicas_know_of_it(tx: Transactions) -> None:
    producer = tx.begin()
    tx.pause()
    waiting = tx.added(producer)
    tx.waiting()
    assert tx.state() == "Empty"
    assert added(tx.added(producer).answer()) == E.CONCURRENT_TRANSACTIONS
    tx.resume()
    assert added(waiting.answer()) == 0
    assert tx.state() == "Ongoing"


def test_a_produce_that_adds_its_partition_waits_for_the_coordinators_replicas(tx: Transactions) -> None:
    producer = tx.begin()
    tx.pause()
    waiting = tx.produced(producer)
    tx.waiting()
    assert tx.data.log.log_end_offset == 0
    tx.resume()
    assert produced(waiting.answer()) == 0
    assert tx.open_transactions(tx.data.leader_id) == [0]


def test_the_end_waits_until_the_follower_falls_out_of_the_replicas_in_sync(tx: Transactions) -> None:
    producer = tx.begin()
    assert produced(tx.produced(producer).answer()) == 0
    tx.pause(tx.followers[0])
    ended = tx.ended(producer)
    tx.waiting()
    assert tx.state() == "Ongoing"
    assert tx.ended(producer).answer().error_code == E.CONCURRENT_TRANSACTIONS
    tx.broker.clock.advance(seconds=4)
    assert ended.answer().error_code == 0
    tx.until(lambda: not tx._waiting())
    assert tx.state() == "CompleteCommit"
    assert tx.visible() == 1


def test_an_end_that_waits_for_longer_than_the_transaction_may_last_is_forgotten(tx: Transactions) -> None:
    producer = tx.begin()
    assert produced(tx.produced(producer).answer()) == 0
    tx.broker.kill_node(tx.followers[1])
    tx.pause()
    with tx.broker.topic(tx.topic).lag_replication(tx.index, tx.followers[0], seconds=0.5):
        ended = tx.ended(producer)
        tx.waiting()
    tx.until(lambda: not tx._waiting())
    assert ended.answer().error_code == 0


def test_below_min_insync_replicas_the_coordinator_writes_nothing(tx: Transactions) -> None:
    producer = tx.begin()
    assert produced(tx.produced(producer).answer()) == 0
    for node in tx.followers:
        tx.broker.kill_node(node)
    assert tx.partition.under_min_isr
    end = tx.partition.log.log_end_offset
    assert tx.ended(producer).answer().error_code == E.COORDINATOR_NOT_AVAILABLE
    assert tx.partition.log.log_end_offset == end
    assert tx.state() == "Ongoing"
    tx.broker.heal()
    assert tx.ended(producer).answer().error_code == 0
    assert tx.visible() == 1


def test_an_end_that_waits_dies_with_its_coordinator(tx: Transactions) -> None:
    producer = tx.begin()
    assert produced(tx.produced(producer).answer()) == 0
    tx.pause()
    ended = tx.ended(producer)
    tx.waiting()
    tx.broker.topic(tx.topic).move_leader(tx.index, tx.followers[0])
    assert ended.answer().error_code == E.NOT_COORDINATOR
    assert tx.find().node_id == tx.leader
    assert tx.state() == "Ongoing"
    tx.broker.heal()
    assert tx.ended(producer, commit=False).answer().error_code == 0
    assert (tx.state(), tx.visible()) == ("CompleteAbort", 0)


# -- the partition's followers lag


def test_a_marker_waits_for_the_replicas_of_its_partition(tx: Transactions) -> None:
    producer = tx.begin()
    assert produced(tx.produced(producer).answer()) == 0
    slow = next(node for node in tx.data.replicas if node != tx.data.leader_id)
    with tx.broker.topic("t").pause_replication(0, slow):
        assert tx.ended(producer).answer().error_code == 0
        assert tx.state() == "PrepareCommit"
        assert tx.visible() == 0
        assert tx.begun().answer().error_code == E.CONCURRENT_TRANSACTIONS
    assert tx.state() == "CompleteCommit"
    assert tx.visible() == 1
    assert tx.begun().answer().error_code == 0


def test_a_marker_that_waits_is_written_again_by_another_leader(tx: Transactions) -> None:
    producer = tx.begin()
    assert produced(tx.produced(producer).answer()) == 0
    successor = next(node for node in tx.data.replicas if node != tx.data.leader_id)
    for node in tx.data.replicas:
        if node != tx.data.leader_id:
            tx.broker.topic("t").pause_replication(0, node)
    assert tx.ended(producer).answer().error_code == 0
    assert tx.state() == "PrepareCommit"
    tx.broker.topic("t").move_leader(0, successor)
    assert tx.open_transactions(successor) == [0]
    tx.broker.heal()
    tx.broker.clock.advance(seconds=1)
    tx.until(lambda: tx.broker.transactions["tx"].state == "CompleteCommit")
    assert (tx.open_transactions(successor), tx.visible()) == ([], 1)


def test_a_marker_that_waits_for_long_is_written_once() -> None:
    """A difference: Kafka's leader gives up after request.timeout.ms, and the coordinator writes another one."""
    topics = {"t": {"partitions": 1, "replication_factor": 3}}
    with KafkaBroker(nodes=3, topics=topics, config={"replica.lag.time.max.ms": 50_000}) as broker:
        broker.clock.freeze()
        tx = Transactions(broker)
        producer = tx.begin()
        assert produced(tx.produced(producer).answer()) == 0
        slow = next(node for node in tx.data.replicas if node != tx.data.leader_id)
        with broker.topic("t").pause_replication(0, slow):
            assert tx.ended(producer).answer().error_code == 0
            broker.clock.advance(seconds=40)
            assert (tx.state(), tx.data.log.log_end_offset) == ("PrepareCommit", 2)
        assert (tx.state(), tx.visible(), tx.data.log.log_end_offset) == ("CompleteCommit", 1, 2)
        tx.close()


def test_a_partition_without_a_leader_keeps_a_hanging_transaction(tx: Transactions) -> None:
    producer = tx.begin()
    leader = tx.data.leader_id
    if leader == tx.leader:  # the coordinator outlives the leader of the partition
        tx.broker.topic(tx.topic).move_leader(tx.index, tx.followers[0])
    assert produced(tx.produced(producer).answer()) == 0
    followers = [node for node in tx.data.replicas if node != leader]
    for node in followers:
        tx.broker.topic("t").pause_replication(0, node)
    waiting = tx.produced(producer, 1)
    tx.until(lambda: tx.data.log.log_end_offset == 2)
    tx.broker.clock.advance(seconds=4)
    assert produced(waiting.answer()) == 0
    assert tx.data.isr == (leader,)
    tx.broker.kill_node(leader)
    assert tx.data.leader_id == -1
    assert tx.ended(producer).answer().error_code == 0
    assert tx.state() == "CompleteCommit"
    tx.broker.heal()
    assert tx.data.leader_id == leader
    assert tx.open_transactions(leader) == [0]
    assert tx.visible() == 0


def test_a_follower_answers_for_what_it_has(tx: Transactions) -> None:
    producer = tx.begin()
    assert produced(tx.produced(producer).answer()) == 0
    leader = tx.data.leader_id
    slow, other = [node for node in tx.data.replicas if node != leader]
    tx.broker.topic("t").pause_replication(0, slow)
    tx.broker.clock.advance(seconds=4)  # a follower that has everything stays in sync
    ended = tx.ended(producer)
    assert ended.answer().error_code == 0
    tx.broker.clock.advance(seconds=4)
    tx.until(lambda: tx.broker.transactions["tx"].state == "CompleteCommit")
    assert [tx.open_transactions(node) for node in (leader, other, slow)] == [[], [], [0]]
    assert [tx.read_committed(node) for node in (leader, other, slow)] == [(2, 2, 1), (2, 2, 1), (1, 0, 0)]


def test_a_replica_that_lacks_the_marker_of_an_abort_leads_with_an_open_transaction(tx: Transactions) -> None:
    producer = tx.begin()
    assert produced(tx.produced(producer).answer()) == 0
    if tx.data.leader_id == tx.leader:
        tx.broker.topic(tx.topic).move_leader(tx.index, tx.followers[0])
    leader = tx.data.leader_id
    slow, other = [node for node in tx.data.replicas if node != leader]
    tx.broker.topic("t").pause_replication(0, slow)
    tx.broker.topic("t").pause_replication(0, other)
    hold = tx.broker.hold("tx", at="CompleteAbort")
    assert tx.ended(producer, commit=False).answer().error_code == 0
    assert tx.data.log.log_end_offset == 2
    tx.broker.topic("t").move_leader(0, slow)
    assert tx.data.log.log_end_offset == 1
    assert tx.read_committed(slow) == (1, 0, 0)
    tx.broker.heal()
    tx.broker.clock.advance(seconds=1)  # the marker is written again
    tx.until(lambda: hold.reached)
    hold.release()
    assert tx.read_committed(slow) == (2, 2, 1)
    assert (tx.state(), tx.visible()) == ("CompleteAbort", 0)


def test_an_idempotent_producer_meets_a_leader_that_lacks_its_last_batches(tx: Transactions) -> None:
    leader = tx.data.leader_id
    successor = next(node for node in tx.data.replicas if node != leader)
    for sequence in range(3):
        assert tx.idempotent(sequence) == (0, sequence)
        if sequence == 0:
            for node in tx.data.replicas:
                if node != leader:
                    tx.broker.topic("t").pause_replication(0, node)
    tx.broker.topic("t").move_leader(0, successor)
    assert tx.data.log.log_end_offset == 1
    assert tx.idempotent(0) == (0, 0)
    assert tx.idempotent(3) == (E.OUT_OF_ORDER_SEQUENCE_NUMBER, -1)
    assert tx.idempotent(1) == (0, 1)


def test_a_leader_that_is_cut_off_from_the_coordinator_takes_no_transaction(tx: Transactions) -> None:
    producer = tx.begin()
    if tx.data.leader_id == tx.leader:
        tx.broker.topic(tx.topic).move_leader(tx.index, tx.followers[0])
    with tx.broker.cut(tx.leader, tx.data.leader_id):
        assert produced(tx.produced(producer).answer()) == E.NOT_ENOUGH_REPLICAS
    assert produced(tx.produced(producer).answer()) == 0
    with tx.broker.cut(tx.leader, tx.data.leader_id):
        ended = tx.ended(producer)
        tx.broker.clock.advance(seconds=4)  # the coordinator's follower falls out of the replicas in sync
        assert ended.answer().error_code == 0
        assert (tx.state(), tx.visible()) == ("PrepareCommit", 0)
    tx.broker.clock.advance(seconds=1)
    tx.until(lambda: tx.broker.transactions["tx"].state == "CompleteCommit")
    assert tx.visible() == 1


def test_a_held_transaction_is_held_with_replicas_that_lag(tx: Transactions) -> None:
    producer = tx.begin()
    assert produced(tx.produced(producer).answer()) == 0
    tx.pause()
    hold = tx.broker.hold("tx", at="PrepareCommit")
    ended = tx.ended(producer)
    tx.waiting()
    assert not hold.reached
    tx.resume()
    assert ended.answer().error_code == 0
    assert hold.reached
    assert tx.state() == "PrepareCommit"
    hold.release()
    assert tx.state() == "CompleteCommit"
