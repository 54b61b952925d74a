"""A file without a name for what logs do not keep in memory: extents of it are written once and go when unused.

It lies on a disk, and the system keeps its bytes in the page cache as far as there is room. One file takes the extents
of all logs, so the number of descriptors does not grow with the partitions.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Sequence
from threading import Lock

from odradek.protocol.records import Buffer

_PAGE = mmap.ALLOCATIONGRANULARITY
_PUNCHES = sys.platform == "linux"
_MOST_MAPS = 128
"""Each map has a descriptor of its own, so there are so many at most; further views are copies."""


class BackingFile:
    """One such file. It closes when the last extent has gone; its end only grows where holes can be made in it."""

    __slots__ = ("_end", "_free", "_lock", "descriptor", "maps")

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.maps = 0
        self._end = 0
        self._free: dict[int, list[int]] = {}
        self._lock = Lock()

    def extent(self, size: int) -> Extent:
        """Room for `size` bytes, all of it a hole until it is written. OSError if the file takes no more."""
        rounded = -(-size // _PAGE) * _PAGE
        with self._lock:
            free = self._free.get(rounded)
            if free:
                return Extent(self, free.pop(), rounded)
            offset = self._end
            os.truncate(self.descriptor, offset + rounded)
            self._end = offset + rounded
        return Extent(self, offset, rounded)

    def release(self, offset: int, size: int) -> None:
        """Give an extent's room back.

        Linux makes a hole, and the room is not used again: pages on their way through a socket belong to whoever
        reads there. Elsewhere nothing is sent by descriptor, and the next extent of that size gets the room.
        """
        if not _PUNCHES:
            self._free.setdefault(size, []).append(offset)
            return
        try:
            with mmap.mmap(self.descriptor, size, offset=offset) as room:
                room.madvise(mmap.MADV_REMOVE)
        except (OSError, ValueError):
            pass  # a file system without holes keeps the room until the file goes

    def __del__(self) -> None:
        os.close(self.descriptor)


class Extent:
    """A run of bytes in a backing file. Its room is given back when nothing refers to it: no view, no slice, no log."""

    __slots__ = ("file", "offset", "size")

    def __init__(self, file: BackingFile, offset: int, size: int) -> None:
        self.file = file
        self.offset = offset
        self.size = size

    @property
    def descriptor(self) -> int:
        """See `FileBytes`."""
        return self.file.descriptor

    def write(self, parts: Sequence[Buffer], at: int) -> None:
        """Write parts one after the other from position `at` of the extent. OSError if the medium fails."""
        write_all(self.file.descriptor, parts, self.offset + at)

    def view(self, offset: int, length: int) -> memoryview:
        """See `FileBytes`; `offset` is the file's."""
        if self.file.maps >= _MOST_MAPS:
            return memoryview(read_all(self.file.descriptor, offset, length))
        begin = offset // _PAGE * _PAGE
        try:
            mapping = _Mapping(self.file.descriptor, offset + length - begin, access=mmap.ACCESS_READ, offset=begin)
        except OSError:  # no descriptor is left, or no address
            return memoryview(read_all(self.file.descriptor, offset, length))
        mapping.extent = self
        self.file.maps += 1
        return memoryview(mapping)[offset - begin :]

    def read(self, offset: int, length: int) -> bytes:
        """See `FileBytes`."""
        return read_all(self.file.descriptor, offset, length)

    def __del__(self) -> None:
        self.file.release(self.offset, self.size)


class _Mapping(mmap.mmap):
    """A map that keeps its extent."""

    __slots__ = ("extent",)
    extent: Extent

    def __del__(self) -> None:
        self.extent.file.maps -= 1


def read_all(descriptor: int, position: int, length: int) -> bytes:
    """Bytes of a file that is long enough."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, length, position)
    os.lseek(descriptor, position, os.SEEK_SET)
    return os.read(descriptor, length)


def write_all(descriptor: int, parts: Sequence[Buffer], position: int) -> None:
    """Write all of `parts` one after the other from `position` of a file on."""
    if not hasattr(os, "pwritev"):
        os.lseek(descriptor, position, os.SEEK_SET)
        rest = memoryview(b"".join(parts))
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        return
    total = sum(len(part) for part in parts)
    written = os.pwritev(descriptor, parts, position)
    while written < total:
        rest = memoryview(b"".join(parts))[written:]
        written += os.pwrite(descriptor, rest, position + written)


def temporary_file() -> BackingFile:
    """A file on a disk, where large temporary files belong: $TMPDIR, or else /var/tmp. OSError if it can't be made."""
    import tempfile

    folder = None
    if "TMPDIR" not in os.environ and os.access("/var/tmp", os.W_OK):
        folder = "/var/tmp"  # /tmp is often a file system in memory
    with tempfile.TemporaryFile(dir=folder, prefix="odradek-") as file:
        return BackingFile(os.dup(file.fileno()))
