"""The log in memory: batches in chunks, and indexes in arrays that copies of the log share.

A chunk is filled from the front. Sockets get views of the filled part, which stay valid while later batches are
appended. Chunks grow from 4 KiB to 1 MiB, and a large batch gets a chunk of its own size. So a read of many small
batches is one view or a few, and an idle partition costs nothing. The pool (`chunks`) decides which chunks move to a
file.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from odradek.protocol.file_slice import FileSlice
from odradek.protocol.native import mypyc_attr
from odradek.protocol.record_batch import LOG_OVERHEAD, assign_offsets
from odradek.protocol.records import Buffer
from odradek.storage.backend import LoadedLog, LogStore, SegmentStores
from odradek.storage.chunks import DEFAULT_LIMIT, Chunk, ChunkPool
from odradek.storage.formats.segment_files import AbortedTxn, IndexEntry, TimeEntry
from odradek.storage.leader_epochs import LeaderEpochs
from odradek.storage.log_config import LogConfig
from odradek.storage.producer_state import ProducerStates

_FIRST_CHUNK: Final = 4 * 1024
_MAX_CHUNK: Final = 1024 * 1024
_OWN_CHUNK: Final = 128 * 1024
"""A batch of this size or more gets a bytearray of exactly its size: no slack, and no zero-filling before the copy."""
_MIN_SEGMENT: Final = 1024 * 1024
_NO_END: Final = 1 << 62
_NOWHERE: Final = Chunk(bytearray(), None)
_put_front: Final = struct.Struct(">qii").pack_into
"""The first fields of a batch (offset, length, leader epoch) in one call, which costs half of two."""
_BEHIND_FRONT: Final = 16
_SMALL: Final = 1024
_put_small: Final[list[Callable[..., None] | None]] = [None] * _SMALL
"""By length: writes a small batch of `bytes` and its first fields in one call. Each is made with its first use."""


def _make_put(length: int) -> Callable[..., None]:
    put = _put_small[length] = struct.Struct(f">qii{max(0, length - _BEHIND_FRONT)}s").pack_into
    return put


class MemoryBatchStore:
    """The batches of one segment in chunks; see the module's docstring. Without a pool the chunks stay bytearrays."""

    __slots__ = ("_chunks", "_filling", "_last", "_next_chunk", "_pool", "_starts", "size")

    def __init__(self, pool: ChunkPool | None = None) -> None:
        self.size = 0
        self._starts: list[int] = []
        self._chunks: list[Chunk] = []
        self._last = _NOWHERE
        self._filling = _NOWHERE.filling
        self._next_chunk = _FIRST_CHUNK
        self._pool = pool

    def append(self, batch: Buffer, base_offset: int, leader_epoch: int) -> int:
        filling = self._filling
        length = len(batch)
        start = filling.fill
        end = start + length
        if end > filling.capacity:
            return self._append_elsewhere(batch, base_offset, leader_epoch)
        writer = filling.writer
        if isinstance(batch, bytes) and length < _SMALL:
            put = _put_small[length] or _make_put(length)
            put(writer, start, base_offset, length - LOG_OVERHEAD, leader_epoch, batch[_BEHIND_FRONT:])
        else:
            writer[start:end] = batch
            _put_front(writer, start, base_offset, length - LOG_OVERHEAD, leader_epoch)
        filling.fill = end
        position = self.size
        self.size = position + length
        return position

    def _append_elsewhere(self, batch: Buffer, base_offset: int, leader_epoch: int) -> int:
        """Append to a new chunk."""
        self._end_last()
        length = len(batch)
        if length < _OWN_CHUNK:
            size = max(self._next_chunk, length)
            self._next_chunk = min(_MAX_CHUNK, self._next_chunk * 2)
            self._add(self._chunk_of(bytearray(size)))
            return self.append(batch, base_offset, leader_epoch)
        own = bytearray(batch)
        assign_offsets(own, base_offset, leader_epoch)
        chunk = self._chunk_of(own)
        chunk.filling.fill = length
        self._add(chunk)
        position = self.size
        self.size = position + length
        return position

    def _chunk_of(self, buffer: bytearray) -> Chunk:
        return Chunk(buffer, None) if self._pool is None else self._pool.chunk(buffer)

    def _add(self, chunk: Chunk) -> None:
        self._starts.append(self.size)
        self._chunks.append(chunk)
        self._last = chunk
        self._filling = chunk.filling

    def _end_last(self) -> None:
        last = self._last
        self._leave_last()
        if last is not _NOWHERE:
            last.end()

    def _leave_last(self) -> None:
        """Begin a new chunk with the next append."""
        self._last = _NOWHERE
        self._filling = _NOWHERE.filling

    def read(self, position: int, length: int) -> list[memoryview]:
        starts, chunks = self._starts, self._chunks
        end = position + length
        i = bisect_right(starts, position) - 1
        start = starts[i]
        last = len(starts) - 1
        view = chunks[i].view
        if view is None:
            view = chunks[i].bytes()
        if i == last or end <= starts[i + 1]:
            return [view[position - start : end - start]]
        parts = [view[position - start : starts[i + 1] - start]]
        while True:
            i += 1
            start = starts[i]
            if i == last or end <= starts[i + 1]:
                parts.append(chunks[i].bytes()[: end - start])
                return parts
            parts.append(chunks[i].bytes()[: starts[i + 1] - start])

    def slices(self, position: int, length: int) -> list[memoryview | FileSlice]:
        starts, chunks = self._starts, self._chunks
        end = position + length
        parts: list[memoryview | FileSlice] = []
        i = bisect_right(starts, position) - 1
        while position < end:
            start = starts[i]
            stop = end if i + 1 == len(starts) else min(end, starts[i + 1])
            chunk = chunks[i]
            extent = chunk.extent
            if extent is None:
                parts.append(chunk.bytes()[position - start : stop - start])
                if (
                    chunk.pool is not None and chunk.pool is self._pool
                ):  # another broker's pool belongs to another thread
                    chunk.pool.sent(chunk, stop - position)
            else:
                parts.append(FileSlice(extent, extent.offset + position - start, stop - position))
            position = stop
            i += 1
        return parts

    def view(self, position: int) -> tuple[memoryview, int]:
        starts = self._starts
        i = bisect_right(starts, position) - 1
        start = starts[i]
        end = self.size if i == len(starts) - 1 else starts[i + 1]
        view = self._chunks[i].view
        if view is None:
            view = self._chunks[i].bytes()
        return view[: end - start], position - start

    def truncate(self, size: int) -> None:
        if size >= self.size:
            return
        keep = bisect_left(self._starts, size)
        tail = b"".join(self.read(self._starts[keep - 1], size - self._starts[keep - 1])) if keep else b""
        # Sockets may still hold views of the old tail, so it is never overwritten: a new chunk begins.
        self._end_last()
        del self._starts[max(keep - 1, 0) :], self._chunks[max(keep - 1, 0) :]
        self.size = size - len(tail)
        if tail:
            chunk = self._chunk_of(bytearray(tail))
            chunk.filling.fill = len(tail)
            self._starts.append(self.size)
            self._chunks.append(chunk)
            chunk.end()
            self.size = size

    def shared(self, size: int, pool: ChunkPool | None) -> MemoryBatchStore:
        """A store with the first `size` bytes, in the same chunks. Later appends go to new chunks of `pool`."""
        other = MemoryBatchStore(pool)
        keep = bisect_left(self._starts, size)
        other._starts, other._chunks = self._starts[:keep], self._chunks[:keep]
        other.size = size
        return other

    def seal(self) -> None:
        """Take no more appends, and free the unused end of the last chunk. Views of the old chunk stay valid."""
        self._end_last()

    def flush(self) -> None:
        """Memory has nothing to flush."""

    def begin_sync(self) -> Callable[[], None] | None:
        return None

    def close(self) -> None:
        self._starts, self._chunks = [], []
        self._leave_last()


