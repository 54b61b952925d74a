"""The log of a coordinator: a partition of this broker, and its replay into a new machine, a slice at a time.

A record that the machine cannot replay is left out: a client may write what it likes into an internal topic, and a
newer release writes records of other types. One line of the log tells of all of them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from odradek.broker.runtime.machine import KeyedJournal, LogRecord, Machine, NewRecord, Producer
from odradek.protocol.compression import Codec, compress
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch, parse_control_record
from odradek.protocol.errors import CorruptDataError, ErrorCode, KafkaError
from odradek.protocol.message import Buffer
from odradek.protocol.record_batch import (
    CODEC_MASK,
    CONTROL_FLAG,
    HEADER_SIZE,
    TRANSACTIONAL_FLAG,
    RecordBatch,
    assemble,
    iter_batches,
    read_batch,
)
from odradek.protocol.records import encode_varint, read_varint
from odradek.protocol.shown import one_line
from odradek.storage.partition_log import AppendOrigin

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition


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


# -- a partition of this broker as the journal of a coordinator


DECODE_OWN_RECORDS = os.environ.get("ODRADEK_DECODE_OWN_RECORDS", "0") not in ("", "0")
"""Whether coordinators decode the records they have just encoded, instead of replaying the decoded values."""

_BATCH_OVERHEAD = HEADER_SIZE
_RECORD_OVERHEAD = 32
_NO_PRODUCER = Producer(-1, -1)
_PLAIN: Final = 0

_VARINTS: Final = [encode_varint(number) for number in range(1 << 10)]
"""Encoded small numbers: lengths of fields and indexes of records."""


def build_coordinator_batch(
    records: Sequence[NewRecord], now_ms: int, producer: Producer | None, base_sequence: int, codec: int = _PLAIN
) -> bytes:
    """One record batch as a coordinator writes it: transactional if it is written in the name of a producer.

    Gives the same bytes as `odradek.protocol.record_batch.build_batch`, without making a `Record` for each: every
    commit of offsets comes through here.
    """
    body: list[bytes] = []
    encode_records(records, 0, body)
    return assembled(body, len(records), now_ms, producer, base_sequence, codec)


def encode_records(records: Sequence[NewRecord], index: int, body: list[bytes]) -> int:
    """Add records to a batch's body, the first one at `index`; returns their size in bytes."""
    total = 0
    for record in records:
        key, value = record.key, record.value
        place, of_key = _length(index), _length(len(key))
        size = 2 + len(place) + len(of_key) + len(key)
        if value is None:
            size += 2
            of_size = _length(size)
            body += (of_size, b"\0\0", place, of_key, key, b"\1\0")
        else:
            of_value = _length(len(value))
            size += len(of_value) + len(value) + 1
            of_size = _length(size)
            body += (of_size, b"\0\0", place, of_key, key, of_value, value, b"\0")
        total += len(of_size) + size
        index += 1
    return total


def assembled(
    body: list[bytes], count: int, now_ms: int, producer: Producer | None, base_sequence: int, codec: int
) -> bytes:
    """The batch of a body of so many records, see `build_coordinator_batch`."""
    attributes, (producer_id, producer_epoch) = (
        (0, _NO_PRODUCER) if producer is None else (TRANSACTIONAL_FLAG, producer)
    )
    data = b"".join(body)
    if codec != _PLAIN:
        data = compress(Codec(codec), data)
    header = (attributes | codec, count - 1, now_ms, now_ms, producer_id, producer_epoch, base_sequence, count)
    return assemble(0, 0, header, data)


def _length(number: int) -> bytes:
    return _VARINTS[number] if number < len(_VARINTS) else encode_varint(number)


def stored(
    records: Sequence[NewRecord], offset: int, producer: Producer | None, *, decode: bool = DECODE_OWN_RECORDS
) -> list[LogRecord]:
    """New records as `Machine.replay` takes them; `offset` is that of the first one.

    With `decode` they are without decoded values, so that the machine has to decode them.
    """
    producer_id, producer_epoch = producer or _NO_PRODUCER
    made: list[LogRecord] = []
    for record in records:
        decoded = None if decode else record.decoded
        made.append(LogRecord(record.key, record.value, offset, producer_id, producer_epoch, decoded))
        offset += 1
    return made


def split(records: Sequence[NewRecord], max_batch_bytes: int) -> Iterator[Sequence[NewRecord]]:
    """Split records into runs that each fit into a batch of so many bytes."""
    limit = max_batch_bytes - _BATCH_OVERHEAD
    part: list[NewRecord] = []
    size = 0
    for record in records:
        record_size = _RECORD_OVERHEAD + len(record.key) + len(record.value or b"")
        if part and size + record_size > limit:
            yield part
            part, size = [], 0
        part.append(record)
        size += record_size
    yield part


class PartitionJournal:
    """A partition of this broker as a journal."""

    def __init__(self, partition: Partition, *, base_sequence: int = -1, keyed: bool = True) -> None:
        """`keyed`: only the last record of a key counts. False for a log that stores changes."""
        self._partition = partition
        self._base_sequence = base_sequence
        self._keyed = keyed
        self.codec: int = _PLAIN
        """The codec of its batches; markers are never compressed."""

    @property
    def end_offset(self) -> int:
        return self._partition.log.log_end_offset

    @property
    def leader_epoch(self) -> int:
        return self._partition.leader_epoch

    @property
    def apart(self) -> bool:
        return self._partition.replica_set is not None

    @property
    def committed_offset(self) -> int:
        return self._partition.log.high_watermark

    def check_in_sync(self) -> None:
        if self._partition.under_min_isr:
            raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)

    def watch(self, on_change: Callable[[], None]) -> Callable[[], None]:
        from odradek.broker.partitions.waiters import Waiter

        waiter, waiters = Waiter(1 << 62, on_change), self._partition.waiters
        waiters.add(waiter)
        return lambda: waiters.discard(waiter)

    def append(self, records: Sequence[NewRecord], now_ms: int, producer: Producer | None) -> list[LogRecord]:
        batch = build_coordinator_batch(records, now_ms, producer, self._base_sequence, self.codec)
        info = self._partition.append(batch, now_ms=now_ms, origin=AppendOrigin.COORDINATOR)
        return stored(records, info.base_offset, producer)

    def split(self, records: Sequence[NewRecord]) -> Iterator[Sequence[NewRecord]]:
        return split(records, self._partition.log.config.max_message_bytes)

    def load(self, machine: Machine) -> Iterator[int]:
        partition = self._partition
        return load(self, machine, keyed=self._keyed, name=f"{partition.topic.name}-{partition.index}")

    def append_marker(self, producer: Producer, coordinator_epoch: int, commit: bool, now_ms: int) -> int:
        marker = EndTxnMarker(commit, coordinator_epoch)
        batch = build_end_txn_batch(marker, producer_id=producer.id, producer_epoch=producer.epoch, timestamp=now_ms)
        return self._partition.append(batch, now_ms=now_ms, origin=AppendOrigin.COORDINATOR).base_offset

    @property
    def start_offset(self) -> int:
        return self._partition.log.log_start_offset

    def read(self, offset: int) -> Sequence[Buffer]:
        log = self._partition.log
        return log.read(offset, max_bytes=SLICE_BYTES, up_to_offset=log.log_end_offset).parts
