"""Produce: answers, errors and their levels, as recorded from Kafka 4.3.1."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.requests.context import CloseConnection
from odradek.protocol.compression import Codec
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from odradek.protocol.message_codec import codec
from odradek.protocol.record_batch import assign_offsets
from tests.fakes.data_plane import START_MS, DataPlane
from tests.fakes.nodes import NO_LEADER_CHANGE, set_leader


@pytest.fixture
def plane() -> DataPlane:
    return DataPlane(topics={"a": 2, "b": 1})


def shape(answer: PartitionProduceResponse) -> tuple[int, int, int, int]:
    """(error code, base offset, log append time, log start offset)."""
    return answer.error_code, answer.base_offset, answer.log_append_time_ms, answer.log_start_offset


def several(*topics: TopicProduceData, acks: int = -1) -> ProduceRequest:
    return ProduceRequest(None, acks, 1000, list(topics))


# -- what is taken


def test_offsets_follow_each_other(plane: DataPlane) -> None:
    assert shape(plane.produce("a", 3)) == (0, 0, -1, 0)
    assert shape(plane.produce("a", 2)) == (0, 3, -1, 0)
    assert shape(plane.produce("a", 1, acks=1)) == (0, 5, -1, 0)
    assert shape(plane.produce("a", 1, partition=1)) == (0, 0, -1, 0)


@pytest.mark.parametrize("version", range(3, 14))
def test_every_version_appends(plane: DataPlane, version: int) -> None:
    assert shape(plane.produce("a", 1, version=version)) == (0, 0, -1, 0)


def test_log_append_time_is_the_brokers_clock(plane: DataPlane) -> None:
    plane.topic("stamped", message_timestamp_type="LogAppendTime")
    plane.cluster.clock.advance(hours=1)
    assert shape(plane.produce("stamped", plane.batch(timestamp=5))) == (0, 0, START_MS + 3_600_000, 0)


def test_a_duplicate_gets_its_first_offset_and_timestamp(plane: DataPlane) -> None:
    sent = plane.batch(2, producer_id=7, producer_epoch=0, base_sequence=0, timestamp=START_MS - 5)
    assert shape(plane.produce("a", sent)) == (0, 0, -1, 0)
    assert shape(plane.produce("a", 4)) == (0, 2, -1, 0)
    assert shape(plane.produce("a", sent)) == (0, 0, START_MS - 5, 0)
    assert plane.cluster.topics.get("a").partitions[0].log.log_end_offset == 6  # type: ignore[union-attr]


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


def test_of_a_partition_named_twice_the_last_counts(plane: DataPlane) -> None:
    first, last = plane.batch(1), plane.batch(3)
    twice = [PartitionProduceData(0, first), PartitionProduceData(1, first), PartitionProduceData(0, last)]
    response = plane.call(several(TopicProduceData("a", partition_data=twice)), 9)
    assert [p.index for p in response.responses[0].partition_responses] == [0, 1]
    assert plane.cluster.topics.get("a").partitions[0].log.log_end_offset == 3  # type: ignore[union-attr]


def test_of_a_partition_named_twice_the_last_is_answered_though_the_first_is_refused(plane: DataPlane) -> None:
    twice = [PartitionProduceData(0, memoryview(bytes(plane.batch(1)) * 2)), PartitionProduceData(0, plane.batch(3))]
    response = plane.call(several(TopicProduceData("a", partition_data=twice)), 9)
    assert [shape(each) for each in response.responses[0].partition_responses] == [(0, 0, -1, 0)]


# -- what is refused


def test_unknown_topics_and_partitions(plane: DataPlane) -> None:
    unknown = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1, -1)
    assert shape(plane.produce("nope", 1)) == unknown
    assert shape(plane.produce("a", 1, partition=99)) == unknown
    assert shape(plane.produce("a", 1, partition=-1)) == unknown
    assert shape(plane.produce("a", 1, partition=99, version=13)) == unknown
    assert shape(plane.produce("nope", 1, version=13)) == (ErrorCode.UNKNOWN_TOPIC_ID, -1, -1, -1)


@pytest.mark.parametrize("acks", [2, -2, 32767])
def test_other_acks_are_refused(plane: DataPlane, acks: int) -> None:
    assert shape(plane.produce("a", 1, acks=acks)) == (ErrorCode.INVALID_REQUIRED_ACKS, -1, -1, -1)


@pytest.mark.parametrize("batches", [0, 2])
def test_the_number_of_batches_is_looked_at_before_acks(plane: DataPlane, batches: int) -> None:
    answer = plane.produce("a", memoryview(bytes(plane.batch()) * batches), acks=100)
    assert shape(answer) == (ErrorCode.INVALID_RECORD, -1, -1, -1)


def test_a_batch_too_large(plane: DataPlane) -> None:
    plane.topic("small", max_message_bytes="100")
    assert shape(plane.produce("small", plane.batch(size=500))) == (ErrorCode.MESSAGE_TOO_LARGE, -1, -1, -1)


def test_a_keyless_record_on_a_compacted_topic(plane: DataPlane) -> None:
    plane.topic("g-comp", cleanup_policy="compact")
    answer = plane.produce("g-comp", plane.batch(key=None), version=8)
    assert shape(answer) == (ErrorCode.INVALID_RECORD, -1, -1, 0)
    why = "Compacted topic cannot accept message without key in topic partition g-comp-0"
    assert [(e.batch_index, e.batch_index_error_message) for e in answer.record_errors] == [(0, why)]
    assert answer.error_message == (
        "One or more records have been rejected due to 1 record errors in total, and only showing the first three "
        f"errors at most: [RecordError(batchIndex=0, message='{why}')]"
    )


def test_zstd_needs_version_7(plane: DataPlane) -> None:
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


def test_another_node_names_the_leader() -> None:
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