@mypyc_attr(allow_interpreted_subclasses=True)
class MemoryLogStore:
    """A log that ends with the process, so it keeps only segments.

    `found`: the loaded log (`shared_log`); None for a new one.
    """

    __slots__ = ("_found", "_pool")

    def __init__(self, pool: ChunkPool | None = None, found: LoadedLog | None = None) -> None:
        self._found = found
        self._pool = pool

    def load(self) -> LoadedLog | None:
        found, self._found = self._found, None
        return found

    def create_segment(self, base_offset: int, config: LogConfig) -> SegmentStores:
        return SegmentStores(
            base_offset,
            MemoryBatchStore(self._pool),
            MemoryOffsetIndex(config.segment_index_bytes),
            MemoryTimeIndex(config.segment_index_bytes),
            MemoryTxnIndex(),
        )

    def create_cleaned(self, base_offset: int, config: LogConfig) -> SegmentStores:
        return self.create_segment(base_offset, config)

    def replace_segments(self, old: Sequence[SegmentStores], new: Sequence[SegmentStores]) -> None:
        """Nothing to do: the log swaps the segments in its list."""
        for stores in new:
            self.segment_sealed(stores)

    def discard(self, cleaned: SegmentStores) -> None: ...
    def drop_segments(self, segments: Sequence[SegmentStores], delay_ms: int) -> None: ...
    def segment_sealed(self, stores: SegmentStores) -> None:
        assert isinstance(stores.batches, MemoryBatchStore)
        stores.batches.seal()

    def save_producers(self, offset: int, producers: ProducerStates) -> None: ...
    def drop_producer_snapshots(self, before_offset: int) -> None: ...
    def truncated(self, offset: int) -> None: ...
    def save_leader_epochs(self, epochs: LeaderEpochs) -> None: ...
    def save_log_start_offset(self, offset: int) -> None: ...
    def save_recovery_point(self, offset: int) -> None: ...
    def save_cleaner_offset(self, offset: int) -> None: ...
    def close(self, *, clean: bool) -> None: ...
    def delete(self) -> None: ...


