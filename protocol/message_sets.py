"""Message sets: records in the message formats 0 and 1, which Kafka before 4.0 takes and gives.

A set is a run of messages without a header of its own: offset, size, CRC-32, magic, attributes, in format 1 a
timestamp, key, value. A compressed set is the value of one message, the wrapper. In format 1 the offsets inside are
relative, and the wrapper has the offset of the last message and the largest timestamp.
Source: KIP-31 (relative offsets), KIP-32 (timestamps), KIP-57 (the LZ4 frames of format 0).
"""

from __future__ import annotations

import struct
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Final, NamedTuple

from odradek.protocol.compression import Codec, CompressionError, codec_of, compress_pieces, decompress
from odradek.protocol.errors import CorruptDataError, ErrorCode
from odradek.protocol.long_work import LongWork
from odradek.protocol.record_batch import (
    CODEC_MASK,
    FORMAT_MARKS,
    FORMAT_OF_BATCHES,
    HEADER_SIZE,
    LEGACY_MIN_LENGTH,
    LOG_OVERHEAD,
    NO_TIMESTAMP,
    TIMESTAMP_TYPE_FLAG,
    CorruptBatchError,
    RecordBatch,
    TimestampType,
    assemble,
    batch_size_at,
    build_batch,
    read_batch,
)
from odradek.protocol.records import Buffer, InvalidRecordError, Record, iter_records

LEAST_MESSAGE: Final = 26
"""The size of a message of format 0 with neither key nor value."""
_PIECE: Final = 128 * 1024
"""So many bytes of messages are compressed at a time."""
_LEAST_FILLING = 61
"""The smallest size that filling claims."""

_OFFSET_AND_SIZE = struct.Struct(">qi")
_HEAD = struct.Struct(">qiIbb")
_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_CRC_FROM = 16
_MAGIC_AT = 16
_FIELDS_AT = 18
_LZ4_HEADER_SIZE = 7
_LZ4_CONTENT_SIZE_FLAG = 0x08


class UnreadableMessageError(CorruptDataError):
    """A message whose key or value does not lie in it."""

    code = ErrorCode.UNKNOWN_SERVER_ERROR


class MessageTooLargeError(CorruptDataError):
    """A message that is larger than its topic takes."""

    code = ErrorCode.MESSAGE_TOO_LARGE


class Message(NamedTuple):
    """One message as it is in the set. `timestamp` is -1 in format 0. `value` is a message set if it is compressed."""

    offset: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    is_intact: bool
    """Whether the checksum is right."""
    size: int
    """Bytes in the set."""

    @property
    def codec(self) -> Codec:
        """The codec of a wrapper, NONE for a plain message."""
        return codec_of(self.attributes)

    @property
    def has_append_time(self) -> bool:
        return self.magic > 0 and bool(self.attributes & TIMESTAMP_TYPE_FLAG)


def encode_message(
    magic: int, offset: int, timestamp: int, key: bytes | None, value: bytes | None, attributes: int = 0
) -> bytes:
    """The bytes of one message; format 0 has no place for the timestamp."""
    fields = _LONG.pack(timestamp) if magic else b""
    for part in (key, value):
        fields += _INT.pack(-1) if part is None else _INT.pack(len(part)) + part
    covered = bytes((magic, attributes)) + fields
    return _OFFSET_AND_SIZE.pack(offset, 4 + len(covered)) + _INT.pack(_signed(zlib.crc32(covered))) + covered


def _signed(crc: int) -> int:
    return crc - (1 << 32) if crc >> 31 else crc


def is_message_set(buf: Buffer) -> bool:
    """Whether bytes begin with a message of format 0 or 1, or are too few to tell."""
    return len(buf) <= _MAGIC_AT or buf[_MAGIC_AT] < 2


def read_messages(buf: Buffer) -> Iterator[Message]:
    """The messages of a set, wrappers as they are; one that is cut off at the end is left out.

    Raises CorruptBatchError for a size below the minimum and for an unknown format.
    """
    pos = 0
    while (size := batch_size_at(buf, pos)) is not None:
        if buf[pos + _MAGIC_AT] > 1:
            raise InvalidRecordError("a batch of format 2 among messages of older formats")
        yield _read_message(bytes(buf[pos : pos + size]))
        pos += size


def _read_message(data: bytes) -> Message:
    offset, _, crc, magic, attributes = _HEAD.unpack_from(data)
    is_intact = zlib.crc32(data[_CRC_FROM:]) == crc
    timestamp, pos = NO_TIMESTAMP, _FIELDS_AT
    try:
        if magic:
            timestamp = _LONG.unpack_from(data, pos)[0]
            pos += 8
        key, pos = _read_bytes(data, pos)
        value, pos = _read_bytes(data, pos)
    except (struct.error, IndexError):
        if not is_intact:
            return Message(offset, magic, attributes, timestamp, None, None, False, len(data))
        raise UnreadableMessageError("the key or the value of a message does not lie in it") from None
    return Message(offset, magic, attributes, timestamp, key, value, is_intact, len(data))


