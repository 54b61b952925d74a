"""New records of a coordinator: as the batch that is written, and as `Machine.replay` takes them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final, final

from odradek.broker.runtime.machine import Producer
from odradek.broker.runtime.records import LogRecord, NewRecord
from odradek.protocol.record_batch import HEADER_SIZE, TRANSACTIONAL_FLAG, assemble
from odradek.protocol.records import encode_varint

DECODE_OWN_RECORDS = os.environ.get("ODRADEK_DECODE_OWN_RECORDS", "0") not in ("", "0")
"""Whether coordinators decode what they have just encoded, instead of replaying what they hold: to look for a bug."""

_BATCH_OVERHEAD = HEADER_SIZE
_RECORD_OVERHEAD = 32
_NO_PRODUCER = Producer(-1, -1)

_KNOWN: Final = [encode_varint(number) for number in range(1 << 10)]
"""Lengths and places: the same few over and over."""


def build_coordinator_batch(
    records: Sequence[NewRecord], now_ms: int, producer: Producer | None, base_sequence: int
) -> bytes:
    """One record batch as a coordinator writes it: transactional when it is written in the name of a producer.

    The same bytes as `odradek.protocol.record_batch.build_batch` makes, without a `Record` for each: every commit of
    offsets comes through here.
    """
    body: list[bytes] = []
    _encode(records, 0, body)
    return _assembled(body, len(records), now_ms, producer, base_sequence)


@final
class GrowingBatch:
    """One batch of records that come one after the other, all at one time and in the name of no producer.

    Of at most `limit` bytes; its first record gets `base_offset`. `now_ms`: when its records came.
    """

    __slots__ = ("_body", "_count", "_left", "base_offset", "now_ms")

    def __init__(self, base_offset: int, now_ms: int, limit: int) -> None:
        self.base_offset = base_offset
        self.now_ms = now_ms
        self._left = limit - HEADER_SIZE
        self._body: list[bytes] = []
        self._count = 0

    def add(self, records: Sequence[NewRecord], now_ms: int) -> int:
        """Take in some more; returns the offset of the first one, -1 for another time, or without room for them all."""
        if now_ms != self.now_ms:
            return -1
        body, count = self._body, self._count
        before = len(body)
        size = _encode(records, count, body)
        if size > self._left:
            del body[before:]
            return -1
        self._left -= size
        self._count = count + len(records)
        return self.base_offset + count

    def built(self, base_sequence: int) -> bytes:
        """All that it has taken in, see `build_coordinator_batch`."""
        return _assembled(self._body, self._count, self.now_ms, None, base_sequence)


def _encode(records: Sequence[NewRecord], index: int, body: list[bytes]) -> int:
    """Add records to a batch's body, the first of them in this place; returns how many bytes they are."""
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


def _assembled(body: list[bytes], count: int, now_ms: int, producer: Producer | None, base_sequence: int) -> bytes:
    attributes, (producer_id, producer_epoch) = (
        (0, _NO_PRODUCER) if producer is None else (TRANSACTIONAL_FLAG, producer)
    )
    header = (attributes, count - 1, now_ms, now_ms, producer_id, producer_epoch, base_sequence, count)
    return assemble(0, 0, header, b"".join(body))


def _length(number: int) -> bytes:
    return _KNOWN[number] if number < len(_KNOWN) else encode_varint(number)


def stored(
    records: Sequence[NewRecord], offset: int, producer: Producer | None, *, decoded: bool = DECODE_OWN_RECORDS
) -> list[LogRecord]:
    """New records as `Machine.replay` takes them; `offset` is that of the first.

    `decoded`: without what they say, so that the machine has to decode them.
    """
    producer_id, producer_epoch = producer or _NO_PRODUCER
    made: list[LogRecord] = []
    for record in records:
        said = None if decoded else record.said
        made.append(LogRecord(record.key, record.value, offset, producer_id, producer_epoch, said))
        offset += 1
    return made


def split(records: Sequence[NewRecord], max_batch_bytes: int) -> Iterator[Sequence[NewRecord]]:
    """Runs of records that each fit into a batch of so many bytes."""
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
