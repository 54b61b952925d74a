"""Messages read again from what was kept."""

from __future__ import annotations

from odradek.broker.requests.exchange import Head, Told
from odradek.broker.transcript.kept_messages import decoded_answer, decoded_request, is_trimmed, whole_bytes
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from tests.fakes.exchanges import recorded


def test_zeros_stand_for_what_was_left_out() -> None:
    assert whole_bytes(((b"ab", 2), (b"c", 3))) == b"abc\0\0"
    assert whole_bytes(b"abc") == b"abc"
    assert [whole_bytes(kept) for kept in (None, Head(b"a", 5), Told(None, ()))] == [None, None, None]
    assert [is_trimmed(kept) for kept in (((b"c", 3),), b"abc", None, Head(b"a", 5))] == [True, False, False, False]


def test_both_messages_are_decoded() -> None:
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
