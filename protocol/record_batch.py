"""Record batches, message format v2: parse, check, build, iterate, rewrite in place.

The 61-byte header is one `struct`; the fields before the CRC (base offset, length, leader epoch, magic, crc) are not
covered by it, so a broker may assign offsets and epochs without touching the checksum.
Source: KIP-98 (format), KIP-32 (timestamp type), KIP-534 (delete horizon).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Final, NamedTuple, TypeAlias

from odradek.protocol.checksum import crc32c
from odradek.protocol.compression import DEFAULT_MAX_INFLATED, codec_of, compress, decompress
from odradek.protocol.compression import Codec as Codec
from odradek.protocol.errors import CorruptDataError
from odradek.protocol.records import Buffer, encode_record, iter_keys, iter_records
from odradek.protocol.records import Record as Record

HEADER: Final = struct.Struct(">qiibIhiqqqhii")
"""base_offset, batch_length, partition_leader_epoch, magic, crc, attributes, last_offset_delta, base_timestamp,
max_timestamp, producer_id, producer_epoch, base_sequence, record_count."""

Header: TypeAlias = tuple[int, int, int, int, int, int, int, int, int, int, int, int, int]
"""The fields of `HEADER` in its order."""

HEADER_SIZE: Final = HEADER.size
LOG_OVERHEAD: Final = 12
"""Bytes before the part that `batch_length` counts: base offset and the length itself."""
HEADER_SIZE_UP_TO_MAGIC: Final = 17
CRC_FROM: Final = 21
"""First byte covered by the checksum (the attributes)."""
LEGACY_MIN_LENGTH: Final = 14
"""Smallest length field that any message format allows."""
NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_SEQUENCE: Final = -1
NO_TIMESTAMP: Final = -1
MAX_SEQUENCE: Final = 0x7FFFFFFF
FORMAT_OF_BATCHES: Final = 2
"""The message format that has batches. Formats 0 and 1 have single messages (`odradek.protocol.message_sets`)."""
FORMAT_MARKS: Final = {0: 0x2000, 1: 0x4000}
"""Message format -> the attribute bit of a batch that clients get in it, because its log had it. Kafka has no use for
these bits.
"""
OLDER_FORMATS: Final = FORMAT_MARKS[0] | FORMAT_MARKS[1]
LEADER_EPOCH_AT: Final = 12
MAGIC_AT: Final = 16
_FLAGS_AT: Final = 22
"""The low byte of the attributes, which has all bits that are in use."""

_new = tuple.__new__  # a NamedTuple's own constructor costs three times as much
_OFFSET_AND_LENGTH: Final = struct.Struct(">qi")
_pack_up_to_crc: Final = struct.Struct(">qiibI").pack
_pack_after_crc: Final = struct.Struct(">hiqqqhii").pack
_OFFSET: Final = struct.Struct(">q")
_EPOCH: Final = struct.Struct(">i")
_COUNT_OF: Final = struct.Struct(">57xi").unpack_from
LEAST_EFFORT: Final = 40
"""The `effort` for a batch of a few bytes."""
_LARGEST_EFFORT: Final = 20_000
_RUN: Final = 1000
"""So many encoded records are joined at a time."""
_EFFORT_OF_INFLATING: Final = 1000


CODEC_MASK: Final = 0x07
"""Attribute bits of a batch: the number of the codec, and the flags below."""
TIMESTAMP_TYPE_FLAG: Final = 0x08
TRANSACTIONAL_FLAG: Final = 0x10
CONTROL_FLAG: Final = 0x20
DELETE_HORIZON_FLAG: Final = 0x40


class TimestampType(IntEnum):
    """The timestamp type of a batch: set by the producer or by the broker (KIP-32)."""

    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class CorruptBatchError(CorruptDataError):
    """A batch whose length, magic or checksum is wrong."""


class RecordBatch(NamedTuple):
    """One batch: the fields of its header, its bytes, and its records on demand. Nothing is copied.

    `read_batch` makes one without a look at what it reads, `parse_batch` checks the length and the format before.
    """

    base_offset: int
    batch_length: int
    """Bytes behind this field, which is the second one: `size_bytes` is 12 more."""
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int
    data: Buffer
    """The whole batch, header included."""

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def size_bytes(self) -> int:
        return LOG_OVERHEAD + self.batch_length

    @property
    def codec(self) -> Codec:
        return codec_of(self.attributes)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_FLAG)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_FLAG)

    @property
    def has_append_time(self) -> bool:
        """Whether the broker set the timestamps; all records have the largest one then."""
        return bool(self.attributes & TIMESTAMP_TYPE_FLAG)

    @property
    def timestamp_type(self) -> TimestampType:
        return TimestampType.LOG_APPEND_TIME if self.attributes & TIMESTAMP_TYPE_FLAG else TimestampType.CREATE_TIME

    @property
    def delete_horizon_ms(self) -> int | None:
        """The time from which the batch's tombstones and markers may be removed. It is stored as the base timestamp
        (KIP-534).
        """
        return self.base_timestamp if self.attributes & DELETE_HORIZON_FLAG else None

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id > NO_PRODUCER_ID

    @property
    def last_sequence(self) -> int:
        return next_sequence(self.base_sequence, self.last_offset_delta) if self.base_sequence >= 0 else NO_SEQUENCE

    @property
    def is_crc_valid(self) -> bool:
        return crc32c(self.data[CRC_FROM:]) == self.crc

    def body(self, max_size: int = DEFAULT_MAX_INFLATED) -> Buffer:
        """The record bytes, inflated when the batch is compressed."""
        return decompress(codec_of(self.attributes), self.data[HEADER_SIZE:], max_size)

    def records(self, max_size: int = DEFAULT_MAX_INFLATED) -> Iterator[Record]:
        """Decode the records; raises InvalidRecordError or CompressionError on malformed data."""
        appended = self.max_timestamp if self.attributes & TIMESTAMP_TYPE_FLAG else None
        return iter_records(self.body(max_size), self.record_count, self.base_offset, self.base_timestamp, appended)

    def iter_keys(self, max_size: int = DEFAULT_MAX_INFLATED) -> Iterator[tuple[int, bytes | None, bool]]:
        """(offset, key, whether there is a value) of each record, much cheaper than `records`."""
        base = self.base_offset
        for delta, key, has_value in iter_keys(self.body(max_size), self.record_count):
            yield base + delta, key, has_value

    def __repr__(self) -> str:
        return (
            f"RecordBatch(offsets {self.base_offset}..{self.last_offset}, {self.record_count} records, "
            f"{self.size_bytes} bytes, producer {self.producer_id}/{self.producer_epoch}, seq {self.base_sequence}, "
            f"attributes {self.attributes:#x})"
        )


def is_transactional_batch(buf: Buffer) -> bool:
    """Whether bytes of any length begin with a transactional batch of format 2; reads two bytes of the header."""
    return len(buf) > _FLAGS_AT and buf[_FLAGS_AT] & TRANSACTIONAL_FLAG != 0 and buf[MAGIC_AT] == 2


def codec_number(buf: Buffer) -> int | None:
    """The number of the codec that a batch names, which may be none of `Codec`; None for too few bytes."""
    return buf[_FLAGS_AT] & CODEC_MASK if len(buf) > _FLAGS_AT else None


def effort(buf: Buffer | None) -> int:
    """What it takes to look at the records of a batch, in records: an estimate from its header and its size."""
    if buf is None or len(buf) < HEADER_SIZE:
        return LEAST_EFFORT
    count: int = _COUNT_OF(buf)[0]
    inflating = _EFFORT_OF_INFLATING if buf[_FLAGS_AT] & CODEC_MASK else 0
    return LEAST_EFFORT + (len(buf) >> 6) + max(0, min(count, _LARGEST_EFFORT)) + inflating


def next_sequence(sequence: int, increment: int) -> int:
    """Advance a producer's sequence; it wraps from 2^31-1 to 0."""
    return (sequence + increment) & MAX_SEQUENCE


