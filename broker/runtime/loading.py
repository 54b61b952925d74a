"""Loading a coordinator: its log is replayed into a new machine, a slice at a time.

A record that the machine cannot replay is left out: a client may write what it likes into an internal topic, and a
newer release writes records of other types. One line of the log tells of all of them.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator
from operator import itemgetter
from typing import Any

from odradek.broker.runtime.machine import Journal, KeyedJournal, LogRecord, Machine
from odradek.protocol.control import EndTxnMarker, parse_control_record
from odradek.protocol.errors import CorruptDataError
from odradek.protocol.record_batch import (
    CODEC_MASK,
    CONTROL_FLAG,
    HEADER_SIZE,
    TRANSACTIONAL_FLAG,
    RecordBatch,
    iter_batches,
    read_batch,
)
from odradek.protocol.records import read_varint
from odradek.protocol.shown import one_line

SLICE_BYTES = 128 * 1024
"""How much of the log is replayed at once, which takes a few milliseconds."""

_STEP = 1000
"""So many records of a compressed batch are replayed in a slice."""
_MOST_INFLATED = 16 * 1024 * 1024
"""A compressed batch that inflates to more bytes is left out. The broker's own ones are far smaller."""

_log = logging.getLogger("odradek.broker.runtime")
_NOT_PLAIN = CONTROL_FLAG | TRANSACTIONAL_FLAG | CODEC_MASK
_LONGEST_REASON = 200
_Places = dict[bytes, tuple[int, int]]  # key -> offset of the record, position of its value's length
_PLACE = itemgetter(1)


def load(journal: KeyedJournal, machine: Machine, *, keyed: bool = True, name: str = "") -> Iterator[int]:
    """See `Journal.load`; `keyed` as for a `PartitionJournal`. `name`: of the partition."""
    position = journal.start_offset
    reader = _Reader(machine, keyed)
    while position < journal.end_offset:
        parts = journal.read(position)
        if not parts:
            return
        for part in parts:
            replaying = reader.replay(bytes(part))
            try:
                while True:
                    next(replaying)
                    yield position
            except StopIteration as done:
                position = done.value
        if reader.left_out and position >= journal.end_offset:
            text = "%s: %d records cannot be read and are left out, %s"
            _log.warning(text, name, reader.left_out, reader.first_left_out)
        yield position


def replay_between(journal: KeyedJournal, machine: Machine, position: int, end: int) -> int:
    """Replay the batches between two offsets; returns the offset where the first batch begins that is not complete."""
    reader = _Reader(machine, keyed=False)
    while position < end:
        parts = journal.read(position)
        for batch in [batch for part in parts for batch in iter_batches([part])]:
            if batch.next_offset > end:
                return position
            for _ in reader.replay(bytes(batch.data)):
                pass
            position = batch.next_offset
        if not parts:
            break
    return position