def _read_bytes(data: bytes, pos: int) -> tuple[bytes | None, int]:
    size = _INT.unpack_from(data, pos)[0]
    pos += 4
    if size < 0:
        return None, pos
    if pos + size > len(data):
        raise IndexError
    return data[pos : pos + size], pos + size


# --- from a message set to a batch ------------------------------------------------------------------------------------


def to_batch(buf: Buffer, work: LongWork, max_size: int | None = None) -> bytes:
    """The message set that a client sends as a batch of format 2, with its codec; b"" for no whole message.

    `max_size`: of a message, in bytes. Raises CorruptBatchError, InvalidRecordError, CompressionError,
    UnreadableMessageError, MessageTooLargeError as Kafka refuses it, and OverBudgetError.
    """
    first: Message | None = None
    count = largest = packed = 0
    latest = NO_TIMESTAMP
    is_intact = is_same_format = True
    has_append_time = False
    for message in work.slowly(read_messages(buf)):  # nothing is kept: there may be millions
        if first is None:
            first, latest = message, message.timestamp
        count += 1
        largest = max(largest, message.size)
        latest = max(latest, message.timestamp)
        packed = max(packed, message.attributes & CODEC_MASK)
        is_intact = is_intact and message.is_intact
        is_same_format = is_same_format and message.magic == first.magic
        has_append_time = has_append_time or message.has_append_time
    if first is None:
        return b""
    if max_size is not None and largest > max_size:
        raise MessageTooLargeError(f"a message of {largest} bytes")
    if not is_intact:
        raise CorruptBatchError("the checksum of a message is wrong")
    codec = codec_of(packed)
    if codec and count > 1:
        raise InvalidRecordError("a compressed message is not the only one of its set")
    if not is_same_format:
        raise InvalidRecordError("messages of one set are in different formats")
    messages = work.slowly(_unwrapped(first, work) if codec else read_messages(buf))
    records = (Record(0, message.timestamp, message.key, message.value) for message in messages)
    if not has_append_time:
        return build_batch(records, codec=codec)
    return build_batch(records, codec=codec, timestamp_type=TimestampType.LOG_APPEND_TIME, log_append_time_ms=latest)


def _unwrapped(wrapper: Message, work: LongWork) -> Iterator[Message]:
    """The messages of a compressed set. Their offsets are those that the wrapper's gives them."""
    if wrapper.codec is Codec.ZSTD:
        raise InvalidRecordError(f"messages of format {wrapper.magic} are not compressed with zstd")
    if wrapper.value is None:
        raise InvalidRecordError("a compressed message without a value")
    body = work.inflated(partial(_inflate, wrapper.codec, wrapper.magic, wrapper.value))
    last = next(iter(deque(work.slowly(_inner_messages(body)), maxlen=1)), None)
    if last is None:
        raise InvalidRecordError("a compressed message without messages in it")
    base = 0
    if wrapper.magic and wrapper.offset:  # some clients leave the wrapper's offset at 0
        base = wrapper.offset - last.offset
        if base < 0:
            raise InvalidRecordError("the offset of a compressed message lies before those of the messages in it")
    for message in _inner_messages(body):
        if message.codec:
            raise InvalidRecordError("a compressed message in a compressed message")
        if message.magic != wrapper.magic:
            raise InvalidRecordError("a message is in another format than the compressed one around it")
        if not message.is_intact:
            raise CorruptBatchError("the checksum of a message is wrong")
        timestamp = wrapper.timestamp if wrapper.has_append_time else message.timestamp
        yield message._replace(offset=base + message.offset, timestamp=timestamp)


def _inner_messages(body: Buffer) -> Iterator[Message]:
    pos = 0
    while len(body) - pos >= LOG_OVERHEAD:
        size = _OFFSET_AND_SIZE.unpack_from(body, pos)[1]
        if size < LEGACY_MIN_LENGTH:
            raise CorruptBatchError(f"a message of {size} bytes in a compressed message")
        end = pos + LOG_OVERHEAD + size
        if end > len(body):
            return
        yield _read_message(bytes(body[pos:end]))
        pos = end


def records_of(buf: Buffer) -> list[Record]:
    """The records of a message set that a broker sent, those of compressed messages with their offsets."""
    found: list[Record] = []
    for message in read_messages(buf):
        inner = _unwrapped(message, LongWork()) if message.codec else [message]
        found += [Record(each.offset, each.timestamp, each.key, each.value) for each in inner]
    return found


# --- from a batch to a message set ------------------------------------------------------------------------------------


