"""One request, as a user sees it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from odradek.broker.requests.exchange import Told
from odradek.broker.requests.subjects import Subjects
from odradek.broker.transcript.recorded_request import RecordedRequest
from odradek.protocol.generated.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.fakes.exchanges import Names, raw_exchange, recorded


def test_who_asked_what_when() -> None:
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


def test_addresses_of_version_6() -> None:
    one = recorded(HeartbeatRequest("g"), 4, connection="::1:9000-::1:50000-12")
    assert (one.client, one.broker) == ("::1:50000", "::1:9000")


def test_errors_have_names() -> None:
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


def test_other_ends() -> None:
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
