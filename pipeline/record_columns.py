"""Rows of the data source as Arrow: decodes the fields of many records at once with numpy.

Only the wanted columns are built. Bodies are not decompressed if the batch headers have all wanted columns.

The length of a record gives the start of the next one. A short loop finds all starts; records of equal size take one
step. All fields after the length, varints included, are read by column. Keys, values and headers become Arrow arrays by
one copy of their bytes. Malformed records go to the codec of `odradek.protocol.records`, whose error names the fault.
Source: KIP-98 (record format v2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from odradek.pipeline.rows import Wanted
from odradek.protocol.control import ControlRecordType, control_record_type
from odradek.protocol.errors import CorruptDataError
from odradek.protocol.record_batch import CorruptBatchError, RecordBatch, TimestampType, check_crc
from odradek.protocol.records import Buffer, InvalidRecordError, read_varint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_PADDING = bytes(16)  # so that a varint at the end is read within the buffer
_MAX_SHIFT = 63
_FEW = 16
_CHUNK_ROWS = 20_000
_CHUNK_BYTES = 16 * 1024 * 1024
_IN_BODIES = frozenset({"timestamp", "key", "value", "headers"})
_CONTROL_NAMES = {kind.value: kind.name.lower() for kind in ControlRecordType}
_MILLISECONDS, _MICROSECONDS = pa.timestamp("ms", "UTC"), pa.timestamp("us", "UTC")
HEADER_TYPE = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


def arrow_chunks(batches: Iterable[RecordBatch], wanted: Wanted) -> Iterator[pa.RecordBatch]:
    """The wanted records of the batches, in chunks of some thousand rows. CorruptBatchError for a damaged batch."""
    by_time = wanted.from_ms is not None or wanted.until_ms is not None
    needs_bodies = by_time or not _IN_BODIES.isdisjoint(wanted.columns)
    chunk: list[RecordBatch] = []
    bodies: list[Buffer] = []
    rows = size = 0
    for batch in batches:
        if not _may_hold(batch, wanted):
            continue
        with_body = needs_bodies or batch.record_count != batch.last_offset_delta + 1
        body = _checked_body(batch, wanted, inflated=with_body)
        if chunk and bool(bodies) is not with_body:  # a chunk has bodies, or headers only
            yield from _rows_of(chunk, bodies, wanted)
            chunk, bodies, rows, size = [], [], 0, 0
        chunk.append(batch)
        if with_body:
            bodies.append(body)
            size += len(body)
        rows += batch.record_count
        if rows >= _CHUNK_ROWS or size >= _CHUNK_BYTES:
            yield from _rows_of(chunk, bodies, wanted)
            chunk, bodies, rows, size = [], [], 0, 0
    if chunk:
        yield from _rows_of(chunk, bodies, wanted)


def _may_hold(batch: RecordBatch, wanted: Wanted) -> bool:
    if batch.next_offset <= wanted.start:
        return False
    too_old = wanted.from_ms is not None and batch.max_timestamp < wanted.from_ms
    if too_old or not batch.record_count or (batch.is_control and not wanted.control):
        _checked_body(batch, wanted, inflated=False)  # a damaged header must not hide rows
        return False
    return True


def _checked_body(batch: RecordBatch, wanted: Wanted, *, inflated: bool) -> Buffer:
    """The records of a batch with a correct checksum; empty unless ``inflated``. An error names the batch."""
    try:
        check_crc(batch)
        return batch.body() if inflated else b""
    except CorruptDataError as error:
        where = f"{wanted.topic}-{wanted.partition}, batch of offsets {batch.base_offset} to {batch.last_offset}"
        raise CorruptBatchError(f"{where}: {error.message}") from None


def _rows_of(batches: Sequence[RecordBatch], bodies: Sequence[Buffer], wanted: Wanted) -> Iterator[pa.RecordBatch]:
    chunk = _Chunk(batches, bodies)
    chunk.keep(wanted)
    if chunk.rows:
        arrays = [_BUILDERS[name](chunk, wanted) for name in wanted.columns]
        yield pa.RecordBatch.from_arrays(arrays, names=list(wanted.columns))


class _Chunk:
    """Several batches as arrays: headers by batch, record fields by row, and the batch of each row."""

    def __init__(self, batches: Sequence[RecordBatch], bodies: Sequence[Buffer]) -> None:
        self.batches = batches
        counts = np.array([batch.record_count for batch in batches])
        self.batch_of = np.repeat(np.arange(len(batches)), counts)
        self.records: RecordColumns | None = None
        if bodies:
            self.records = read_columns(batches, bodies)
            self.offset_delta = self.records.offset_delta
        else:
            self.offset_delta = np.arange(len(self.batch_of)) - np.repeat(np.cumsum(counts) - counts, counts)
        self.offset = self.each([batch.base_offset for batch in batches]) + self.offset_delta

    @property
    def rows(self) -> int:
        return len(self.offset)

    def each(self, values: Sequence[Any]) -> Any:
        """Values by batch, repeated for every row."""
        return np.array(values)[self.batch_of]

    def timestamp(self) -> Any:
        """Milliseconds: the record's own, or the append time of its batch."""
        assert self.records is not None
        appended = [batch.timestamp_type is TimestampType.LOG_APPEND_TIME for batch in self.batches]
        base = self.each([batch.base_timestamp for batch in self.batches])
        created = base + self.records.timestamp_delta
        if not any(appended):
            return created
        return np.where(self.each(appended), self.each([batch.max_timestamp for batch in self.batches]), created)

    def keep(self, wanted: Wanted) -> None:
        """Remove the rows outside the wanted offsets and times."""
        mask = None
        if self.batches[0].base_offset < wanted.start or self.batches[-1].last_offset >= wanted.end:
            mask = (self.offset >= wanted.start) & (self.offset < wanted.end)
        for bound, younger in ((wanted.from_ms, True), (wanted.until_ms, False)):
            if bound is not None:
                time = self.timestamp()
                inside = time >= bound if younger else time < bound
                mask = inside if mask is None else mask & inside
        if mask is None or mask.all():
            return
        self.batch_of, self.offset = self.batch_of[mask], self.offset[mask]
        self.offset_delta = self.offset_delta[mask]
        if self.records is not None:
            self.records = self.records.where(mask)

    def sequence(self) -> Any:
        """Sequences increase with the offsets of a batch and wrap after 2^31-1."""
        first = self.each([batch.base_sequence for batch in self.batches])
        return np.where(first < 0, -1, (first + self.offset_delta) & 0x7FFFFFFF)

    def control(self) -> pa.Array:
        if not any(batch.is_control for batch in self.batches):
            return pa.nulls(self.rows, pa.string())
        names = {
            record.offset: _CONTROL_NAMES.get(kind := control_record_type(record), str(kind))
            for batch in self.batches
            if batch.is_control
            for record in batch.records()
        }
        return pa.array([names.get(offset) for offset in self.offset.tolist()], pa.string())

    def labels(self, values: Sequence[str]) -> pa.Array:
        """Texts by batch, repeated for every row. Only a few texts differ."""
        different = sorted(set(values))
        number = {text: index for index, text in enumerate(different)}
        return pa.array(different, pa.string()).take(pa.array(self.each([number[text] for text in values])))