class _Reader:
    """Replays runs of batches.

    With `keyed`, only the last record of each key in a run is replayed, as from a compacted log. Like the log cleaner,
    this stops at transactions: here at the first one of the log.
    """

    def __init__(self, machine: Machine, keyed: bool) -> None:
        self._machine = machine
        self._keyed = keyed
        self._compact = True
        self.left_out = 0
        self.first_left_out = ""

    def replay(self, data: bytes) -> Generator[None, None, int]:
        """Replay the batches in `data`; returns the offset after the last one. It pauses within large batches."""
        latest: _Places = {}
        position, end, next_offset = 0, len(data), 0
        while position < end:
            batch = read_batch(data, position)
            if self._keyed and not batch.attributes & _NOT_PLAIN:
                _last_of_each_key(data, position + HEADER_SIZE, batch.record_count, batch.base_offset, latest)
                if not self._compact:
                    self._flush(data, latest)
            else:
                self._compact = False
                self._flush(data, latest)
                yield from self._replay_batch(batch)
            next_offset = batch.next_offset
            position += batch.size_bytes
        self._flush(data, latest)
        return next_offset

    def _flush(self, data: bytes, latest: _Places) -> None:
        for key, (offset, position) in sorted(latest.items(), key=_PLACE):
            size, position = _varint(data, position)
            self._replay(LogRecord(key, None if size < 0 else data[position : position + size], offset, -1, -1))
        latest.clear()

    def _replay(self, record: LogRecord) -> None:
        try:
            self._machine.replay(record)
        except Exception as error:
            self._leave_out(record.offset, 1, error)

    def _leave_out(self, offset: int, count: int, error: Exception) -> None:
        if not self.left_out:
            self.first_left_out = f"the first at offset {offset}: {_reason(error)}"
        self.left_out += count

    def _replay_batch(self, batch: RecordBatch) -> Iterator[None]:
        """Replay a batch that is compressed or part of a transaction, or a control batch. Pauses between records."""
        if batch.is_control:
            for record in batch.records():
                marker = parse_control_record(record)
                if isinstance(marker, EndTxnMarker):
                    self._machine.replay_marker(batch.producer_id, batch.producer_epoch, marker.commit)
            return
        producer = (batch.producer_id, batch.producer_epoch) if batch.is_transactional else (-1, -1)
        read = 0
        try:
            for offset, _, key, value, _ in batch.records(_MOST_INFLATED):
                read += 1
                if key is not None:
                    self._replay(LogRecord(key, value, offset, *producer))
                if not read % _STEP:
                    yield
        except CorruptDataError as error:
            self._leave_out(batch.base_offset + read, batch.record_count - read, error)


def _reason(error: Exception) -> str:
    """What is wrong with a record, in a line."""
    text = one_line(f"{error.__class__.__name__}: {error}")
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}..."


def _last_of_each_key(data: bytes, position: int, count: int, base_offset: int, latest: _Places) -> None:
    """Put the places of an uncompressed batch's records into `latest`, decoding their keys only."""
    for _ in range(count):
        size = data[position]
        if size < 0x80:
            position += 1
            size >>= 1
        else:
            size, position = read_varint(data, position)
        stop = position + size
        if data[position + 1] or data[position + 2] > 0x7F:  # another timestamp than the first, or a far offset delta
            _, position = _varint(data, position + 1)
            delta, position = _varint(data, position)
        else:
            delta = data[position + 2] >> 1
            position += 3
        size, position = _varint(data, position)
        if size >= 0:
            end = position + size
            latest[data[position:end]] = (base_offset + delta, end)
        position = stop


def _varint(data: bytes, position: int) -> tuple[int, int]:
    byte = data[position]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position + 1
    return read_varint(data, position)


class Loading:
    """The progress of a load. Owner: the shard.

    `held`: whether a test holds the load. `leader_epoch`: of the log when the last load began. `count`: how many loads
    are done.
    """

    __slots__ = ("_journal", "_slices", "count", "held", "leader_epoch")

    def __init__(self, journal: Journal[Any, Any]) -> None:
        self._journal = journal
        self._slices: Iterator[int] | None = None
        self.count = 0
        self.held = False
        self.leader_epoch = journal.leader_epoch

    @property
    def can_go_on(self) -> bool:
        """Whether there is another slice to replay, and no test holds the load."""
        return self._slices is not None and not self.held

    @property
    def is_outdated(self) -> bool:
        """Whether the log has got a new leader since the last load began."""
        return self._journal.leader_epoch != self.leader_epoch

    def begin(self, machine: Machine) -> None:
        """Start at the first record of the log."""
        self.leader_epoch = self._journal.leader_epoch
        self._slices = self._journal.load(machine)

    def replay_slice(self) -> bool:
        """Replay the next slice; returns whether it was the last one."""
        assert self._slices is not None
        reached = next(self._slices, self._journal.end_offset)
        if reached < self._journal.end_offset:
            return False
        self._slices = None
        self.count += 1
        return True

    def stop(self, *, resigned: bool = False) -> None:
        """Stop loading. With `resigned`, the load is not outdated until the log gets another leader."""
        self._slices = None
        if resigned:
            self.leader_epoch = self._journal.leader_epoch
