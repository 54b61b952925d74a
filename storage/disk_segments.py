"""The files of a segment: batches, indexes, and their names.

An append writes to the `.log` file at once, and stays in memory chunks until they have 4 MiB, or until the tails of all
segments have more than a quarter of `odradek.memory.bytes`: then the one that grew least recently is dropped. Older
bytes are read through a read-only map of the file, or sent by its descriptor. So a consumer at the end of a busy log
never waits for a map, a log that is only written is never mapped, and nothing is copied on the way to a socket. Maps
stay valid while views of them are held, even after the file is removed.

A used index is in memory (8 bytes for 4 KiB of log). `flush` and `close` write it to its file. Until then a crash loses
nothing: the scan of the log behind the recovery point rebuilds the index.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from odradek.protocol.file_slice import SENDS_FILES, WORTH_SENDING, FileSlice
from odradek.protocol.records import Buffer
from odradek.storage.backend import SegmentStores, StorageError
from odradek.storage.file_system import FileSystem
from odradek.storage.formats.segment_files import (
    LOG,
    OFFSET_ENTRY,
    OFFSET_INDEX,
    SEGMENT_PARTS,
    TIME_ENTRY,
    TIME_INDEX,
    TXN_ENTRY,
    TXN_INDEX,
    TXN_INDEX_VERSION,
    AbortedTxn,
    TimeEntry,
    file_name,
    parse_offset_index,
    parse_time_index,
    parse_txn_index,
)
from odradek.storage.memory_backend import MemoryBatchStore, MemoryOffsetIndex, MemoryTimeIndex, MemoryTxnIndex

# --- batches ----------------------------------------------------------------------------------------------------------


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


# --- indexes ----------------------------------------------------------------------------------------------------------

_LIMIT = 16 * 1024 * 1024
"""Bytes in the file of an index that are read although `segment.index.bytes` is less."""
_ALL = 1 << 62
Index = TypeVar("Index", MemoryOffsetIndex, MemoryTimeIndex, MemoryTxnIndex)


class _IndexFile(Generic[Index]):
    """An index in memory and its file: read with the first use; appended to or rewritten by a flush."""

    __slots__ = ("_base", "_dirty", "_fs", "_index", "_max_bytes", "_rewrite", "_written", "path")

    _ENTRY_BYTES: ClassVar[int]

    def __init__(self, fs: FileSystem, path: Path, base_offset: int = 0, max_bytes: int = 0, *, new: bool) -> None:
        self._fs = fs
        self.path = path
        self._base = base_offset
        self._max_bytes = max_bytes
        self._index: Index | None = self._empty() if new else None
        self._written = 0
        self._dirty = self._rewrite = new

    def _empty(self) -> Index:
        raise NotImplementedError

    def _fill(self, index: Index, data: bytes) -> int:
        """Append the entries of a file; returns how many it has."""
        raise NotImplementedError

    def _packed(self, index: Index) -> bytes:
        """The whole file."""
        raise NotImplementedError

    def _used(self) -> Index:
        if self._index is None:
            data = self._fs.read_if_any(self.path, max(self._max_bytes, _LIMIT)) or b""
            index = self._empty()
            self._written = self._fill(index, data) * self._ENTRY_BYTES
            self._dirty = self._rewrite = self._written != len(data)
            self._index = index
        return self._index

    def entries(self) -> Sequence[Any]:
        return self._used().entries()

    def is_whole(self) -> bool:
        """Whether the file is there and holds a whole number of entries, no more than an index may have."""
        if not self._fs.is_file(self.path):
            return False
        size = self._fs.size(self.path)
        return size <= max(self._max_bytes, _LIMIT) and size % self._ENTRY_BYTES == 0

    def truncate(self, offset: int) -> None:
        index = self._used()
        before = len(index.entries())
        index.truncate(offset)
        if len(index.entries()) < before:
            self._dirty = self._rewrite = True

    def clear(self) -> None:
        """Forget everything: the segment is scanned again."""
        self._index = self._empty()
        self._dirty = self._rewrite = True

    def take(self, other: _IndexFile[Index]) -> None:
        """Have the entries of the same segment's index elsewhere."""
        self._index = other._used().copy_below(_ALL)
        self._dirty = self._rewrite = True

    def flush(self) -> None:
        """Entries that the file has already are not written again."""
        if self._index is None or not self._dirty:
            return
        data = self._packed(self._index)
        start = 0 if self._rewrite else self._written
        descriptor = self._fs.open(self.path)
        try:
            if self._rewrite or len(data) < self._written:
                self._fs.truncate(descriptor, start, self.path)
            if len(data) > start:
                self._fs.write_at(descriptor, [memoryview(data)[start:]], start, self.path)
            self._fs.sync(descriptor, self.path)
        finally:
            self._fs.close(descriptor)
        self._written = len(data)
        self._dirty = self._rewrite = False

    def close(self) -> None:
        self.flush()


class DiskOffsetIndex(_IndexFile[MemoryOffsetIndex]):
    """The offset index of a segment, backed by its `.index` file."""

    __slots__ = ()

    _ENTRY_BYTES = OFFSET_ENTRY.size

    def _empty(self) -> MemoryOffsetIndex:
        return MemoryOffsetIndex(self._max_bytes)

    def _fill(self, index: MemoryOffsetIndex, data: bytes) -> int:
        entries = parse_offset_index(data, self._base)
        for offset, position in entries:
            index.append(offset, position)
        return len(entries)

    def _packed(self, index: MemoryOffsetIndex) -> bytes:
        return b"".join(OFFSET_ENTRY.pack(offset - self._base, position) for offset, position in index.entries())

    def append(self, offset: int, position: int) -> None:
        self._used().append(offset, position)
        self._dirty = True

    def floor(self, offset: int) -> int:
        return self._used().floor(offset)

    def floor_position(self, position: int) -> int:
        return self._used().floor_position(position)

    def offset_at_or_after(self, position: int) -> int | None:
        return self._used().offset_at_or_after(position)

    def is_full(self) -> bool:
        return self._used().is_full()


