"""The indexes of the disk backend.

A used index is in memory (8 bytes for 4 KiB of log). `flush` and `close` write it to its file. Until then a crash loses
nothing: the scan of the log behind the recovery point rebuilds the index.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from odradek.storage.file_system import FileSystem
from odradek.storage.formats.segment_files import (
    OFFSET_ENTRY,
    TIME_ENTRY,
    TXN_ENTRY,
    TXN_INDEX_VERSION,
    AbortedTxn,
    IndexEntry,
    TimeEntry,
    parse_offset_index,
    parse_time_index,
    parse_txn_index,
)

_LIMIT = 16 * 1024 * 1024
"""Bytes in the file of an index that are read although `segment.index.bytes` is less."""


class _IndexFile:
    """The file of an index: read once, with the first use; appended to or rewritten by a flush."""

    __slots__ = ("_dirty", "_fs", "_limit", "_loaded", "_rewrite", "_written", "path")

    _ENTRY_BYTES: ClassVar[int]

    def __init__(self, fs: FileSystem, path: Path, max_bytes: int = 0, *, new: bool) -> None:
        self._fs = fs
        self.path = path
        self._limit = max(max_bytes, _LIMIT)
        self._loaded = new
        self._written = 0
        self._dirty = self._rewrite = new

    def is_whole(self) -> bool:
        """Whether the file is there and holds a whole number of entries, no more than an index may have."""
        if not self._fs.is_file(self.path):
            return False
        size = self._fs.size(self.path)
        return size <= self._limit and size % self._ENTRY_BYTES == 0

    def read(self) -> bytes:
        self._loaded = True
        return self._fs.read_if_any(self.path, self._limit) or b""

    def write(self, data: bytes) -> None:
        """`data` is the whole index. Entries that the file has already are not written again."""
        if not self._dirty:
            return
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


class DiskOffsetIndex(_IndexFile):
    """The offset index of a segment in two arrays, backed by its `.index` file."""

    __slots__ = ("_base", "_max_entries", "_offsets", "_positions")

    _ENTRY_BYTES = OFFSET_ENTRY.size

    def __init__(self, fs: FileSystem, path: Path, base_offset: int, max_bytes: int, *, new: bool) -> None:
        super().__init__(fs, path, max_bytes, new=new)
        self._base = base_offset
        self._max_entries = max(1, max_bytes // OFFSET_ENTRY.size)
        self._offsets = array("q")
        self._positions = array("q")

    def _load(self) -> None:
        if self._loaded:
            return
        data = self.read()
        entries = parse_offset_index(data, self._base)
        self._offsets = array("q", [e.offset for e in entries])
        self._positions = array("q", [e.position for e in entries])
        self._written = len(entries) * OFFSET_ENTRY.size
        self._dirty = self._rewrite = self._written != len(data)

    def append(self, offset: int, position: int) -> None:
        self._load()
        self._offsets.append(offset)
        self._positions.append(position)
        self._dirty = True

    def floor(self, offset: int) -> int:
        self._load()
        i = bisect_right(self._offsets, offset) - 1
        return self._positions[i] if i >= 0 else 0

    def floor_position(self, position: int) -> int:
        self._load()
        i = bisect_right(self._positions, position) - 1
        return self._positions[i] if i >= 0 else 0

    def offset_at_or_after(self, position: int) -> int | None:
        self._load()
        i = bisect_left(self._positions, position)
        return self._offsets[i] if i < len(self._offsets) else None

    def is_full(self) -> bool:
        self._load()
        return len(self._offsets) >= self._max_entries

    def entries(self) -> Sequence[IndexEntry]:
        self._load()
        return [IndexEntry(*pair) for pair in zip(self._offsets, self._positions, strict=True)]

    def truncate(self, offset: int) -> None:
        self._load()
        keep = bisect_left(self._offsets, offset)
        if keep < len(self._offsets):
            del self._offsets[keep:], self._positions[keep:]
            self._dirty = self._rewrite = True

    def clear(self) -> None:
        """Forget everything: the segment is scanned again."""
        self._loaded = True
        self._offsets, self._positions = array("q"), array("q")
        self._dirty = self._rewrite = True

    def take(self, other: DiskOffsetIndex) -> None:
        """Have the entries of the same segment's index elsewhere."""
        other._load()
        self.clear()
        self._offsets, self._positions = other._offsets[:], other._positions[:]

    def flush(self) -> None:
        if self._dirty:
            pairs = zip(self._offsets, self._positions, strict=True)
            self.write(b"".join(OFFSET_ENTRY.pack(offset - self._base, position) for offset, position in pairs))

    def close(self) -> None:
        self.flush()


