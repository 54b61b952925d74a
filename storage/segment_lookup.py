"""Look-ups over segments: offsets by time (KIP-79, KIP-734), and the aborted transactions of a range."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from odradek.protocol.compression import InflatesTooFarError
from odradek.protocol.errors import CorruptDataError, KafkaError, as_value
from odradek.protocol.long_work import MOST_EFFORT, SHORT, LargeBatch, LongWork
from odradek.protocol.record_batch import RecordBatch, TimestampType, effort, read_batch
from odradek.storage.segment import Segment


class TimestampOffset(NamedTuple):
    """An offset found by its timestamp, in milliseconds."""

    timestamp: int
    offset: int
    leader_epoch: int


class LargeLook(LargeBatch):
    """A look-up has to decode more records than is good between two requests.

    `run` decodes them; it may do so in a thread. Then the look-up begins again, and finds what was `found`.
    `base_offset`: of the batch.
    """

    def __init__(self, looks: Looks, key: object, base_offset: int, run: Callable[[LongWork], Any]) -> None:
        super().__init__()
        self._looks = looks
        self._key = key
        self.base_offset = base_offset
        self.run = run

    def found(self, found: Any) -> None:
        """Note what `run` returned."""
        self._looks.note(self._key, found)


class Looks:
    """The looks into batches that a request takes. It keeps what was found in large ones."""

    def __init__(self) -> None:
        self._found: dict[object, Any] = {}
        self._spent = 0

    def into(self, name: str, batch: RecordBatch, find: Callable[..., Any], *arguments: int) -> Any:
        """The result of `find(batch, *arguments, work)`. `name`: of the log. Raises LargeLook, and an error with a code
        for records that cannot be read.
        """
        key = (name, batch.base_offset, find, arguments)
        if key in self._found:
            found = self._found[key]
            if isinstance(found, CorruptDataError):
                raise KafkaError(found.code, found.message)
            return found
        self._spent += effort(batch.data)
        if self._spent <= MOST_EFFORT:
            try:
                return find(batch, *arguments, SHORT)
            except InflatesTooFarError:
                pass
        raise LargeLook(self, key, batch.base_offset, partial(_run, bytes(batch.data), find, arguments))

    def note(self, key: object, found: Any) -> None:
        """Keep what was found in a large batch. Others were served meanwhile."""
        self._found[key] = found
        self._spent = 0


def _run(data: bytes, find: Callable[..., Any], arguments: tuple[int, ...], work: LongWork) -> Any:
    try:
        return find(read_batch(data), *arguments, work)
    except CorruptDataError as error:
        return as_value(error)


def _look(looks: Looks | None, name: str, batch: RecordBatch, find: Callable[..., Any], *arguments: int) -> Any:
    return find(batch, *arguments, LongWork()) if looks is None else looks.into(name, batch, find, *arguments)


def first_offset_from(
    segments: Sequence[Segment], timestamp: int, from_offset: int, name: str = "", looks: Looks | None = None
) -> TimestampOffset | None:
    """The first record at or behind `from_offset` whose timestamp is `timestamp` or later.

    As in Kafka only the first segment that has so late a timestamp is searched, even if it ends before `from_offset`.
    With the `looks` of a request, large batches of the log `name` raise LargeLook.
    """
    for segment in segments:
        if segment.largest_timestamp < timestamp:
            continue
        # All batches up to an index entry's offset are older than the later entries.
        indexed = segment.stores.time_index.floor(timestamp - 1)
        start = segment.stores.offset_index.floor(max(indexed, from_offset))
        for _, batch in segment.iter_batches(start):
            if batch.max_timestamp >= timestamp and batch.last_offset >= from_offset:
                found: TimestampOffset | None = _look(looks, name, batch, _in_batch, timestamp, from_offset)
                if found is not None:
                    return found
        return None
    return None


def _in_batch(batch: RecordBatch, timestamp: int, from_offset: int, work: LongWork) -> TimestampOffset | None:
    for record in work.records(batch):
        if record.timestamp >= timestamp and record.offset >= from_offset:
            return TimestampOffset(record.timestamp, record.offset, batch.partition_leader_epoch)
    return None


def largest_timestamp(
    segments: Sequence[Segment], name: str = "", looks: Looks | None = None
) -> TimestampOffset | None:
    """The first record with the largest timestamp of the log, -1 if no record has one; None without records.

    `looks`: see above.
    """
    segment = max(segments, key=lambda s: s.max_timestamp)
    start = segment.position_of(segment.max_timestamp_offset)
    for _, batch in segment.iter_batches(start or 0):
        if batch.max_timestamp == segment.max_timestamp:
            offset: int = _look(looks, name, batch, _offset_of_max)
            return TimestampOffset(batch.max_timestamp, offset, batch.partition_leader_epoch)
    return None


def _offset_of_max(batch: RecordBatch, work: LongWork) -> int:
    if batch.timestamp_type is TimestampType.LOG_APPEND_TIME:
        return batch.base_offset
    for record in work.records(batch):
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
