"""Requests in one line each."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.requests.recent_requests import Head, Told
from odradek.broker.transcript.request_text import (
    count_records,
    describe_answer,
    describe_request,
    few,
    line_of,
    lines_of,
)
from odradek.protocol.consumer_protocol import encode_assignment
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ResponseTopicPartitions,
)
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.protocol.generated.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from odradek.protocol.generated.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from odradek.protocol.generated.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from odradek.protocol.generated.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    ListOffsetsTopicResponse,
)
from odradek.protocol.generated.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
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
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest
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
from tests.fakes.exchanges import ORDERS_ID, recorded, registry_exchange


def fetch(**options: Any) -> Any:
    request = FetchRequest(topics=[FetchTopic("", ORDERS_ID, [FetchPartition(1, fetch_offset=1)])])
    answer = FetchResponse(0, 0, 0, [FetchableTopicResponse("", ORDERS_ID, [PartitionData(1, 0, 1, 1)])])
    return recorded(request, 16, answer, client_id="consumer-1", at=0.12, **options)


def test_the_line_of_the_reports() -> None:
    assert line_of(fetch()) == str(fetch()) == "+0.120 Fetch v16 consumer-1 orders-1@1 -> 0 records, end 1"
    assert line_of(fetch(latency=0.5)).endswith("end 1 (500 ms)")


def test_request_lines_stand_in_columns() -> None:
    lines = lines_of([fetch(), recorded(HeartbeatRequest("g", 3), 4, HeartbeatResponse(0, 25), at=12, client_id="c")])
    assert lines == [
        " +0.120 Fetch v16    consumer-1 orders-1@1 -> 0 records, end 1",
        "+12.000 Heartbeat v4 c          group g generation 3 -> UNKNOWN_MEMBER_ID",
    ]
    assert lines_of([]) == []


@pytest.mark.parametrize(
    ("options", "end"),
    [
        ({"cut": "the client has gone"}, "-> connection cut: the client has gone"),
        ({}, "-> still waiting"),
        ({"frame": Head(b"", 12)}, "bytes, not kept) -> still waiting"),
        ({"frame": Told(None, ())}, "app -> still waiting"),
        ({"client_id": None}, "127.0.0.1:50000 -> still waiting"),
        ({"client_id": "a\nb" + 50 * "c"}, f"a?b{36 * 'c'}… -> still waiting"),
    ],
)
def test_request_line_tells_how_it_ended(options: dict[str, Any], end: str) -> None:
    assert line_of(recorded(ApiVersionsRequest(), 0, **options)).endswith(end)


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
def test_answer_is_described_in_words(request_: Any, version: int, answer: Any, text: str) -> None:
    one = recorded(request_, version, answer)
    assert describe_answer(one, one.response) == text


@pytest.mark.parametrize(
    ("request_", "version", "text"),
    [
        (
            ProduceRequest("t-1", -1, 0, [TopicProduceData("t", partition_data=[PartitionProduceData(0, BATCH)])]),
            9,
            "transaction t-1 t-0 2 records",
        ),
        (
            ProduceRequest(None, 0, 0, [TopicProduceData("t", partition_data=[PartitionProduceData(3, BATCH)])]),
            9,
            "t-3 2 records acks=0",
        ),
        (FetchRequest(), 12, "(nothing)"),
        (
            ListOffsetsRequest(
                topics=[
                    ListOffsetsTopic(
                        "t", [ListOffsetsPartition(index, timestamp=time) for index, time in enumerate((-1, -2, 500))]
                    )
                ]
            ),
            7,
            "t-0 latest, t-1 earliest, t-2 at time 500",
        ),
        (MetadataRequest(topics=None), 12, "all topics"),
        (MetadataRequest(topics=[]), 12, "no topic"),
        (MetadataRequest([MetadataRequestTopic(name="t")]), 12, "t"),
        (FindCoordinatorRequest(coordinator_keys=["g"]), 4, "group g"),
        (FindCoordinatorRequest(key="t-1", key_type=1), 3, "transaction t-1"),
        (
            JoinGroupRequest("g", protocol_type="consumer", protocols=[JoinGroupRequestProtocol("range")]),
            5,
            "group g joins, consumer: range",
        ),
        (JoinGroupRequest("g", member_id="m", protocol_type="connect"), 5, "group g joins again, connect: "),
        (SyncGroupRequest("g", 4), 3, "group g generation 4"),
        (SaslHandshakeRequest("PLAIN"), 1, "PLAIN"),
        (ApiVersionsRequest("lib", "1.0"), 3, "lib 1.0"),
        (EndTxnRequest("t-1", committed=True), 3, "transaction t-1 commit"),
        (EndTxnRequest("t-1", committed=False), 3, "transaction t-1 abort"),
        (ConsumerGroupHeartbeatRequest("g", "m", 0), 0, "group g joins"),
        (ConsumerGroupHeartbeatRequest("g", "m", 4), 0, "group g epoch 4"),
        (ConsumerGroupHeartbeatRequest("g", "m", -1), 0, "group g leaves"),
        (CreateTopicsRequest([CreatableTopic(f"t{n}", 1, 1) for n in range(6)]), 7, "t0 t1 t2 t3 +2 more"),
    ],
)
def test_request_is_described_in_words(request_: Any, version: int, text: str) -> None:
    one = recorded(request_, version)
    assert describe_request(one, one.request) == text


def test_records_whose_headers_are_gone_are_not_counted() -> None:
    two = BATCH[:61] + bytes(2 * len(BATCH) - 61)
    one = recorded(
        ProduceRequest(None, 1, 0, [TopicProduceData("t", partition_data=[PartitionProduceData(0, two)])]), 9
    )
    assert describe_request(one, one.request) == "t-0 records"


def test_a_long_list_is_cut() -> None:
    assert few([1, 2], 2) == "1 2"
    assert few([1, 2, 3, 4], 2, ", ") == "1, 2, +2 more"
    assert few([]) == ""


def batch(count: int) -> bytes:
    return build_batch([Record(number, 1000, None, b"value", ()) for number in range(count)])


def test_count_records_adds_up_batches() -> None:
    assert count_records(None) == count_records(b"") == 0
    assert count_records(batch(3)) == 3
    assert count_records([batch(3), memoryview(batch(2))]) == 5


def test_a_last_batch_that_was_cut_does_not_count() -> None:
    assert count_records(batch(3) + batch(2)[:-1]) == 3


def test_count_records_leaves_markers_out() -> None:
    marker = bytearray(batch(1))
    marker[22] |= 0x20  # the bit for control batches (KIP-98)
    assert count_records(batch(3) + bytes(marker)) == 3


def test_headers_that_were_not_kept_cannot_be_counted() -> None:
    one = batch(1)
    assert count_records(one[:61] + bytes(len(one) - 61)) == 1
    assert count_records(one[:61] + bytes(2 * len(one) - 61)) is None


@pytest.mark.parametrize(
    ("status", "answer", "end"),
    [
        (200, b'{"id": 1}', '200 {"id": 1}'),
        (200, b"x" * 41, "200 (41 bytes)"),
        (404, b'{"error_code": 40401, "message": "no subject"}', "40401 no subject"),
        (503, b"no JSON", "503"),
    ],
)
def test_requests_to_a_schema_registry(status: int, answer: bytes, end: str) -> None:
    line = line_of(registry_exchange("GET /subjects/s", status, answer))
    assert line == f"+0.500 SchemaRegistry v1 app GET /subjects/s -> {end}"
