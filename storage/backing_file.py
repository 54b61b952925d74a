"""An unnamed temporary file for log chunks that are not kept in memory, with its writer thread and its maps.

The file is on a disk, and the system caches as much of it as there is room. One file has the extents of all logs, so
the number of descriptors does not grow with the partitions. An extent is written once, and freed when no log, view or
slice refers to it. Readers get maps; the last few are kept, up to 64 MiB.

A disk may block and the event loop must not, so a thread writes the file and makes holes in it. It begins with the
first chunk and ends with the pool. A chunk is read from memory until it is written, so a log may be deleted, cut,
forked or restored meanwhile. The thread reports in a deque, which the pool reads in the event loop.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Protocol
from weakref import ref

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


_MOST_BYTES = 64 * 1024 * 1024
_MOST_CHUNK_MAPS = 64


class Mappable(Protocol):
    """A chunk for readers. `view`: its bytes, None while they are in a file and not mapped."""

    extent: Extent | None
    view: memoryview | None


class ChunkMaps:
    """The maps of a pool's chunks, oldest first.

    Their number is limited, so that the process maps little of its files. Any thread may ask, because logs of several
    brokers share chunks.
    """

    def __init__(self) -> None:
        self._maps: deque[tuple[ref[Mappable], int]] = deque()
        self._bytes = 0
        self._lock = Lock()

    def look(self, chunk: Mappable) -> memoryview:
        """The bytes of a chunk in a file; they stay the view of the chunk until others need the room."""
        extent = chunk.extent
        assert extent is not None, "a chunk without a view is in a file"
        view = extent.view(extent.offset, extent.size)
        with self._lock:
            self._maps.append((ref(chunk), extent.size))
            self._bytes += extent.size
            chunk.view = view
            while (self._bytes > _MOST_BYTES or len(self._maps) > _MOST_CHUNK_MAPS) and len(self._maps) > 1:
                oldest, size = self._maps.popleft()
                self._bytes -= size
                unmapped = oldest()
                if unmapped is not None and unmapped is not chunk and unmapped.extent is not None:
                    unmapped.view = None
        return view


THREAD_NAME = "odradek chunk writer"


class Movable(Protocol):
    """A chunk for the writer. `held`: the bytes that it takes in memory; `fill`: how many are used."""

    extent: Extent | None
    held: int
    number: int

    @property
    def fill(self) -> int: ...

    def bytes(self) -> memoryview:
        """All bytes, from the first one on."""

    def moved(self, extent: Extent) -> None:
        """The bytes have moved to this extent."""


class ChunkWriter:
    """Writes chunks one after the other, and frees the room of released ones.

    Owner: a pool, from whose thread `put`, `take_failure` and `close` are called. A chunk that ends before its turn is
    not written. A failure drops all chunks that were put before; the pool puts them again if it wants them written.
    `gone` takes (number, bytes) of each chunk that left memory. `on_written` is called in the writer's thread after
    each job. The thread does not refer to the pool, which closes its writer when nobody uses it any more. RuntimeError
    if the system has no thread left.
    """

    def __init__(self, gone: deque[tuple[int, int]], on_written: Callable[[], None] | None = None) -> None:
        self._gone = gone
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._file: BackingFile | None = None
        self._generation = 1
        self._failed = 0
        self._failure: Exception | None = None
        self.written = 0
        self.on_written = on_written
        # A daemon: a disk that hangs must not keep the process from ending.
        Thread(target=self._run, name=THREAD_NAME, daemon=True).start()

    def put(self, chunk: Movable) -> None:
        """Write a chunk that takes no more appends."""
        self._jobs.put(partial(self._write, self._generation, ref(chunk)))

    def take_failure(self) -> Exception | None:
        """The failure that dropped the chunks put so far, if there was one; later ones are tried."""
        failure, self._failure = self._failure, None
        if failure is not None:
            self._generation += 1
        return failure

    def close(self) -> None:
        """End after the chunks that were put. Any thread may call this; it does not wait."""
        if self._file is not None:
            self._file.later = None
        self._jobs.put(None)

    # -- in the thread

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                if self._file is not None:
                    self._file.later = None
                return
            job()
            del job  # while this waits, it refers to no chunk
            told = self.on_written
            if told is not None:
                told()
                del told

    def _write(self, generation: int, which: ref[Movable]) -> None:
        chunk = which()
        if generation <= self._failed or chunk is None or chunk.extent is not None:
            return
        try:
            extent = self._stored(chunk)
        except Exception as error:  # any error: those who wait for this thread have to learn of it
            self._failed = generation
            self._failure = error.with_traceback(None)  # its frames refer to the chunk
            return
        held, chunk.held = chunk.held, 0
        chunk.moved(extent)
        self.written += 1
        self._gone.append((chunk.number, held))

    def _stored(self, chunk: Movable) -> Extent:
        file = self._file
        if file is None:
            file = self._file = temporary_file()
            file.later = self._jobs.put
        extent = file.extent(max(chunk.fill, 1))
        extent.write(chunk.bytes()[: chunk.fill])
        return extent
