"""Every API has a place for an error, and the mapping fills it for everything that was asked."""

from __future__ import annotations

from functools import reduce
from typing import Any

import pytest

from odradek.broker.requests.error_answers import SHAPES, error_response
from odradek.protocol.apis import API_BY_KEY, ApiSpec
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from odradek.protocol.generated.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from odradek.protocol.message import Message
from odradek.protocol.message_codec import codec
from tests.fakes.filled import filled

BROKER_APIS = [spec for spec in API_BY_KEY.values() if spec.on_brokers]


def error_codes(value: Any) -> list[int]:
    found: list[int] = []
    for field in value.field_names() if isinstance(value, Message) else ():
        inner = getattr(value, field)
        if field in ("error_code", "partition_error_code"):
            found.append(inner)
        elif isinstance(inner, list):
            for each in inner:
                found += error_codes(each)
    return found


@pytest.mark.long
@pytest.mark.parametrize("spec", BROKER_APIS, ids=lambda spec: spec.name)
def test_every_version_carries_the_error(spec: ApiSpec) -> None:
    if spec.name in ("AlterUserScramCredentials",):
        pytest.skip("answers per user, not per request item")
    lowest = (
        3 if spec.name == "DescribeLogDirs" else spec.min_version
    )  # v1 and v2 have an error for each directory only
    for version in range(lowest, spec.max_version + 1):
        request = filled(spec.request)
        response = error_response(request, version, ErrorCode.NOT_CONTROLLER, "no")
        coded = codec(spec.response, version)
        decoded, _ = coded.decode(coded.encode(response))
        codes = [code for code in error_codes(decoded) if code != 0]
        assert codes, f"{spec.name} v{version} lost the error"
        assert set(codes) == {ErrorCode.NOT_CONTROLLER}


def test_shapes_name_fields_that_exist() -> None:
    by_name = {spec.name: spec for spec in API_BY_KEY.values()}
    for name, shapes in SHAPES.items():
        spec = by_name[name]
        for shape in shapes:
            request, response = filled(spec.request), filled(spec.response)
            for level in shape.levels:
                request_items = reduce(lambda items, name: getattr(items[0], name), level.asked.split("."), [request])
                response_items = getattr(response, level.answered)
                request, response = request_items[0], response_items[0]
                for field, asked in level.copied.items():
                    assert hasattr(response, field), (name, field)
                    assert not asked or hasattr(request, asked), (name, asked)


def test_produce_says_which_partitions() -> None:
    from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

    request = ProduceRequest(
        acks=-1,
        topic_data=[
            TopicProduceData(name="a", partition_data=[PartitionProduceData(index=3), PartitionProduceData(index=5)])
        ],
    )
    response = error_response(request, 9, ErrorCode.UNKNOWN_SERVER_ERROR)
    answered = [
        (topic.name, each.index, each.error_code, each.base_offset)
        for topic in response.responses
        for each in topic.partition_responses
    ]
    assert answered == [("a", 3, -1, -1), ("a", 5, -1, -1)]


def test_refused_offsets_name_their_topics_by_id() -> None:
    """As a real 4.4.0 answers TxnOffsetCommit v6 of a client without rights."""
    topic = TxnOffsetCommitRequestTopic(topic_id=bytes(range(16)), partitions=[TxnOffsetCommitRequestPartition(3)])
    refused = error_response(TxnOffsetCommitRequest(topics=[topic]), 6, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    ((row, (partition,)),) = [(each, each.partitions) for each in refused.topics]
    assert (row.topic_id, partition.partition_index, partition.error_code) == (bytes(range(16)), 3, 53)


def test_a_refused_list_of_reassignments_names_what_was_asked() -> None:
    """As a real 4.4.0 answers ListPartitionReassignments of a client without rights."""
    asked = [ListPartitionReassignmentsTopics("a", [0, 1]), ListPartitionReassignmentsTopics("b", [])]
    refused = error_response(ListPartitionReassignmentsRequest(topics=asked), 0, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    assert refused.error_code == 31
    rows = [(topic.name, [each.partition_index for each in topic.partitions]) for topic in refused.topics]
    assert rows == [("a", [0, 1]), ("b", [])]
    assert refused.topics[0].partitions[0].replicas == []