class DiskTimeIndex(_IndexFile[MemoryTimeIndex]):
    """The time index of a segment, backed by its `.timeindex` file."""

    __slots__ = ()

    _ENTRY_BYTES = TIME_ENTRY.size

    def _empty(self) -> MemoryTimeIndex:
        return MemoryTimeIndex(self._max_bytes)

    def _fill(self, index: MemoryTimeIndex, data: bytes) -> int:
        entries = parse_time_index(data, self._base)
        for timestamp, offset in entries:
            index.append(timestamp, offset)
        return len(entries)

    def _packed(self, index: MemoryTimeIndex) -> bytes:
        return b"".join(TIME_ENTRY.pack(timestamp, offset - self._base) for timestamp, offset in index.entries())

    def append(self, timestamp: int, offset: int) -> None:
        index = self._used()
        if timestamp > index.last().timestamp:
            index.append(timestamp, offset)
            self._dirty = True

    def floor(self, timestamp: int) -> int:
        return self._used().floor(timestamp)

    def last(self) -> TimeEntry:
        return self._used().last()

    def is_full(self) -> bool:
        return self._used().is_full()


class DiskTxnIndex(_IndexFile[MemoryTxnIndex]):
    """The aborted transactions of a segment, backed by its `.txnindex` file, which exists only when there are any."""

    __slots__ = ()

    _ENTRY_BYTES = TXN_ENTRY.size

    def __init__(self, fs: FileSystem, path: Path, *, new: bool) -> None:
        super().__init__(fs, path, new=new)
        self._dirty = False

    def _empty(self) -> MemoryTxnIndex:
        return MemoryTxnIndex()

    def _fill(self, index: MemoryTxnIndex, data: bytes) -> int:
        entries = parse_txn_index(data)
        for entry in entries:
            index.append(entry)
        return len(entries)

    def _packed(self, index: MemoryTxnIndex) -> bytes:
        return b"".join(TXN_ENTRY.pack(TXN_INDEX_VERSION, *entry) for entry in index.entries())

    def append(self, entry: AbortedTxn) -> None:
        self._used().append(entry)
        self._dirty = True

    def clear(self) -> None:
        had = self._index is not None and len(self._index.entries()) > 0
        super().clear()
        self._dirty = self._rewrite = had or self._fs.is_file(self.path)

    def take(self, other: _IndexFile[MemoryTxnIndex]) -> None:
        super().take(other)
        self._dirty = self._rewrite = len(self.entries()) > 0


# --- the segment ------------------------------------------------------------------------------------------------------


class DiskSegmentStores(SegmentStores):
    """The stores of one segment on disk. They can rename their files together."""

    __slots__ = ("directory", "fs", "suffix")

    batches: DiskBatchStore
    offset_index: DiskOffsetIndex
    time_index: DiskTimeIndex
    txn_index: DiskTxnIndex

    def __init__(
        self, fs: FileSystem, directory: Path, base_offset: int, index_bytes: int, *, size: int | None, suffix: str = ""
    ) -> None:
        """`size` of the existing `.log` in bytes; None makes an empty `.log` for a new segment."""
        new = size is None
        paths = {kind: directory / file_name(base_offset, kind, suffix) for kind in SEGMENT_PARTS}
        if new:
            fs.close(fs.create(paths[LOG]))
        super().__init__(
            base_offset,
            DiskBatchStore(fs, paths[LOG], size or 0),
            DiskOffsetIndex(fs, paths[OFFSET_INDEX], base_offset, index_bytes, new=new),
            DiskTimeIndex(fs, paths[TIME_INDEX], base_offset, index_bytes, new=new),
            DiskTxnIndex(fs, paths[TXN_INDEX], new=new),
        )
        self.fs = fs
        self.directory = directory
        self.suffix = suffix

    def rename(self, suffix: str) -> list[Path]:
        """Give all files of the segment another suffix; returns the new paths of those that exist."""
        renamed = []
        for part, kind in self._parts():
            target = self.directory / file_name(self.base_offset, kind, suffix)
            if self.fs.is_file(part.path):
                self.fs.rename(part.path, target)
                renamed.append(target)
            part.path = target
        self.suffix = suffix
        return renamed

    def remove(self) -> None:
        """Remove all files of the segment. They must be closed."""
        for part, _ in self._parts():
            self.fs.remove(part.path)

    def forget_indexes(self) -> None:
        """Empty the indexes, before the segment is scanned again."""
        for index in (self.offset_index, self.time_index, self.txn_index):
            index.clear()

    def take_indexes(self, other: SegmentStores) -> None:
        """Take over the index entries of another copy of the segment. The next flush writes them to the files."""
        assert isinstance(other, DiskSegmentStores)
        self.offset_index.take(other.offset_index)
        self.time_index.take(other.time_index)
        self.txn_index.take(other.txn_index)

    def release(self) -> None:
        """Close without writing indexes, because the segment is about to be removed."""
        self.batches.close()

    def _parts(self) -> list[tuple[DiskBatchStore | DiskOffsetIndex | DiskTimeIndex | DiskTxnIndex, str]]:
        return [
            (self.offset_index, OFFSET_INDEX),
            (self.time_index, TIME_INDEX),
            (self.txn_index, TXN_INDEX),
            (self.batches, LOG),
        ]
