"""The log in memory: batches in chunks that never move, indexes in arrays.

A chunk is a bytearray allocated once and filled from the front; views of the filled part are handed to sockets and stay
valid while later batches go behind them. Chunks grow from 4 KiB to 1 MiB, a large batch gets a chunk of its own size,
so a read of many small batches is one or a few views and an idle partition costs nothing.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from odradek.protocol.record_batch import LEADER_EPOCH_AT, assign_offsets
from odradek.protocol.records import Buffer
from odradek.storage.backend import LoadedLog, LogStore, SegmentStores
from odradek.storage.formats.indexes import AbortedTxn, IndexEntry, TimeEntry
from odradek.storage.leader_epochs import LeaderEpochs
from odradek.storage.log_config import LogConfig
from odradek.storage.producer_state import ProducerStates

_FIRST_CHUNK = 4 * 1024
_MAX_CHUNK = 1024 * 1024
_OWN_CHUNK = 128 * 1024
"""A batch from this size on gets a chunk of exactly its size: no slack, and no zero-filling before the copy."""
_WORTH_TRIMMING = 16 * 1024
_MIN_SEGMENT = 1024 * 1024
_put_offset = struct.Struct(">q").pack_into
_put_epoch = struct.Struct(">i").pack_into


class MemoryBatchStore:
    """The batches of one segment in chunks; see the module's text."""

    __slots__ = ("_capacity", "_fill", "_next_chunk", "_starts", "_views", "_writer", "size")

    def __init__(self) -> None:
        self.size = 0
        self._starts: list[int] = []
        self._views: list[memoryview] = []
        self._writer = memoryview(bytearray())
        self._fill = 0
        self._capacity = 0
        self._next_chunk = _FIRST_CHUNK

    def append(self, batch: Buffer, base_offset: int, leader_epoch: int) -> int:
        length = len(batch)
        start = self._fill
        end = start + length
        if end > self._capacity:
            if length >= _OWN_CHUNK:
                return self._append_own_chunk(batch, base_offset, leader_epoch)
            self._new_chunk(length)
            start, end = 0, length
        writer = self._writer
        writer[start:end] = batch
        _put_offset(writer, start, base_offset)
        _put_epoch(writer, start + LEADER_EPOCH_AT, leader_epoch)
        self._fill = end
        position = self.size
        self.size = position + length
        return position

    def _append_own_chunk(self, batch: Buffer, base_offset: int, leader_epoch: int) -> int:
        chunk = bytearray(batch)
        assign_offsets(chunk, base_offset, leader_epoch)
        position = self.size
        self._starts.append(position)
        self._views.append(memoryview(chunk).toreadonly())
        self._writer = memoryview(chunk)
        self._fill = self._capacity = len(chunk)
        self.size = position + len(chunk)
        return position

    def _new_chunk(self, at_least: int) -> None:
        size = max(self._next_chunk, at_least)
        self._next_chunk = min(_MAX_CHUNK, self._next_chunk * 2)
        chunk = bytearray(size)
        self._starts.append(self.size)
        self._views.append(memoryview(chunk).toreadonly())
        self._writer = memoryview(chunk)
        self._fill, self._capacity = 0, size

    def read(self, position: int, length: int) -> list[memoryview]:
        starts, views = self._starts, self._views
        end = position + length
        i = bisect_right(starts, position) - 1
        start = starts[i]
        last = len(starts) - 1
        if i == last or end <= starts[i + 1]:
            return [views[i][position - start : end - start]]
        parts = [views[i][position - start : starts[i + 1] - start]]
        while True:
            i += 1
            start = starts[i]
            if i == last or end <= starts[i + 1]:
                parts.append(views[i][: end - start])
                return parts
            parts.append(views[i][: starts[i + 1] - start])

    def view(self, position: int) -> tuple[memoryview, int]:
        starts = self._starts
        i = bisect_right(starts, position) - 1
        start = starts[i]
        end = self.size if i == len(starts) - 1 else starts[i + 1]
        return self._views[i][: end - start], position - start

    def truncate(self, size: int) -> None:
        if size >= self.size:
            return
        keep = bisect_left(self._starts, size)
        tail = b"".join(self.read(self._starts[keep - 1], size - self._starts[keep - 1])) if keep else b""
        # Views of the old tail may still be on their way out: never write over them, start a new chunk instead.
        del self._starts[max(keep - 1, 0) :], self._views[max(keep - 1, 0) :]
        self.size = size - len(tail)
        if tail:
            self._starts.append(self.size)
            chunk = bytearray(tail)
            self._views.append(memoryview(chunk).toreadonly())
            self.size = size
        self._writer, self._fill, self._capacity = memoryview(bytearray()), 0, 0

    def seal(self) -> None:
        """No more appends: give back the unused end of the last chunk. Views of the old chunk stay valid."""
        if self._capacity - self._fill >= _WORTH_TRIMMING:
            self._views[-1] = memoryview(bytes(self._views[-1][: self._fill]))
        self._writer, self._fill, self._capacity = memoryview(bytearray()), 0, 0

    def flush(self) -> None:
        """Memory has nothing to flush."""

    def begin_sync(self) -> Callable[[], None] | None:
        return None

    def close(self) -> None:
        self._starts, self._views = [], []
        self._writer, self._fill, self._capacity = memoryview(bytearray()), 0, 0


