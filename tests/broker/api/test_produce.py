"""Produce: answers, errors and their levels, as recorded from Kafka 4.3.1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

import pytest
import trio

from odradek import KafkaBroker
from odradek.broker.api.produce import Uncommitted
from odradek.broker.cluster import Cluster
from odradek.broker.controller.topic_control import NewTopic
from odradek.broker.coordinator.transaction.verification import Claim, Support
from odradek.broker.facade.topics import PartitionInfo
from odradek.broker.requests.context import CloseConnection
from odradek.broker.requests.parked_request import is_coroutine
from odradek.broker.requests.services import Deferred
from odradek.broker.security.acl import Operation, Resource
from odradek.broker.security.principal import Principal
from odradek.broker.worker import ThreadWork
from odradek.protocol.compression import DEFAULT_MAX_INFLATED, Codec
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from odradek.protocol.message_codec import codec
from odradek.protocol.record_batch import assign_offsets, build_batch, iter_batches
from odradek.protocol.records import Record
from tests.fakes.acls import SECURED, allow
from tests.fakes.ask import ask, handler_of
from tests.fakes.data_plane import START_MS, DataPlane
from tests.fakes.nodes import NO_LEADER_CHANGE, set_leader
from tests.fakes.wire_client import WireClient


@pytest.fixture
def plane() -> DataPlane:
    return DataPlane(topics={"a": 3, "b": 1})


def shape(answer: PartitionProduceResponse) -> tuple[int, int, int, int]:
    """(error code, base offset, log append time, log start offset)."""
    return answer.error_code, answer.base_offset, answer.log_append_time_ms, answer.log_start_offset


def several(*topics: TopicProduceData, acks: int = -1) -> ProduceRequest:
    return ProduceRequest(None, acks, 1000, list(topics))


# -- what is taken


def test_log_append_time_is_the_brokers_clock(plane: DataPlane) -> None:
    plane.topic("stamped", message_timestamp_type="LogAppendTime")
    plane.cluster.clock.advance(hours=1)
    assert shape(plane.produce("stamped", plane.batch(timestamp=5))) == (0, 0, START_MS + 3_600_000, 0)


def test_several_topics_and_partitions_answer_for_themselves(plane: DataPlane) -> None:
    good, bad = plane.batch(), bytearray(plane.batch())
    bad[-1] ^= 1
    request = several(
        TopicProduceData("a", partition_data=[PartitionProduceData(0, good), PartitionProduceData(1, memoryview(bad))]),
        TopicProduceData("nope", partition_data=[PartitionProduceData(0, good)]),
        TopicProduceData("b", partition_data=[PartitionProduceData(0, good)]),
    )
    response = plane.call(request, 9)
    found = {(t.name, p.index): p.error_code for t in response.responses for p in t.partition_responses}
    assert found == {
        ("a", 0): 0,
        ("a", 1): ErrorCode.CORRUPT_MESSAGE,
        ("nope", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ("b", 0): 0,
    }


def test_no_topics_is_an_empty_answer(plane: DataPlane) -> None:
    assert plane.call(several(), 9) == ProduceResponse()


@pytest.mark.parametrize("version", [11, 12])
def test_a_transactional_batch_without_a_producer_id_is_in_no_transaction(plane: DataPlane, version: int) -> None:
    records = build_batch([Record(0, 1_700_000_000_000, None, b"v", ())], transactional=True)
    request = several(TopicProduceData("a", partition_data=[PartitionProduceData(0, memoryview(records))]))
    request.transactional_id = "x"
    [topic] = plane.call(request, version).responses
    assert shape(topic.partition_responses[0]) == (0, 0, -1, 0)


def test_of_a_partition_named_twice_the_last_is_answered_though_the_first_is_refused(plane: DataPlane) -> None:
    twice = [PartitionProduceData(0, memoryview(bytes(plane.batch(1)) * 2)), PartitionProduceData(0, plane.batch(3))]
    response = plane.call(several(TopicProduceData("a", partition_data=twice)), 9)
    assert [shape(each) for each in response.responses[0].partition_responses] == [(0, 0, -1, 0)]


# -- what is refused


def test_produce_to_an_unknown_topic_or_partition_is_refused(plane: DataPlane) -> None:
    unknown = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1, -1)
    assert shape(plane.produce("nope", 1)) == unknown
    assert shape(plane.produce("a", 1, partition=99)) == unknown
    assert shape(plane.produce("a", 1, partition=-1)) == unknown
    assert shape(plane.produce("a", 1, partition=99, version=13)) == unknown
    assert shape(plane.produce("nope", 1, version=13)) == (ErrorCode.UNKNOWN_TOPIC_ID, -1, -1, -1)


@pytest.mark.parametrize("acks", [2, -2, 32767])
def test_produce_with_other_acks_is_refused(plane: DataPlane, acks: int) -> None:
    assert shape(plane.produce("a", 1, acks=acks)) == (ErrorCode.INVALID_REQUIRED_ACKS, -1, -1, -1)


@pytest.mark.parametrize("batches", [0, 2])
def test_the_number_of_batches_is_looked_at_before_acks(plane: DataPlane, batches: int) -> None:
    answer = plane.produce("a", memoryview(bytes(plane.batch()) * batches), acks=100)
    assert shape(answer) == (ErrorCode.INVALID_RECORD, -1, -1, -1)


def test_produce_of_a_batch_above_max_message_bytes_is_refused(plane: DataPlane) -> None:
    plane.topic("small", max_message_bytes="100")
    assert shape(plane.produce("small", plane.batch(size=500))) == (ErrorCode.MESSAGE_TOO_LARGE, -1, -1, -1)


def test_produce_with_zstd_before_version_7_is_refused(plane: DataPlane) -> None:
    packed = plane.batch(codec=Codec.ZSTD)
    assert shape(plane.produce("a", packed, version=6)) == (ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, -1, -1, -1)
    assert shape(plane.produce("a", packed, version=7)) == (0, 0, -1, 0)


def test_sequences_out_of_order_tell_the_log_start(plane: DataPlane) -> None:
    producer: dict[str, Any] = {"producer_id": 7, "producer_epoch": 1}
    plane.produce("a", plane.batch(1, base_sequence=0, **producer))
    gap = plane.produce("a", plane.batch(1, base_sequence=5, **producer))
    assert shape(gap) == (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1, -1, 0)
    assert gap.error_message is None
    old = plane.produce("a", plane.batch(1, base_sequence=0, producer_id=7, producer_epoch=0))
    assert shape(old) == (ErrorCode.INVALID_PRODUCER_EPOCH, -1, -1, 0)


def test_null_and_empty_records_are_answered(plane: DataPlane) -> None:
    assert shape(plane.produce("a", None)) == (ErrorCode.INVALID_RECORD, -1, -1, -1)
    assert shape(plane.produce("a", b"")) == (ErrorCode.INVALID_RECORD, -1, -1, -1)


def test_two_batches_in_one_partition(plane: DataPlane) -> None:
    two = memoryview(bytes(plane.batch()) * 2)
    assert shape(plane.produce("a", two)) == (ErrorCode.INVALID_RECORD, -1, -1, -1)


def test_bytes_that_are_no_batch_behind_one_are_ignored(plane: DataPlane) -> None:
    assert shape(plane.produce("a", memoryview(bytes(plane.batch()) + b"\0\0\0"))) == (0, 0, -1, 0)


def test_an_unreadable_batch_fails_all_partitions_with_its_message(plane: DataPlane) -> None:
    broken = bytearray(plane.batch())
    broken[16] = 3
    data = [PartitionProduceData(0, plane.batch()), PartitionProduceData(1, memoryview(broken))]
    response = plane.call(several(TopicProduceData("a", partition_data=data)), 9)
    answers = response.responses[0].partition_responses
    assert [shape(each) for each in answers] == [(ErrorCode.CORRUPT_MESSAGE, -1, -1, -1)] * 2
    assert {each.error_message for each in answers} == {"Invalid magic found in record: 3"}
    alone = plane.produce("a", memoryview(broken))
    assert (shape(alone), alone.error_message) == (shape(answers[0]), "Invalid magic found in record: 3")


def test_an_unreadable_batch_is_told_of_each_topic_and_partition_once(plane: DataPlane) -> None:
    twice = [PartitionProduceData(0, memoryview(bytes(61))), PartitionProduceData(0, plane.batch())]
    topics = [TopicProduceData("a", partition_data=twice), TopicProduceData("a"), TopicProduceData("b")]
    response = plane.call(several(*topics), 9)
    assert [(topic.name, [each.index for each in topic.partition_responses]) for topic in response.responses] == [
        ("a", [0])
    ]


def test_a_base_offset_from_the_client_is_refused(plane: DataPlane) -> None:
    moved = bytearray(plane.batch())
    assign_offsets(moved, 100, 0)
    assert shape(plane.produce("a", memoryview(moved))) == (ErrorCode.INVALID_RECORD, -1, -1, 0)


def test_internal_topics_are_for_the_admin_client_only(plane: DataPlane) -> None:
    plane.cluster.ensure_topic("__consumer_offsets")
    refused = plane.produce("__consumer_offsets", 1)
    assert shape(refused) == (ErrorCode.INVALID_TOPIC_EXCEPTION, -1, -1, -1)
    assert shape(plane.produce("__consumer_offsets", 1, client_id="__admin_client")) == (0, 0, -1, 0)


# -- acks=0


def test_acks_0_gets_no_answer(plane: DataPlane) -> None:
    request = several(TopicProduceData("a", partition_data=[PartitionProduceData(0, plane.batch())]), acks=0)
    assert plane.call(request, 9) is None
    assert plane.cluster.topics.get("a").partitions[0].log.log_end_offset == 1  # type: ignore[union-attr]


def test_an_error_with_acks_0_closes_the_connection(plane: DataPlane) -> None:
    request = several(TopicProduceData("nope", partition_data=[PartitionProduceData(0, plane.batch())]), acks=0)
    with pytest.raises(CloseConnection):
        plane.call(request, 9)


# -- several nodes


def test_produce_to_another_node_names_the_leader() -> None:
    plane = DataPlane(nodes=2)
    plane.cluster.create_topic("r", assignments={0: [2, 1]})
    plane.cluster.nodes[2].first.port = 9999
    topic = TopicProduceData("r", partition_data=[PartitionProduceData(0, plane.batch())])
    response = plane.call(several(topic), 10, node=1)
    answer = response.responses[0].partition_responses[0]
    assert shape(answer) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1, -1, -1)
    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (2, 0)
    assert [(each.node_id, each.host, each.port) for each in response.node_endpoints] == [(2, "broker.test", 9999)]
    older = plane.call(several(topic), 9, node=1)
    assert older.responses[0].partition_responses[0].current_leader.leader_id == -1
    assert older.node_endpoints == []
    assert shape(plane.produce("r", 1, node=2)) == (0, 0, -1, 0)


def test_acks_all_needs_the_minimum_of_replicas_in_sync() -> None:
    plane = DataPlane(nodes=2)
    plane.cluster.create_topic("r", assignments={0: [1, 2]}, configs={"min.insync.replicas": "2"})
    assert shape(plane.produce("r", 1)) == (0, 0, -1, 0)
    set_leader(plane.cluster, "r", 0, NO_LEADER_CHANGE, isr=[1])
    assert shape(plane.produce("r", 1)) == (ErrorCode.NOT_ENOUGH_REPLICAS, -1, -1, 0)
    assert shape(plane.produce("r", 1, acks=1)) == (0, 1, -1, 0)


def test_more_replicas_wanted_than_there_are_is_no_obstacle(plane: DataPlane) -> None:
    plane.topic("one", min_insync_replicas="3")
    assert shape(plane.produce("one", 1)) == (0, 0, -1, 0)


# -- odd requests


def test_every_answer_can_be_encoded_in_every_version(plane: DataPlane) -> None:
    plane.topic("c", cleanup_policy="compact")
    for version in range(3, 14):
        topics = [("c", plane.batch(key=None)), ("nope", plane.batch()), ("a", plane.batch())]
        request = several(
            *(
                TopicProduceData(name, found.topic_id if found else b"\1" * 16, [PartitionProduceData(0, batch)])
                for name, batch in topics
                for found in [plane.cluster.topics.get(name)]
            )
        )
        response = plane.call(request, version)
        again, _ = codec(ProduceResponse, version).decode(codec(ProduceResponse, version).encode(response))
        codes = [p.error_code for t in again.responses for p in t.partition_responses]
        unknown = ErrorCode.UNKNOWN_TOPIC_ID if version >= 13 else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert codes == [ErrorCode.INVALID_RECORD, unknown, 0]


def test_an_unknown_codec_fails_all_partitions_where_zstd_is_looked_for(plane: DataPlane) -> None:
    """Up to v6; from v7 on the partition answers for itself. (As a real Kafka does.)"""
    odd = bytearray(plane.batch())
    odd[22] |= 5
    request = several(
        TopicProduceData("a", partition_data=[PartitionProduceData(0, bytes(odd))]),
        TopicProduceData("b", partition_data=[PartitionProduceData(0, plane.batch())]),
    )
    for version, codes in ((3, [-1, -1]), (6, [-1, -1]), (7, [ErrorCode.CORRUPT_MESSAGE, 0])):
        answers = [each.partition_responses[0] for each in plane.call(request, version).responses]
        assert [answer.error_code for answer in answers] == codes
    assert answers[0].log_start_offset == -1


def test_a_topic_without_partitions_is_not_answered(plane: DataPlane) -> None:
    assert plane.call(several(TopicProduceData("a", partition_data=[])), 9).responses == []


# -- What Produce asks of the transaction coordinators, and what it makes of their answers.


class Verifier:
    """Transaction coordinators that refuse what they are told to; `waits` is called when a producer waits to retry."""

    def __init__(self, refusals: Mapping[tuple[str, int], KafkaError] | None = None) -> None:
        self.refusals = dict(refusals or {})
        self.waits: Callable[[], bool] = lambda: False
        self.asked: list[Claim] = []

    def verify_append(self, claim: Claim, node_id: int) -> Mapping[tuple[str, int], KafkaError]:
        self.asked.append(claim)
        return {key: error for key, error in self.refusals.items() if key in claim.partitions}

    @property
    def verifier(self) -> Verifier:
        return self

    async def wait_to_retry(self, began_ms: int) -> bool:
        return self.waits()


def finish(waiting: Any) -> Any:
    """Run a handler's coroutine that waits for nothing real."""
    try:
        waiting.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("it waits")