def batch_size_at(buf: Buffer, pos: int = 0) -> int | None:
    """Size in bytes of the batch at `pos`, or None when it does not end within the buffer.

    Raises CorruptBatchError for a length below the format's minimum or an unknown magic, as Kafka's reader does.
    """
    left = len(buf) - pos
    if left < LOG_OVERHEAD:
        return None
    length: int = _OFFSET_AND_LENGTH.unpack_from(buf, pos)[1]
    if length < LEGACY_MIN_LENGTH:
        raise CorruptBatchError(f"Record size {length} is less than the minimum record overhead ({LEGACY_MIN_LENGTH})")
    if left < HEADER_SIZE_UP_TO_MAGIC:
        return None
    magic: int = buf[pos + MAGIC_AT]
    if magic > 2:
        raise CorruptBatchError(f"Invalid magic found in record: {magic - 256 if magic > 127 else magic}")
    return None if left < LOG_OVERHEAD + length else LOG_OVERHEAD + length


def read_batch(buf: Buffer, pos: int = 0) -> RecordBatch:
    """The batch at `pos`, unchecked: for bytes that were checked before. struct.error if a header does not fit."""
    fields = HEADER.unpack_from(buf, pos)
    return _new(RecordBatch, fields + (memoryview(buf)[pos : pos + LOG_OVERHEAD + fields[1]],))


def parse_batch(buf: Buffer, pos: int = 0) -> RecordBatch:
    """The batch at `pos`; CorruptBatchError when it is cut off or not a batch of format v2. The CRC is not checked."""
    size = batch_size_at(buf, pos)
    if size is None:
        raise CorruptBatchError(f"a batch at position {pos} does not end within {len(buf)} bytes")
    if buf[pos + MAGIC_AT] != 2:
        raise CorruptBatchError(f"message format {buf[pos + MAGIC_AT]} is no longer supported")
    if size < HEADER_SIZE:
        raise CorruptBatchError(f"a batch of {size} bytes is smaller than its header")
    return read_batch(buf, pos)


