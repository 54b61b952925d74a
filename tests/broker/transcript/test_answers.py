"""What answers say, in words."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.transcript.answers import answered
from odradek.protocol.consumer_protocol import encode_assignment
from odradek.protocol.generated.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ResponseTopicPartitions,
)
from odradek.protocol.generated.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from odradek.protocol.generated.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from odradek.protocol.generated.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from odradek.protocol.generated.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from odradek.protocol.generated.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from odradek.protocol.generated.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from odradek.protocol.generated.messages.share_fetch import (
    AcquiredRecords,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)
from odradek.protocol.generated.messages.share_fetch import PartitionData as SharePartitionData
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from odradek.protocol.generated.stored.consumer_protocol_assignment import ConsumerProtocolAssignment
from odradek.protocol.generated.stored.consumer_protocol_assignment import TopicPartition as Assigned
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.exchanges import ORDERS_ID, recorded

BATCH = build_batch([Record(number, 1000, None, b"value", ()) for number in range(2)])


def fetched(*partitions: PartitionData) -> FetchResponse:
    return FetchResponse(responses=[FetchableTopicResponse("t", partitions=list(partitions))])


def data(index: int, end: int, stable: int, records: bytes = b"") -> PartitionData:
    return PartitionData(index, 0, end, stable, records=records)


def offsets(*committed: int) -> OffsetFetchResponse:
    partitions = [OffsetFetchResponsePartitions(index, each) for index, each in enumerate(committed)]
    topics = [OffsetFetchResponseTopics("t", partitions=partitions)]
    return OffsetFetchResponse(groups=[OffsetFetchResponseGroup("g", topics)])


ASSIGNMENT = encode_assignment(ConsumerProtocolAssignment([Assigned("t", [0, 2])]), 0)


@pytest.mark.parametrize(
    ("request_", "version", "answer", "text"),
    [
        (
            ProduceRequest(),
            9,
            ProduceResponse(
                [TopicProduceResponse("t", partition_responses=[PartitionProduceResponse(n, 0, 5 + n) for n in (0, 1)])]
            ),
            "@5, 6",
        ),
        (FetchRequest(), 12, fetched(data(0, 7, 7, BATCH)), "2 records, end 7"),
        (FetchRequest(), 12, fetched(data(0, 7, 3)), "0 records, end 7, committed to 3"),
        (FetchRequest(), 12, fetched(data(0, 7, 7, BATCH), data(1, 9, 9)), "2 records, end of t-0 7, end of t-1 9"),
        (FetchRequest(), 12, fetched(data(0, 7, 7, BATCH[:61] + bytes(900))), "961 bytes, end 7"),
        (FetchRequest(), 12, FetchResponse(), "0 records"),
        (
            ListOffsetsRequest(),
            7,
            ListOffsetsResponse(0, [ListOffsetsTopicResponse("t", [ListOffsetsPartitionResponse(0, offset=4)])]),
            "@4",
        ),
        (OffsetFetchRequest(), 9, offsets(5, -1), "committed t-0@5"),
        (OffsetFetchRequest(), 9, offsets(-1, -1), "nothing committed"),
        (
            JoinGroupRequest(),
            5,
            JoinGroupResponse(0, 0, 3, None, "range", "m", member_id="m", members=[JoinGroupResponseMember("m")]),
            "generation 3, leader of 1, range",
        ),
        (
            JoinGroupRequest(),
            5,
            JoinGroupResponse(0, 0, 3, None, "range", "m", member_id="n"),
            "generation 3, member, range",
        ),
        (SyncGroupRequest(), 3, SyncGroupResponse(assignment=ASSIGNMENT), "assigned t-0 t-2"),
        (SyncGroupRequest(), 3, SyncGroupResponse(assignment=b""), "assigned nothing"),
        (SyncGroupRequest(), 3, SyncGroupResponse(assignment=b"\0\0\0\0\0\x05"), ""),
        (
            ConsumerGroupHeartbeatRequest("g"),
            0,
            ConsumerGroupHeartbeatResponse(
                member_epoch=3, assignment=Assignment([ResponseTopicPartitions(ORDERS_ID, [0, 1])])
            ),
            "epoch 3, assigned orders-0 orders-1",
        ),
        (
            ConsumerGroupHeartbeatRequest("g"),
            0,
            ConsumerGroupHeartbeatResponse(member_epoch=3, assignment=Assignment([])),
            "epoch 3, assigned nothing",
        ),
        (ConsumerGroupHeartbeatRequest("g"), 0, ConsumerGroupHeartbeatResponse(member_epoch=3), "epoch 3"),
        (
            MetadataRequest(),
            12,
            MetadataResponse(brokers=[MetadataResponseBroker(1, "h", 1)], topics=[MetadataResponseTopic(0, "t")]),
            "1 node, t",
        ),
        (FindCoordinatorRequest(), 4, FindCoordinatorResponse(coordinators=[Coordinator("g", 2)]), "node 2"),
        (FindCoordinatorRequest(), 3, FindCoordinatorResponse(node_id=3), "node 3"),
        (InitProducerIdRequest(), 4, InitProducerIdResponse(0, 0, 8, 1), "producer 8 epoch 1"),
        (HeartbeatRequest("g"), 4, HeartbeatResponse(), ""),
        (
            ShareFetchRequest(),
            1,
            ShareFetchResponse(
                responses=[
                    ShareFetchableTopicResponse(
                        ORDERS_ID, [SharePartitionData(0, records=BATCH, acquired_records=[AcquiredRecords(5, 7, 1)])]
                    )
                ]
            ),
            "3 records",
        ),
    ],
)
def test_in_words(request_: Any, version: int, answer: Any, text: str) -> None:
    one = recorded(request_, version, answer)
    assert answered(one, one.response) == text
