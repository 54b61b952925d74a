"""One segment of a log: batches, their indexes, and the rules for searching, cutting and rolling."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from odradek.protocol.record_batch import HEADER_SIZE, LOG_OVERHEAD, CorruptBatchError, RecordBatch, read_batch
from odradek.protocol.records import Buffer
from odradek.storage.backend import SegmentStores
from odradek.storage.log_config import LogConfig

_WALK: Final = struct.Struct(">qi11xi").unpack_from
"""The fields of a batch that a search needs: base offset, length, last offset delta."""
_SMALLEST: Final = HEADER_SIZE - LOG_OVERHEAD
"""The smallest value of a batch's length field."""
MAX_RELATIVE_OFFSET: Final = 0x7FFFFFFF
"""The largest distance of an offset from its segment's base: the offset index stores it in 31 bits."""
MAX_OFFSET: Final = (1 << 63) - 1


class Segment:
    """A run of batches from `base_offset` on. Owner: the partition log; only its last segment is appended to."""

    def __init__(self, stores: SegmentStores, created_ms: int, jitter_ms: int = 0) -> None:
        self.stores = stores
        self.base_offset = stores.base_offset
        self.next_offset = stores.base_offset
        self.created_ms = created_ms
        self.last_modified_ms = created_ms
        self.jitter_ms = jitter_ms
        self.first_timestamp: int | None = None
        self.max_timestamp = -1
        self.max_timestamp_offset = -1
        self._bytes_since_index = 0
        self._indexes_full = False

    @property
    def size(self) -> int:
        return self.stores.batches.size

    @property
    def largest_timestamp(self) -> int:
        """The time for retention: the largest record timestamp, or else the time of the last write."""
        return self.max_timestamp if self.max_timestamp >= 0 else self.last_modified_ms

    def append(
        self, batch: Buffer, base_offset: int, leader_epoch: int, last_offset: int, max_timestamp: int, interval: int
    ) -> int:
        """Append one batch; returns its position. `interval` is `index.interval.bytes`."""
        position = self.stores.batches.append(batch, base_offset, leader_epoch)
        if max_timestamp > self.max_timestamp:
            self.max_timestamp = max_timestamp
            self.max_timestamp_offset = last_offset
        if self._bytes_since_index > interval:
            self._index(last_offset, position)
            self._bytes_since_index = 0
        self._bytes_since_index += len(batch)
        if self.first_timestamp is None:
            self.first_timestamp = max_timestamp
        self.next_offset = last_offset + 1
        return position

    def _index(self, offset: int, position: int) -> None:
        stores = self.stores
        stores.offset_index.append(offset, position)
        stores.time_index.append(self.max_timestamp, self.max_timestamp_offset)
        self._indexes_full = stores.offset_index.is_full() or stores.time_index.is_full()

    def should_roll(
        self, config: LogConfig, max_bytes: int, batch_size: int, last_offset: int, max_timestamp: int, now_ms: int
    ) -> bool:
        """Whether a batch must go to a new segment: size, age, a full index or offsets too far from the base."""
        size = self.stores.batches.size
        return (
            size > max_bytes - batch_size
            or last_offset - self.base_offset > MAX_RELATIVE_OFFSET
            or self._indexes_full
            or (size > 0 and self.waited_ms(now_ms, max_timestamp) > config.max_segment_ms - self.jitter_ms)
        )

    def waited_ms(self, now_ms: int, max_timestamp: int) -> int:
        """The age of this segment, by the timestamps of its records if they have some."""
        if self.first_timestamp is not None and self.first_timestamp >= 0:
            return max_timestamp - self.first_timestamp
        return now_ms - self.created_ms

    def seal(self) -> None:
        """Take no more appends, and end the time index with the segment's largest timestamp."""
        if self.max_timestamp >= 0:
            self.stores.time_index.append(self.max_timestamp, self.max_timestamp_offset)

    # --- finding ------------------------------------------------------------------------------------------------------

    def position_of(self, offset: int) -> int | None:
        """Position of the first batch that holds `offset` or a later one; None when there is none here."""
        return self._walk(self.stores.offset_index.floor(offset), offset)

    def _walk(self, position: int, offset: int) -> int | None:
        batches = self.stores.batches
        size = batches.size
        while position < size:
            view, at = batches.view(position)
            start, end = at, len(view)
            try:
                while at < end:
                    fields: tuple[int, int, int] = _WALK(view, at)
                    base, length, delta = fields
                    if base + delta >= offset:
                        return position + at - start
                    if length < _SMALLEST:
                        raise self._damaged(position + at - start)
                    at += LOG_OVERHEAD + length
            except struct.error:
                raise self._damaged(position + at - start) from None
            position += at - start
        return None

    def _damaged(self, position: int) -> CorruptBatchError:
        """The error for a position without a batch. The bytes were checked before, so the medium has changed them."""
        return CorruptBatchError(f"the segment from offset {self.base_offset} has no batch at position {position}")

    def boundary_before(self, start: int, limit: int, *, min_one: bool = False) -> int:
        """The largest batch boundary in (start, limit].

        When the batch at `start` does not end by `limit`: `start`, or with `min_one` the end of that batch.
        """
        batches = self.stores.batches
        if limit >= batches.size:
            return batches.size
        position = max(start, self.stores.offset_index.floor_position(limit))
        while position < limit:
            view, at = batches.view(position)
            begin, end = at, len(view)
            stop = begin + limit - position
            while at < end:
                length: int = _WALK(view, at)[1]
                if length < _SMALLEST:
                    raise self._damaged(position + at - begin)
                after = at + LOG_OVERHEAD + length
                if after > stop:
                    found = position + at - begin
                    return found if found > start or not min_one else found + after - at
                at = after
            position += at - begin
        return position if position > start or not min_one else start + self.batch_size(start)

    def end_of_batch(self, position: int) -> tuple[int, int]:
        """The position where the batch at `position` ends, and the offset behind its last record."""
        view, at = self.stores.batches.view(position)
        fields: tuple[int, int, int] = _WALK(view, at)
        base, length, delta = fields
        return position + LOG_OVERHEAD + length, base + delta + 1

    def offset_at(self, position: int) -> int:
        """The base offset of the batch at `position`."""
        view, at = self.stores.batches.view(position)
        return int(_WALK(view, at)[0])

    def batch_size(self, position: int) -> int:
        view, at = self.stores.batches.view(position)
        return LOG_OVERHEAD + int(_WALK(view, at)[1])

    def batch_at(self, position: int) -> RecordBatch:
        view, at = self.stores.batches.view(position)
        return read_batch(view, at)

    def iter_batches(self, position: int = 0) -> Iterator[tuple[int, RecordBatch]]:
        """(position, batch) from `position` to the end that the segment has when the iteration starts."""
        batches = self.stores.batches
        size = batches.size
        while position < size:
            view, at = batches.view(position)
            start, end = at, len(view)
            while at < end and position + at - start < size:
                try:
                    batch = read_batch(view, at)
                except struct.error:
                    raise self._damaged(position + at - start) from None
                length = batch.batch_length
                if length < _SMALLEST:
                    raise self._damaged(position + at - start)
                yield position + at - start, batch
                at += LOG_OVERHEAD + length
            position += at - start

    # --- after loading ------------------------------------------------------------------------------------------------

    def restore(self, following: int | None, last_modified_ms: int) -> None:
        """Take over a loaded segment with its indexes; `following` is the next segment's base offset."""
        self.last_modified_ms = last_modified_ms
        last = self.stores.time_index.last()
        self.max_timestamp, self.max_timestamp_offset = last
        if self.size:
            self.first_timestamp = self.batch_at(0).max_timestamp
        # Batches behind the last index entry may have larger timestamps than the index.
        position = self.stores.offset_index.floor(MAX_OFFSET)
        for _, batch in self.iter_batches(position):
            self.next_offset = batch.next_offset
            if batch.max_timestamp > self.max_timestamp:
                self.max_timestamp = batch.max_timestamp
                self.max_timestamp_offset = batch.last_offset
        self._bytes_since_index = self.size - position
        self._indexes_full = self.stores.offset_index.is_full() or self.stores.time_index.is_full()
        if following is not None:
            self.next_offset = following

    def shortened(self, offset: int, now_ms: int) -> Segment:
        """The segment without its batches from `offset` on, which it loses."""
        position = self.position_of(offset)
        if position is not None:
            self.stores.batches.truncate(position)
            for index in (self.stores.offset_index, self.stores.time_index, self.stores.txn_index):
                index.truncate(offset)
        shortened = Segment(self.stores, self.created_ms, self.jitter_ms)
        shortened.restore(None, now_ms)
        shortened.next_offset = max(shortened.next_offset, offset)
        return shortened

    def copied(self, stores: SegmentStores) -> Segment:
        """A segment over copies of the stores."""
        other = Segment(stores, self.created_ms, self.jitter_ms)
        other.next_offset = self.next_offset
        other.last_modified_ms = self.last_modified_ms
        other.first_timestamp = self.first_timestamp
        other.max_timestamp, other.max_timestamp_offset = self.max_timestamp, self.max_timestamp_offset
        other._bytes_since_index, other._indexes_full = self._bytes_since_index, self._indexes_full
        return other

    def flush(self) -> None:
        for part in (self.stores.batches, self.stores.offset_index, self.stores.time_index, self.stores.txn_index):
            part.flush()

    def close(self) -> None:
        self.stores.close()
