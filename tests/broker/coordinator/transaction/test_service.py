"""Coordinators in a cluster: routing, the guard of partitions, markers, versions, several nodes. Driven over TCP."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from odradek import KafkaBroker, open_broker
from odradek.broker.facade.broker import Broker
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.generated.messages.describe_producers import DescribeProducersRequest, TopicRequest
from odradek.protocol.generated.messages.describe_transactions import DescribeTransactionsRequest
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.list_transactions import ListTransactionsRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.generated.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from odradek.protocol.generated.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.wire_client import WireClient

Producer = tuple[int, int]


class Client:
    """A producer by hand, on the connections of a broker."""

    def __init__(self, broker: Broker, transactional_id: str = "tx") -> None:
        self.broker = broker
        self.transactional_id = transactional_id
        self.wires: dict[int, WireClient] = {}
        self.found = self.ask(FindCoordinatorRequest(key=transactional_id, key_type=1), 2)

    def wire(self, node: int) -> WireClient:
        if node not in self.wires:
            host, _, port = self.broker.bootstrap_servers.split(",")[node - 1].rpartition(":")
            self.wires[node] = WireClient(host, int(port))
        return self.wires[node]

    def ask(self, request: Any, version: int, node: int = 1) -> Any:
        return self.wire(node).request(request, version)

    def close(self) -> None:
        for wire in self.wires.values():
            wire.close()

    @property
    def coordinator(self) -> int:
        return int(self.found.node_id)

    def init(self, version: int = 4) -> Producer:
        request = InitProducerIdRequest(self.transactional_id, 60_000)
        answer = self.ask(request, version, self.coordinator)
        assert answer.error_code == 0
        return answer.producer_id, answer.producer_epoch

    def add(self, producer: Producer, *partitions: int, topic: str = "t") -> int:
        topics = [AddPartitionsToTxnTopic(topic, list(partitions))]
        request = AddPartitionsToTxnRequest([], self.transactional_id, *producer, topics)
        answer = self.ask(request, 3, self.coordinator)
        return int(answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code)

    def produce(
        self, producer: Producer, partition: int = 0, *, version: int = 12, sequence: int = 0
    ) -> tuple[int, Any]:
        batch = build_batch(
            [Record(0, 0, None, b"v")],
            producer_id=producer[0],
            producer_epoch=producer[1],
            base_sequence=sequence,
            transactional=True,
        )
        data = [TopicProduceData("t", partition_data=[PartitionProduceData(partition, batch)])]
        node = self.broker.topics["t"].partitions[partition].leader
        answer = self.ask(ProduceRequest(self.transactional_id, -1, 1000, data), version, node)
        result = answer.responses[0].partition_responses[0]
        return result.error_code, result.error_message

    def end(self, producer: Producer, commit: bool = True, version: int = 5) -> int:
        request = EndTxnRequest(self.transactional_id, *producer, commit)
        return int(self.ask(request, version, self.coordinator).error_code)

    def visible(self) -> int:
        return len(list(self.broker.records("t", isolation="read_committed")))


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(topics={"t": 2}) as running:
        yield running
        assert not running.bugs


@pytest.fixture
def client(broker: KafkaBroker) -> Iterator[Client]:
    one = Client(broker)
    yield one
    one.close()


def test_no_id_is_coordinated_before_somebody_looked_for_its_coordinator(broker: KafkaBroker) -> None:
    host, _, port = broker.bootstrap_servers.rpartition(":")
    with WireClient(host, int(port)) as wire:
        answer = wire.request(InitProducerIdRequest("tx", 1000), 4)
        assert answer.error_code == ErrorCode.NOT_COORDINATOR
        assert wire.request(ListTransactionsRequest(), 2).transaction_states == []


# -- the guard


@pytest.mark.parametrize("version", [9, 12])
def test_a_producer_whose_id_has_no_coordinator_is_told_to_come_back(broker: KafkaBroker, version: int) -> None:
    host, _, port = broker.bootstrap_servers.rpartition(":")
    batch = build_batch(
        [Record(0, 0, None, b"v")], producer_id=5, producer_epoch=0, base_sequence=0, transactional=True
    )
    data = [TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])]
    with WireClient(host, int(port)) as wire:
        answer = wire.request(ProduceRequest("tx", -1, 1000, data), version).responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert answer.error_message.endswith("Underlying error: COORDINATOR_NOT_AVAILABLE")


def test_a_transaction_that_is_ending_makes_producers_wait(broker: KafkaBroker, client: Client) -> None:
    producer = client.init()
    assert client.add(producer, 0) == 0
    hold = broker.hold("tx", at="PrepareCommit")
    assert client.end(producer, version=4) == 0
    # an older client is told to come back in words that it knows
    code, message = client.produce(producer, version=9)
    assert code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert message is not None
    assert message.endswith("Underlying error: CONCURRENT_TRANSACTIONS")
    code, message = client.produce(producer, version=12)
    assert (code, message) == (ErrorCode.CONCURRENT_TRANSACTIONS, None)
    hold.release()
    assert client.produce(producer, version=12) == (0, None)


def test_verification_can_be_switched_off() -> None:
    with KafkaBroker(topics={"t": 1}, config={"transaction.partition.verification.enable": "false"}) as broker:
        client = Client(broker)
        producer = client.init()
        assert client.produce(producer, version=9) == (0, None)
        assert broker.transactions["tx"].state == "Empty", "nobody told the coordinator"
        assert client.produce(producer, version=12, sequence=1)[0] == 0
        client.close()


def test_a_partition_registers_once(broker: KafkaBroker, client: Client) -> None:
    producer = client.init()
    for sequence in range(3):
        assert client.produce(producer, sequence=sequence) == (0, None)
    info = broker.transactions["tx"]
    assert (info.state, info.partitions) == ("Ongoing", (("t", 0),))
    stored = [record for record in broker.records("__transaction_state") if record.value is not None]
    assert len(stored) == 2, "one for the producer, one for its partition"


# -- versions


def test_transaction_version_0_stores_records_of_version_0(broker: KafkaBroker, client: Client) -> None:
    update = FeatureUpdateKey("transaction.version", 0, upgrade_type=2)
    answer = client.ask(UpdateFeaturesRequest(1000, [update]), 1)
    assert answer.error_code == 0
    producer = client.init()
    assert client.add(producer, 0) == 0
    assert client.end(producer, version=4) == 0
    versions = {record.value[:2] for record in broker.records("__transaction_state") if record.value}
    assert versions == {b"\0\0"}
    # a coordinator that aborts fences in the old way too
    assert client.add(producer, 0) == 0
    request = InitProducerIdRequest("tx", 60_000)
    assert client.ask(request, 4).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert client.end(producer, version=4) == ErrorCode.PRODUCER_FENCED
    assert client.init() == (producer[0], producer[1] + 2)


# -- markers


def test_a_deleted_topic_does_not_hold_the_transaction_up(broker: KafkaBroker, client: Client) -> None:
    producer = client.init()
    broker.create_topic("gone")
    assert client.add(producer, 0) == 0
    assert client.add(producer, 0, topic="gone") == 0
    client.ask(DeleteTopicsRequest([DeleteTopicState("gone")], timeout_ms=1000), 6)
    assert client.end(producer, version=4) == 0
    assert broker.transactions["tx"].state == "CompleteCommit"


def test_markers_of_version_2_need_a_newer_epoch(broker: KafkaBroker, client: Client) -> None:
    pid, epoch = client.init()
    assert client.produce((pid, epoch))[0] == 0

    def write(producer_epoch: int, version: int) -> int:
        topics = [WritableTxnMarkerTopic("t", [0])]
        marker = WritableTxnMarker(pid, producer_epoch, False, topics, 0, version)
        answer = client.ask(WriteTxnMarkersRequest([marker]), 2)
        return int(answer.markers[0].topics[0].partitions[0].error_code)

    assert write(epoch, 2) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert write(epoch + 1, 2) == 0
    assert write(epoch + 1, 2) == 0, "written once more: a retry"
    assert write(epoch, 0) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_describe_producers_shows_the_open_transaction(broker: KafkaBroker, client: Client) -> None:
    producer = client.init()
    client.produce(producer)

    def seen() -> tuple[int, int, int]:
        answer = client.ask(DescribeProducersRequest([TopicRequest("t", [0])]), 0)
        (found,) = answer.topics[0].partitions[0].active_producers
        return found.producer_epoch, found.current_txn_start_offset, found.coordinator_epoch

    assert seen() == (0, 0, -1)
    assert client.end(producer) == 0
    assert seen() == (1, -1, 0)


# -- several nodes


def test_each_id_has_its_coordinator_and_a_moved_one_goes_on() -> None:
    with KafkaBroker(nodes=3, topics={"t": {"partitions": 3, "replication_factor": 3}}) as broker:
        clients = [Client(broker, f"id-{number}") for number in range(6)]
        assert len({client.coordinator for client in clients}) > 1
        client = clients[0]
        other = client.coordinator % 3 + 1
        wrong = client.ask(DescribeTransactionsRequest([client.transactional_id]), 0, other)
        assert wrong.transaction_states[0].error_code == ErrorCode.NOT_COORDINATOR
        producer = client.init()
        hold = broker.hold(client.transactional_id, at="Marker:t-1")
        for partition in range(3):
            assert client.produce(producer, partition) == (0, None)
        assert client.end(producer) == 0
        assert client.visible() == 2
        # the coordinator's node dies: another one loads the id and is held at the same point
        broker.stop_node(client.coordinator)
        moved = Client(broker, client.transactional_id)
        info = broker.transactions[client.transactional_id]
        assert (info.state, info.coordinator_id) == ("PrepareCommit", moved.found.node_id)
        assert info.coordinator_id != client.coordinator
        hold.release()
        assert broker.transactions[client.transactional_id].state == "CompleteCommit"
        assert client.visible() == 3
        for each in (*clients, moved):
            each.close()
        assert not broker.bugs


def test_a_marker_that_a_frozen_leader_does_not_take_is_written_once_it_thaws() -> None:
    alone = {"transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1"}
    with KafkaBroker(nodes=2, topics={"t": {"partitions": 2, "replication_factor": 1}}, config=alone) as broker:
        client = next(
            each for each in (Client(broker, f"id-{number}") for number in range(20)) if each.coordinator == 1
        )
        away = next(each.index for each in broker.topics["t"].partitions if each.leader == 2)
        producer = client.init()
        assert client.produce(producer, away) == (0, None)
        broker.freeze_node(2)
        assert client.end(producer) == 0
        broker.clock.advance(1)
        assert broker.transactions[client.transactional_id].state == "PrepareCommit"
        broker.thaw_node(2)
        broker.clock.advance(1)
        assert broker.transactions[client.transactional_id].state == "CompleteCommit"
        assert client.visible() == 1
        client.close()
        assert not broker.bugs


# -- a log directory


def test_a_restarted_broker_ends_what_was_being_ended_and_aborts_what_was_left_open(tmp_path: Path) -> None:
    with KafkaBroker(topics={"t": 2}, data_dir=tmp_path) as broker:
        committing, abandoned = Client(broker, "committing"), Client(broker, "abandoned")
        producer = committing.init()
        assert committing.produce(producer, 0) == (0, None)
        broker.hold("committing", at="PrepareCommit")
        assert committing.end(producer) == 0
        assert abandoned.produce(abandoned.init(), 1) == (0, None)
        assert committing.visible() == 0
    with KafkaBroker(data_dir=tmp_path) as broker:
        assert [record.partition for record in broker.records("t", isolation="read_committed")] == [0]
        partition = broker.topics["t"].partitions[1]
        assert (partition.last_stable_offset, partition.high_watermark) == (0, 1)
        broker.clock.advance(minutes=2)
        partition = broker.topics["t"].partitions[1]
        assert (partition.last_stable_offset, partition.high_watermark) == (2, 2)
        assert not broker.bugs
    committing.close()
    abandoned.close()


def test_a_look_finds_a_coordinator_loaded() -> None:
    def one_transaction(broker: Broker) -> None:
        client = Client(broker)
        client.produce(client.init())
        client.close()

    async def main() -> None:
        async with open_broker(topics={"t": 1}) as broker:
            await trio.to_thread.run_sync(one_transaction, broker)
            await broker.reload_coordinator(broker.cluster.transactions.partition_for("tx"), "__transaction_state")
            assert broker.transactions["tx"].state == "Ongoing"

    trio.run(main)


class TestWaitingForAHold:
    """A test thread waits until the producer's transaction stands at the point."""

    @pytest.fixture
    def producer(self, broker: KafkaBroker, client: Client) -> Iterator[threading.Timer]:
        """Commits a transaction, a moment after it is started."""
        producer = client.init()
        assert client.produce(producer)[0] == 0
        late = threading.Timer(0.05, client.end, [producer])
        yield late
        late.join()

    def test_blocking(self, broker: KafkaBroker, producer: threading.Timer) -> None:
        with broker.hold("tx", at="PrepareCommit") as hold:
            with pytest.raises(TimeoutError, match=r"'tx' not at PrepareCommit after 0\.01 s"):
                hold.wait(timeout=0.01)
            producer.start()
            hold.wait()
            assert broker.transactions["tx"].state == "PrepareCommit"

    def test_in_asyncio(self, broker: KafkaBroker, producer: threading.Timer) -> None:
        async def main() -> None:
            with broker.hold("tx", at="Marker:t-0") as hold:
                with pytest.raises(TimeoutError):
                    await asyncio.to_thread(hold.wait, timeout=0.01)
                producer.start()
                await asyncio.to_thread(hold.wait)
                assert broker.transactions["tx"].held_at == ("Marker:t-0",)

        asyncio.run(main())

    def test_in_the_brokers_own_trio_run(self) -> None:
        def commit(broker: Broker) -> None:
            client = Client(broker)
            producer = client.init()
            assert client.produce(producer)[0] == 0
            client.end(producer)
            client.close()

        async def main() -> None:
            async with (
                open_broker(topics={"t": 1}) as broker,
                trio.open_nursery() as nursery,
                broker.hold("tx", at="CompleteCommit") as hold,
            ):
                with pytest.raises(TimeoutError):
                    await hold.wait(timeout=0.01)
                nursery.start_soon(trio.to_thread.run_sync, commit, broker)
                await hold.wait()
                assert broker.transactions["tx"].state == "PrepareCommit"

        trio.run(main)
