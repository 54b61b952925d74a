"""Look-ups over segments: offsets by time (KIP-79, KIP-734), and the aborted transactions of a range."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from odradek.protocol.record_batch import RecordBatch, TimestampType
from odradek.storage.segment import Segment


class TimestampOffset(NamedTuple):
    """An offset found by its timestamp, in milliseconds."""

    timestamp: int
    offset: int
    leader_epoch: int


def first_offset_from(segments: Sequence[Segment], timestamp: int, from_offset: int) -> TimestampOffset | None:
    """The first record at or behind `from_offset` whose timestamp is `timestamp` or later.

    As in Kafka only the first segment that has so late a timestamp is searched, even if it ends before `from_offset`.
    """
    for segment in segments:
        if segment.largest_timestamp < timestamp:
            continue
        # All batches up to an index entry's offset are older than the later entries.
        indexed = segment.stores.time_index.floor(timestamp - 1)
        start = segment.stores.offset_index.floor(max(indexed, from_offset))
        for _, batch in segment.iter_batches(start):
            if batch.max_timestamp >= timestamp and batch.last_offset >= from_offset:
                found = _in_batch(batch, timestamp, from_offset)
                if found is not None:
                    return found
        return None
    return None


def _in_batch(batch: RecordBatch, timestamp: int, from_offset: int) -> TimestampOffset | None:
    for record in batch.records():
        if record.timestamp >= timestamp and record.offset >= from_offset:
            return TimestampOffset(record.timestamp, record.offset, batch.partition_leader_epoch)
    return None


def largest_timestamp(segments: Sequence[Segment]) -> TimestampOffset | None:
    """The first record with the largest timestamp of the log, -1 if no record has one; None without records."""
    segment = max(segments, key=lambda s: s.max_timestamp)
    start = segment.position_of(segment.max_timestamp_offset)
    for _, batch in segment.iter_batches(start or 0):
        if batch.max_timestamp == segment.max_timestamp:
            return TimestampOffset(batch.max_timestamp, _offset_of_max(batch), batch.partition_leader_epoch)
    return None


def _offset_of_max(batch: RecordBatch) -> int:
    if batch.timestamp_type is TimestampType.LOG_APPEND_TIME:
        return batch.base_offset
    for record in batch.records():
        if record.timestamp == batch.max_timestamp:
            return record.offset
    return batch.last_offset


def aborted_between(segments: Sequence[Segment], first: int, from_offset: int, to_offset: int) -> list[tuple[int, int]]:
    """(producer id, first offset) of the aborted transactions with data in [from_offset, to_offset).

    `first` is the index of the segment that holds `from_offset`; a transaction's entry is in the segment of its marker,
    so in that segment or a later one. The search ends at the first marker that was written when everything before
    `to_offset` was stable: later markers concern later data.
    """
    found: list[tuple[int, int]] = []
    for i in range(first, len(segments)):
        entries = segments[i].stores.txn_index.entries()
        for at in range(bisect_left(entries, from_offset, key=lambda entry: entry.last_offset), len(entries)):
            entry = entries[at]
            if entry.first_offset < to_offset:
                found.append((entry.producer_id, entry.first_offset))
            if entry.last_stable_offset >= to_offset:
                return found
    return found
