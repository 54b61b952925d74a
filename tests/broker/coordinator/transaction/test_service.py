"""Coordinators in a cluster: routing, the guard of partitions, markers, versions, several nodes. Driven over TCP."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trio

from odradek import KafkaBroker, open_broker
from odradek.broker.coordinator.transaction.service import MarkerWriter, coordinated_by, is_gone, select_transactions
from odradek.broker.coordinator.transaction.transaction import AddPartitions, InitProducerId
from odradek.broker.facade.broker import Broker
from odradek.broker.facade.generated.blocking.broker import BlockingBroker
from odradek.broker.partitions.partition import Partition
from odradek.broker.runtime.machine import Producer
from odradek.protocol.errors import ErrorCode, KafkaError
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
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from tests.fakes.brokers import broker_fixture
from tests.fakes.data_plane import DataPlane
from tests.fakes.nodes import set_node_up
from tests.fakes.wire_client import WireClient

ClientProducer = tuple[int, int]


class Client:
    """A producer by hand, on the connections of a broker."""

    def __init__(self, broker: Broker, transactional_id: str = "tx") -> None:
        self.broker = broker
        self.transactional_id = transactional_id
        self.wires: dict[int, WireClient] = {}
        self.found = self.ask(FindCoordinatorRequest(key=transactional_id, key_type=1), 2)

    def wire(self, node: int) -> WireClient:
        if node not in self.wires:
            self.wires[node] = WireClient.at(self.broker.bootstrap_servers.split(",")[node - 1])
        return self.wires[node]

    def ask(self, request: Any, version: int, node: int = 1) -> Any:
        return self.wire(node).request(request, version)

    def close(self) -> None:
        for wire in self.wires.values():
            wire.close()

    @property
    def coordinator(self) -> int:
        return int(self.found.node_id)

    def init(self, version: int = 4) -> ClientProducer:
        request = InitProducerIdRequest(self.transactional_id, 60_000)
        answer = self.ask(request, version, self.coordinator)
        assert answer.error_code == 0
        return answer.producer_id, answer.producer_epoch

    def add(self, producer: ClientProducer, *partitions: int, topic: str = "t") -> int:
        topics = [AddPartitionsToTxnTopic(topic, list(partitions))]
        request = AddPartitionsToTxnRequest([], self.transactional_id, *producer, topics)
        answer = self.ask(request, 3, self.coordinator)
        return int(answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code)

    def produce(
        self, producer: ClientProducer, partition: int = 0, *, version: int = 12, sequence: int = 0
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

    def end(self, producer: ClientProducer, commit: bool = True, version: int = 5) -> int:
        request = EndTxnRequest(self.transactional_id, *producer, commit)
        return int(self.ask(request, version, self.coordinator).error_code)

    def visible(self) -> int:
        return len(list(self.broker.records("t", isolation="read_committed")))


broker = broker_fixture(topics={"t": 2})


@pytest.fixture
def client(broker: KafkaBroker) -> Iterator[Client]:
    one = Client(broker)
    yield one
    one.close()


def test_no_id_is_coordinated_before_somebody_looked_for_its_coordinator(broker: KafkaBroker) -> None:
    with WireClient.at(broker.bootstrap_servers) as wire:
        answer = wire.request(InitProducerIdRequest("tx", 1000), 4)
        assert answer.error_code == ErrorCode.NOT_COORDINATOR
        assert wire.request(ListTransactionsRequest(), 2).transaction_states == []


# -- the guard


@pytest.mark.parametrize("version", [9, 12])
def test_a_producer_whose_id_has_no_coordinator_is_told_to_come_back(broker: KafkaBroker, version: int) -> None:
    batch = build_batch(
        [Record(0, 0, None, b"v")], producer_id=5, producer_epoch=0, base_sequence=0, transactional=True
    )
    data = [TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])]
    with WireClient.at(broker.bootstrap_servers) as wire:
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


def test_produce_registers_a_partition_once(broker: KafkaBroker, client: Client) -> None:
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

    def test_hold_is_awaited_in_a_thread(self, broker: KafkaBroker, producer: threading.Timer) -> None:
        with broker.hold("tx", at="PrepareCommit") as hold:
            with pytest.raises(TimeoutError, match=r"'tx' not at PrepareCommit after 0\.01 s"):
                hold.wait(timeout=0.01)
            producer.start()
            hold.wait()
            assert broker.transactions["tx"].state == "PrepareCommit"

    def test_hold_is_awaited_in_asyncio(self, broker: KafkaBroker, producer: threading.Timer) -> None:
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


E = ErrorCode
PRODUCER = Producer(7, 2)


@pytest.fixture
def plane() -> DataPlane:
    return DataPlane(nodes=2, topics={"t": 2})


def first(plane: DataPlane) -> Partition:
    topic = plane.cluster.topics.get("t")
    assert topic is not None
    return topic.partitions[0]


def writer_of(plane: DataPlane) -> MarkerWriter:
    return plane.cluster.transactions.markers


def write(plane: DataPlane, topic: str = "t", index: int = 0, producer: Producer = PRODUCER, **options: object) -> None:
    writer_of(plane).write(topic, index, producer, commit=True, coordinator_epoch=0, **options)  # type: ignore[arg-type]


def code_of(action: Callable[[], object]) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        action()
    return caught.value.code


def produce_in_transaction(plane: DataPlane, producer_epoch: int = 2) -> None:
    batch = plane.batch(1, producer_id=7, producer_epoch=producer_epoch, base_sequence=0, transactional=True)
    first(plane).append(bytes(batch), now_ms=plane.cluster.clock.now_ms())


def test_a_marker_is_a_control_batch_of_the_producer(plane: DataPlane) -> None:
    write(plane)
    log = first(plane).log
    (batch,) = [
        batch
        for part in log.read(0, max_bytes=1000, up_to_offset=log.log_end_offset).parts
        for batch in iter_batches(part)
    ]
    assert batch.is_control
    assert batch.is_transactional
    assert (batch.producer_id, batch.producer_epoch) == PRODUCER


def test_partitions_that_are_not_there_are_gone(plane: DataPlane) -> None:
    for topic, index in (("t", 2), ("t", -1), ("nope", 0)):
        with pytest.raises(KafkaError) as caught:
            write(plane, topic, index)
        assert caught.value.code is E.UNKNOWN_TOPIC_OR_PARTITION
        assert is_gone(caught.value)


def test_a_marker_needs_a_producer(plane: DataPlane) -> None:
    assert code_of(lambda: write(plane, producer=Producer(-1, 0))) is E.UNKNOWN_SERVER_ERROR
    assert code_of(lambda: write(plane, producer=Producer(7, -1))) is E.UNKNOWN_SERVER_ERROR


def test_only_a_leader_takes_it_and_without_one_it_is_left_out(plane: DataPlane) -> None:
    leader = first(plane).leader_id
    nodes = plane.cluster.nodes
    write(plane, node=nodes[leader])
    assert code_of(lambda: write(plane, node=nodes[3 - leader])) is E.NOT_LEADER_OR_FOLLOWER
    set_node_up(plane.cluster, leader, False)
    with pytest.raises(KafkaError) as caught:
        write(plane)
    assert is_gone(caught.value)  # as Kafka has it
    assert code_of(lambda: write(plane, node=nodes[leader])) is E.NOT_LEADER_OR_FOLLOWER


def test_a_leader_that_the_coordinator_does_not_reach_is_tried_again(plane: DataPlane) -> None:
    cluster = plane.cluster
    leader = first(plane).leader_id
    cuts = {frozenset((leader, 3 - leader))}
    writer = MarkerWriter(cluster.topics, cluster.nodes, cluster.services.groups, cluster.clock, cuts)
    with pytest.raises(KafkaError) as caught:
        writer.write("t", 0, PRODUCER, commit=True, coordinator_epoch=0, coordinator_id=3 - leader)
    assert not is_gone(caught.value)
    writer.write("t", 0, PRODUCER, commit=True, coordinator_epoch=0, coordinator_id=leader)


def test_a_leader_that_is_frozen_is_tried_again(plane: DataPlane) -> None:
    cluster = plane.cluster
    frozen = {first(plane).leader_id}
    writer = MarkerWriter(cluster.topics, cluster.nodes, cluster.services.groups, cluster.clock, frozen=frozen)
    end = first(plane).log.log_end_offset
    with pytest.raises(KafkaError) as caught:
        writer.write("t", 0, PRODUCER, commit=True, coordinator_epoch=0)
    assert not is_gone(caught.value)
    assert first(plane).log.log_end_offset == end
    frozen.clear()
    writer.write("t", 0, PRODUCER, commit=True, coordinator_epoch=0)


def test_version_2_needs_a_newer_epoch_while_the_transaction_is_open(plane: DataPlane) -> None:
    produce_in_transaction(plane)
    assert code_of(lambda: write(plane, transaction_version=2)) is E.INVALID_PRODUCER_EPOCH
    write(plane, producer=Producer(7, 3), transaction_version=2)
    write(plane, producer=Producer(7, 3), transaction_version=2)


def test_a_marker_for_offsets_goes_through_the_group_coordinator(
    plane: DataPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = plane.cluster.groups
    groups.topic.ensure()
    settled: list[tuple[int, int, bool]] = []
    monkeypatch.setattr(groups, "_surroundings", groups._surroundings._replace(start=lambda run: None))
    machine = SimpleNamespace(replay_marker=lambda *marker: settled.append(marker))
    monkeypatch.setattr(groups.shard(3), "_machine", machine)
    cluster = plane.cluster
    writer = MarkerWriter(cluster.topics, cluster.nodes, lambda: groups, cluster.clock)
    writer.write("__consumer_offsets", 3, PRODUCER, commit=False, coordinator_epoch=0)
    assert settled == [(*PRODUCER, False)]


def begin(broker: BlockingBroker, transactional_id: str, *, partitions: bool = True) -> int:
    """A transaction of that id, begun if it has a partition; its producer id."""

    def ask() -> int:
        transactions = broker.cluster.transactions
        transactions.topic.ensure()
        identity = transactions.ask_now(transactional_id, InitProducerId(transactional_id, 60_000, None))
        assert identity is not None
        if partitions:
            command = AddPartitions(transactional_id, identity.producer_id, identity.producer_epoch, [("t", 0)])
            transactions.ask_now(transactional_id, command)
        return identity.producer_id

    producer_id: int = broker._call(ask)
    return producer_id


def selected(broker: BlockingBroker, **filters: object) -> list[str]:
    """The ids that pass."""

    def look() -> list[str]:
        cluster = broker.cluster
        now_ms = cluster.clock.now_ms()
        found, _ = select_transactions(cluster.transactions, cluster.nodes[1], now_ms=now_ms, **filters)  # type: ignore[arg-type]
        return sorted(transaction.transactional_id for transaction in found)

    ids: list[str] = broker._call(look)
    return ids


def test_a_pattern_that_backtracks_keeps_nobody_waiting() -> None:
    pytest.importorskip("re2")
    with KafkaBroker(topics={"t": 1}) as broker:
        begin(broker, "a" * 20_000)
        assert selected(broker, id_pattern="(a+)+b") == []


def test_list_transactions_filters_by_state_id_and_duration() -> None:
    with KafkaBroker(topics={"t": 1}) as broker:
        broker.clock.freeze()
        first = begin(broker, "order-1")
        begin(broker, "order-2", partitions=False)
        broker.clock.advance(10)
        begin(broker, "bill-1")
        assert selected(broker) == ["bill-1", "order-1", "order-2"]
        assert selected(broker, states=["Ongoing"]) == ["bill-1", "order-1"]
        assert selected(broker, states=["Empty", "nonsense"]) == ["order-2"]
        assert selected(broker, producer_ids=[first]) == ["order-1"]
        assert selected(broker, states=["Ongoing"], longer_than_ms=5_000) == ["order-1"]
        assert selected(broker, id_pattern="order-.*") == ["order-1", "order-2"]
        assert selected(broker, id_pattern="order") == []


def test_names_that_are_no_states_are_told() -> None:
    with KafkaBroker() as broker:
        cluster = broker.cluster
        _, unknown = broker._call(
            lambda: select_transactions(cluster.transactions, cluster.nodes[1], now_ms=0, states=["Empty", "x"])
        )
        assert unknown == ["x"]


def test_a_coordinator_that_loads_has_no_answer() -> None:
    with KafkaBroker(topics={"t": 1}) as broker:
        begin(broker, "tx")
        cluster = broker.cluster

        def look() -> object:
            transactions = cluster.transactions
            transactions.reload(transactions.partition_for("tx"))
            return coordinated_by(transactions, cluster.nodes[1])

        with pytest.raises(KafkaError) as caught:
            broker._call(look)
        assert caught.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
