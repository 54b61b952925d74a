"""The batches of one segment in a `.log` file, and slices of the file that answers are sent from.

An append writes to the file at once, and stays in memory chunks until they have 4 MiB, or until the tails of all
segments have more than a quarter of `odradek.memory.bytes`: then the one that grew least recently is dropped. Older
bytes are read through a read-only map of the file, or sent by its descriptor. So a consumer at the end of a busy log
never waits for a map, a log that is only written is never mapped, and nothing is copied on the way to a socket. Maps
stay valid while views of them are held, even after the file is removed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from odradek.protocol.file_slice import SENDS_FILES, WORTH_SENDING, FileSlice
from odradek.protocol.records import Buffer
from odradek.storage.backend import StorageError
from odradek.storage.file_system import FileSystem
from odradek.storage.memory_backend import MemoryBatchStore


class SentFile:
    """A file that is open for reading, and its map; see `FileBytes`. It closes with the last slice."""

    __slots__ = ("_fs", "_map", "descriptor")

    def __init__(self, fs: FileSystem, descriptor: int, mapped: memoryview) -> None:
        self._fs = fs
        self._map = mapped
        self.descriptor = descriptor

    def view(self, offset: int, length: int) -> memoryview:
        return self._map[offset : offset + length]

    def read(self, offset: int, length: int) -> bytes:
        return bytes(self.view(offset, length))

    def __del__(self) -> None:
        self._fs.close(self.descriptor)


_TAIL_LIMIT = 4 * 1024 * 1024
_LEAST_COUNTED = 4 * 1024


class DiskBatchStore:
    """A segment's file. Owner: its SegmentStores; the descriptor is open from the first append to `seal` or `close`."""

    __slots__ = ("_counted", "_descriptor", "_fs", "_map", "_tail", "_tail_start", "_unsynced", "path", "size")

    def __init__(self, fs: FileSystem, path: Path, size: int) -> None:
        self._fs = fs
        self.path = path
        self.size = size
        self._descriptor = -1
        self._unsynced = False
        self._map = memoryview(b"")
        self._tail = MemoryBatchStore()
        self._tail_start = size
        self._counted = 0
        """The bytes that `FileSystem.tails` counts: at least those of the tail."""

    def append(self, batch: Buffer, base_offset: int, leader_epoch: int) -> int:
        position = self.size
        tail = self._tail
        if tail.size >= _TAIL_LIMIT:
            self.drop_tail()
            tail = self._tail
        at = tail.append(batch, base_offset, leader_epoch)
        try:
            if self._descriptor < 0:
                self._descriptor = self._fs.open(self.path)
            self._fs.write_at(self._descriptor, tail.read(at, tail.size - at), position, self.path)
        except StorageError:
            tail.truncate(at)
            self._cut_file(position)
            raise
        self._unsynced = True
        self.size = position + tail.size - at
        if tail.size > self._counted:
            self._counted = max(_LEAST_COUNTED, 2 * tail.size)
            self._fs.tails.hold(self, self._counted)
        return position

    def drop_tail(self) -> None:
        """Read everything from the file from now on. Later appends begin a new tail."""
        self._tail, self._tail_start = MemoryBatchStore(), self.size
        if self._counted:
            self._counted = 0
            self._fs.tails.release(self)

    def _cut_file(self, size: int) -> None:
        """Remove a partly written batch. If that fails too, the next start cuts the torn batch."""
        if self._descriptor >= 0:
            try:
                self._fs.truncate(self._descriptor, size, self.path)
            except StorageError:
                pass

    def read(self, position: int, length: int) -> list[memoryview]:
        start = self._tail_start
        if position >= start:
            return self._tail.read(position - start, length)
        end = position + length
        mapped = self._mapped()
        if end <= start:
            return [mapped[position:end]]
        return [mapped[position:start], *self._tail.read(0, end - start)]

    def slices(self, position: int, length: int) -> list[memoryview | FileSlice]:
        """See `BatchStore.slices`. If the process has no descriptor left, they are views of the map."""
        in_file = min(length, self._tail_start - position)
        if in_file >= WORTH_SENDING and SENDS_FILES:
            mapped = self._mapped()
            try:
                file = SentFile(self._fs, self._fs.open_read(self.path), mapped)
            except StorageError:
                return [*self.read(position, length)]
            rest = self._tail.read(0, length - in_file) if in_file < length else ()
            return [FileSlice(file, position, in_file), *rest]
        return [*self.read(position, length)]

    def view(self, position: int) -> tuple[memoryview, int]:
        start = self._tail_start
        if position >= start:
            return self._tail.view(position - start)
        return self._mapped(), position

    def _mapped(self) -> memoryview:
        """The file without its tail, mapped again when bytes have left the tail since the last call."""
        if len(self._map) < self._tail_start:
            descriptor = self._fs.open_read(self.path) if self._descriptor < 0 else self._descriptor
            try:
                self._map = self._fs.map(descriptor, self._tail_start, self.path)
            finally:
                if descriptor != self._descriptor:
                    self._fs.close(descriptor)
        return self._map

    def truncate(self, size: int) -> None:
        if size >= self.size:
            return
        # A read from a map kills the process if the file has been truncated below it.
        self._map = memoryview(b"")
        if size >= self._tail_start:
            self._tail.truncate(size - self._tail_start)
        else:
            self.size = size
            self.drop_tail()
        if self._descriptor < 0:
            self._descriptor = self._fs.open(self.path)
        self._fs.truncate(self._descriptor, size, self.path)
        self.size = size
        self._unsynced = True

    def flush(self) -> None:
        if not self._unsynced:
            return
        if self._descriptor >= 0:
            self._fs.sync(self._descriptor, self.path)
        else:
            self._fs.sync_file(self.path)
        self._unsynced = False

    def begin_sync(self) -> Callable[[], None] | None:
        if not self._unsynced or self._descriptor < 0:
            return None
        try:
            descriptor = self._fs.duplicate(self._descriptor, self.path)
        except StorageError:
            self.flush()  # no descriptor is left, so nobody else can do it
            return None
        self._unsynced = False

        def sync() -> None:
            try:
                self._fs.sync(descriptor, self.path)
            except StorageError:
                self._unsynced = True
                raise
            finally:
                os.close(descriptor)

        return sync

    def seal(self) -> None:
        """Take no more appends, and read from the file from now on. The bytes may still need a flush."""
        self._close_descriptor()
        self.drop_tail()

    def _close_descriptor(self) -> None:
        if self._descriptor >= 0:
            self._fs.close(self._descriptor)
            self._descriptor = -1

    def close(self) -> None:
        self._close_descriptor()
        self._map = memoryview(b"")
        self.drop_tail()