def transactional(plane: DataPlane, sequence: int = 0, partition: int = 0) -> ProduceRequest:
    batch = plane.batch(1, producer_id=7, producer_epoch=2, base_sequence=sequence, transactional=True)
    return ProduceRequest(
        "tx", -1, 1000, [TopicProduceData("a", partition_data=[PartitionProduceData(partition, batch)])]
    )


def verified(plane: DataPlane, verifier: Verifier) -> Verifier:
    plane.cluster.services.transactions = Deferred(lambda: cast("Any", verifier))
    return verifier


def answer_of(response: Any) -> PartitionProduceResponse:
    answer: PartitionProduceResponse = response.responses[0].partition_responses[0]
    return answer


def test_the_coordinator_is_asked_once_for_each_transaction(plane: DataPlane) -> None:
    verifier = verified(plane, Verifier())
    assert shape(answer_of(plane.call(transactional(plane), 11))) == (0, 0, -1, 0)
    assert verifier.asked == [("tx", 7, 2, [("a", 0)], Support.VERIFY_ABORTABLE)]
    assert shape(answer_of(plane.call(transactional(plane, 1), 12))) == (0, 1, -1, 0)
    assert len(verifier.asked) == 1, "the log knows the transaction by now"
    plane.call(transactional(plane, 0, partition=1), 12)
    assert verifier.asked[1:] == [("tx", 7, 2, [("a", 1)], Support.REGISTER)]


