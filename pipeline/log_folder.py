"""Log directories as Spark tasks: the segments, and the part of each segment that holds the wanted records.

Each segment is one part, and one task reads several small parts. An offset range skips whole segments by their names,
and the start of a segment by its `.index`. A first timestamp skips segments by the last entry of their `.timeindex`,
and the start of a segment by its entries.

The folders may be Kafka's or odradek's, in use or left by a crash. The last segment ends after its last whole batch,
but not before the batch of its last index entry. Damage before that point, or in an earlier segment, is an error: only
a fault of the disk explains it. A damaged index is ignored, because Kafka rebuilds such an index.
"""

from __future__ import annotations

import mmap
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from odradek.pipeline.rows import Wanted
from odradek.protocol.control import ControlRecordType, control_record_type
from odradek.protocol.errors import CorruptDataError
from odradek.protocol.record_batch import CorruptBatchError, RecordBatch, check_crc
from odradek.storage.formats.segment_files import (
    LOG,
    OFFSET_INDEX,
    TIME_INDEX,
    IndexEntry,
    OldFormatError,
    TimeEntry,
    file_name,
    parse_file_name,
    parse_offset_index,
    parse_time_index,
    stored_batch_at,
    stored_batches,
)

_FOLDER = re.compile(r"(.+)-(\d+)")
_NO_END = 2**63 - 1
_LARGEST_INDEX = 64 * 1024 * 1024
"""A larger file is not used as an index. A segment without an index is read from its beginning."""


class AbortedRange(NamedTuple):
    """An aborted transaction: its producer, its first record and its marker."""

    producer_id: int
    first_offset: int
    last_offset: int


class Segment(NamedTuple):
    """The `.log` file of a segment, and its possible offsets: `base` to `end` (exclusive)."""

    path: Path
    base: int
    end: int

    @property
    def is_last(self) -> bool:
        """Whether it is the segment that a running broker appends to."""
        return self.end == _NO_END


class SegmentTask(NamedTuple):
    """A part of a segment: the wanted records, from the byte `position` on."""

    path: str
    position: int
    wanted: Wanted
    aborted: tuple[AbortedRange, ...] = ()
    """Aborted transactions to leave out (read_committed)."""
    segment_end: int = _NO_END
    """The offset at which the partition's next segment begins."""
    size: int = 0
    """The estimated size of the part in bytes."""


def partitions_in(root: Path) -> dict[tuple[str, int], list[Segment]]:
    """The segments of every partition in a log directory, or of the one partition whose folder `root` is.

    FileNotFoundError when there is no such folder or it holds no partition.
    """
    if not root.is_dir():
        raise FileNotFoundError(f"{root}: no such folder")
    found = {}
    for folder in [root, *sorted(root.iterdir())]:
        match = _FOLDER.fullmatch(folder.name)
        if match and folder.is_dir() and (segments := segments_in(folder)):
            found[match[1], int(match[2])] = segments
    if not found:
        raise FileNotFoundError(f"{root}: no partition folders (topic-0, ...) with segments")
    return found


def segments_in(folder: Path) -> list[Segment]:
    """The segments of one partition, ordered by offset. CorruptBatchError for anything but a regular file."""
    parsed = [(parse_file_name(path.name), path) for path in folder.iterdir()]
    for name, path in parsed:
        if name is not None and (path.is_symlink() or not path.is_file()):
            raise CorruptBatchError(f"{path}: is no file, but something in the place of one")
    logs = sorted((name[0], path) for name, path in parsed if name is not None and name[1:] == (LOG, ""))
    ends = [base for base, _ in logs[1:]] + [_NO_END]
    return [Segment(path, base, end) for (base, path), end in zip(logs, ends, strict=True)]


def end_offset(segments: list[Segment]) -> int:
    """The offset after the partition's last whole batch."""
    for segment in reversed(segments):
        end = segment.base
        for batch in scan(segment.path, *_Indexes(segment).last_place, end=segment.end):
            end = batch.next_offset
        if end > segment.base or segment is segments[0]:
            return end
    return segments[0].base


def offset_at(segments: list[Segment], timestamp: int) -> int:
    """The offset of the first record from `timestamp` on; the end offset if there is none."""
    end = end_offset(segments)
    for segment in segments:
        indexes = _Indexes(segment)
        if indexes.last_timestamp < timestamp:
            continue
        first = indexes.first_young(timestamp)
        for batch in _batches(segment, indexes.position_of_offset(first), first, min(end, segment.end)):
            if batch.max_timestamp >= timestamp:
                _check(batch, segment.path)
                young = [record.offset for record in batch.records() if record.timestamp >= timestamp]
                if young:
                    return young[0]
    return end


