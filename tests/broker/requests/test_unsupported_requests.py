"""Requests in versions that nobody serves: what reports say of them, and ApiVersions, which is answered."""

from __future__ import annotations

import struct

import pytest

from odradek.broker.requests.unsupported_requests import UnsupportedRequest, unsupported_request
from tests.broker.requests.test_dispatch import exchange
from tests.fakes.cluster import FakeCluster


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


def test_unknown_versions_are_answered_in_v0() -> None:
    answer = exchange(FakeCluster(), struct.pack(">ihhihb", 11, 18, 99, 5, -1, 0))
    assert answer is not None
    assert answer == bytes.fromhex("00000005002300000001001200000005")
