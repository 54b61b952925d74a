"""A partition of this broker as the journal of a coordinator: builds the batches and appends them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from odradek.broker.runtime.loading import SLICE_BYTES, load
from odradek.broker.runtime.machine import LogRecord, Machine, NewRecord, Producer
from odradek.protocol.compression import Codec, compress
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.message import Buffer
from odradek.protocol.record_batch import HEADER_SIZE, TRANSACTIONAL_FLAG, assemble
from odradek.protocol.records import encode_varint
from odradek.storage.partition_log import AppendOrigin

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition

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
