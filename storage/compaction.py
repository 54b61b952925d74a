"""Compaction: keep the latest record of each key, as Kafka's log cleaner does.

A run cleans the segments before the active one, up to the last stable offset and outside `min.compaction.lag.ms`. It
keeps the latest record of each key; tombstones and transaction markers until their delete horizon (set by the first
compaction that could drop them, KIP-534); the offsets and sequences of every batch that survives; the last batch of
each known producer, emptied if need be; markers while data of their transaction remain. Aborted data goes at once.
The map of keys has a limit, as in Kafka. A run goes on behind the last key of a full map until the dirty part is done.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from odradek.protocol.control import AbortedTransactions, read_end_txn_batch
from odradek.protocol.errors import CorruptDataError
from odradek.protocol.long_work import LongStep, LongWork, look_into
from odradek.protocol.record_batch import OLDER_FORMATS, RecordBatch, build_batch, effort, empty_batch, read_batch
from odradek.protocol.records import Buffer, InvalidRecordError
from odradek.storage.formats.segment_files import AbortedTxn
from odradek.storage.partition_log import PartitionLog
from odradek.storage.segment import Segment

_log = logging.getLogger(__name__)
_STEP_EFFORT = 5000
"""What is looked at between two points at which a run may be interrupted (`effort`): some milliseconds."""
_MAP_BYTES = 192 * 1024 * 1024
_KEY_BYTES = 200
"""What a key takes in the map, beside its own bytes."""


Pause: TypeAlias = LongStep[Any] | None
"""Where others may run."""


class CleanableRange(NamedTuple):
    """The range for a compaction: offsets [first_dirty, first_uncleanable), and its sizes in bytes."""

    first_dirty: int
    first_uncleanable: int
    clean_bytes: int
    dirty_bytes: int
    overdue: bool
    """Whether `max.compaction.lag.ms` asks for a run, whatever the dirty ratio."""

    @property
    def dirty_ratio(self) -> float:
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0


@dataclass(slots=True)
class CompactionResult:
    """The result of a run. Sizes in bytes."""

    end_offset: int
    bytes_before: int = 0
    bytes_after: int = 0
    records_before: int = 0
    records_after: int = 0


def cleanable_range(log: PartitionLog, now_ms: int) -> CleanableRange:
    """The part of the log that a compaction may clean now."""
    config = log.config
    first_dirty = log.cleaner_offset
    if not log.log_start_offset <= first_dirty <= log.active.base_offset:
        first_dirty = log.log_start_offset
    limit = min(log.last_stable_offset, log.active.base_offset)
    sealed = log.segments[:-1]
    if config.min_compaction_lag_ms > 0:
        for segment in sealed:
            if segment.next_offset > first_dirty and segment.largest_timestamp > now_ms - config.min_compaction_lag_ms:
                limit = min(limit, segment.base_offset)
                break
    limit = max(limit, first_dirty)
    clean = sum(s.size for s in sealed if s.next_offset <= first_dirty)
    dirty = [s for s in sealed if s.next_offset > first_dirty and s.base_offset < limit]
    overdue = any(
        s.first_timestamp is not None and now_ms - s.first_timestamp > config.max_compaction_lag_ms for s in dirty
    )
    return CleanableRange(first_dirty, limit, clean, sum(s.size for s in dirty), overdue)


def compaction_steps(log: PartitionLog, now_ms: int, *, force: bool = False) -> Iterator[CompactionResult | Pause]:
    """Compact the log if enough of it is dirty.

    Yields None where other work may run, a step that may be done in a thread for a large batch, and the result, if
    there is one, at the end. The log may take appends between
    steps. A run gives up if its segments are dropped meanwhile. It also gives up at records that it cannot read: like
    Kafka's cleaner it never compacts that log again.
    """
    if not log.config.compact or log.uncleanable:
        return
    span = cleanable_range(log, now_ms)
    if not span.dirty_bytes or span.first_dirty >= span.first_uncleanable:
        return
    if not (force or span.overdue or span.dirty_ratio > log.config.min_cleanable_dirty_ratio):
        return
    total: CompactionResult | None = None
    try:
        while span.first_dirty < span.first_uncleanable:
            latest: dict[bytes, int] = {}
            end = yield from _map_keys(log, span, latest)
            result = yield from _clean(log, now_ms, end, latest)
            if total is not None:
                result.bytes_before, result.records_before = total.bytes_before, total.records_before
            total = result
            log.cleaner_offset = end
            log.store.save_cleaner_offset(end)
            span = span._replace(first_dirty=end)
    except _Interrupted:
        return
    except CorruptDataError as error:
        _log.warning("%s can't be compacted until the next start: %s", log.name, error)
        log.uncleanable = True
        return
    if total is not None:
        yield total


class _Interrupted(Exception):
    """Retention or a deletion dropped segments of this run between two steps."""


def _pause(log: PartitionLog, segment: Segment) -> Iterator[None]:
    yield None
    if segment not in log.segments:
        raise _Interrupted


def _clean(
    log: PartitionLog, now_ms: int, end_offset: int, latest: dict[bytes, int]
) -> Generator[Pause, None, CompactionResult]:
    result = CompactionResult(end_offset)
    cleaner = _Cleaner(log, now_ms, end_offset, latest, result)
    segments = [s for s in log.segments[:-1] if s.base_offset < end_offset]
    for group in _groups(segments, log.config.segment_bytes):
        yield from cleaner.clean(group)
    return result


def _groups(segments: Sequence[Segment], max_bytes: int) -> list[list[Segment]]:
    """Groups of neighbouring segments. The cleaned content of a group fits into one segment."""
    groups: list[list[Segment]] = []
    size = 0
    for segment in segments:
        if groups and size + segment.size <= max_bytes and segment.next_offset - groups[-1][0].base_offset < 1 << 31:
            groups[-1].append(segment)
            size += segment.size
        else:
            groups.append([segment])
            size = segment.size
    return groups


def _map_keys(log: PartitionLog, span: CleanableRange, latest: dict[bytes, int]) -> Generator[Pause, None, int]:
    """Fill `latest` with the last offset of each key in the dirty part; aborted data does not count.

    Returns the offset before which all of it is in the map.
    """
    keys = _Keys(latest, span.first_dirty)
    transactions = _TransactionTracker(_aborted(log.segments, span.first_dirty))
    done = 0
    for segment in [s for s in log.segments if s.next_offset > span.first_dirty]:
        for _, batch in segment.iter_batches(segment.position_of(span.first_dirty) or 0):
            if batch.base_offset >= span.first_uncleanable:
                return span.first_uncleanable
            done += effort(batch.data)
            if batch.is_control:
                transactions.on_marker(batch)
            elif not transactions.is_aborted(batch):
                full_at = keys.take(*(yield from look_into(batch, keys.of_batch)))
                if full_at is not None:
                    return full_at
            if done >= _STEP_EFFORT:
                done = 0
                yield from _pause(log, segment)
    return span.first_uncleanable


class _Keys:
    """Collects the last offsets of keys, from `first_offset` on, as long as there is room."""

    def __init__(self, latest: dict[bytes, int], first_offset: int) -> None:
        self._latest = latest
        self._first = first_offset
        self._room = _MAP_BYTES

    def of_batch(self, batch: RecordBatch, work: LongWork) -> tuple[dict[bytes, int], int, int | None]:
        """The keys of a batch, the room that is left, and the offset of the first record that did not fit."""
        latest, room = self._latest, self._room
        found: dict[bytes, int] = {}
        before = -1
        for offset, key, _ in work.keys(batch):
            if key is None or offset < self._first:
                continue
            if key not in found and key not in latest:
                room -= _KEY_BYTES + len(key)
                if room < 0 and (found or latest):
                    if offset <= before:
                        raise InvalidRecordError("the offsets of a batch do not ascend")
                    return found, room, offset
            found[key] = before = offset
        return found, room, None

    def take(self, found: dict[bytes, int], room: int, full_at: int | None) -> int | None:
        """Take the keys of a batch into the map."""
        self._latest.update(found)
        self._room = room
        return full_at


def _aborted(segments: Sequence[Segment], from_offset: int) -> list[AbortedTxn]:
    return [e for s in segments for e in s.stores.txn_index.entries() if e.last_offset >= from_offset]


class _TransactionTracker:
    """Follows transactions while batches are read in order: which data is aborted, which markers are still needed."""

    def __init__(self, aborted: list[AbortedTxn]) -> None:
        self._aborted = AbortedTransactions(aborted)
        self._aborted_data_seen: set[int] = set()
        self._committed_data_seen: set[int] = set()
        self.kept_aborted: list[AbortedTxn] = []

    def is_aborted(self, batch: RecordBatch) -> bool:
        """Whether a data batch belongs to an aborted transaction."""
        if not batch.is_transactional:
            return False
        hidden = self._aborted.hide(batch)
        seen = self._aborted_data_seen if hidden else self._committed_data_seen
        seen.add(batch.producer_id)
        return hidden

    def on_marker(self, batch: RecordBatch) -> bool:
        """Whether no data is left that the marker concerns."""
        self._aborted.begin_up_to(batch.last_offset)
        marker = read_end_txn_batch(batch)
        if marker is None:
            # An emptied marker says nothing about data, and other control batches are never dropped.
            return batch.record_count == 0
        producer_id = batch.producer_id
        if marker.commit:
            seen = producer_id in self._committed_data_seen
            self._committed_data_seen.discard(producer_id)
            return not seen
        entry = self._aborted.on.pop(producer_id, None)
        if entry is not None and producer_id in self._aborted_data_seen:
            self._aborted_data_seen.discard(producer_id)
            self.kept_aborted.append(entry)
            return False
        return True


class _Cleaner:
    """Writes cleaned segments and swaps them in, a group at a time."""

    def __init__(
        self, log: PartitionLog, now_ms: int, end_offset: int, latest: dict[bytes, int], result: CompactionResult
    ) -> None:
        self._log = log
        self._now_ms = now_ms
        self._end = end_offset
        self._latest = latest
        self._result = result
        self._transactions = _TransactionTracker(_aborted(log.segments, log.segments[0].base_offset))
        self._last_data = {p.producer_id: (p.last_data_offset, p.producer_epoch) for p in log.producers}

    def clean(self, group: list[Segment]) -> Iterator[Pause]:
        """Write the cleaned form of neighbouring segments and put it in their place."""
        log = self._log
        stores = log.store.create_cleaned(group[0].base_offset, log.config)
        cleaned = Segment(stores, group[0].created_ms, group[0].jitter_ms)
        try:
            for segment in group:
                yield from self._copy(segment, cleaned, group[0])
        except BaseException:
            log.store.discard(stores)
            raise
        # The part behind the cleaned one keeps everything, also the index entries of its markers.
        behind = [e for s in group for e in s.stores.txn_index.entries() if e.last_offset >= self._end]
        for entry in [*self._transactions.kept_aborted, *behind]:
            stores.txn_index.append(entry)
        self._transactions.kept_aborted.clear()
        cleaned.seal()
        cleaned.last_modified_ms = group[-1].last_modified_ms
        cleaned.next_offset = group[-1].next_offset
        log.swap_segments(group, cleaned)

    def _copy(self, segment: Segment, cleaned: Segment, oldest: Segment) -> Iterator[Pause]:
        result = self._result
        interval = self._log.config.index_interval_bytes
        done = 0
        for _, batch in segment.iter_batches():
            stored = yield from self._filter(batch)
            result.bytes_before += batch.size_bytes
            if stored is not None:
                epoch, last, newest = batch.partition_leader_epoch, batch.last_offset, read_batch(stored).max_timestamp
                cleaned.append(stored, batch.base_offset, epoch, last, newest, interval)
                result.bytes_after += len(stored)
            done += effort(batch.data)
            if done >= _STEP_EFFORT:
                done = 0
                yield from _pause(self._log, oldest)

    def _filter(self, batch: RecordBatch) -> Generator[Pause, None, Buffer | None]:
        """The batch to store in its place; None to drop it."""
        if batch.base_offset >= self._end:
            self._result.records_before += batch.record_count
            self._result.records_after += batch.record_count
            return batch.data
        marker_obsolete = False
        if batch.is_control:
            marker_obsolete = self._transactions.on_marker(batch)
            horizon = batch.delete_horizon_ms
            discard = marker_obsolete and horizon is not None and horizon <= self._now_ms
        else:
            discard = self._transactions.is_aborted(batch)
        self._result.records_before += batch.record_count
        if discard:
            kept, tombstones = 0, False
        elif batch.is_control:
            kept, tombstones = batch.record_count, False
        else:
            kept, tombstones = yield from look_into(batch, self._count)
        self._result.records_after += kept
        if not kept:
            return empty_batch(batch) if self._is_last_of_producer(batch) else None
        set_horizon = (tombstones or marker_obsolete) and batch.delete_horizon_ms is None
        if kept == batch.record_count and not set_horizon:
            return batch.data
        horizon = self._now_ms + self._log.config.delete_retention_ms if set_horizon else batch.delete_horizon_ms
        return (yield from look_into(batch, partial(self._rebuild, horizon)))

    def _count(self, batch: RecordBatch, work: LongWork) -> tuple[int, bool]:
        """The number of records to keep, and whether tombstones are among them."""
        keeps = self._keeps(batch)
        kept, tombstones = 0, False
        for offset, key, has_value in work.keys(batch):
            if keeps(offset, key, has_value):
                kept += 1
                tombstones = tombstones or not has_value
        return kept, tombstones

    def _keeps(self, batch: RecordBatch) -> Callable[[int, bytes | None, bool], bool]:
        """Whether a record with this offset and key, and with or without a value, stays."""
        horizon = batch.delete_horizon_ms
        tombstones_stay = horizon is None or self._now_ms < horizon
        latest, end, is_control = self._latest, self._end, batch.is_control

        def keeps(offset: int, key: bytes | None, has_value: bool) -> bool:
            if offset >= end or is_control:
                return True
            return key is not None and offset >= latest.get(key, -1) and (has_value or tombstones_stay)

        return keeps

    def _is_last_of_producer(self, batch: RecordBatch) -> bool:
        """Whether this batch has the producer's last sequence (or its epoch, when only a marker is left)."""
        last = self._last_data.get(batch.producer_id) if batch.has_producer_id else None
        if last is None:
            return False
        last_offset, epoch = last
        if last_offset >= 0:
            return batch.last_offset == last_offset
        return batch.is_control and batch.producer_epoch == epoch

    def _rebuild(self, horizon: int | None, batch: RecordBatch, work: LongWork) -> bytes:
        keeps = self._keeps(batch)
        rebuilt = build_batch(
            (each for each in work.records(batch) if keeps(each.offset, each.key, each.value is not None)),
            base_offset=batch.base_offset,
            leader_epoch=batch.partition_leader_epoch,
            codec=batch.codec,
            compression_level=self._log.config.compression_level(batch.codec),
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            base_sequence=batch.base_sequence,
            transactional=batch.is_transactional,
            control=batch.is_control,
            timestamp_type=batch.timestamp_type,
            log_append_time_ms=batch.max_timestamp,
            delete_horizon_ms=horizon,
            keep_offsets=True,
            last_offset=batch.last_offset,
        )
        if not batch.attributes & OLDER_FORMATS:
            return rebuilt
        from odradek.protocol.message_sets import format_of, marked

        return bytes(marked(read_batch(rebuilt), format_of(batch)).data)
