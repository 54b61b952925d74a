"""Message sets: records in the message formats 0 and 1, which Kafka before 4.0 takes and gives.

A set is a run of messages without a header of its own: offset, size, CRC-32, magic, attributes, in format 1 a
timestamp, key, value. A compressed set is the value of one message, the wrapper. In format 1 the offsets inside are
relative, and the wrapper has the offset of the last message and the largest timestamp.
Source: KIP-31 (relative offsets), KIP-32 (timestamps), KIP-57 (the LZ4 frames of format 0).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from odradek.protocol.compression import Codec, CompressionError, codec_of, compress, decompress
from odradek.protocol.errors import CorruptDataError, ErrorCode
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
from odradek.protocol.records import Buffer, InvalidRecordError, Record

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


def to_batch(messages: Sequence[Message]) -> bytes:
    """The message set that a client sends as a batch of format 2, with its codec; b"" for no messages.

    Raises CorruptBatchError, InvalidRecordError, CompressionError, UnreadableMessageError as Kafka refuses it.
    """
    if not messages:
        return b""
    if not all(message.is_intact for message in messages):
        raise CorruptBatchError("the checksum of a message is wrong")
    codecs = [message.codec for message in messages if message.codec]
    codec = codecs[-1] if codecs else Codec.NONE
    first = messages[0]
    if codec and len(messages) > 1:
        raise InvalidRecordError("a compressed message is not the only one of its set")
    if any(message.magic != first.magic for message in messages):
        raise InvalidRecordError("messages of one set are in different formats")
    inner = list(_unwrapped(first)) if codec else messages
    records = [Record(0, message.timestamp, message.key, message.value) for message in inner]
    if not any(message.has_append_time for message in messages):
        return build_batch(records, codec=codec)
    latest = max(record.timestamp for record in records)
    return build_batch(records, codec=codec, timestamp_type=TimestampType.LOG_APPEND_TIME, log_append_time_ms=latest)


def _unwrapped(wrapper: Message) -> Iterator[Message]:
    """The messages of a compressed set. Their offsets are those that the wrapper's gives them."""
    if wrapper.codec is Codec.ZSTD:
        raise InvalidRecordError(f"messages of format {wrapper.magic} are not compressed with zstd")
    if wrapper.value is None:
        raise InvalidRecordError("a compressed message without a value")
    found = list(_inner_messages(_inflate(wrapper.codec, wrapper.magic, wrapper.value)))
    if not found:
        raise InvalidRecordError("a compressed message without messages in it")
    base = 0
    if wrapper.magic and wrapper.offset:  # some clients leave the wrapper's offset at 0
        base = wrapper.offset - found[-1].offset
        if base < 0:
            raise InvalidRecordError("the offset of a compressed message lies before those of the messages in it")
    for message in found:
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
        inner = _unwrapped(message) if message.codec else [message]
        found += [Record(each.offset, each.timestamp, each.key, each.value) for each in inner]
    return found


# --- from a batch to a message set ------------------------------------------------------------------------------------


def to_message_set(batch: RecordBatch, magic: int, from_offset: int = 0) -> bytes:
    """The records of a batch as messages of format 0 or 1; headers have no place there, and control records go.

    Messages before `from_offset` are left out of a set that is not compressed. Raises CompressionError for zstd.
    """
    if batch.is_control:
        return b""
    codec = batch.codec
    if codec is Codec.ZSTD:
        raise UnsupportedCompressionError("batches that are compressed with zstd are not converted")
    records = [record for record in batch.records() if codec or record.offset >= from_offset]
    if not records:
        return b""
    flag = TIMESTAMP_TYPE_FLAG if magic and batch.has_append_time else 0
    if not codec:
        return _encoded(records, magic, 0, flag)
    body = _encoded(records, magic, records[0].offset if magic else 0, flag)
    timestamp = batch.max_timestamp if flag else max(record.timestamp for record in records)
    value = _deflate(codec, magic, body)
    return encode_message(magic, records[-1].offset, timestamp, None, value, codec & CODEC_MASK | flag)


def _encoded(records: Iterable[Record], magic: int, base_offset: int, flag: int) -> bytes:
    return b"".join(
        encode_message(magic, record.offset - base_offset, record.timestamp, record.key, record.value, flag)
        for record in records
    )


class UnsupportedCompressionError(CompressionError):
    """A codec that the older formats do not have."""

    code = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def filling(size: int) -> bytes:
    """Bytes behind converted messages that clients take for a message that was cut off."""
    head = _OFFSET_AND_SIZE.pack(-1, max(_LEAST_FILLING, size + 1))
    return (head + bytes(max(0, size - LOG_OVERHEAD)))[: max(0, size)]


# --- logs of format 0 and 1: they keep batches, marked with the format in which clients get them ----------------------


def in_format(batch: RecordBatch, magic: int) -> RecordBatch:
    """The batch as a log of format 0 or 1 keeps it: marked, and in format 0 without its producer's timestamps."""
    if not magic and not batch.has_append_time:
        records = [record._replace(timestamp=NO_TIMESTAMP) for record in batch.records()]
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


def as_kept(batch: RecordBatch, from_offset: int = 0) -> bytes:
    """The batch in the format of its log. Messages before `from_offset` are left out of a set without compression."""
    magic = format_of(batch)
    return bytes(batch.data) if magic == FORMAT_OF_BATCHES else to_message_set(batch, magic, from_offset)


# --- the LZ4 frames of format 0: the checksum of their header covers the frame's magic, too (KIP-57) ------------------


def _inflate(codec: Codec, magic: int, data: bytes) -> Buffer:
    if codec is Codec.LZ4 and not magic and len(data) >= _LZ4_HEADER_SIZE:
        data = _with_header_checksum(data, covered_from=4)
    return decompress(codec, data)


def _deflate(codec: Codec, magic: int, body: bytes) -> bytes:
    data = compress(codec, body)
    return _with_header_checksum(data, covered_from=0) if codec is Codec.LZ4 and not magic else data


def _with_header_checksum(frame: bytes, covered_from: int) -> bytes:
    from xxhash import xxh32_intdigest

    at = _LZ4_HEADER_SIZE - 1 + (8 if frame[4] & _LZ4_CONTENT_SIZE_FLAG else 0)
    checksum = xxh32_intdigest(frame[covered_from:at]) >> 8 & 0xFF
    return frame[:at] + bytes((checksum,)) + frame[at + 1 :]
