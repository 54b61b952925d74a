"""Recorded probes of bad input: what Kafka closes the connection on is a ProtocolError, what it answers is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from odradek.protocol.apis import API_BY_KEY, API_VERSIONS_KEY
from odradek.protocol.errors import ProtocolError
from odradek.protocol.headers import decode_request_header
from odradek.protocol.message_codec import codec
from tests.protocol.recordings import recorded

# Closed for what the request means (acks=0 errors, SASL state, bad enum values), not for how it is written.
WELL_FORMED_YET_CLOSED = {
    "produce-acks-0-unknown-topic",
    "sasl-produce-before-auth",
    "sasl-authenticate-without-handshake",
    "corpus-DeleteAcls.v1.bad-filter",
    "corpus-DescribeAcls.v2.bad-filter",
    "corpus-DeleteAcls.v2.bad-filter",
}


MAX_FRAME = 100 * 1024 * 1024
"""Kafka's default of socket.request.max.bytes."""


def frames_of(data: bytes) -> Iterator[memoryview]:
    """The contents of the whole frames in a stream."""
    position = 0
    while len(data) >= position + 4:
        end = position + 4 + int.from_bytes(data[position : position + 4], "big", signed=True)
        if not position + 4 <= end <= position + 4 + MAX_FRAME:
            raise ProtocolError("a frame of no possible size")
        if end > len(data):
            return
        yield memoryview(data)[position + 4 : end]
        position = end


def read_requests(data: bytes) -> int:
    """Read all requests in a stream; the number of them."""
    count = 0
    for frame in frames_of(data):
        header, start = decode_request_header(frame)
        spec = API_BY_KEY[header.api_key]
        if spec.supports(header.api_version):
            codec(spec.request, header.api_version).decode(frame, start)
        elif spec.key != API_VERSIONS_KEY:
            raise ProtocolError("unsupported version")
        count += 1
    return count


def probes(*outcomes: str) -> list[dict[str, Any]]:
    return [probe for probe in recorded("behaviour") if probe["outcome"] in outcomes]


# Answered at first, then something follows that is no request (a raw SASL token, an unknown key, an unknown version).
GOOD_THEN_BAD = {"pipeline-bad-in-the-middle", "sasl-v0-raw-token-ok", "sasl-unsupported-authenticate-version"}
CUT_OFF = {"frame-truncated-then-close", "empty-then-shutdown"}


def test_what_kafka_answers_is_readable() -> None:
    for probe in probes("response"):
        if probe["case"] not in GOOD_THEN_BAD:
            assert read_requests(bytes.fromhex(probe["sent_hex"])) >= 1, probe["case"]


def test_what_kafka_closes_on_is_refused() -> None:
    closed = [probe for probe in probes("closed") if probe["case"] not in WELL_FORMED_YET_CLOSED]
    assert len(closed) > 100
    for probe in closed:
        data = bytes.fromhex(probe["sent_hex"])
        if probe["case"] in CUT_OFF:
            assert read_requests(data) == 0
        else:
            with pytest.raises(ProtocolError):
                read_requests(data)
