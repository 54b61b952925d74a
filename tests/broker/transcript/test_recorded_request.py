"""One request, as a user sees it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from odradek.broker.requests.recent_requests import Head, Told
from odradek.broker.requests.request_topics import Subjects
from odradek.broker.transcript.recorded_request import (
    RecordedRequest,
    TranscriptReader,
    count_records,
    decoded_answer,
    decoded_request,
    describe_answer,
    describe_request,
    few,
    is_trimmed,
    line_of,
    lines_of,
    whole_bytes,
)
from odradek.protocol.consumer_protocol import encode_assignment
from odradek.protocol.generated.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
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
from tests.fakes.exchanges import ORDERS_ID, Names, raw_exchange, recorded, registry_exchange


def test_recorded_request_tells_who_asked_what_when() -> None:
    one = recorded(HeartbeatRequest("g", 3, "m"), 4, HeartbeatResponse(0), client_id="c", correlation_id=9)
    assert (one.api, one.version, one.node, one.client_id, one.correlation_id) == ("Heartbeat", 4, 1, "c", 9)
    assert (one.client, one.broker) == ("127.0.0.1:50000", "127.0.0.1:9000")
    assert one.at == 0.5
    assert one.time_ms == 1_000_000_500
    assert one.time == datetime(1970, 1, 12, 13, 46, 40, 500_000, tzinfo=UTC)
    assert one.latency_ms == pytest.approx(4)
    assert (one.size, one.response_size) == (len(one.exchange.frame or b""), len(one.exchange.answer or b"") - 4)
    assert one.request == HeartbeatRequest("g", 3, "m")
    assert one.response == HeartbeatResponse(0)
    assert (one.group, one.transactional_id, one.errors, one.state) == ("g", None, (), "answered")


def test_recorded_request_has_addresses_of_ip_version_6() -> None:
    one = recorded(HeartbeatRequest("g"), 4, connection="::1:9000-::1:50000-12")
    assert (one.client, one.broker) == ("::1:50000", "::1:9000")


def test_recorded_request_names_its_errors() -> None:
    one = recorded(HeartbeatRequest("g"), 4, HeartbeatResponse(0, 25))
    assert one.errors == one.problems == ("UNKNOWN_MEMBER_ID",)
    both = recorded(AddOffsetsToTxnRequest("t-1", 5, 0, "g"), 3, AddOffsetsToTxnResponse(0, 51))
    assert (both.group, both.transactional_id, both.errors) == ("g", "t-1", ("CONCURRENT_TRANSACTIONS",))


def test_a_request_that_waits_is_read_again_when_it_is_answered() -> None:
    raw = raw_exchange(HeartbeatRequest("g"), 4)
    one = RecordedRequest(raw, Names())
    assert (one.state, one.errors, one.latency_ms, one.response) == ("waiting", (), None, None)
    later = raw_exchange(HeartbeatRequest("g"), 4, HeartbeatResponse(0, 27))
    raw[9:12] = later[9:12]
    assert (one.state, one.errors) == ("answered", ("REBALANCE_IN_PROGRESS",))


def test_recorded_request_tells_how_it_ended() -> None:
    assert recorded(HeartbeatRequest("g"), 4, cut="the client has gone").state == "cut"
    raw = raw_exchange(HeartbeatRequest("g"), 4)
    raw[9] = 101.0
    assert RecordedRequest(raw, Names()).state == "unanswered"


def test_of_a_secret_one_it_is_told_what_it_was_about() -> None:
    raw = raw_exchange(HeartbeatRequest("g"), 4, HeartbeatResponse(0, 25))
    raw[8] = Told(Subjects({"orders": {1}}, {"g"}, set()), ())
    raw[10] = Told(None, ((58, "alice SASL_AUTHENTICATION_FAILED"),))
    one = RecordedRequest(raw, Names())
    assert (one.topics, one.group, one.errors) == ((("orders", 1, None),), "g", ("SASL_AUTHENTICATION_FAILED",))
    assert one.request is None


def test_zeros_stand_for_what_was_left_out() -> None:
    assert whole_bytes(((b"ab", 2), (b"c", 3))) == b"abc\0\0"
    assert whole_bytes(b"abc") == b"abc"
    assert [whole_bytes(kept) for kept in (None, Head(b"a", 5), Told(None, ()))] == [None, None, None]
    assert [is_trimmed(kept) for kept in (((b"c", 3),), b"abc", None, Head(b"a", 5))] == [True, False, False, False]


def test_recorded_request_decodes_both_messages() -> None:
    request, answer = ApiVersionsRequest("me", "1"), ApiVersionsResponse(0, throttle_time_ms=7)
    kept = recorded(request, 3, answer).exchange
    assert decoded_request(kept) == request
    assert decoded_answer(kept) == answer


def test_what_cannot_be_decoded_is_none() -> None:
    kept = recorded(ApiVersionsRequest("me", "1"), 3, frame=b"\0\x12\0\3\0\0\0\1").exchange
    assert decoded_request(kept) is None
    assert decoded_answer(kept) is None


def test_a_version_of_api_versions_that_nobody_knows_yet_is_answered_in_version_0() -> None:
    known = recorded(ApiVersionsRequest(), 0, ApiVersionsResponse(35)).exchange
    newer = known._replace(version=99)
    assert decoded_answer(newer) == ApiVersionsResponse(35)


def test_a_fetch_is_about_what_its_session_has() -> None:
    names = Names()
    reader = TranscriptReader(names, names.ms_at, names.origin_s)
    first = FetchRequest(session_epoch=0, topics=[FetchTopic("", ORDERS_ID, [FetchPartition(2, fetch_offset=7)])])
    raws = [
        raw_exchange(first, 16, FetchResponse(session_id=3)),
        raw_exchange(HeartbeatRequest("g"), 4, HeartbeatResponse()),
        raw_exchange(FetchRequest(session_id=3, session_epoch=1), 16),
    ]
    for _ in range(2):
        one, heartbeat, waiting = reader.read(raws)
        assert one.topics == waiting.topics == (("orders", 2, 7),)
        assert str(waiting).endswith("orders-2@7 -> still waiting")
        assert heartbeat.group == "g"


# -- A request as a line.


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
