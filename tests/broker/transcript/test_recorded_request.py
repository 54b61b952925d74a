"""One request, as a user sees it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from odradek.broker.requests.recent_requests import Head, Told
from odradek.broker.requests.request_topics import Subjects
from odradek.broker.transcript.recorded_request import (
    RecordedRequest,
    TranscriptReader,
    decoded_answer,
    decoded_request,
    is_trimmed,
    whole_bytes,
)
from odradek.protocol.generated.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.fakes.exchanges import ORDERS_ID, Names, raw_exchange, recorded


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
