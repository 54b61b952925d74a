"""Decodes the fields of many records at once with numpy, without an object for each record.

The length of a record gives the start of the next one. A short loop finds all starts; records of equal size take one
step. All fields after the length, varints included, are read by column. Keys, values and headers become Arrow arrays by
one copy of their bytes. Malformed records go to the codec of `odradek.protocol.records`, whose error names the fault.
Source: KIP-98 (record format v2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from odradek.protocol.record_batch import RecordBatch
from odradek.protocol.records import Buffer, InvalidRecordError, read_varint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_PADDING = bytes(16)  # so that a varint at the end is read within the buffer
_MAX_SHIFT = 63
_FEW = 16
HEADER_TYPE = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


class _Malformed(Exception):
    """The records are malformed: the codec has to decode them."""


@dataclass
class Fields:
    """Byte fields in the joined bodies: the start and the size of each (-1: null). The starts ascend."""

    start: Ints
    size: Ints

    def where(self, rows: Any) -> Fields:
        return Fields(self.start[rows], self.size[rows])


@dataclass
class RecordColumns:
    """The records of several batches, by field."""

    data: bytes
    """The decompressed bodies of the batches, concatenated."""
    timestamp_delta: Ints
    offset_delta: Ints
    key: Fields
    value: Fields
    header_count: Ints
    header_key: Fields
    header_value: Fields

    def where(self, rows: NDArray[np.bool_]) -> RecordColumns:
        """Only the chosen records."""
        headers = np.repeat(rows, self.header_count)
        return RecordColumns(
            self.data,
            self.timestamp_delta[rows],
            self.offset_delta[rows],
            self.key.where(rows),
            self.value.where(rows),
            self.header_count[rows],
            self.header_key.where(headers),
            self.header_value.where(headers),
        )

    def binary(self, fields: Fields) -> pa.Array:
        """The bytes of a field as an Arrow array."""
        return _cut_out(self.data, fields)

    def headers(self) -> pa.Array:
        """Headers as list<struct<key, value>>. A record without headers has an empty list."""
        keys = _as_text(_cut_out(self.data, self.header_key))
        values = _cut_out(self.data, self.header_value)
        structs = pa.StructArray.from_arrays([keys, values], fields=list(HEADER_TYPE.value_type))
        ends = np.zeros(len(self.header_count) + 1, np.int32)
        np.cumsum(self.header_count, out=ends[1:])
        return pa.ListArray.from_arrays(pa.array(ends), structs)


def read_columns(batches: Sequence[RecordBatch], bodies: Sequence[Buffer]) -> RecordColumns:
    """The records of batches. ``bodies``: decompressed. InvalidRecordError for malformed records."""
    data = b"".join([*bodies, _PADDING])
    try:
        with np.errstate(over="ignore"):
            return _read(data, [batch.record_count for batch in batches], [len(body) for body in bodies])
    except (_Malformed, IndexError):
        for batch in batches:
            for _ in batch.records():
                pass
        raise InvalidRecordError(f"records from offset {batches[0].base_offset} on are malformed") from None


def _read(data: bytes, counts: Sequence[int], sizes: Sequence[int]) -> RecordColumns:
    begins = _beginnings(data, counts, sizes)
    buffer = np.frombuffer(data, np.uint8)
    length, at = _varints(buffer, begins)
    stop = at + length
    timestamp_delta, at = _varints(buffer, at + 1)  # after the attributes, which are unused
    offset_delta, at = _varints(buffer, at)
    key, at = _field(buffer, at)
    value, at = _field(buffer, at)
    header_count, at = _varints(buffer, at)
    if (header_count < 0).any() or (header_count > stop - at).any():
        raise _Malformed
    header_key, header_value, at = _headers(buffer, at, header_count)
    if not np.array_equal(at, stop):
        raise _Malformed
    return RecordColumns(data, timestamp_delta, offset_delta, key, value, header_count, header_key, header_value)


def _beginnings(data: bytes, counts: Sequence[int], sizes: Sequence[int]) -> Ints:
    """The start of each record. _Malformed if the records do not fill a body."""
    buffer = np.frombuffer(data, np.uint8)
    found: list[Ints] = []
    position = end = 0
    for count, body_size in zip(counts, sizes, strict=True):
        end += body_size
        left, patience = count, _FEW
        while left:
            stride, run = _equal_sizes(buffer, position, left) if left > _FEW else (0, 0)
            if run > _FEW:
                found.append(np.arange(position, position + stride * run, stride))
                position += stride * run
                left -= run
            else:  # sizes differ: read one by one, and look for a run ever more rarely
                patience = min(patience * 2, left)
                singly, position = _one_by_one(data, position, patience)
                found.append(np.array(singly, np.int64))
                left -= patience
        if position != end:
            raise _Malformed
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _equal_sizes(buffer: NDArray[np.uint8], position: int, left: int) -> tuple[int, int]:
    """The size of the next record, and the number of following records of this size, by one comparison.

    A record begins where the record before ends. So equal bytes at equal distances are equal lengths. Only for lengths
    of one or two bytes.
    """
    first, second = int(buffer[position]), int(buffer[position + 1])
    if first < 0x80:
        stride = 1 + (first >> 1)
    elif second < 0x80:
        stride = 2 + ((first & 0x7F | second << 7) >> 1)
    else:
        return 0, 0
    stop = min(position + stride * left, len(buffer) - 1)
    same = buffer[position:stop:stride] == first
    if first > 0x7F:
        same &= buffer[position + 1 : stop + 1 : stride][: len(same)] == second
    return stride, len(same) if same.all() else int(same.argmin())


def _one_by_one(data: bytes, position: int, count: int) -> tuple[list[int], int]:
    """The starts of the next records, and the end of the last one. Short lengths are read inline."""
    found: list[int] = []
    note = found.append
    for _ in range(count):
        note(position)
        size = data[position]
        if size < 0x80:
            position += 1 + (size >> 1)
            continue
        more = data[position + 1]
        if more < 0x80:
            position += 2 + ((size & 0x7F | more << 7) >> 1)
            continue
        length, position = read_varint(data, position)
        position += max(length, 0)
    return found, position


def _varints(buffer: NDArray[np.uint8], at: Ints) -> tuple[Ints, Ints]:
    """The zigzag varints at the positions, and the positions after them."""
    raw = buffer[at].astype(np.uint64)
    at = at + 1
    longer = np.flatnonzero(raw > 0x7F)
    if longer.size:
        raw[longer] &= np.uint64(0x7F)
        shift = 7
        while longer.size:
            if shift > _MAX_SHIFT:
                raise _Malformed
            byte = buffer[at[longer]].astype(np.uint64)
            raw[longer] |= (byte & np.uint64(0x7F)) << np.uint64(shift)
            at[longer] += 1
            longer = longer[byte > 0x7F]
            shift += 7
    value = (raw >> np.uint64(1)) ^ (np.uint64(0) - (raw & np.uint64(1)))
    return value.view(np.int64), at


def _field(buffer: NDArray[np.uint8], at: Ints) -> tuple[Fields, Ints]:
    """The length-prefixed bytes at the positions (negative length: null), and the positions after them."""
    size, at = _varints(buffer, at)
    return Fields(at, size), at + np.maximum(size, 0)


def _headers(buffer: NDArray[np.uint8], at: Ints, count: Ints) -> tuple[Fields, Fields, Ints]:
    """The headers of all records, in order: first all first headers, then all second headers, ..."""
    total = int(count.sum())
    keys, values = Fields(*_two(total)), Fields(*_two(total))
    first = np.cumsum(count) - count
    rows = np.flatnonzero(count)
    number = 0
    while rows.size:
        key, position = _field(buffer, at[rows])
        if (key.size < 0).any():
            raise _Malformed
        value, position = _field(buffer, position)
        at[rows] = position
        to = first[rows] + number
        keys.start[to], keys.size[to] = key.start, key.size
        values.start[to], values.size[to] = value.start, value.size
        number += 1
        rows = rows[count[rows] > number]
    return keys, values, at


def _two(size: int) -> tuple[Ints, Ints]:
    return np.empty(size, np.int64), np.empty(size, np.int64)


def _cut_out(data: bytes, fields: Fields) -> pa.Array:
    """The fields as an Arrow array. Arrow's binary arrays have no gaps. So an array is made of fields and gaps, and
    every second element is taken."""
    count = len(fields.start)
    if not count:
        return pa.array([], pa.binary())
    bounds = np.empty(2 * count + 1, np.int32)
    bounds[0:-1:2] = fields.start
    bounds[1::2] = fields.start + np.maximum(fields.size, 0)
    bounds[-1] = bounds[-2]
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(data)]
    pieces = pa.Array.from_buffers(pa.binary(), 2 * count, buffers)
    wanted = np.arange(0, 2 * count, 2, dtype=np.int32)
    return pieces.take(pa.array(wanted, mask=fields.size < 0))


def _as_text(keys: pa.Array) -> pa.Array:
    """Header names as text. Invalid UTF-8 becomes replacement characters, as in Kafka's clients."""
    try:
        return keys.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([key.decode(errors="replace") for key in keys.to_pylist()], pa.string())
