"""Records of a batch (message format v2): the value type, and reading and writing the record body by hand.

A record body is a run of records: varint length, attributes, varlong timestamp delta, varint offset delta, key, value
and headers.
Nothing here knows the batch header; `odradek.protocol.record_batch` does.
Source: KIP-98 (message format v2), KIP-82 (headers).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from odradek.protocol.errors import ErrorCode, KafkaError

Buffer = bytes | bytearray | memoryview
Header = tuple[str, bytes | None]


class InvalidRecordError(KafkaError):
    """The bytes of a record do not follow the format, or break a rule of the log (INVALID_RECORD)."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(ErrorCode.INVALID_RECORD, message)


class Record(NamedTuple):
    """One record as a reader sees it: absolute offset, timestamp in milliseconds, key and value (None: absent)."""

    offset: int = 0
    timestamp: int = -1
    key: bytes | None = None
    value: bytes | None = None
    headers: tuple[Header, ...] = ()


# --- varints ---------------------------------------------------------------------------------------------------------


def encode_varint(value: int) -> bytes:
    """A signed integer (32 or 64 bit) as zigzag varint."""
    rest = (value << 1) ^ (value >> 63)
    if rest < 0x80:
        return _ONE_BYTE[rest]
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


_ONE_BYTE = [bytes([i]) for i in range(128)]


def read_varint(buf: Buffer, pos: int) -> tuple[int, int]:
    """Read a zigzag varint of up to ten bytes; returns (value, next position). IndexError past the end."""
    byte = buf[pos]
    pos += 1
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), pos
    rest = byte & 0x7F
    shift = 7
    while True:
        byte = buf[pos]
        pos += 1
        rest |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (rest >> 1) ^ -(rest & 1), pos
        shift += 7
        if shift > 63:
            raise InvalidRecordError("a variable-length integer is longer than ten bytes")


# --- writing ---------------------------------------------------------------------------------------------------------


def encode_record(record: Record, timestamp_delta: int, offset_delta: int) -> bytes:
    """One record with its length in front; the deltas are relative to the batch header."""
    key, value = record.key, record.value
    parts = [b"\0", encode_varint(timestamp_delta), encode_varint(offset_delta)]
    parts += (b"\x01",) if key is None else (encode_varint(len(key)), key)
    parts += (b"\x01",) if value is None else (encode_varint(len(value)), value)
    parts.append(encode_varint(len(record.headers)))
    for name, content in record.headers:
        raw = name.encode()
        parts += (encode_varint(len(raw)), raw)
        parts += (b"\x01",) if content is None else (encode_varint(len(content)), content)
    body = b"".join(parts)
    return encode_varint(len(body)) + body


def encode_records(records: Iterable[Record], base_offset: int, base_timestamp: int) -> bytes:
    """The record body of a batch; each record keeps its own absolute offset and timestamp."""
    return b"".join(encode_record(r, r.timestamp - base_timestamp, r.offset - base_offset) for r in records)


# --- reading ---------------------------------------------------------------------------------------------------------


def iter_records(
    body: Buffer, count: int, base_offset: int, base_timestamp: int, log_append_time: int | None = None
) -> Iterator[Record]:
    """Decode `count` records of an uncompressed record body; raises InvalidRecordError when it does not fit exactly.

    `log_append_time` (the batch's max timestamp) replaces every record's own timestamp when the batch says so.
    """
    data = bytes(body)
    pos = 0
    for _ in range(count):
        try:
            record, pos = _read_record(data, pos, base_offset, base_timestamp, log_append_time)
        except IndexError as exc:
            raise InvalidRecordError("a record ends early or holds a malformed field") from exc
        yield record
    if pos != len(data):
        raise InvalidRecordError(f"{len(data) - pos} bytes remain after the {count} declared records")


def _read_record(
    data: bytes, pos: int, base_offset: int, base_timestamp: int, log_append_time: int | None
) -> tuple[Record, int]:
    size, pos = read_varint(data, pos)
    end = pos + size
    if size < 0 or end > len(data):
        raise InvalidRecordError(f"a record claims {size} bytes, {len(data) - pos} remain")
    delta, pos = read_varint(data, pos + 1)
    offset_delta, pos = read_varint(data, pos)
    key, pos = _read_bytes(data, pos, end)
    value, pos = _read_bytes(data, pos, end)
    count, pos = read_varint(data, pos)
    headers: tuple[Header, ...] = ()
    if count:
        headers, pos = _read_headers(data, pos, end, count)
    if pos != end:
        raise InvalidRecordError(f"a record of {size} bytes has fields that end {end - pos} bytes before its end")
    timestamp = base_timestamp + delta if log_append_time is None else log_append_time
    return Record(base_offset + offset_delta, timestamp, key, value, headers), end