def test_a_refused_partition_takes_nothing(plane: DataPlane) -> None:
    error = KafkaError(ErrorCode.INVALID_TXN_STATE, "Partition was not added to the transaction")
    verified(plane, Verifier({("a", 0): error}))
    answer = answer_of(plane.call(transactional(plane), 9))
    assert shape(answer) == (ErrorCode.INVALID_TXN_STATE, -1, -1, -1)
    assert answer.error_message == "Partition was not added to the transaction"
    assert plane.cluster.topics.get("a").partitions[0].log.log_end_offset == 0  # type: ignore[union-attr]


ENDING = KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)


def test_a_producer_whose_last_transaction_ends_waits_for_that(plane: DataPlane) -> None:
    verifier = verified(plane, Verifier({("a", 0): ENDING}))
    waited = 0

    def the_transaction_ends() -> bool:
        nonlocal waited
        waited += 1
        if waited == 2:
            verifier.refusals.clear()
        return True

    verifier.waits = the_transaction_ends
    assert shape(answer_of(finish(plane.call(transactional(plane), 12)))) == (0, 0, -1, 0)
    assert (waited, len(verifier.asked)) == (2, 3)


def test_a_producer_is_told_when_verification_takes_too_long(plane: DataPlane) -> None:
    verifier = verified(plane, Verifier({("a", 0): ENDING}))
    answer = answer_of(finish(plane.call(transactional(plane), 12)))
    assert shape(answer) == (ErrorCode.CONCURRENT_TRANSACTIONS, -1, -1, -1)
    assert len(verifier.asked) == 2


