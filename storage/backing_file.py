"""An unnamed temporary file for log chunks that are not kept in memory.

The file is on a disk, and the system caches as much of it as there is room. One file has the extents of all logs, so
the number of descriptors does not grow with the partitions. An extent is written once, and freed when no log, view or
slice refers to it.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from threading import Lock

from odradek.protocol.file_slice import WORTH_SENDING
from odradek.protocol.records import Buffer

_PAGE = mmap.ALLOCATIONGRANULARITY
_PIECE = 256 * 1024
"""Bytes for one write, where readers move the same position of the file."""
_PUNCHES = sys.platform == "linux"
_STEP = 2 * 1024 * 1024
"""Where holes are made, extents that may be sent by descriptor begin at multiples of this. The system may cache a file
in pages of up to this size, and clears the part of one that becomes a hole: a socket may not have sent it yet.
"""
_MOST_MAPS = 128
"""Each map has a descriptor of its own, so the number of maps is limited. Further views are copies."""


class BackingFile:
    """An unnamed file.

    It closes with its last extent. Where holes can be made in it, its end only grows. One thread at a time makes
    extents and writes; any thread reads. `later` takes work that may wait for the disk and is not urgent. Without it
    that work runs in the thread that causes it.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.later: Callable[[Callable[[], None]], None] | None = None
        self.maps = 0
        self._end = 0
        self._free: dict[int, list[int]] = {}
        self._position = Lock()

    def extent(self, size: int) -> Extent:
        """Room for `size` bytes, which is a hole until it is written. OSError if the file takes no more."""
        rounded = -(-size // _PAGE) * _PAGE
        free = self._free.get(rounded)
        if free:
            return Extent(self, free.pop(), rounded)
        offset = self._end
        end = offset + rounded
        if _PUNCHES and rounded >= WORTH_SENDING:
            offset = _stepped(offset)
            end = offset + _stepped(rounded)
        os.truncate(self.descriptor, end)
        self._end = end
        return Extent(self, offset, rounded)

    def release(self, offset: int, size: int) -> None:
        """Free an extent's room, in any thread, at any point.

        Linux makes a hole, which frees the disk. The room is not used again, because a socket may still hold its pages.
        Elsewhere nothing is sent by descriptor, so the next extent of that size gets the room.
        """
        if not _PUNCHES:
            self._free.setdefault(size, []).append(offset)
        elif self.later is not None:
            self.later(partial(self._punch, offset, size))
        else:
            self._punch(offset, size)

    def _punch(self, offset: int, size: int) -> None:
        if size >= WORTH_SENDING:
            size = _stepped(size)
        try:
            with mmap.mmap(self.descriptor, size, offset=offset) as room:
                room.madvise(mmap.MADV_REMOVE)
        except (OSError, ValueError):
            pass  # a file system without holes keeps the room until the file goes

    def write(self, data: Buffer, position: int) -> None:
        """Write all bytes of `data` from `position` on. OSError if the medium fails."""
        rest = memoryview(data)
        while rest:
            written = self._write_some(rest, position)
            rest = rest[written:]
            position += written

    def _write_some(self, data: memoryview, position: int) -> int:
        if hasattr(os, "pwrite"):
            return os.pwrite(self.descriptor, data, position)
        with self._position:
            os.lseek(self.descriptor, position, os.SEEK_SET)
            return os.write(self.descriptor, data[:_PIECE])

    def read(self, position: int, length: int) -> bytes:
        """A copy of bytes of the file."""
        if hasattr(os, "pread"):
            return os.pread(self.descriptor, length, position)
        with self._position:
            os.lseek(self.descriptor, position, os.SEEK_SET)
            return os.read(self.descriptor, length)

    def map(self, position: int, length: int) -> _Mapping:
        """A map that begins at a multiple of the page size. OSError if the system has none left."""
        with nullcontext() if hasattr(os, "pwrite") else self._position:  # on Windows it moves the file's position
            return _Mapping(self.descriptor, length, access=mmap.ACCESS_READ, offset=position)

    def __del__(self) -> None:
        os.close(self.descriptor)


def _stepped(size: int) -> int:
    return -(-size // _STEP) * _STEP


class Extent:
    """A run of bytes in a backing file. Its room is freed when no view, no slice and no log refers to it."""

    __slots__ = ("file", "offset", "size")

    def __init__(self, file: BackingFile, offset: int, size: int) -> None:
        self.file = file
        self.offset = offset
        self.size = size

    @property
    def descriptor(self) -> int:
        return self.file.descriptor

    def write(self, data: Buffer) -> None:
        """Write its first bytes. OSError if the medium fails."""
        self.file.write(data, self.offset)

    def view(self, offset: int, length: int) -> memoryview:
        """See `FileBytes`; `offset` is the file's."""
        file = self.file
        if file.maps >= _MOST_MAPS:
            return memoryview(file.read(offset, length))
        begin = offset // _PAGE * _PAGE
        try:
            mapping = file.map(begin, offset + length - begin)
        except OSError:  # no descriptor is left, or no address
            return memoryview(file.read(offset, length))
        mapping.extent = self
        file.maps += 1
        return memoryview(mapping)[offset - begin :]

    def read(self, offset: int, length: int) -> bytes:
        return self.file.read(offset, length)

    def __del__(self, ends: Callable[[], bool] = sys.is_finalizing) -> None:
        if not ends():  # the file goes with the process
            self.file.release(self.offset, self.size)


class _Mapping(mmap.mmap):
    """A map that keeps its extent."""

    __slots__ = ("extent",)
    extent: Extent

    def __del__(self) -> None:
        self.extent.file.maps -= 1


def temporary_file() -> BackingFile:
    """A file in the folder for large temporary files: $TMPDIR, or else /var/tmp. OSError if it can't be made."""
    import tempfile

    folder = None
    if "TMPDIR" not in os.environ and os.access("/var/tmp", os.W_OK):
        folder = "/var/tmp"  # /tmp is often a file system in memory
    with tempfile.TemporaryFile(dir=folder, prefix="odradek-") as file:
        return BackingFile(os.dup(file.fileno()))