@mypyc_attr(allow_interpreted_subclasses=True)
class MemoryBackend:
    """Logs in memory.

    A topic with a retention limit in bytes gets segments of an eighth of that limit (at least 1 MiB) where
    `segment.bytes` allows more: retention drops whole segments, and with Kafka's default of 1 GiB a limit of 64 MiB
    would keep 1 GiB in memory. `limit`: how many bytes of all logs may be in memory (`odradek.memory.bytes`).
    """

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.pool = ChunkPool(limit)

    def open_log(self, topic: str, partition: int, topic_id: bytes, config: LogConfig) -> LogStore:
        return MemoryLogStore(self.pool)

    def has_log(self, topic: str, partition: int) -> bool:
        return False

    def delete_log(self, topic: str, partition: int, delay_ms: int) -> None: ...

    def shared_log(self, begin: LoadedLog, end_offset: int, end_size: int) -> LogStore | None:
        if not all(isinstance(stores.batches, MemoryBatchStore) for stores in begin.segments):
            return None
        shared = [_shared(stores, end_offset, stores.batches.size, self.pool) for stores in begin.segments[:-1]]
        shared.append(_shared(begin.segments[-1], end_offset, end_size, self.pool))
        return MemoryLogStore(self.pool, begin._replace(segments=shared))

    def shared_stores(self, stores: SegmentStores) -> SegmentStores:
        """The stores of another log's whole segment, over the same bytes."""
        return _shared(stores, _NO_END, stores.batches.size, self.pool)

    def segment_bytes(self, config: LogConfig) -> int:
        if config.retention_bytes < 0 or not config.delete:
            return config.segment_bytes
        return min(config.segment_bytes, max(_MIN_SEGMENT, config.retention_bytes // 8))

    def close(self, *, clean: bool = True) -> None:
        """End the thread that writes to the temporary file. Opened logs stay readable."""
        self.pool.close()


def _shared(stores: SegmentStores, end_offset: int, size: int, pool: ChunkPool) -> SegmentStores:
    """The stores of a segment over the same bytes, up to the batch that ends at this position."""
    batches, offsets, times, txns = stores.batches, stores.offset_index, stores.time_index, stores.txn_index
    assert isinstance(batches, MemoryBatchStore)
    assert isinstance(offsets, MemoryOffsetIndex)
    assert isinstance(times, MemoryTimeIndex)
    assert isinstance(txns, MemoryTxnIndex)
    return SegmentStores(
        stores.base_offset,
        batches.shared(size, pool),
        offsets.copy_below(end_offset),
        times.copy_below(end_offset),
        txns.copy_below(end_offset),
    )


# --- indexes ----------------------------------------------------------------------------------------------------------


class _Index:
    """Two ascending columns in arrays of the same length, which copies may share as prefixes.

    Only the owner appends to shared arrays, behind the part that the copies see (`_count`), and nobody ever removes
    entries. A copy gets its own arrays with its first append; the owner gets new ones with a cut. So the cost of a copy
    does not depend on its size, and another thread may use it.
    """

    __slots__ = ("_count", "_max_entries", "_one", "_owned", "_two")

    def __init__(self, max_entries: int) -> None:
        self._one: array[int] = array("q")
        self._two: array[int] = array("q")
        self._count = 0
        self._max_entries = max(1, max_entries)
        self._owned = True

    def append(self, one: int, two: int) -> None:
        if not self._owned:
            self._own()
        self._one.append(one)
        self._two.append(two)
        self._count += 1

    def is_full(self) -> bool:
        return self._count >= self._max_entries

    def flush(self) -> None: ...
    def close(self) -> None: ...

    def _cut(self, count: int) -> None:
        """Keep only the first `count` entries."""
        if count < self._count:
            self._count = count
            self._own()

    def _share(self, other: _Index, count: int) -> None:
        """Become a copy of the first `count` entries of another one."""
        self._one, self._two, self._owned = other._one, other._two, False
        self._count, self._max_entries = count, other._max_entries

    def _own(self) -> None:
        self._one, self._two = self._one[: self._count], self._two[: self._count]
        self._owned = True

    def _first_from(self, column: array[int], value: int) -> int:
        """The index of the first entry whose value in this column is not smaller."""
        return bisect_left(column, value, 0, self._count)

    def _last_to(self, column: array[int], value: int) -> int:
        """The index of the last entry whose value in this column is not larger; -1 without one."""
        return bisect_right(column, value, 0, self._count) - 1

    def _pairs(self) -> Iterable[tuple[int, int]]:
        return zip(self._one[: self._count], self._two[: self._count], strict=True)


class MemoryOffsetIndex(_Index):
    """The offset index in memory."""

    __slots__ = ()

    def __init__(self, max_bytes: int) -> None:
        super().__init__(max_bytes // 8)

    def floor(self, offset: int) -> int:
        i = self._last_to(self._one, offset)
        return self._two[i] if i >= 0 else 0

    def floor_position(self, position: int) -> int:
        i = self._last_to(self._two, position)
        return self._two[i] if i >= 0 else 0

    def offset_at_or_after(self, position: int) -> int | None:
        i = self._first_from(self._two, position)
        return self._one[i] if i < self._count else None

    def entries(self) -> Sequence[IndexEntry]:
        return [IndexEntry(*pair) for pair in self._pairs()]

    def truncate(self, offset: int) -> None:
        self._cut(self._first_from(self._one, offset))

    def copy_below(self, offset: int) -> MemoryOffsetIndex:
        """An index of its own with the entries below `offset`."""
        other = MemoryOffsetIndex(0)
        other._share(self, self._first_from(self._one, offset))
        return other


class MemoryTimeIndex(_Index):
    """The time index in memory."""

    __slots__ = ()

    def __init__(self, max_bytes: int) -> None:
        super().__init__(max_bytes // 12)

    def append(self, one: int, two: int) -> None:
        if self._count == 0 or one > self._one[self._count - 1]:
            super().append(one, two)

    def floor(self, timestamp: int) -> int:
        i = self._last_to(self._one, timestamp)
        return self._two[i] if i >= 0 else -1

    def last(self) -> TimeEntry:
        end = self._count - 1
        return TimeEntry(self._one[end], self._two[end]) if end >= 0 else TimeEntry(-1, -1)

    def entries(self) -> Sequence[TimeEntry]:
        return [TimeEntry(*pair) for pair in self._pairs()]

    def truncate(self, offset: int) -> None:
        self._cut(self._first_from(self._two, offset))

    def copy_below(self, offset: int) -> MemoryTimeIndex:
        """An index of its own with the entries below `offset`."""
        other = MemoryTimeIndex(0)
        other._share(self, self._first_from(self._two, offset))
        return other


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

    def copy_below(self, offset: int) -> MemoryTxnIndex:
        """An index of its own with the transactions whose markers are below `offset`."""
        other = MemoryTxnIndex()
        other._entries = [e for e in self._entries if e.last_offset < offset]
        return other

    def flush(self) -> None: ...
    def close(self) -> None: ...
