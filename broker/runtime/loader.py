"""Reading a coordinator's log, and replaying it into a fresh machine a slice at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

from odradek.broker.runtime.journal import Journal
from odradek.broker.runtime.machine import LogRecord, Machine, NewRecord, Producer
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch, parse_control_record
from odradek.protocol.errors import ErrorCode, KafkaError
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
from odradek.storage.partition_log import AppendOrigin

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition

DECODE_OWN_RECORDS = os.environ.get("ODRADEK_DECODE_OWN_RECORDS", "0") not in ("", "0")
"""Whether coordinators decode what they have just encoded, instead of replaying what they hold: to look for a bug."""

SLICE_BYTES = 128 * 1024
"""How much of the log is replayed without a break: a few milliseconds' worth."""


_BATCH_OVERHEAD = HEADER_SIZE
_RECORD_OVERHEAD = 32
_NO_PRODUCER = Producer(-1, -1)
_NOT_PLAIN = CONTROL_FLAG | TRANSACTIONAL_FLAG | CODEC_MASK
_Places = dict[bytes, tuple[int, int]]  # by key: offset of a record, and where its value begins with its length
_PLACE = itemgetter(1)


class KeyedJournal(Journal[NewRecord, LogRecord], Protocol):
    """The log of a coordinator: records with keys, of which the last one counts, and transactions."""

    @property
    def start_offset(self) -> int:
        """The first offset of the log."""

    def append_marker(self, producer: Producer, coordinator_epoch: int, commit: bool, now_ms: int) -> int:
        """Append a transaction marker; returns its offset."""

    def read(self, offset: int) -> Sequence[Buffer]:
        """Whole batches from `offset` on, `SLICE_BYTES` of them or one; nothing at the end of the log."""


class ReplicatedJournal(KeyedJournal, Protocol):
    """The log of a coordinator whose replicas may differ."""

    @property
    def committed_offset(self) -> int:
        """Everything before it is on all replicas in sync."""

    def check_in_sync(self) -> None:
        """NOT_ENOUGH_REPLICAS where acks=all would be refused."""

    def watch(self, on_change: Callable[[], None]) -> Callable[[], None]:
        """Have `on_change` called once, when more is committed or the leader is another one.

        Returns what forgets it.
        """


class PartitionJournal:
    """A partition of this broker as a journal."""

    def __init__(self, partition: Partition, *, base_sequence: int = -1, keyed: bool = True) -> None:
        """`keyed`: of the records of one key only the last one counts. A log that stores changes is not."""
        self._partition = partition
        self._base_sequence = base_sequence
        self._keyed = keyed

    @property
    def end_offset(self) -> int:
        """See `Journal`."""
        return self._partition.log.log_end_offset

    @property
    def leader_epoch(self) -> int:
        """See `Journal`."""
        return self._partition.leader_epoch

    @property
    def apart(self) -> bool:
        """See `Journal`."""
        return self._partition.replica_set is not None

    @property
    def committed_offset(self) -> int:
        """See `ReplicatedJournal`."""
        return self._partition.log.high_watermark

    def check_in_sync(self) -> None:
        """See `ReplicatedJournal`."""
        if self._partition.under_min_isr:
            raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)

    def watch(self, on_change: Callable[[], None]) -> Callable[[], None]:
        """See `ReplicatedJournal`."""
        from odradek.broker.partitions.waiters import Waiter

        waiter, waiters = Waiter(1 << 62, on_change), self._partition.waiters
        waiters.add(waiter)
        return lambda: waiters.discard(waiter)

    def append(self, records: Sequence[NewRecord], now_ms: int, producer: Producer | None) -> list[LogRecord]:
        """See `Journal`."""
        batch = build_coordinator_batch(records, now_ms, producer, self._base_sequence)
        info = self._partition.append(batch, now_ms=now_ms, origin=AppendOrigin.COORDINATOR)
        return stored(records, info.base_offset, producer)

    def split(self, records: Sequence[NewRecord]) -> Iterator[Sequence[NewRecord]]:
        """See `Journal`."""
        return split(records, self._partition.log.config.max_message_bytes)

    def load(self, machine: Machine) -> Iterator[int]:
        """See `Journal`."""
        return load(self, machine, keyed=self._keyed)

    def append_marker(self, producer: Producer, coordinator_epoch: int, commit: bool, now_ms: int) -> int:
        """See `KeyedJournal`."""
        marker = EndTxnMarker(commit, coordinator_epoch)
        batch = build_end_txn_batch(marker, producer_id=producer.id, producer_epoch=producer.epoch, timestamp=now_ms)
        return self._partition.append(batch, now_ms=now_ms, origin=AppendOrigin.COORDINATOR).base_offset

    @property
    def start_offset(self) -> int:
        """See `KeyedJournal`."""
        return self._partition.log.log_start_offset

    def read(self, offset: int) -> Sequence[Buffer]:
        """See `KeyedJournal`."""
        log = self._partition.log
        return log.read(offset, max_bytes=SLICE_BYTES, up_to_offset=log.log_end_offset).parts


