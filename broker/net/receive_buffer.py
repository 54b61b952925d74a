"""The receive side of a connection without I/O: bytes go in, whole frames come out as views."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import TYPE_CHECKING, Final

from odradek.broker.security.denials import TLS
from odradek.protocol.errors import ProtocolError

if TYPE_CHECKING:
    from odradek.broker.net.sending import Transport

_SIZE: Final = Struct(">i")
_FIRST_BYTES: Final = 4096
_KEEP_BYTES: Final = 2 * 1024 * 1024
_TRUSTED_BYTES: Final = 16 * 1024  # allocated on the word of a size field; beyond that at most four times what has come


_TLS_HANDSHAKE: Final = 0x1603  # how a client begins that speaks TLS, where a frame's size should be


class SpeaksTlsError(ProtocolError):
    """A client speaks TLS at a plaintext listener."""


class ReceiveBuffer:
    """A reused buffer that the socket writes into directly, so that a frame is never copied or assembled.

    `read_from` reads what has come, `next_frame()` gives each whole frame (without its 4-byte size) as a view, valid
    until the next read. The buffer grows to the frame that is under way (at most `max_frame_bytes`) and shrinks again
    when it was large and is empty. `was_filled`: whether the last read took all that there was room for, so that there
    may be more.
    """

    __slots__ = ("_buffer", "_end", "_max_frame_bytes", "_on_growth", "_start", "_view", "_wanted", "was_filled")

    def __init__(self, max_frame_bytes: int) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._on_growth: Callable[[int], None] | None = None
        self._buffer = bytearray(_FIRST_BYTES)
        self._view = memoryview(self._buffer)
        self._start = 0
        self._end = 0
        self._wanted = 4
        self.was_filled = False

    def limit(self, max_frame_bytes: int, on_growth: Callable[[int], None] | None = None) -> None:
        """Allow frames of up to so many bytes from the next one on. `on_growth` gets the size of each new buffer."""
        self._max_frame_bytes = max_frame_bytes
        self._on_growth = on_growth

    def read_from(self, source: Transport) -> int:
        """Read once; returns how many bytes came, 0 at the end of the stream. BlockingIOError if there are none."""
        space = self.space()
        count = source.recv_into(space)
        self.was_filled = count == len(space)
        self._end += count
        return count

    def space(self) -> memoryview:
        """The free part, never empty; frames given out before may be overwritten."""
        held = self._end - self._start
        if held == 0:
            self._start = self._end = 0
            if len(self._buffer) > _KEEP_BYTES:
                self._replace(_FIRST_BYTES)
        wanted, size = self._wanted, len(self._buffer)
        if wanted > size and (held == size or size < _TRUSTED_BYTES):
            self._replace(min(wanted, max(_TRUSTED_BYTES, 4 * held)))
        elif self._start and (self._start + wanted > size or self._end == size):
            self._view[:held] = self._view[self._start : self._end]
            self._start, self._end = 0, held
        return self._view[self._end :] if self._end else self._view

    @property
    def partial(self) -> bool:
        """Whether a frame has begun and is not whole yet."""
        return self._end > self._start

    def next_frame(self) -> memoryview | None:
        """The next whole frame, or None if more bytes are needed; ProtocolError for a size that is not allowed."""
        start = self._start
        held = self._end - start
        if held < 4:
            self._wanted = 4
            return None
        size: int = _SIZE.unpack_from(self._buffer, start)[0]
        if not 0 <= size <= self._max_frame_bytes:
            if size >> 16 == _TLS_HANDSHAKE:
                raise SpeaksTlsError(TLS)
            raise ProtocolError(f"a frame of {size} bytes; the limit is {self._max_frame_bytes}")
        if held < size + 4:
            self._wanted = size + 4
            return None
        self._wanted = 4
        self._start = start + 4 + size
        return self._view[start + 4 : self._start]

    def shrink(self, most: int) -> bool:
        """Take as little memory as the bytes need that have come; False if these are more than `most`."""
        held = self._end - self._start
        if held > most:
            return False
        self._replace(max(held, _FIRST_BYTES))
        return True

    def _replace(self, size: int) -> None:
        """Move to a new buffer; the old one lives on as long as somebody holds a view of it."""
        if self._on_growth is not None:
            self._on_growth(size)
        held = self._end - self._start
        buffer = bytearray(size)
        view = memoryview(buffer)
        view[:held] = self._view[self._start : self._end]
        self._buffer, self._view = buffer, view
        self._start, self._end = 0, held
