"""Bytes on their way in over a slow link."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator

import pytest

from odradek.broker.faults.delayed_bytes import PROMPT, DelayedBytes, Pace


class Way:
    def __init__(self) -> None:
        self.near, self.far = socket.socketpair()
        self.near.setblocking(False)
        self.late = DelayedBytes(random.Random(1))

    def take_in(self, pace: Pace, now_ms: int) -> None:
        self.late.take_in(self.near, pace, now_ms)

    def read(self, now_ms: int, size: int = 100) -> bytes | None:
        space = bytearray(size)
        try:
            count = self.late.read_into(memoryview(space), now_ms)
        except BlockingIOError:
            return None
        return bytes(space[:count])


@pytest.fixture
def way() -> Iterator[Way]:
    way = Way()
    with way.near, way.far:
        yield way


def test_bytes_arrive_late_and_in_order(way: Way) -> None:
    way.far.send(b"one")
    way.take_in(Pace(100), 0)
    way.far.send(b"two")
    way.take_in(Pace(100), 50)
    assert (way.late.next_ms, way.read(99)) == (100, None)
    assert (way.read(100), way.late.next_ms) == (b"one", 150)
    assert (way.read(149), way.read(150), way.late.next_ms) == (None, b"two", None)


def test_what_has_arrived_together_is_read_together_as_far_as_it_fits(way: Way) -> None:
    for part in (b"one", b"two"):
        way.far.send(part)
        way.take_in(PROMPT, 0)
    assert [way.read(0, 4), way.read(0, 4), way.read(0, 4)] == [b"onet", b"wo", None]
    assert len(way.late) == 0


def test_a_thin_line_and_jitter_change_no_order(way: Way) -> None:
    way.far.send(b"x" * 500)
    way.take_in(Pace(0, 0, 1000), 0)
    way.far.send(b"y")
    way.take_in(PROMPT, 10)
    assert (way.read(499), way.read(500, 501)) == (None, b"x" * 500 + b"y")
    way.far.send(b"z")
    way.take_in(Pace(0, 1000), 1000)
    assert way.late.next_ms is not None
    assert 1000 <= way.late.next_ms <= 2000


def test_the_end_of_the_stream_is_late_too(way: Way) -> None:
    way.far.send(b"last")
    way.far.close()
    way.take_in(Pace(10), 0)
    assert [way.read(9), way.read(10), way.read(10)] == [None, b"last", b""]
    way.take_in(Pace(10), 20)
    assert way.read(20) == b""


def test_no_more_is_taken_in_than_there_is_room_for(way: Way) -> None:
    way.far.setblocking(False)
    sent = 0
    for _ in range(60):
        try:
            sent += way.far.send(bytes(64 * 1024))
        except BlockingIOError:
            pass
        way.take_in(Pace(10), 0)
    assert sent > 1024 * 1024
    read = 0
    while (got := way.read(10, 1 << 21)) is not None:
        read += len(got)
    assert 1024 * 1024 <= read < 1024 * 1024 + 64 * 1024
    way.take_in(PROMPT, 10)
    assert way.read(10)


def test_delays_add_up_and_the_thinnest_line_counts() -> None:
    assert Pace(50, 10).then(Pace(20, 1, 1000)) == Pace(70, 11, 1000)
    assert Pace(bytes_per_second=500).then(Pace(bytes_per_second=1000)) == Pace(bytes_per_second=500)
    assert PROMPT.then(PROMPT) == PROMPT