def iter_batches(buf: Buffer | Sequence[Buffer], pos: int = 0) -> Iterator[RecordBatch]:
    """The whole batches in a buffer (or in a list of buffers, none straddling two); a cut-off last one is left out."""
    if not isinstance(buf, (bytes, bytearray, memoryview)):
        for part in buf:
            yield from iter_batches(part)
        return
    while (size := batch_size_at(buf, pos)) is not None:
        yield parse_batch(buf, pos)
        pos += size


def build_batch(
    records: Iterable[Record],
    *,
    base_offset: int = 0,
    leader_epoch: int = 0,
    codec: Codec = Codec.NONE,
    compression_level: int | None = None,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    transactional: bool = False,
    control: bool = False,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
    log_append_time_ms: int = NO_TIMESTAMP,
    delete_horizon_ms: int | None = None,
    keep_offsets: bool = False,
    last_offset: int | None = None,
) -> bytes:
    """Build one batch.

    Offsets run from `base_offset`; with `keep_offsets` every record keeps its own (as after compaction, where
    `last_offset` may lie beyond the last record). With LOG_APPEND_TIME the batch carries `log_append_time_ms`.
    """
    parts: list[bytes] = []
    runs: list[bytes] = []
    count = 0
    end = base_offset
    base_timestamp = NO_TIMESTAMP if delete_horizon_ms is None else delete_horizon_ms
    max_timestamp = NO_TIMESTAMP
    for record in records:  # one by one: there may be millions
        timestamp = record.timestamp
        end = record.offset if keep_offsets else base_offset + count
        if not count:
            max_timestamp = timestamp
            if delete_horizon_ms is None:
                base_timestamp = timestamp
        elif timestamp > max_timestamp:
            max_timestamp = timestamp
        count += 1
        parts.append(encode_record(record, timestamp - base_timestamp, end - base_offset))
        if len(parts) == _RUN:
            runs.append(b"".join(parts))
            parts.clear()
    if last_offset is not None:
        end = last_offset
    attributes = int(codec)
    if timestamp_type is TimestampType.LOG_APPEND_TIME:
        attributes |= TIMESTAMP_TYPE_FLAG
        max_timestamp = log_append_time_ms
    if delete_horizon_ms is not None:
        attributes |= DELETE_HORIZON_FLAG
    attributes |= (TRANSACTIONAL_FLAG if transactional else 0) | (CONTROL_FLAG if control else 0)
    body = b"".join(runs + parts)
    if codec:
        body = compress(codec, body, compression_level)
    tail = (
        attributes,
        end - base_offset,
        base_timestamp,
        max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        count,
    )
    return assemble(base_offset, leader_epoch, tail, body)


def assemble(base_offset: int, leader_epoch: int, after_crc: tuple[int, ...], body: Buffer) -> bytes:
    """Put a batch together from its parts: `after_crc` are the header's fields from the attributes on."""
    covered = _pack_after_crc(*after_crc)
    crc = crc32c(body, crc32c(covered))
    front = _pack_up_to_crc(base_offset, HEADER_SIZE - LOG_OVERHEAD + len(body), leader_epoch, 2, crc)
    return b"".join((front, covered, body))


def empty_batch(like: RecordBatch, *, last_timestamp: int | None = None) -> bytes:
    """A batch without records over the same offsets, producer and sequence as `like`.

    Compaction leaves it where the last batch of a producer had to go, so that the producer's state survives.
    """
    after_crc = (
        like.attributes & (TIMESTAMP_TYPE_FLAG | TRANSACTIONAL_FLAG | CONTROL_FLAG),
        like.last_offset_delta,
        NO_TIMESTAMP,
        like.max_timestamp if last_timestamp is None else last_timestamp,
        like.producer_id,
        like.producer_epoch,
        like.base_sequence,
        0,
    )
    return assemble(like.base_offset, like.partition_leader_epoch, after_crc, b"")


def assign_offsets(buf: bytearray | memoryview, base_offset: int, leader_epoch: int, pos: int = 0) -> None:
    """Give the batch at `pos` its offset and leader epoch; the checksum does not cover them."""
    _OFFSET.pack_into(buf, pos, base_offset)
    _EPOCH.pack_into(buf, pos + LEADER_EPOCH_AT, leader_epoch)


def check_crc(batch: RecordBatch) -> None:
    """Raise CorruptBatchError unless the stored checksum is the computed one."""
    computed = crc32c(batch.data[CRC_FROM:])
    if computed != batch.crc:
        raise CorruptBatchError(f"the batch's checksum is {batch.crc}, its content gives {computed}")