def plan(
    segments: list[Segment],
    wanted: Wanted,
    aborted: tuple[AbortedRange, ...] = (),
    *,
    records: int | None = None,
    size: int | None = None,
) -> Iterator[SegmentTask]:
    """One part for each segment that may hold wanted records, or several parts by ``records`` or ``size`` (bytes).

    Sizes are as exact as the offset index, which has an entry for every `index.interval.bytes`.
    """
    for segment in segments:
        first, last = max(segment.base, wanted.start), min(segment.end, wanted.end)
        indexes = _Indexes(segment)
        if first < last and wanted.from_ms is not None:
            young = indexes.last_timestamp >= wanted.from_ms
            first = max(first, indexes.first_young(wanted.from_ms)) if young else last
        if first >= last:
            continue
        inside = tuple(
            transaction
            for transaction in aborted
            if transaction.first_offset < segment.end and transaction.last_offset >= segment.base
        )
        stored = segment.path.stat().st_size if segment.path.exists() else 0
        begins = indexes.cuts(first, last, size) if size else range(first, last, records or last - first)
        parts = list(pairwise([*begins, last]))
        for begin, end in parts:
            position = indexes.position_of_offset(begin)
            part = wanted._replace(start=begin, end=end)
            yield SegmentTask(str(segment.path), position, part, inside, segment.end, stored // len(parts))


def packed(tasks: Iterable[SegmentTask], size: int) -> Iterator[list[SegmentTask]]:
    """Group adjacent parts up to a size: the start of a task costs as much as some megabytes."""
    waiting: list[SegmentTask] = []
    held = 0
    for task in tasks:
        if waiting and held + task.size > size:
            yield waiting
            waiting, held = [], 0
        waiting.append(task)
        held += task.size
    if waiting:
        yield waiting


def read(task: SegmentTask) -> Iterator[RecordBatch]:
    """The batches of a task. Raises CorruptBatchError, OldFormatError."""
    aborted = _by_producer(task.aborted)
    path = Path(task.path)
    segment = Segment(path, _base(path), task.segment_end)
    for batch in _batches(segment, task.position, task.wanted.start, task.wanted.end):
        if not (aborted and batch.is_transactional and not batch.is_control and _is_aborted(batch, aborted)):
            yield batch


def _by_producer(aborted: tuple[AbortedRange, ...]) -> dict[int, list[tuple[int, int]]]:
    """First and last offsets of aborted transactions by producer, in order. They do not overlap."""
    found: dict[int, list[tuple[int, int]]] = {}
    for transaction in sorted(aborted, key=lambda one: one.first_offset):
        found.setdefault(transaction.producer_id, []).append((transaction.first_offset, transaction.last_offset))
    return found


def _is_aborted(batch: RecordBatch, aborted: dict[int, list[tuple[int, int]]]) -> bool:
    ranges = aborted.get(batch.producer_id, [])
    before = bisect_right(ranges, (batch.base_offset, _NO_END)) - 1
    return before >= 0 and batch.base_offset <= ranges[before][1]


def _batches(segment: Segment, position: int, start: int, until: int) -> Iterator[RecordBatch]:
    """The batches with offsets from `start` to `until` (exclusive). CorruptBatchError if the segment ends before.

    Compaction can remove the last offsets of a segment. Then its index lacks them, too.
    """
    batch: RecordBatch | None = None
    for batch in scan(segment.path, position, start, end=segment.end):
        if batch.base_offset >= until:
            return
        yield batch
    after = segment.base if batch is None else batch.next_offset
    if after < until:
        known = until if segment.is_last else _Indexes(segment).last_place[1] + 1
        if after < known:
            raise CorruptBatchError(f"{segment.path}: whole batches end at offset {after}, the log goes on to {known}")


def scan(path: Path, position: int = 0, start: int = 0, *, end: int = _NO_END) -> Iterator[RecordBatch]:
    """The whole batches of a segment, as views into the mapped file. Checksums are not checked.

    ``position``: of the offset `start` by an index. A wrong position is replaced by 0. ``end``: the base offset of the
    next segment. CorruptBatchError for offsets that do not ascend. Other damage is the end of the last segment, and a
    CorruptBatchError in an earlier one. OldFormatError for a batch of another format.
    """
    with open(path, "rb") as file:
        if not file.seek(0, 2):
            return
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    after = _base(path)
    if position and not _leads_to(data, position, after, start):
        position = 0
    held: RecordBatch | None = None
    damage = ""
    try:
        for _, batch in stored_batches(data, position):
            next_offset = batch.next_offset
            if batch.base_offset < after or next_offset > end:
                offsets = f"{batch.base_offset} to {batch.last_offset}"
                raise OffsetOrderError(f"{path}: the batch at position {position} has offsets {offsets}")
            if held is not None:
                yield held  # the checksum does not cover its offsets; they must be lower than the next batch's
            held, after = batch, next_offset
            position += batch.size_bytes
    except OffsetOrderError:
        raise
    except OldFormatError as error:
        raise OldFormatError(f"{path}: {error.message}") from None
    except CorruptBatchError as error:
        damage = error.message
    if position != len(data):
        damage = damage or f"the last {len(data) - position} bytes are no whole batch"
    if damage and end != _NO_END:
        raise CorruptBatchError(f"{path}: {damage}")
    if held is not None:
        yield held


class OffsetOrderError(CorruptBatchError):
    """The offsets of a batch are lower than those of the batch before, or beyond its segment."""


def _base(path: Path) -> int:
    """The first possible offset of a segment."""
    return int(path.stem)


def _leads_to(data: memoryview, position: int, base: int, start: int) -> bool:
    """Whether a whole batch begins at the position, with a base offset of at most `start`."""
    try:
        batch = stored_batch_at(data, position)
    except CorruptDataError:
        return False
    return batch is not None and base <= batch.base_offset <= start and batch.is_crc_valid


def _check(batch: RecordBatch, path: Path) -> None:
    try:
        check_crc(batch)
    except CorruptBatchError as error:
        where = f"{path}, batch of offsets {batch.base_offset} to {batch.last_offset}"
        raise CorruptBatchError(f"{where}: {error.message}") from None


def transactions_in(segments: list[Segment]) -> tuple[tuple[AbortedRange, ...], int]:
    """The aborted transactions and the last stable offset, from the headers of all batches."""
    aborted: list[AbortedRange] = []
    ongoing: dict[int, tuple[RecordBatch, Path]] = {}
    end = end_offset(segments)
    for segment in segments:
        for batch in _batches(segment, 0, segment.base, min(end, segment.end)):
            if not batch.is_control:
                if batch.is_transactional:
                    ongoing.setdefault(batch.producer_id, (batch, segment.path))
                continue
            _check(batch, segment.path)
            begun = ongoing.pop(batch.producer_id, None)
            types = map(control_record_type, batch.records())  # read only if the transaction has records
            if begun is not None and ControlRecordType.ABORT in types:
                aborted.append(AbortedRange(batch.producer_id, begun[0].base_offset, batch.last_offset))
    for batch, path in ongoing.values():
        _check(batch, path)  # a wrong producer id would leave a transaction open
    return tuple(aborted), min((batch.base_offset for batch, _ in ongoing.values()), default=end)


# --- indexes ----------------------------------------------------------------------------------------------------------


def _bytes_of(segment: Segment, kind: str) -> bytes:
    path = segment.path.parent / file_name(segment.base, kind)
    return path.read_bytes() if path.exists() and path.stat().st_size <= _LARGEST_INDEX else b""


class _Indexes:
    """A segment's `.index` and `.timeindex`, each read once when it is needed."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment

    @cached_property
    def _offsets(self) -> list[IndexEntry]:
        return parse_offset_index(_bytes_of(self._segment, OFFSET_INDEX), self._segment.base)

    @cached_property
    def _times(self) -> list[TimeEntry]:
        return parse_time_index(_bytes_of(self._segment, TIME_INDEX), self._segment.base)

    @property
    def last_timestamp(self) -> int:
        """The largest timestamp of a finished segment, by its time index. The last segment has no bound."""
        if self._segment.is_last or not self._times:
            return _NO_END
        return self._times[-1].timestamp

    @property
    def last_place(self) -> tuple[int, int]:
        """Position and offset of the last entry, else of the beginning of the segment."""
        return (self._offsets[-1].position, self._offsets[-1].offset) if self._offsets else (0, self._segment.base - 1)

    def position_of_offset(self, offset: int) -> int:
        """The position from which to read for an offset."""
        if offset <= self._segment.base:
            return 0
        before = bisect_right(self._offsets, offset, key=lambda entry: entry.offset) - 1
        return self._offsets[before].position if before >= 0 else 0

    def cuts(self, first: int, last: int, size: int) -> list[int]:
        """The first offsets of parts with at least this many bytes each."""
        found, begun = [first], self.position_of_offset(first)
        for entry in self._offsets:
            # An entry has the last offset of its batch. The next part begins after it.
            if found[-1] < entry.offset + 1 < last and entry.position - begun >= size:
                found.append(entry.offset + 1)
                begun = entry.position
        return found

    def first_young(self, timestamp: int) -> int:
        """The first offset that may have a record with at least this timestamp.

        By an entry (t, o), all records up to offset o have timestamps of at most t. Later timestamps follow it.
        """
        before = bisect_left(self._times, timestamp, key=lambda entry: entry.timestamp) - 1
        return self._times[before].offset + 1 if before >= 0 else self._segment.base