def test_transactional_records_without_a_transactional_id(plane: DataPlane) -> None:
    request = transactional(plane)
    request.transactional_id = None
    answer = answer_of(plane.call(request, 9))
    assert shape(answer) == (ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, -1, -1, -1)


def test_records_of_two_producers_in_one_transaction(plane: DataPlane) -> None:
    verified(plane, Verifier())
    request = transactional(plane)
    other = plane.batch(1, producer_id=8, producer_epoch=2, base_sequence=0, transactional=True)
    request.topic_data[0].partition_data.append(PartitionProduceData(1, other))
    response = plane.call(request, 9)
    codes = [each.error_code for each in response.responses[0].partition_responses]
    assert codes == [ErrorCode.INVALID_PRODUCER_ID_MAPPING] * 2


# -- acks=all while records are kept from replicas: what the client hears beyond the recorded stories.


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


@pytest.mark.parametrize(
    ("mark", "changed", "due", "code"),
    [
        (8, {}, False, ErrorCode.NONE),
        (8, {}, True, ErrorCode.NONE),
        (7, {}, False, None),
        (7, {}, True, ErrorCode.REQUEST_TIMED_OUT),
        (8, {"isr": ()}, False, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND),
        (7, {"isr": ()}, False, None),
        (8, {"leader_epoch": 6}, False, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (8, {"leader_epoch": 4}, False, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (7, {"leader_epoch": 6}, True, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (8, {"deleted": True}, False, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_a_waiting_producer_is_told_what_becomes_of_its_batch(
    plane: DataPlane, mark: int, changed: dict[str, Any], due: bool, code: ErrorCode | None
) -> None:
    """A batch that ends at offset 7, appended in epoch 5; `mark`: the high watermark."""
    partition = plane.cluster.topics.by_name("b").partitions[0]
    partition.log.high_watermark = mark
    for name, value in {"leader_epoch": 5, **changed}.items():
        setattr(partition, name, value)
    for version, leader in ((9, -1), (10, 1)):
        answer = PartitionProduceResponse(index=0)
        assert Uncommitted(partition, 5, 7, answer).settle(version, due) is (code is not None)
        assert answer.error_code == (code or ErrorCode.NONE)
        told = leader if code is ErrorCode.NOT_LEADER_OR_FOLLOWER else -1
        assert answer.current_leader.leader_id == told


# -- What a client may write is appended; the rest is refused, batch by batch.


ALICE = Principal("User", "alice")
DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def batch(**producer: Any) -> bytes:
    return build_batch([Record(0, 1_700_000_000_000, b"k", b"v", ())], **producer)


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(config=SECURED)
    for name in ("mine", "theirs"):
        made.controller.create_topic(NewTopic(name, 2, 1))
    allow(made, "User:alice", Operation.WRITE, Resource.TOPIC, "mine")
    return made


def written(cluster: Cluster, name: str) -> int:
    topic = cluster.topics.get(name)
    assert topic is not None
    return sum(partition.log.log_end_offset for partition in topic.partitions)


def by_name(*names: str, acks: int = 1, records: bytes | None = None) -> ProduceRequest:
    data = [TopicProduceData(name, partition_data=[PartitionProduceData(0, records or batch())]) for name in names]
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=data)


def codes(answer: Any) -> list[tuple[str, int]]:
    return [(topic.name, part.error_code) for topic in answer.responses for part in topic.partition_responses]


def test_denied_topics_are_answered_in_their_place(cluster: Cluster) -> None:
    answer = ask(cluster, by_name("theirs", "mine", "none"), 12, principal=ALICE)
    assert codes(answer) == [("theirs", DENIED), ("mine", 0), ("none", DENIED)]
    assert (written(cluster, "mine"), written(cluster, "theirs")) == (1, 0)
    refused = answer.responses[0].partition_responses[0]
    assert (refused.base_offset, refused.log_start_offset, refused.error_message) == (-1, -1, None)
    assert [denial.resource_name for denial in cluster.services.denials.entries] == ["theirs", "none"]


def test_an_empty_name_is_a_name_without_a_right(cluster: Cluster) -> None:
    assert codes(ask(cluster, by_name(""), 12, principal=ALICE)) == [("", DENIED)]


def test_produce_with_all_rights_is_appended(cluster: Cluster) -> None:
    assert codes(ask(cluster, by_name("mine"), 12, principal=ALICE)) == [("mine", 0)]
    assert not cluster.services.denials.entries


def test_ids_are_looked_up_and_unknown_ones_need_no_right(cluster: Cluster) -> None:
    topics = cluster.image.topics
    data = [
        TopicProduceData(topic_id=topic_id, partition_data=[PartitionProduceData(0, batch())])
        for topic_id in (b"1" * 16, topics["theirs"].topic_id, topics["mine"].topic_id)
    ]
    answer = ask(cluster, ProduceRequest(acks=1, timeout_ms=1000, topic_data=data), 13, principal=ALICE)
    assert [code for _, code in codes(answer)] == [ErrorCode.UNKNOWN_TOPIC_ID, DENIED, 0]


def test_produce_with_acks_0_and_a_denied_topic_closes_the_connection(cluster: Cluster) -> None:
    with pytest.raises(CloseConnection):
        ask(cluster, by_name("theirs", "mine", acks=0), 12, principal=ALICE)
    assert written(cluster, "mine") == 1


def test_a_denied_topic_without_partitions_is_no_error(cluster: Cluster) -> None:
    request = ProduceRequest(acks=0, timeout_ms=1000, topic_data=[TopicProduceData("theirs", partition_data=[])])
    assert ask(cluster, request, 12, principal=ALICE) is None


@pytest.mark.parametrize("names", [["theirs"], ["theirs", "mine"]])
def test_unreadable_records_are_told_before_rights(cluster: Cluster, names: list[str]) -> None:
    told = codes(ask(cluster, by_name(*names, records=bytes(68)), 12, principal=ALICE))
    assert told == [(name, ErrorCode.CORRUPT_MESSAGE) for name in names]
    with pytest.raises(CloseConnection):
        ask(cluster, by_name(*names, records=bytes(68), acks=0), 12, principal=ALICE)


def test_a_partition_that_is_denied_twice_is_answered_once(cluster: Cluster) -> None:
    assert codes(ask(cluster, by_name("theirs", "theirs"), 12, principal=ALICE)) == [("theirs", DENIED)]


def test_a_denied_topic_without_partitions_is_not_answered(cluster: Cluster) -> None:
    request = by_name("theirs")
    request.topic_data.append(TopicProduceData("others"))
    [topic] = ask(cluster, request, 12, principal=ALICE).responses
    assert topic.name == "theirs"


@pytest.mark.parametrize("transactional_id", [None, "t"])
def test_a_transactional_batch_needs_a_right_on_its_id(cluster: Cluster, transactional_id: str | None) -> None:
    records = batch(producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    request = by_name("mine", records=records)
    request.transactional_id = transactional_id
    code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert codes(ask(cluster, request, 12, principal=ALICE)) == [("mine", code)]
    assert written(cluster, "mine") == 0


# -- requests that take longer than a slice: large batches, and many partitions

PACKED = [codec for codec in Codec if codec]


def size_of(codec: Codec) -> int:
    """A size of a record that is more than is inflated between two requests."""
    return 4_300_000 if codec is Codec.SNAPPY else 600_000


def large(codec: Codec = Codec.ZSTD, size: int = 0, **fields: Any) -> bytes:
    """A small batch with one large record."""
    batch = build_batch([Record(0, START_MS, b"k", bytes(size or size_of(codec)))], codec=codec, **fields)
    assert len(batch) < 1_000_000
    return batch


def asks(topic: str, *batches: Any, acks: int = 1) -> ProduceRequest:
    data = [PartitionProduceData(index, batch) for index, batch in enumerate(batches)]
    return ProduceRequest(None, acks, 1000, [TopicProduceData(topic, partition_data=data)])


async def answers(waiting: Any) -> list[PartitionProduceResponse]:
    assert is_coroutine(waiting)
    response: ProduceResponse = await waiting
    (topic,) = response.responses
    return topic.partition_responses


def taken(found: list[PartitionProduceResponse]) -> list[tuple[int, int, int]]:
    return [(each.index, each.error_code, each.base_offset) for each in found]


@pytest.mark.trio
@pytest.mark.parametrize("codec", PACKED)
async def test_a_batch_that_inflates_far_is_appended_unchanged(plane: DataPlane, codec: Codec) -> None:
    sent = large(codec)
    assert taken(await answers(plane.call(asks("a", sent), 9))) == [(0, 0, 0)]
    log = plane.cluster.topics.get("a").partitions[0].log  # type: ignore[union-attr]
    (batch,) = iter_batches(log.read(0, max_bytes=1 << 20, up_to_offset=1).parts)
    assert bytes(batch.data)[21:] == sent[21:]


@pytest.mark.trio
async def test_produce_appends_small_batches_before_the_large_one(plane: DataPlane) -> None:
    waiting = plane.call(asks("a", plane.batch(), large(), plane.batch(2)), 9)
    ends = [each.log.log_end_offset for each in plane.cluster.topics.get("a").partitions]  # type: ignore[union-attr]
    assert ends == [1, 0, 2]
    assert taken(await answers(waiting)) == [(0, 0, 0), (1, 0, 0), (2, 0, 0)]


@pytest.mark.trio
async def test_produce_of_others_comes_before_a_large_batch_under_way(plane: DataPlane) -> None:
    waiting = plane.call(asks("a", large()), 9)
    assert plane.produce("a", 3).base_offset == 0
    assert taken(await answers(waiting)) == [(0, 0, 3)]


@pytest.mark.trio
async def test_the_log_append_time_is_that_of_the_append(plane: DataPlane) -> None:
    plane.topic("stamped", message_timestamp_type="LogAppendTime")
    waiting = plane.call(asks("stamped", large()), 9)

    real = plane.cluster.services.worker.do

    async def slow(work: Any, shared: Any = None) -> Any:
        result = await real(work, shared)
        plane.cluster.clock.advance(seconds=5)
        return result

    plane.cluster.services.worker.do = slow  # type: ignore[method-assign]
    (answer,) = await answers(waiting)
    assert (answer.error_code, answer.log_append_time_ms) == (0, START_MS + 5000)
    log = plane.cluster.topics.get("stamped").partitions[0].log  # type: ignore[union-attr]
    (batch,) = iter_batches(log.read(0, max_bytes=1 << 20, up_to_offset=1).parts)
    assert batch.max_timestamp == START_MS + 5000
    assert batch.is_crc_valid


@pytest.mark.trio
async def test_a_large_batch_that_is_sent_again_is_a_duplicate(plane: DataPlane) -> None:
    sent = large(producer_id=7, producer_epoch=0, base_sequence=0)
    for _ in range(2):
        assert taken(await answers(plane.call(asks("a", sent), 9))) == [(0, 0, 0)]
    out_of_order = large(producer_id=7, producer_epoch=0, base_sequence=5)
    (answer,) = await answers(plane.call(asks("a", out_of_order), 9))
    assert answer.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert answer.log_start_offset == 0


@pytest.mark.trio
async def test_a_topic_that_is_deleted_meanwhile_is_unknown(plane: DataPlane) -> None:
    waiting = plane.call(asks("a", large()), 9)
    plane.cluster.delete_topic("a")
    assert taken(await answers(waiting)) == [(0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)]


@pytest.mark.long("inflates_beyond")
@pytest.mark.trio
async def test_a_batch_that_inflates_beyond_the_limit_is_refused_with_a_reason(plane: DataPlane) -> None:
    (answer,) = await answers(plane.call(asks("a", large(size=DEFAULT_MAX_INFLATED)), 9))
    assert (answer.error_code, answer.base_offset, answer.log_start_offset) == (ErrorCode.INVALID_RECORD, -1, 0)
    assert answer.error_message == f"The batch for a-0 has more than {DEFAULT_MAX_INFLATED} bytes decompressed"


@pytest.mark.trio
@pytest.mark.parametrize("codec", PACKED)
async def test_the_limit_of_the_topic_counts_what_is_decompressed(plane: DataPlane, codec: Codec) -> None:
    plane.topic("small", max_decompressed_message_bytes=str(size_of(codec)))
    (answer,) = await answers(plane.call(asks("small", large(codec)), 9))
    assert (answer.error_code, answer.log_start_offset) == (ErrorCode.INVALID_RECORD, 0)


@pytest.mark.trio
@pytest.mark.parametrize("codec", PACKED)
async def test_large_batches_of_a_request_have_a_common_limit(plane: DataPlane, codec: Codec) -> None:
    request = asks("a", large(codec), large(codec), large(codec))
    context = plane.context(request, 9)
    context.long_work = ThreadWork()
    context.long_work.left = size_of(codec) * 3 // 2
    first, *others = await answers(handler_of(request)(context, request))
    assert first.error_code == 0
    for each in others:
        assert (each.error_code, each.base_offset) == (ErrorCode.MESSAGE_TOO_LARGE, -1)
        assert each.error_message == "The batches of a request inflate to more than 536870912 bytes together"


@pytest.mark.trio
async def test_a_damaged_large_batch_is_refused_as_a_small_one_is(plane: DataPlane) -> None:
    plane.topic("compact", cleanup_policy="compact")
    keyless = build_batch([Record(0, START_MS, None, bytes(size_of(Codec.ZSTD)))], codec=Codec.ZSTD)
    (answer,) = await answers(plane.call(asks("compact", keyless), 9))
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [(each.batch_index, each.batch_index_error_message) for each in answer.record_errors] == [
        (0, "Compacted topic cannot accept message without key in topic partition compact-0")
    ]


@pytest.mark.trio
async def test_without_acks_a_large_batch_is_appended_and_a_bad_one_closes_the_connection(plane: DataPlane) -> None:
    assert await plane.call(asks("a", large(), acks=0), 9) is None
    log = plane.cluster.topics.get("a").partitions[0].log  # type: ignore[union-attr]
    assert log.log_end_offset == 1
    plane.topic("small", max_decompressed_message_bytes=str(size_of(Codec.ZSTD)))
    with pytest.raises(CloseConnection):
        await plane.call(asks("small", large(), acks=0), 9)


@pytest.mark.trio
@pytest.mark.parametrize("target", Codec)
async def test_a_large_batch_gets_the_codec_of_its_topic(plane: DataPlane, target: Codec) -> None:
    name = target.name.lower() if target else "uncompressed"
    plane.topic("packed", compression_type=name, max_message_bytes="6000000")
    source = Codec.GZIP if target is Codec.ZSTD else Codec.ZSTD
    (answer,) = await answers(plane.call(asks("packed", large(source)), 9))
    assert answer.error_code == 0
    log = plane.cluster.topics.get("packed").partitions[0].log  # type: ignore[union-attr]
    (batch,) = iter_batches(log.read(0, max_bytes=1 << 23, up_to_offset=1).parts)
    assert batch.codec is target
    assert batch.is_crc_valid
    assert list(batch.records()) == [Record(0, START_MS, b"k", bytes(size_of(source)))]


@pytest.mark.trio
async def test_produce_to_many_partitions_lets_others_be_served() -> None:
    plane = DataPlane(topics={"many": 100})
    served: list[int] = []
    partitions = plane.cluster.topics.get("many").partitions  # type: ignore[union-attr]

    async def watch() -> None:
        while True:
            served.append(sum(each.opened for each in partitions))
            await trio.lowlevel.checkpoint()

    batch = plane.batch(2000, size=0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        found = await answers(plane.call(asks("many", *[batch] * 100), 9))
        nursery.cancel_scope.cancel()
    assert taken(found) == [(index, 0, 0) for index in range(100)]
    assert len(set(served)) >= 3


@pytest.mark.long("refused_records")
@pytest.mark.trio
async def test_an_answer_names_a_limited_number_of_refused_records(plane: DataPlane) -> None:
    plane.topic("compact", 20, cleanup_policy="compact")
    keyless = plane.batch(1500, key=None, size=0)
    found = await answers(plane.call(asks("compact", *[keyless] * 20), 9))
    assert {each.error_code for each in found} == {ErrorCode.INVALID_RECORD}
    assert {(each.error_message or "").partition(" in total")[0] for each in found} == {
        "One or more records have been rejected due to 1500 record errors"
    }
    assert [len(each.record_errors) for each in found] == [1000] * 10 + [0] * 10
