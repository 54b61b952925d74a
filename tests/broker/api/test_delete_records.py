"""DeleteRecords, as recorded from Kafka 4.3.1."""

from __future__ import annotations

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from tests.fakes.data_plane import DataPlane, partitions_of


@pytest.fixture
def plane() -> DataPlane:
    plane = DataPlane(topics={"a": 1})
    plane.produce("a", 5)
    return plane


def delete(plane: DataPlane, offset: int, *, topic: str = "a", version: int = 2, node: int = 1) -> tuple[int, int]:
    """(error code, low watermark)."""
    request = DeleteRecordsRequest([DeleteRecordsTopic(topic, [DeleteRecordsPartition(0, offset)])], 1000)
    answer = plane.call(request, version, node=node).topics[0].partitions[0]
    return answer.error_code, answer.low_watermark


@pytest.mark.parametrize("version", [0, 1, 2])
def test_the_start_moves_and_never_back(plane: DataPlane, version: int) -> None:
    assert delete(plane, 3, version=version) == (0, 3)
    assert delete(plane, 0, version=version) == (0, 3)
    assert delete(plane, -1, version=version) == (0, 5)
    assert delete(plane, 5, version=version) == (0, 5)


def test_of_a_partition_named_twice_the_last_counts(plane: DataPlane) -> None:
    twice = [DeleteRecordsPartition(0, 1), DeleteRecordsPartition(0, 2)]
    response = plane.call(DeleteRecordsRequest([DeleteRecordsTopic("a", twice)], 1000), 1)
    assert [(each.error_code, each.low_watermark) for each in response.topics[0].partitions] == [(0, 2)]


def test_what_was_deleted_cannot_be_fetched(plane: DataPlane) -> None:
    delete(plane, 3)
    assert partitions_of(plane.fetch({"a": 2}))[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert partitions_of(plane.fetch({"a": 3}))[0].log_start_offset == 3


def test_errors(plane: DataPlane) -> None:
    plane.topic("compacted", cleanup_policy="compact")
    plane.topic("both", cleanup_policy="compact,delete")
    plane.cluster.ensure_topic("__consumer_offsets")
    assert delete(plane, 99_999) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert delete(plane, -3) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert delete(plane, 1, topic="nope") == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)
    assert delete(plane, 0, topic="compacted") == (ErrorCode.POLICY_VIOLATION, -1)
    assert delete(plane, 0, topic="both") == (0, 0)
    assert delete(plane, 0, topic="__consumer_offsets") == (ErrorCode.INVALID_TOPIC_EXCEPTION, -1)


def test_only_the_leader_deletes() -> None:
    plane = DataPlane(nodes=2)
    plane.cluster.create_topic("r", assignments={0: [2]})
    assert delete(plane, 0, topic="r", node=1) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
    assert delete(plane, 0, topic="r", node=2) == (0, 0)
