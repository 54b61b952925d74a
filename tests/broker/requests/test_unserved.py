from __future__ import annotations

import struct

import pytest

from odradek.broker.requests.unserved import Unserved, unserved


@pytest.mark.parametrize(
    ("length", "raw", "client"),
    [(3, b"app", "app"), (-1, b"", ""), (0, b"", ""), (9, b"app", "app"), (2, b"\xff\xfe", "\ufffd\ufffd")],
)
def test_what_a_frame_asks_for(length: int, raw: bytes, client: str) -> None:
    frame = memoryview(struct.pack(">hhih", 1, 2, 7, length) + raw)
    assert unserved(5, "::1", frame, (4, 18)) == Unserved(5, client, "::1", "Fetch", 2, "4 to 18")


def test_it_says_what_is_served() -> None:
    assert str(Unserved(0, "", "h", "Fetch", 2, "4 to 18")) == "Fetch is not served in version 2, but in 4 to 18"
    assert str(Unserved(0, "", "h", "Fetch", 0, "")) == "Fetch is not served"