def _read_bytes(data: bytes, pos: int, end: int) -> tuple[bytes | None, int]:
    size, pos = read_varint(data, pos)
    if size < 0:
        return None, pos
    stop = pos + size
    if stop > end:
        raise InvalidRecordError("a field of a record runs past the record's end")
    return data[pos:stop], stop


def _read_headers(data: bytes, pos: int, end: int, count: int) -> tuple[tuple[Header, ...], int]:
    if count < 0 or count > end - pos:
        raise InvalidRecordError(f"a record claims {count} headers")
    headers: list[Header] = []
    for _ in range(count):
        name, pos = _read_bytes(data, pos, end)
        if name is None:
            raise InvalidRecordError("a record header has no key")
        content, pos = _read_bytes(data, pos, end)
        # Kafka never refuses a header name for its bytes; its clients read what is no UTF-8 as replacement characters.
        headers.append((name.decode(errors="replace"), content))
    return tuple(headers), pos


# --- checking without decoding ---------------------------------------------------------------------------------------


class RecordScan(NamedTuple):
    """What a full scan of a record body found; indices are positions of records within the batch."""

    max_timestamp_delta: int
    min_timestamp_delta: int
    sequential_offsets: bool
    keyless: list[int]


_RUN = 64


def check_record_chain(body: Buffer, count: int) -> None:
    """Check that exactly `count` length-prefixed records fill `body`, without looking inside them.

    Records of equal size are compared a run at a time by strided slices, so that the cost of a batch of fixed-size
    records hardly depends on their number; otherwise one short step per record.
    """
    end = len(body)
    pos = 0
    left = count
    try:
        while left:
            first = body[pos]
            if first & 1:
                raise InvalidRecordError("a record has a negative length")
            width = 1
            size = first
            if first > 0x7F:
                second = body[pos + 1]
                width = 2
                size = (first & 0x7F) | (second << 7)
                if second > 0x7F:
                    size, after = read_varint(body, pos)
                    pos = after + size
                    left -= 1
                    if size < 0:
                        raise InvalidRecordError("a record has a negative length")
                    continue
            stride = width + (size >> 1)
            if left >= _RUN and pos + stride * _RUN <= end:
                run = body[pos : pos + stride * _RUN : stride]
                if run == bytes((first,)) * _RUN and (
                    width == 1 or body[pos + 1 : pos + stride * _RUN : stride] == bytes((body[pos + 1],)) * _RUN
                ):
                    pos += stride * _RUN
                    left -= _RUN
                    continue
            pos += stride
            left -= 1
    except IndexError:
        raise InvalidRecordError(f"the batch ends before its {count} declared records do") from None
    if pos != end:
        raise InvalidRecordError(f"{count} declared records do not fill the batch: {end - pos} bytes differ")


def scan_records(body: Buffer, count: int) -> RecordScan:
    """Walk every field of every record; raises InvalidRecordError when one is malformed or the count is wrong."""
    data = bytes(body)
    end = len(data)
    pos = 0
    max_delta, min_delta = -(1 << 63), (1 << 63) - 1
    sequential = True
    keyless: list[int] = []
    try:
        for index in range(count):
            size, pos = read_varint(data, pos)
            stop = pos + size
            if size < 0 or stop > end:
                raise InvalidRecordError(f"record {index} claims {size} bytes, {end - pos} remain")
            delta, pos = read_varint(data, pos + 1)
            if delta > max_delta:
                max_delta = delta
            if delta < min_delta:
                min_delta = delta
            offset_delta, pos = read_varint(data, pos)
            if offset_delta != index:
                sequential = False
            size, pos = read_varint(data, pos)
            if size < 0:
                keyless.append(index)
            else:
                pos += size
            size, pos = read_varint(data, pos)
            if size > 0:
                pos += size
            headers, pos = read_varint(data, pos)
            if headers:
                _, pos = _read_headers(data, pos, stop, headers)
            if pos != stop:
                raise InvalidRecordError(f"record {index} has fields that do not end where it ends")
    except IndexError:
        raise InvalidRecordError("a record ends early or holds a malformed field") from None
    if pos != end:
        raise InvalidRecordError(f"{end - pos} bytes remain after the {count} declared records")
    return RecordScan(max_delta, min_delta, sequential, keyless)
