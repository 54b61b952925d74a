"""InitProducerId without a transactional id, and DescribeProducers, beyond the recorded conversations."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.describe_producers import DescribeProducersRequest, TopicRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from tests.fakes.ask import ask
from tests.fakes.data_plane import DataPlane


@pytest.fixture
def plane() -> DataPlane:
    return DataPlane(topics={"a": 2})


def init(plane: DataPlane, version: int = 5, **fields: Any) -> tuple[int, int, int]:
    """(error code, producer id, epoch)."""
    request = InitProducerIdRequest(**{"transactional_id": None, "transaction_timeout_ms": 1000, **fields})
    answer = ask(plane.cluster, request, version)
    return answer.error_code, answer.producer_id, answer.producer_epoch


def describe(plane: DataPlane, topic: str, *indexes: int) -> Any:
    return plane.call(DescribeProducersRequest([TopicRequest(topic, list(indexes))]), 0).topics[0].partitions


def test_producers_are_listed_in_the_order_of_a_java_map(plane: DataPlane) -> None:
    for producer_id in (33, 2, 16, 1):
        plane.produce("a", plane.batch(1, producer_id=producer_id, producer_epoch=0, base_sequence=0))
    listed = [producer.producer_id for producer in describe(plane, "a", 0)[0].active_producers]
    assert listed == [16, 33, 1, 2], "slots 0, 1, 1 and 2 of 16, in a slot by arrival"


def test_describe_producers_of_an_unknown_topic_or_partition_is_refused(plane: DataPlane) -> None:
    topic, partition = describe(plane, "nope", 0)[0], describe(plane, "a", 44)[0]
    assert (topic.error_code, topic.error_message) == (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        "This server does not host this topic-partition.",
    )
    assert (partition.error_code, partition.error_message) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None)
    assert describe(plane, "a", 1)[0].active_producers == []


UNSTABLE = {"unstable.api.versions.enable": "true"}


def test_init_producer_id_with_two_phase_commit_is_refused() -> None:
    plane = DataPlane(topics={"a": 1}, config=UNSTABLE)
    named = {"transactional_id": "t"}
    assert init(plane, 6, **named, enable2_pc=True) == (ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, -1, -1)
    assert init(plane, 6, **named, keep_prepared_txn=True) == (ErrorCode.UNSUPPORTED_VERSION, -1, -1)
    both = init(plane, 6, **named, enable2_pc=True, keep_prepared_txn=True)
    assert both == (ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, -1, -1)
    half = init(plane, 6, **named, enable2_pc=True, producer_id=7)
    assert half == (ErrorCode.INVALID_REQUEST, -1, -1)
    assert init(plane, 6, enable2_pc=True, keep_prepared_txn=True) == (0, 0, 0), "nobody commits without an id"
