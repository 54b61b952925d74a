"""Bytes of an answer that a file holds: the process has no memory of them but while they are sent."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

SENDS_FILES: Final = sys.platform == "linux"
"""Whether a socket takes bytes from a file without a copy. Other systems have such calls, too, each its own."""
WORTH_SENDING: Final = 64 * 1024
"""A slice from so many bytes on is sent by its file's descriptor; a smaller one is looked at, which costs less."""
INLINE_RECORDS: Final = 4096
"""Record fields up to this size are copied into the part before them: that costs less than one more part to send."""


class FileBytes(Protocol):
    """A file, or a part of one, that stays as it is and readable for as long as somebody has this."""

    @property
    def descriptor(self) -> int:
        """Open for reading."""

    def view(self, offset: int, length: int) -> memoryview:
        """Read-only bytes at an offset of the file."""

    def read(self, offset: int, length: int) -> bytes:
        """A copy of a few bytes."""


class FileSlice:
    """`length` bytes from `offset` of a file. It may be one of the parts of an answer, as a view may."""

    __slots__ = ("length", "offset", "source")

    def __init__(self, source: FileBytes, offset: int, length: int) -> None:
        self.source = source
        self.offset = offset
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __repr__(self) -> str:
        return f"FileSlice({self.length} bytes from {self.offset} of file {self.source.descriptor})"

    def view(self) -> memoryview:
        """The bytes, for code that needs them in memory."""
        return self.source.view(self.offset, self.length)

    def head(self, length: int) -> bytes:
        """The first bytes, at most all of them."""
        return self.source.read(self.offset, min(length, self.length))

    def after(self, count: int) -> FileSlice:
        """The rest without the first `count` bytes."""
        return FileSlice(self.source, self.offset + count, self.length - count)


Part = bytes | memoryview | FileSlice
"""A piece of an answer."""


def in_memory(parts: Iterable[Part]) -> list[bytes | memoryview]:
    """The parts as buffers."""
    return [part.view() if isinstance(part, FileSlice) else part for part in parts]


def joined(parts: Sequence[Part]) -> bytes:
    """All bytes in one piece."""
    return b"".join(in_memory(parts))
