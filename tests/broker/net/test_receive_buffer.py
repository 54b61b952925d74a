"""Frames come out of the receive buffer whole and in order, however the bytes arrive."""

from __future__ import annotations

import struct
from itertools import cycle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.broker.net.receive_buffer import ReceiveBuffer
from odradek.protocol.errors import ProtocolError
from tests.fakes.examples import examples


class Given:
    """Gives a reader these bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def recv_into(self, space: memoryview, /) -> int:
        count = min(len(space), len(self.data))
        space[:count] = self.data[:count]
        return count


def feed(buffer: ReceiveBuffer, data: bytes) -> int:
    """Read as much as there is space for; returns how much that was."""
    return buffer.read_from(Given(data))  # type: ignore[arg-type]


def framed(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content


def frames_of(stream: bytes, steps: list[int]) -> list[bytes]:
    """The frames of a stream that comes in pieces of these sizes, over and over."""
    buffer = ReceiveBuffer(100_000)
    seen: list[bytes] = []
    for step in cycle(steps):
        if not stream:
            break
        stream = stream[feed(buffer, stream[:step]) :]
        while (frame := buffer.next_frame()) is not None:
            seen.append(bytes(frame))
    assert not buffer.partial
    return seen


@settings(max_examples=examples(60), deadline=None)
@given(
    sizes=st.lists(st.one_of(st.integers(0, 40), st.integers(4000, 9000), st.just(70_000)), max_size=8),
    steps=st.lists(st.integers(1, 9000), min_size=1, max_size=20),
)
def test_frames_survive_any_split(sizes: list[int], steps: list[int]) -> None:
    contents = [bytes([number % 251]) * size for number, size in enumerate(sizes)]
    stream = b"".join(map(framed, contents))
    assert frames_of(stream, steps) == contents


@pytest.mark.parametrize("size", [-1, -(2**31), 1001, 2**31 - 1])
def test_sizes_out_of_range_are_refused(size: int) -> None:
    buffer = ReceiveBuffer(1000)
    feed(buffer, struct.pack(">i", size))
    with pytest.raises(ProtocolError):
        buffer.next_frame()


def test_a_claimed_size_alone_does_not_take_its_memory() -> None:
    buffer = ReceiveBuffer(100 * 1024 * 1024)
    feed(buffer, struct.pack(">i", 100 * 1024 * 1024) + b"abcd")
    assert buffer.next_frame() is None
    assert len(buffer.space()) <= 16 * 1024


def test_a_buffer_is_at_most_four_times_what_has_come() -> None:
    sizes: list[int] = []
    buffer = ReceiveBuffer(1)
    buffer.limit(100 * 1024 * 1024, sizes.append)
    feed(buffer, struct.pack(">i", 100 * 1024 * 1024))
    came = 4
    while came < 3_000_000:
        assert buffer.next_frame() is None
        came += feed(buffer, bytes(10_000))
        assert sizes[-1] <= max(16 * 1024, 4 * came)
    assert len(sizes) < 10


def test_a_large_buffer_is_given_back_when_it_is_empty() -> None:
    buffer = ReceiveBuffer(100 * 1024 * 1024)
    data = framed(bytes(5 * 1024 * 1024))
    while data:
        data = data[feed(buffer, data) :]
        frame = buffer.next_frame()
    assert frame is not None
    assert len(frame) == 5 * 1024 * 1024
    del frame
    assert len(buffer.space()) == 4096


def test_a_frame_stays_readable_while_the_next_one_arrives() -> None:
    buffer = ReceiveBuffer(1_000_000)
    feed(buffer, framed(b"first") + b"\0\0")
    frame = buffer.next_frame()
    assert frame is not None
    assert bytes(frame) == b"first"
    assert buffer.next_frame() is None
    assert bytes(frame) == b"first"


def test_a_buffer_shrinks_to_what_it_holds() -> None:
    sizes: list[int] = []
    buffer = ReceiveBuffer(1_000_000)
    buffer.limit(1_000_000, sizes.append)
    stream = framed(b"b" * 500_000)
    while stream:
        stream = stream[feed(buffer, stream) :]
        frame = buffer.next_frame()
    assert buffer.shrink(0)
    assert bytes(frame or b"") == b"b" * 500_000, "who has it keeps it"
    assert sizes[-1] == 4096
    feed(buffer, framed(b"next")[:6])
    assert buffer.shrink(6)
    assert not buffer.shrink(5)
    feed(buffer, b"xt")
    assert bytes(buffer.next_frame() or b"") == b"next"