_length = lru_cache(maxsize=1 << 11)(encode_varint)
"""Lengths and places: the same few over and over."""


def build_coordinator_batch(
    records: Sequence[NewRecord], now_ms: int, producer: Producer | None, base_sequence: int
) -> bytes:
    """One record batch as a coordinator writes it: transactional when it is written in the name of a producer.

    The same bytes as `odradek.protocol.record_batch.build_batch` makes, without a `Record` for each: every commit of
    offsets comes through here.
    """
    body: list[bytes] = []
    for index, (key, value, _) in enumerate(records):
        front = b"\0\0" + _length(index) + _length(len(key)) + key
        record = front + b"\1\0" if value is None else b"".join((front, _length(len(value)), value, b"\0"))
        body += (_length(len(record)), record)
    attributes, (producer_id, producer_epoch) = (
        (0, _NO_PRODUCER) if producer is None else (TRANSACTIONAL_FLAG, producer)
    )
    header = (attributes, len(records) - 1, now_ms, now_ms, producer_id, producer_epoch, base_sequence, len(records))
    return assemble(0, 0, header, b"".join(body))


def stored(
    records: Sequence[NewRecord], offset: int, producer: Producer | None, *, decoded: bool = DECODE_OWN_RECORDS
) -> list[LogRecord]:
    """New records as `Machine.replay` takes them; `offset` is that of the first.

    `decoded`: without what they say, so that the machine has to decode them.
    """
    producer_id, producer_epoch = producer or _NO_PRODUCER
    return [
        LogRecord(key, value, place, producer_id, producer_epoch, None if decoded else said)
        for place, (key, value, said) in enumerate(records, offset)
    ]


def split(records: Sequence[NewRecord], max_batch_bytes: int) -> Iterator[Sequence[NewRecord]]:
    """Runs of records that each fit into a batch of so many bytes."""
    limit = max_batch_bytes - _BATCH_OVERHEAD
    part: list[NewRecord] = []
    size = 0
    for record in records:
        record_size = _RECORD_OVERHEAD + len(record[0]) + len(record[1] or b"")
        if part and size + record_size > limit:
            yield part
            part, size = [], 0
        part.append(record)
        size += record_size
    yield part


def load(journal: KeyedJournal, machine: Machine, *, keyed: bool = True) -> Iterator[int]:
    """See `Journal.load`; `keyed` as for a `PartitionJournal`."""
    position = journal.start_offset
    reader = _Reader(machine, keyed)
    while position < journal.end_offset:
        parts = journal.read(position)
        if not parts:
            return
        for part in parts:
            position = reader.replay(bytes(part))
        yield position


def replay_between(journal: KeyedJournal, machine: Machine, position: int, end: int) -> int:
    """Replay the whole batches of a log between two offsets; returns where the first one begins that is left."""
    reader = _Reader(machine, keyed=False)
    while position < end:
        parts = journal.read(position)
        for batch in [batch for part in parts for batch in iter_batches([part])]:
            if batch.next_offset > end:
                return position
            position = reader.replay(bytes(batch.data))
        if not parts:
            break
    return position


class _Reader:
    """Replays runs of batches.

    Of the records of one key in a run only the last one is replayed, as if the log cleaner had been there: machines get
    the same state from a compacted log. Like the cleaner this stops at transactions, here at the first one of the log.
    Of a log that is not `keyed` every record is replayed.
    """

    def __init__(self, machine: Machine, keyed: bool) -> None:
        self._machine = machine
        self._keyed = keyed
        self._compact = True

    def replay(self, data: bytes) -> int:
        """Replay the batches in `data`; returns the offset after the last one."""
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
                _replay_batch(batch, self._machine)
            next_offset = batch.next_offset
            position += batch.size_bytes
        self._flush(data, latest)
        return next_offset

    def _flush(self, data: bytes, latest: _Places) -> None:
        replay = self._machine.replay
        for key, (offset, position) in sorted(latest.items(), key=_PLACE):
            size, position = _varint(data, position)
            replay(LogRecord(key, None if size < 0 else data[position : position + size], offset, -1, -1))
        latest.clear()


def _replay_batch(batch: RecordBatch, machine: Machine) -> None:
    """A batch that is compressed or part of a transaction, or a control batch."""
    if batch.is_control:
        for record in batch.records():
            marker = parse_control_record(record)
            if isinstance(marker, EndTxnMarker):
                machine.replay_marker(batch.producer_id, batch.producer_epoch, marker.commit)
        return
    producer = (batch.producer_id, batch.producer_epoch) if batch.is_transactional else (-1, -1)
    for offset, _, key, value, _ in batch.records():
        if key is not None:
            machine.replay(LogRecord(key, value, offset, *producer))


def _last_of_each_key(data: bytes, position: int, count: int, base_offset: int, latest: _Places) -> None:
    """Note in `latest` where the records of an uncompressed batch are, without decoding more than their keys."""
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
