"""Frames of a socket come out whole and in order, those that come alone as bytes."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.broker.fast.small_frames import SMALL, SmallFrames
from odradek.protocol.errors import ProtocolError
from tests.fakes.examples import examples


@contextmanager
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A client's socket and the broker's."""
    client, broker = socket.socketpair()
    with client, broker:
        broker.setblocking(False)
        yield client, broker


def framed(content: bytes) -> bytes:
    return struct.pack(">i", len(content)) + content


def read(buffer: SmallFrames, broker: socket.socket) -> list[bytes | memoryview]:
    """The frames of all that has come."""
    frames: list[bytes | memoryview] = []
    while True:
        try:
            buffer.read_from(broker)
        except BlockingIOError:
            return frames
        while (frame := buffer.next_frame()) is not None:
            frames.append(frame if isinstance(frame, bytes) else memoryview(bytes(frame)))


@settings(max_examples=examples(100), deadline=None)
@given(
    sizes=st.lists(st.one_of(st.integers(0, 40), st.integers(4000, 9000)), max_size=8),
    steps=st.lists(st.integers(1, 9000), min_size=1, max_size=20),
)
def test_frames_survive_any_split(sizes: list[int], steps: list[int]) -> None:
    contents = [bytes([number % 251]) * size for number, size in enumerate(sizes)]
    stream = b"".join(map(framed, contents))
    buffer = SmallFrames(100_000)
    seen: list[bytes] = []
    with pair() as (client, broker):
        for step in cycle(steps):
            if not stream:
                break
            client.sendall(stream[:step])
            stream = stream[step:]
            seen += map(bytes, read(buffer, broker))
    assert seen == contents
    assert not buffer.partial


def test_a_small_frame_that_comes_alone_is_bytes_and_so_is_the_next_but_for_one_behind_a_large_one() -> None:
    buffer = SmallFrames(100_000)
    kinds: list[type] = []
    with pair() as (client, broker):
        for size in (10, SMALL - 5, SMALL, 10, 10):
            client.sendall(framed(bytes(size)))
            (frame,) = read(buffer, broker)
            assert len(frame) == size
            kinds.append(type(frame))
    assert kinds == [bytes, bytes, memoryview, memoryview, bytes]


def test_the_end_of_the_stream_is_told() -> None:
    with pair() as (client, broker):
        client.close()
        assert SmallFrames(1000).read_from(broker) == 0


@pytest.mark.parametrize("size", [-1, 1001])
def test_a_small_read_is_held_against_the_limit(size: int) -> None:
    buffer = SmallFrames(1000)
    with pair() as (client, broker):
        client.sendall(struct.pack(">i", size) + bytes(max(0, size)))
        buffer.read_from(broker)
    with pytest.raises(ProtocolError):
        buffer.next_frame()
