from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.protocol.errors import ProtocolError
from odradek.protocol.frame import FrameBuffer


def framed(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


@settings(max_examples=100, deadline=None, database=None)
@given(st.lists(st.binary(max_size=30), max_size=6), st.lists(st.integers(1, 12), min_size=1))
def test_frames_come_out_however_the_bytes_come_in(contents: list[bytes], sizes: list[int]) -> None:
    stream = b"".join(framed(content) for content in contents)
    buffer = FrameBuffer()
    found = []
    turn = 0
    while stream:
        size = sizes[turn % len(sizes)]
        buffer.feed(stream[:size])
        stream = stream[size:]
        turn += 1
        while (frame := buffer.next_frame()) is not None:
            found.append(bytes(frame))
    assert found == contents
    assert len(buffer) == 0


def test_a_frame_within_a_chunk_is_not_copied() -> None:
    chunk = framed(b"one") + framed(b"two")
    buffer = FrameBuffer()
    buffer.feed(chunk)
    frames = [buffer.next_frame(), buffer.next_frame()]
    assert [frame.obj is chunk for frame in frames if frame is not None] == [True, True]
    assert buffer.next_frame() is None


def test_a_mutable_buffer_may_be_reused() -> None:
    received = bytearray(framed(b"kept"))
    buffer = FrameBuffer()
    buffer.feed(received)
    received[:] = bytes(len(received))
    assert bytes(buffer.next_frame() or b"") == b"kept"


def test_an_empty_frame() -> None:
    buffer = FrameBuffer()
    buffer.feed(bytes(4))
    frame = buffer.next_frame()
    assert frame is not None
    assert bytes(frame) == b""


@pytest.mark.parametrize(("size", "complaint"), [(-1, "negative"), (101, "larger than 100"), (2**31 - 1, "larger")])
def test_sizes_that_are_refused(size: int, complaint: str) -> None:
    buffer = FrameBuffer(max_size=100)
    buffer.feed(size.to_bytes(4, "big", signed=True))
    with pytest.raises(ProtocolError, match=complaint):
        buffer.next_frame()


def test_the_largest_frame() -> None:
    buffer = FrameBuffer(max_size=100)
    buffer.feed(framed(bytes(100)))
    assert bytes(buffer.next_frame() or b"") == bytes(100)
