"""Frames: a 4-byte big-endian size, then that many bytes. Sans-IO: bytes go in as they arrive, frames come out."""

from __future__ import annotations

from struct import Struct
from typing import Final

from odradek.protocol.errors import ProtocolError
from odradek.protocol.message import Buffer

SIZE: Final = Struct(">i")
DEFAULT_MAX_SIZE: Final = 100 * 1024 * 1024
"""Kafka's default of `socket.request.max.bytes`."""


class FrameBuffer:
    """Cuts a byte stream into frames. A frame's memory is never written again, so slices of it may be kept.

    Chunks are held as they came, and a frame that lies within one chunk is a slice of it: nothing is copied. A frame
    that spans chunks is joined once, when it is complete; a claimed size allocates nothing by itself.
    """

    __slots__ = ("_chunks", "_held", "_needed", "_offset", "max_size")

    def __init__(self, max_size: int = DEFAULT_MAX_SIZE) -> None:
        self.max_size = max_size
        self._chunks: list[memoryview] = []
        self._offset = 0  # of the first byte not yet taken, in the first chunk
        self._held = 0  # bytes not yet taken
        self._needed = -1  # size of the frame being read, -1 before its size is known

    def __len__(self) -> int:
        """Bytes held that no frame has taken."""
        return self._held

    def feed(self, data: Buffer) -> None:
        """Add received bytes. A mutable buffer is copied: the caller may use it again."""
        if not data:
            return
        self._chunks.append(memoryview(data if isinstance(data, bytes) else bytes(data)))
        self._held += len(data)

    def next_frame(self) -> memoryview | None:
        """The content of the next complete frame, None if more bytes are needed.

        Raises ProtocolError if a frame claims a negative size or more than `max_size`.
        """
        if self._needed < 0:
            if self._held < 4:
                return None
            (size,) = SIZE.unpack(self._take(4))
            if size < 0:
                raise ProtocolError(f"frame size {size} is negative")
            if size > self.max_size:
                raise ProtocolError(f"frame size {size} is larger than {self.max_size}")
            self._needed = size
        if self._held < self._needed:
            return None
        frame = self._take(self._needed)
        self._needed = -1
        return frame

    def _take(self, size: int) -> memoryview:
        self._held -= size
        if not self._chunks:
            return memoryview(b"")
        first = self._chunks[0]
        end = self._offset + size
        if end <= len(first):
            taken = first[self._offset : end]
            if end == len(first):
                del self._chunks[0]
                end = 0
            self._offset = end
            return taken
        return self._join(size)

    def _join(self, size: int) -> memoryview:
        pieces = [self._chunks[0][self._offset :]]
        missing = size - len(pieces[0])
        used = 1
        self._offset = 0
        while missing:
            chunk = self._chunks[used]
            if missing < len(chunk):
                pieces.append(chunk[:missing])
                self._offset = missing
                break
            pieces.append(chunk)
            missing -= len(chunk)
            used += 1
        del self._chunks[:used]
        return memoryview(b"".join(pieces))
