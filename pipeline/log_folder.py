"""Log directories as Spark tasks: which segments there are, and which part of each holds the wanted records.

One task for each segment. Offsets prune whole segments by their names and the start within one by its `.index`; a first
timestamp prunes segments by the last entry of their `.timeindex` and the start within one by its entries. Works
on folders that Kafka or odradek wrote, also running ones: a batch that is not whole yet ends the log.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from odradek.pipeline.rows import Wanted
from odradek.protocol.control import ControlRecordType, control_record_type
from odradek.protocol.record_batch import RecordBatch, batch_size_at, parse_batch
from odradek.storage.index_files import parse_offset_index, parse_time_index
from odradek.storage.segment_files import LOG, OFFSET_INDEX, TIME_INDEX, file_name, parse_file_name

_FOLDER = re.compile(r"(.+)-(\d+)")
_NO_END = 2**63 - 1


class AbortedRange(NamedTuple):
    """An aborted transaction: its producer, its first record and its marker."""

    producer_id: int
    first_offset: int
    last_offset: int


class Segment(NamedTuple):
    """A segment's `.log` file and the offsets it may hold: from ``base`` to before ``end``."""

    path: Path
    base: int
    end: int


class SegmentTask(NamedTuple):
    """A part of a segment to read: from the byte ``position`` on, what is wanted, without the aborted."""

    path: str
    position: int
    wanted: Wanted
    aborted: tuple[AbortedRange, ...] = ()
    """Aborted transactions to leave out (read_committed)."""


def partitions_in(root: Path) -> dict[tuple[str, int], list[Segment]]:
    """The segments of every partition in a log directory, or of the one partition whose folder ``root`` is.

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
    """The segments of one partition in the order of their offsets."""
    parsed = [(parse_file_name(path.name), path) for path in folder.iterdir()]
    logs = sorted((name[0], path) for name, path in parsed if name is not None and name[1:] == (LOG, ""))
    ends = [base for base, _ in logs[1:]] + [_NO_END]
    return [Segment(path, base, end) for (base, path), end in zip(logs, ends, strict=True)]


def end_offset(segments: list[Segment]) -> int:
    """The offset behind the partition's last whole batch."""
    for segment in reversed(segments):
        index = parse_offset_index(_bytes_of(segment, OFFSET_INDEX), segment.base)
        end = segment.base
        for batch in scan(segment.path, index[-1].position if index else 0):
            end = batch.next_offset
        if end > segment.base or segment is segments[0]:
            return end
    return segments[0].base


def offset_at(segments: list[Segment], timestamp: int) -> int:
    """The first offset whose record is that young; the end offset if none is."""
    for segment in segments:
        if _last_timestamp(segment) < timestamp:
            continue
        for batch in scan(segment.path, _position_of_time(segment, timestamp)):
            if batch.max_timestamp >= timestamp:
                young = [record.offset for record in batch.records() if record.timestamp >= timestamp]
                if young:
                    return young[0]
    return end_offset(segments)


def plan(segments: list[Segment], wanted: Wanted, aborted: tuple[AbortedRange, ...] = ()) -> Iterator[SegmentTask]:
    """A task for each segment that may hold wanted records."""
    for segment in segments:
        if segment.end <= wanted.start or segment.base >= wanted.end:
            continue
        position = 0
        if wanted.start > segment.base:
            position = _position_of_offset(segment, wanted.start)
        if wanted.from_ms is not None:
            if _last_timestamp(segment) < wanted.from_ms:
                continue
            position = max(position, _position_of_time(segment, wanted.from_ms))
        inside = tuple(each for each in aborted if each.first_offset < segment.end and each.last_offset >= segment.base)
        yield SegmentTask(str(segment.path), position, wanted, inside)


def read(task: SegmentTask) -> Iterator[RecordBatch]:
    """The batches of a task."""
    for batch in scan(Path(task.path), task.position):
        if batch.base_offset >= task.wanted.end:
            return
        if not (task.aborted and batch.is_transactional and not batch.is_control and _is_aborted(batch, task.aborted)):
            yield batch


def _is_aborted(batch: RecordBatch, aborted: tuple[AbortedRange, ...]) -> bool:
    return any(
        each.producer_id == batch.producer_id and each.first_offset <= batch.base_offset <= each.last_offset
        for each in aborted
    )


def scan(path: Path, position: int = 0) -> Iterator[RecordBatch]:
    """The whole batches of a segment from a byte position on, as views into the mapped file."""
    with open(path, "rb") as file:
        if file.seek(0, 2) <= position:
            return
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    while (size := batch_size_at(data, position)) is not None:
        yield parse_batch(data, position)
        position += size


def transactions_in(segments: list[Segment]) -> tuple[tuple[AbortedRange, ...], int]:
    """The aborted transactions and the last stable offset, from the headers of all batches."""
    aborted: list[AbortedRange] = []
    ongoing: dict[int, int] = {}
    end = segments[0].base
    for segment in segments:
        for batch in scan(segment.path):
            end = batch.next_offset
            if not batch.is_control:
                if batch.is_transactional:
                    ongoing.setdefault(batch.producer_id, batch.base_offset)
                continue
            first = ongoing.pop(batch.producer_id, None)
            if first is not None and _is_abort(batch):
                aborted.append(AbortedRange(batch.producer_id, first, batch.last_offset))
    return tuple(aborted), min(ongoing.values(), default=end)


def _is_abort(batch: RecordBatch) -> bool:
    return any(control_record_type(record) == ControlRecordType.ABORT for record in batch.records())


# --- indexes ----------------------------------------------------------------------------------------------------------


def _bytes_of(segment: Segment, kind: str) -> bytes:
    path = segment.path.parent / file_name(segment.base, kind)
    return path.read_bytes() if path.exists() else b""


def _position_of_offset(segment: Segment, offset: int) -> int:
    entries = parse_offset_index(_bytes_of(segment, OFFSET_INDEX), segment.base)
    return max((entry.position for entry in entries if entry.offset <= offset), default=0)


def _last_timestamp(segment: Segment) -> int:
    """The largest timestamp that a finished segment's time index ends with; no bound for one still written to."""
    if segment.end == _NO_END:
        return _NO_END
    entries = parse_time_index(_bytes_of(segment, TIME_INDEX), segment.base)
    return entries[-1].timestamp if entries else _NO_END


def _position_of_time(segment: Segment, timestamp: int) -> int:
    entries = parse_time_index(_bytes_of(segment, TIME_INDEX), segment.base)
    # An entry (t, o) says that every record up to offset o is at most t old: what is younger lies behind it.
    older = [entry.offset for entry in entries if entry.timestamp < timestamp]
    return _position_of_offset(segment, older[-1]) if older else 0