class DiskTimeIndex(_IndexFile):
    """The time index of a segment in two arrays, backed by its `.timeindex` file."""

    __slots__ = ("_base", "_max_entries", "_offsets", "_timestamps")

    _ENTRY_BYTES = TIME_ENTRY.size

    def __init__(self, fs: FileSystem, path: Path, base_offset: int, max_bytes: int, *, new: bool) -> None:
        super().__init__(fs, path, max_bytes, new=new)
        self._base = base_offset
        self._max_entries = max(1, max_bytes // TIME_ENTRY.size)
        self._timestamps = array("q")
        self._offsets = array("q")

    def _load(self) -> None:
        if self._loaded:
            return
        data = self.read()
        entries = parse_time_index(data, self._base)
        self._timestamps = array("q", [e.timestamp for e in entries])
        self._offsets = array("q", [e.offset for e in entries])
        self._written = len(entries) * TIME_ENTRY.size
        self._dirty = self._rewrite = self._written != len(data)

    def append(self, timestamp: int, offset: int) -> None:
        self._load()
        if self._timestamps and timestamp <= self._timestamps[-1]:
            return
        self._timestamps.append(timestamp)
        self._offsets.append(offset)
        self._dirty = True

    def floor(self, timestamp: int) -> int:
        self._load()
        i = bisect_right(self._timestamps, timestamp) - 1
        return self._offsets[i] if i >= 0 else -1

    def last(self) -> TimeEntry:
        self._load()
        return TimeEntry(self._timestamps[-1], self._offsets[-1]) if self._timestamps else TimeEntry(-1, -1)

    def is_full(self) -> bool:
        self._load()
        return len(self._timestamps) >= self._max_entries

    def entries(self) -> Sequence[TimeEntry]:
        self._load()
        return [TimeEntry(*pair) for pair in zip(self._timestamps, self._offsets, strict=True)]

    def truncate(self, offset: int) -> None:
        self._load()
        keep = bisect_left(self._offsets, offset)
        if keep < len(self._offsets):
            del self._timestamps[keep:], self._offsets[keep:]
            self._dirty = self._rewrite = True

    def clear(self) -> None:
        """Forget everything: the segment is scanned again."""
        self._loaded = True
        self._timestamps, self._offsets = array("q"), array("q")
        self._dirty = self._rewrite = True

    def take(self, other: DiskTimeIndex) -> None:
        """Have the entries of the same segment's index elsewhere."""
        other._load()
        self.clear()
        self._timestamps, self._offsets = other._timestamps[:], other._offsets[:]

    def flush(self) -> None:
        if self._dirty:
            pairs = zip(self._timestamps, self._offsets, strict=True)
            self.write(b"".join(TIME_ENTRY.pack(timestamp, offset - self._base) for timestamp, offset in pairs))

    def close(self) -> None:
        self.flush()


class DiskTxnIndex(_IndexFile):
    """The aborted transactions of a segment, backed by its `.txnindex` file, which exists only when there are any."""

    __slots__ = ("_entries",)

    def __init__(self, fs: FileSystem, path: Path, *, new: bool) -> None:
        super().__init__(fs, path, new=new)
        self._dirty = False
        self._entries: list[AbortedTxn] = []

    def _load(self) -> None:
        if self._loaded:
            return
        data = self.read()
        self._entries = parse_txn_index(data)
        self._written = len(data)

    def append(self, entry: AbortedTxn) -> None:
        self._load()
        self._entries.append(entry)
        self._dirty = True

    def entries(self) -> Sequence[AbortedTxn]:
        self._load()
        return self._entries

    def truncate(self, offset: int) -> None:
        self._load()
        kept = [entry for entry in self._entries if entry.last_offset < offset]
        if len(kept) < len(self._entries):
            self._entries = kept
            self._dirty = self._rewrite = True

    def clear(self) -> None:
        """Forget everything: the segment is scanned again."""
        self._loaded = True
        self._dirty = self._rewrite = bool(self._entries) or self._fs.is_file(self.path)
        self._entries = []

    def take(self, other: DiskTxnIndex) -> None:
        """Have the entries of the same segment's index elsewhere."""
        other._load()
        self._loaded = True
        self._entries = list(other._entries)
        self._dirty = self._rewrite = bool(self._entries)

    def flush(self) -> None:
        if self._dirty:
            self.write(b"".join(TXN_ENTRY.pack(TXN_INDEX_VERSION, *entry) for entry in self._entries))

    def close(self) -> None:
        self.flush()