class MemoryOffsetIndex:
    """The offset index in two arrays."""

    __slots__ = ("_max_entries", "_offsets", "_positions")

    def __init__(self, max_bytes: int) -> None:
        self._offsets = array("q")
        self._positions = array("q")
        self._max_entries = max(1, max_bytes // 8)

    def append(self, offset: int, position: int) -> None:
        self._offsets.append(offset)
        self._positions.append(position)

    def floor(self, offset: int) -> int:
        i = bisect_right(self._offsets, offset) - 1
        return self._positions[i] if i >= 0 else 0

    def floor_position(self, position: int) -> int:
        i = bisect_right(self._positions, position) - 1
        return self._positions[i] if i >= 0 else 0

    def offset_at_or_after(self, position: int) -> int | None:
        i = bisect_left(self._positions, position)
        return self._offsets[i] if i < len(self._offsets) else None

    def is_full(self) -> bool:
        return len(self._offsets) >= self._max_entries

    def entries(self) -> Sequence[IndexEntry]:
        return [IndexEntry(*pair) for pair in zip(self._offsets, self._positions, strict=True)]

    def truncate(self, offset: int) -> None:
        keep = bisect_left(self._offsets, offset)
        del self._offsets[keep:], self._positions[keep:]

    def flush(self) -> None: ...
    def close(self) -> None: ...


class MemoryTimeIndex:
    """The time index in two arrays."""

    __slots__ = ("_max_entries", "_offsets", "_timestamps")

    def __init__(self, max_bytes: int) -> None:
        self._timestamps = array("q")
        self._offsets = array("q")
        self._max_entries = max(1, max_bytes // 12)

    def append(self, timestamp: int, offset: int) -> None:
        if self._timestamps and timestamp <= self._timestamps[-1]:
            return
        self._timestamps.append(timestamp)
        self._offsets.append(offset)

    def floor(self, timestamp: int) -> int:
        i = bisect_right(self._timestamps, timestamp) - 1
        return self._offsets[i] if i >= 0 else -1

    def last(self) -> TimeEntry:
        return TimeEntry(self._timestamps[-1], self._offsets[-1]) if self._timestamps else TimeEntry(-1, -1)

    def is_full(self) -> bool:
        return len(self._timestamps) >= self._max_entries

    def entries(self) -> Sequence[TimeEntry]:
        return [TimeEntry(*pair) for pair in zip(self._timestamps, self._offsets, strict=True)]

    def truncate(self, offset: int) -> None:
        keep = bisect_left(self._offsets, offset)
        del self._timestamps[keep:], self._offsets[keep:]

    def flush(self) -> None: ...
    def close(self) -> None: ...


class MemoryTxnIndex:
    """The aborted transactions of a segment in a list."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: list[AbortedTxn] = []

    def append(self, entry: AbortedTxn) -> None:
        self._entries.append(entry)

    def entries(self) -> Sequence[AbortedTxn]:
        return self._entries

    def truncate(self, offset: int) -> None:
        self._entries = [e for e in self._entries if e.last_offset < offset]

    def flush(self) -> None: ...
    def close(self) -> None: ...


class MemoryLogStore:
    """A log that exists only while the process does: nothing to load, nothing to keep beside the segments."""

    __slots__ = ()

    def load(self) -> LoadedLog | None:
        return None

    def create_segment(self, base_offset: int, config: LogConfig) -> SegmentStores:
        return SegmentStores(
            base_offset,
            MemoryBatchStore(),
            MemoryOffsetIndex(config.segment_index_bytes),
            MemoryTimeIndex(config.segment_index_bytes),
            MemoryTxnIndex(),
        )

    def create_cleaned(self, base_offset: int, config: LogConfig) -> SegmentStores:
        return self.create_segment(base_offset, config)

    def replace_segments(self, old: Sequence[SegmentStores], new: Sequence[SegmentStores]) -> None:
        """The log's own list of segments is the swap."""
        for stores in new:
            self.segment_sealed(stores)

    def discard(self, cleaned: SegmentStores) -> None: ...
    def drop_segments(self, segments: Sequence[SegmentStores], delay_ms: int) -> None: ...
    def segment_sealed(self, stores: SegmentStores) -> None:
        assert isinstance(stores.batches, MemoryBatchStore)
        stores.batches.seal()

    def save_producers(self, offset: int, producers: ProducerStates) -> None: ...
    def drop_producer_snapshots(self, before_offset: int) -> None: ...
    def save_leader_epochs(self, epochs: LeaderEpochs) -> None: ...
    def save_log_start_offset(self, offset: int) -> None: ...
    def save_recovery_point(self, offset: int) -> None: ...
    def save_cleaner_offset(self, offset: int) -> None: ...
    def close(self, *, clean: bool) -> None: ...
    def delete(self) -> None: ...


class MemoryBackend:
    """Logs in memory.

    A topic with a retention limit in bytes gets segments of an eighth of that limit (at least 1 MiB) where
    `segment.bytes` allows more: retention drops whole segments, and with Kafka's default of 1 GiB a limit of 64 MiB
    would keep 1 GiB in memory.
    """

    __slots__ = ()

    def open_log(self, topic: str, partition: int, topic_id: bytes, config: LogConfig) -> LogStore:
        return MemoryLogStore()

    def delete_log(self, topic: str, partition: int, delay_ms: int) -> None: ...

    def segment_bytes(self, config: LogConfig) -> int:
        if config.retention_bytes < 0 or not config.delete:
            return config.segment_bytes
        return min(config.segment_bytes, max(_MIN_SEGMENT, config.retention_bytes // 8))

    def close(self, *, clean: bool = True) -> None: ...
