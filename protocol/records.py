"""Records of a batch (message format v2): the value type, and reading and writing the record body by hand.

A record body is a run of records: varint length, attributes, varlong timestamp delta, varint offset delta, key, value
and headers.
Nothing here knows the batch header; `odradek.protocol.record_batch` does.
Source: KIP-98 (message format v2), KIP-82 (headers).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from odradek.protocol.errors import CorruptDataError, ErrorCode

Buffer = bytes | bytearray | memoryview
RecordHeader = tuple[str, bytes | None]


class InvalidRecordError(CorruptDataError):
    """The bytes of a record do not follow the format."""

    code = ErrorCode.INVALID_RECORD


class Record(NamedTuple):
    """One record as a reader sees it: absolute offset, timestamp in milliseconds, key and value (None: absent)."""

    offset: int = 0
    timestamp: int = -1
    key: bytes | None = None
    value: bytes | None = None
    headers: tuple[RecordHeader, ...] = ()


GiveWay: TypeAlias = Callable[[], None]
"""Called between the steps of long work in a thread: others may run, and the work may end with an exception."""

PIECE_BYTES: Final = 128 * 1024
"""Larger record bodies are read in pieces of about this size: nothing is copied whole."""
MAX_HEADERS: Final = 100_000
"""Largest number of headers of a record."""

_new = tuple.__new__  # a NamedTuple's own constructor costs three times as much


# --- varints ---------------------------------------------------------------------------------------------------------


def encode_varint(value: int) -> bytes:
    """A signed integer (32 or 64 bit) as zigzag varint."""
    rest = (value << 1) ^ (value >> 63)
    if rest < 0x80:
        return _ONE_BYTE[rest]
    if rest < 0x4000:
        return bytes((rest & 0x7F | 0x80, rest >> 7))
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
    if record.headers:
        _encode_headers(record.headers, parts)
    else:
        parts.append(b"\0")
    body = b"".join(parts)
    return encode_varint(len(body)) + body


def _encode_headers(headers: tuple[RecordHeader, ...], parts: list[bytes]) -> None:
    parts.append(encode_varint(len(headers)))
    for name, content in headers:
        raw = name.encode()
        parts += (encode_varint(len(raw)), raw)
        parts += (b"\x01",) if content is None else (encode_varint(len(content)), content)


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
    if len(body) > PIECE_BYTES and count > 1:
        for number, piece in record_pieces(body, count):
            yield from iter_records(piece, number, base_offset, base_timestamp, log_append_time)
        return
    data = bytes(body)
    end = len(data)
    pos = 0
    timestamp = log_append_time
    try:
        for _ in range(count):
            size = data[pos]
            pos += 1
            if size > 0x7F:
                size, pos = _more(data, pos, size)
            stop = pos + (size >> 1)
            if size & 1 or stop > end:
                raise InvalidRecordError(f"a record claims to end at byte {stop} of {end}")
            delta = data[pos + 1]
            pos += 2
            if delta > 0x7F:
                delta, pos = _more(data, pos, delta)
            number = data[pos]
            pos += 1
            if number > 0x7F:
                number, pos = _more(data, pos, number)
            size = data[pos]
            pos += 1
            if size > 0x7F:
                size, pos = _more(data, pos, size)
            key = None
            if not size & 1:
                key = data[pos : pos + (size >> 1)]
                pos += size >> 1
            size = data[pos]
            pos += 1
            if size > 0x7F:
                size, pos = _more(data, pos, size)
            value = None
            if not size & 1:
                value = data[pos : pos + (size >> 1)]
                pos += size >> 1
            headers: tuple[RecordHeader, ...] = ()
            if data[pos]:
                size, pos = read_varint(data, pos)
                headers, pos = _read_headers(data, pos, stop, size)
            else:
                pos += 1
            if pos != stop:
                raise InvalidRecordError("a record has fields that do not end where it ends")
            if log_append_time is None:
                timestamp = base_timestamp + (-(delta >> 1) - 1 if delta & 1 else delta >> 1)
            offset = base_offset + (-(number >> 1) - 1 if number & 1 else number >> 1)
            yield _new(Record, (offset, timestamp, key, value, headers))
    except IndexError:
        raise InvalidRecordError("a record ends early or holds a malformed field") from None
    if pos != end:
        raise InvalidRecordError(f"{end - pos} bytes remain after the {count} declared records")


def _read_bytes(data: bytes, pos: int, end: int) -> tuple[bytes | None, int]:
    size, pos = read_varint(data, pos)
    if size < 0:
        return None, pos
    stop = pos + size
    if stop > end:
        raise InvalidRecordError("a field of a record runs past the record's end")
    return data[pos:stop], stop


def _read_headers(data: bytes, pos: int, end: int, count: int) -> tuple[tuple[RecordHeader, ...], int]:
    if count < 0 or count > end - pos:
        raise InvalidRecordError(f"a record claims {count} headers")
    _check_headers(count)
    headers: list[RecordHeader] = []
    for _ in range(count):
        name, pos = _read_bytes(data, pos, end)
        if name is None:
            raise InvalidRecordError("a record header has no key")
        content, pos = _read_bytes(data, pos, end)
        # Kafka never refuses a header name for its bytes; its clients read what is no UTF-8 as replacement characters.
        headers.append((name.decode(errors="replace"), content))
    return tuple(headers), pos


def _check_headers(count: int) -> None:
    if count > MAX_HEADERS:
        raise InvalidRecordError(f"a record has {count} headers, more than {MAX_HEADERS}")


def iter_keys(body: Buffer, count: int) -> Iterator[tuple[int, bytes | None, bool]]:
    """(offset delta, key, whether there is a value) of each record: what compaction asks, without the rest.

    The body must be one that was checked before; InvalidRecordError where it is visibly not.
    """
    if len(body) > PIECE_BYTES and count > 1:
        for number, piece in record_pieces(body, count):
            yield from iter_keys(piece, number)
        return
    data = bytes(body)
    end = len(data)
    pos = 0
    for _ in range(count):
        try:
            size, pos = read_varint(data, pos)
            stop = pos + size
            delta = data[pos + 1]
            pos += 2
            if delta > 0x7F:
                _, pos = _more(data, pos, delta)
            number = data[pos]
            pos += 1
            if number > 0x7F:
                number, pos = _more(data, pos, number)
            size, pos = read_varint(data, pos)
            if size < 0:
                key = None
            else:
                key = data[pos : pos + size]
                pos += size
            yield number >> 1, key, not data[pos] & 1
        except IndexError:
            raise InvalidRecordError("a record ends early") from None
        if stop > end or pos >= stop:
            raise InvalidRecordError("a record's fields run past its end")
        pos = stop


def record_pieces(body: Buffer, count: int) -> Iterator[tuple[int, bytes]]:
    """Cut a body between records: the number of records and the bytes of each piece, which are about `PIECE_BYTES`, or
    one larger record.

    Raises InvalidRecordError unless exactly `count` length-prefixed records fill the body.
    """
    end = len(body)
    start = 0
    left = count
    while left:
        piece = bytes(body[start : start + PIECE_BYTES])
        number, size = _whole_records(piece, left)
        if number:
            piece = piece[:size]
        else:
            number = 1
            size = _record_size(piece)
            if size > end - start:
                raise InvalidRecordError(f"the batch ends before its {count} declared records do")
            piece = bytes(body[start : start + size])
        yield number, piece
        start += size
        left -= number
    if start != end:
        raise InvalidRecordError(f"{end - start} bytes remain after the {count} declared records")


def _whole_records(data: bytes, limit: int) -> tuple[int, int]:
    """How many records, at most `limit`, lie whole in `data`, and where the last of them ends."""
    stop = len(data)
    step = _STEP
    pos = number = 0
    while number < limit and pos < stop:
        first = data[pos]
        if first < 0x80:
            next_pos = pos + step[first]
        else:
            try:
                next_pos = pos + _record_size(data[pos : pos + 10])
            except InvalidRecordError:
                break
        if next_pos > stop:
            break
        pos = next_pos
        number += 1
    return number, pos


def _record_size(data: bytes) -> int:
    """The size of the first record in `data`, with its length in front."""
    try:
        size, pos = read_varint(data, 0)
    except IndexError:
        raise InvalidRecordError("a record ends early") from None
    if size < 0:
        raise InvalidRecordError("a record has a negative length")
    return pos + size


# --- checking without decoding ---------------------------------------------------------------------------------------


RecordScan: TypeAlias = tuple[int, int, bool, bool]
"""The result of a full scan of a record body: the largest and the smallest timestamp delta, whether the offsets are
consecutive, and whether a record lacks a key.
"""


_RUN = 64
"""Records that are compared at once when they seem to be of equal size."""
_FAR = 1 << 40
# What a length's first byte adds to the position: its own width and its low bits; a negative length leads far outside.
_STEP = [_FAR if b & 1 else (1 if b < 0x80 else 2) + ((b & 0x7F) >> 1) for b in range(256)]


def check_record_chain(body: Buffer, count: int) -> None:
    """Check that exactly `count` length-prefixed records fill `body`, without looking inside them.

    Records of equal size are compared a run at a time by strided slices, so that the cost of a batch of fixed-size
    records hardly depends on their number; otherwise one short step per record.
    """
    pos = 0
    left = count
    steps = 0
    step = _STEP
    try:
        while left:
            if left >= _RUN:
                stride = _run_stride(body, pos)
                if stride:
                    pos += stride * _RUN
                    left -= _RUN
                    steps = 0
                    continue
            # Sizes differ here: go on one by one, and try for a run again ever more rarely.
            steps = min(left, steps * 2 or 8)
            left -= steps
            for _ in range(steps):
                first = body[pos]
                if first < 0x80:
                    pos += step[first]
                else:
                    second = body[pos + 1]
                    if second < 0x80:
                        pos += step[first] + (second << 6)
                    else:
                        size, pos = read_varint(body, pos)
                        pos += size if size >= 0 else _FAR
    except IndexError:
        raise InvalidRecordError(f"the batch ends before its {count} declared records do") from None
    if pos != len(body):
        raise InvalidRecordError(f"{count} declared records end at byte {pos} of {len(body)}")


def _run_stride(body: Buffer, pos: int) -> int:
    """Bytes from record to record when the next `_RUN` records have the same size, else 0."""
    first = body[pos]
    if first < 0x80:
        stride = _STEP[first]
    else:
        second = body[pos + 1]
        if second > 0x7F:
            return 0
        stride = _STEP[first] + (second << 6)
    stop = pos + stride * _RUN
    if stop > len(body) or body[pos:stop:stride] != bytes((first,)) * _RUN:
        return 0
    if first > 0x7F and body[pos + 1 : stop : stride] != bytes((second,)) * _RUN:
        return 0
    return stride


def scan_in_pieces(body: Buffer, count: int, give_way: GiveWay) -> RecordScan:
    """Do the same as `scan_records` for a body of any size, and give way between pieces."""
    newest = oldest = first = 0
    sequential = True
    keyless = False
    for number, piece in record_pieces(body, count):
        largest, smallest, in_order, lacks_key = scan_records(piece, number, 0, first)
        newest = largest if not first or largest > newest else newest
        oldest = smallest if not first or smallest < oldest else oldest
        sequential = sequential and in_order
        keyless = keyless or lacks_key
        first += number
        give_way()
    return newest, oldest, sequential, keyless


def scan_records(body: Buffer, count: int, start: int = 0, first: int = 0) -> RecordScan:
    """Walk every field of every record from byte `start` of `body` on. `first`: the number of its first record.

    Raises InvalidRecordError when one is malformed or the count is wrong.
    """
    # Varints of one and two bytes are read in line, zigzag form and all (odd: negative): this loop is the cost of
    # every small and every compressed batch.
    data = body if isinstance(body, bytes) else bytes(body)
    end = len(data)
    pos = start
    max_delta = min_delta = 0
    sequential = True
    keyless = False
    try:
        for index in range(first, first + count):
            size = data[pos]
            pos += 1
            if size > 0x7F:
                more = data[pos]
                if more < 0x80:
                    size = size & 0x7F | more << 7
                    pos += 1
                else:
                    size, pos = _more(data, pos, size)
            stop = pos + (size >> 1)
            if stop > end or size & 1:
                raise InvalidRecordError(f"record {index} claims to end at byte {stop} of {end}")
            delta = data[pos + 1]
            pos += 2
            if delta > 0x7F:
                more = data[pos]
                if more < 0x80:
                    delta = delta & 0x7F | more << 7
                    pos += 1
                else:
                    delta, pos = _more(data, pos, delta)
            delta = -(delta >> 1) - 1 if delta & 1 else delta >> 1
            if index == first:
                max_delta = min_delta = delta
            elif delta > max_delta:
                max_delta = delta
            elif delta < min_delta:
                min_delta = delta
            number = data[pos]
            pos += 1
            if number > 0x7F:
                more = data[pos]
                if more < 0x80:
                    number = number & 0x7F | more << 7
                    pos += 1
                else:
                    number, pos = _more(data, pos, number)
            if number != index + index:
                sequential = False
            size = data[pos]
            pos += 1
            if size > 0x7F:
                size, pos = _more(data, pos, size)
            if size & 1:
                keyless = True
            else:
                pos += size >> 1
            size = data[pos]
            pos += 1
            if size > 0x7F:
                more = data[pos]
                if more < 0x80:
                    size = size & 0x7F | more << 7
                    pos += 1
                else:
                    size, pos = _more(data, pos, size)
            if not size & 1:
                pos += size >> 1
            if data[pos]:
                headers, pos = read_varint(data, pos)
                pos = _skip_headers(data, pos, headers)
            else:
                pos += 1
            if pos != stop:
                raise InvalidRecordError(f"record {index} has fields that do not end where it ends")
    except IndexError:
        raise InvalidRecordError("a record ends early or holds a malformed field") from None
    if pos != end:
        raise InvalidRecordError(f"{end - pos} bytes remain after the {count} declared records")
    return max_delta, min_delta, sequential, keyless


def _more(data: bytes, pos: int, first: int) -> tuple[int, int]:
    """The rest of a varint whose first byte was read already, still in zigzag form; (value, next position)."""
    byte = data[pos]
    value = first & 0x7F | (byte & 0x7F) << 7
    pos += 1
    shift = 14
    while byte > 0x7F:
        if shift > 63:
            raise InvalidRecordError("a variable-length integer is longer than ten bytes")
        byte = data[pos]
        value |= (byte & 0x7F) << shift
        pos += 1
        shift += 7
    return value & 0xFFFFFFFFFFFFFFFF, pos


def _skip_headers(data: bytes, pos: int, count: int) -> int:
    if count < 0 or count > len(data) - pos:
        raise InvalidRecordError(f"a record claims {count} headers")
    _check_headers(count)
    for _ in range(count):
        size, pos = read_varint(data, pos)
        if size < 0:
            raise InvalidRecordError("a record header has no key")
        size, pos = read_varint(data, pos + size)
        if size > 0:
            pos += size
    return pos