def to_message_set(batch: RecordBatch, magic: int, from_offset: int = 0, work: LongWork | None = None) -> bytes:
    """The records of a batch as messages of format 0 or 1; headers have no place there, and control records go.

    Messages before `from_offset` are left out of a set that is not compressed. Raises CompressionError for zstd, and
    OverBudgetError.
    """
    if batch.is_control:
        return b""
    codec = batch.codec
    if codec is Codec.ZSTD:
        raise UnsupportedCompressionError("batches that are compressed with zstd are not converted")
    work = work or LongWork()
    work.spend(max(0, batch.record_count) * LEAST_MESSAGE)
    appended = batch.max_timestamp if batch.has_append_time else None
    body = work.inflated(batch.body)
    records = iter_records(body, batch.record_count, batch.base_offset, batch.base_timestamp, appended)
    flag = TIMESTAMP_TYPE_FLAG if magic and batch.has_append_time else 0
    if not codec:
        return b"".join(_encoded((each for each in records if each.offset >= from_offset), magic, 0, flag, work))
    first = next(records, None)
    if first is None:
        return b""
    passed = _Passed(first, records)
    value = _deflate(codec, magic, _encoded(passed, magic, first.offset if magic else 0, flag, work))
    timestamp = batch.max_timestamp if flag else passed.latest
    return encode_message(magic, passed.last_offset, timestamp, None, value, codec & CODEC_MASK | flag)


class _Passed:
    """Records on their way. `last_offset`: of those that have passed; `latest`: their largest timestamp."""

    def __init__(self, first: Record, others: Iterator[Record]) -> None:
        self._records = chain((first,), others)
        self.last_offset = first.offset
        self.latest = first.timestamp

    def __iter__(self) -> Iterator[Record]:
        for record in self._records:
            self.last_offset = record.offset
            self.latest = max(self.latest, record.timestamp)
            yield record


def _encoded(records: Iterable[Record], magic: int, base_offset: int, flag: int, work: LongWork) -> Iterator[bytes]:
    """The messages, in pieces."""
    piece: list[bytes] = []
    size = 0
    for record in work.slowly(records):
        piece.append(
            encode_message(magic, record.offset - base_offset, record.timestamp, record.key, record.value, flag)
        )
        size += len(piece[-1])
        if size > _PIECE:
            yield b"".join(piece)
            piece, size = [], 0
    yield b"".join(piece)


class UnsupportedCompressionError(CompressionError):
    """A codec that the older formats do not have."""

    code = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def filling(size: int) -> bytes:
    """Bytes behind converted messages that clients take for a message that was cut off."""
    head = _OFFSET_AND_SIZE.pack(-1, max(_LEAST_FILLING, size + 1))
    return (head + bytes(max(0, size - LOG_OVERHEAD)))[: max(0, size)]


# --- logs of format 0 and 1: they keep batches, marked with the format in which clients get them ----------------------


def in_format(batch: RecordBatch, magic: int, work: LongWork | None = None) -> RecordBatch:
    """The batch as a log of format 0 or 1 keeps it: marked, and in format 0 without its producer's timestamps."""
    if not magic and not batch.has_append_time:
        records = (each._replace(timestamp=NO_TIMESTAMP) for each in (work or LongWork()).records(batch))
        batch = read_batch(build_batch(records, codec=batch.codec))
    return marked(batch, magic)


def marked(batch: RecordBatch, magic: int) -> RecordBatch:
    """The batch with the mark of a format; format 2 has none."""
    if magic == FORMAT_OF_BATCHES:
        return batch
    fields = (batch.attributes | FORMAT_MARKS[magic], *batch[6:13])
    return read_batch(assemble(batch.base_offset, batch.partition_leader_epoch, fields, batch.data[HEADER_SIZE:]))


def format_of(batch: RecordBatch) -> int:
    """The message format of the log when the batch was appended."""
    return next((magic for magic, mark in FORMAT_MARKS.items() if batch.attributes & mark), FORMAT_OF_BATCHES)


def as_kept(batch: RecordBatch, from_offset: int = 0, work: LongWork | None = None) -> bytes:
    """The batch in the format of its log. Messages before `from_offset` are left out of a set without compression."""
    magic = format_of(batch)
    return bytes(batch.data) if magic == FORMAT_OF_BATCHES else to_message_set(batch, magic, from_offset, work)


# --- the LZ4 frames of format 0: the checksum of their header covers the frame's magic, too (KIP-57) ------------------


def _inflate(codec: Codec, magic: int, data: bytes, max_size: int) -> Buffer:
    if codec is Codec.LZ4 and not magic and len(data) >= _LZ4_HEADER_SIZE:
        data = _with_header_checksum(data, covered_from=4)
    return decompress(codec, data, max_size)


def _deflate(codec: Codec, magic: int, pieces: Iterable[bytes]) -> bytes:
    data = compress_pieces(codec, pieces)
    return _with_header_checksum(data, covered_from=0) if codec is Codec.LZ4 and not magic else data


def _with_header_checksum(frame: bytes, covered_from: int) -> bytes:
    from xxhash import xxh32_intdigest

    at = _LZ4_HEADER_SIZE - 1 + (8 if frame[4] & _LZ4_CONTENT_SIZE_FLAG else 0)
    checksum = xxh32_intdigest(frame[covered_from:at]) >> 8 & 0xFF
    return frame[:at] + bytes((checksum,)) + frame[at + 1 :]
