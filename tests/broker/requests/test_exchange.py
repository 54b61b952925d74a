"""Names of APIs, and what reports say of requests in versions that nobody serves."""

from __future__ import annotations

import struct

import pytest

from odradek.broker.requests.exchange import (
    REGISTRY_API,
    REGISTRY_KEY,
    UnsupportedRequest,
    api_name,
    unsupported_request,
)
from odradek.protocol.apis import API_BY_KEY, API_BY_NAME


def test_names_are_those_of_kafka_and_one_more() -> None:
    assert api_name(1) == "Fetch"
    assert api_name(REGISTRY_KEY) == REGISTRY_API
    assert REGISTRY_KEY not in API_BY_KEY
    assert REGISTRY_API not in API_BY_NAME


@pytest.mark.parametrize(
    ("length", "raw", "client"),
    [(3, b"app", "app"), (-1, b"", ""), (0, b"", ""), (9, b"app", "app"), (2, b"\xff\xfe", "\ufffd\ufffd")],
)
def test_what_a_frame_asks_for(length: int, raw: bytes, client: str) -> None:
    frame = memoryview(struct.pack(">hhih", 1, 2, 7, length) + raw)
    assert unsupported_request(5, "::1", frame, (4, 18)) == UnsupportedRequest(5, client, "::1", "Fetch", 2, "4 to 18")


def test_it_says_what_is_served() -> None:
    assert (
        str(UnsupportedRequest(0, "", "h", "Fetch", 2, "4 to 18")) == "Fetch is not served in version 2, but in 4 to 18"
    )
    assert str(UnsupportedRequest(0, "", "h", "Fetch", 0, "")) == "Fetch is not served"
