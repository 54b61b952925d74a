"""The part of a chunk in memory that appends use. It is its own object, because the chunk is referred to weakly."""

from __future__ import annotations

from typing import Final

_NOTHING: Final = memoryview(b"")


class Filling:
    """A bytearray that is filled from the front: `fill` bytes of `capacity`, through `writer`. Owner: its chunk."""

    __slots__ = ("capacity", "fill", "writer")

    def __init__(self, buffer: bytearray) -> None:
        self.writer = memoryview(buffer)
        self.capacity = len(buffer)
        self.fill = 0

    def end(self) -> None:
        """Take no more appends."""
        self.writer = _NOTHING
        self.capacity = 0