def _numbers(kind: str, read: Callable[[RecordBatch], int | bool]) -> Callable[[_Chunk, Wanted], pa.Array]:
    """A column of numbers from batch headers."""

    def build(chunk: _Chunk, wanted: Wanted) -> pa.Array:
        return pa.array(chunk.each([read(batch) for batch in chunk.batches])).cast(kind)

    return build


def _from_records(build: Callable[[RecordColumns], pa.Array]) -> Callable[[_Chunk, Wanted], pa.Array]:
    def column(chunk: _Chunk, wanted: Wanted) -> pa.Array:
        assert chunk.records is not None
        return build(chunk.records)

    return column


def _timestamp_type(batch: RecordBatch) -> str:
    return "LogAppendTime" if batch.timestamp_type is TimestampType.LOG_APPEND_TIME else "CreateTime"


_BUILDERS: Mapping[str, Callable[[_Chunk, Wanted], pa.Array]] = {
    "topic": lambda chunk, wanted: pa.repeat(pa.scalar(wanted.topic, pa.string()), chunk.rows),
    "partition": lambda chunk, wanted: pa.repeat(pa.scalar(wanted.partition, pa.int32()), chunk.rows),
    "offset": lambda chunk, wanted: pa.array(chunk.offset).cast(pa.int64()),
    "timestamp": lambda chunk, wanted: pa.array(chunk.timestamp()).cast(_MILLISECONDS).cast(_MICROSECONDS),
    "timestamp_type": lambda chunk, wanted: chunk.labels([_timestamp_type(batch) for batch in chunk.batches]),
    "key": _from_records(lambda records: records.binary(records.key)),
    "value": _from_records(lambda records: records.binary(records.value)),
    "headers": _from_records(lambda records: records.headers()),
    "base_offset": _numbers("int64", lambda batch: batch.base_offset),
    "producer_id": _numbers("int64", lambda batch: batch.producer_id),
    "producer_epoch": _numbers("int32", lambda batch: batch.producer_epoch),
    "sequence": lambda chunk, wanted: pa.array(chunk.sequence()).cast(pa.int32()),
    "transactional": _numbers("bool", lambda batch: batch.is_transactional),
    "control": lambda chunk, wanted: chunk.control(),
    "leader_epoch": _numbers("int32", lambda batch: batch.partition_leader_epoch),
    "codec": lambda chunk, wanted: chunk.labels([batch.codec.name.lower() for batch in chunk.batches]),
    "batch_size": _numbers("int32", lambda batch: batch.size_bytes),
}


# --- the fields of records --------------------------------------------------------------------------------------------


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
