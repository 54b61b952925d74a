"""Rows of the `odradek` data source: the columns, and record batches as Arrow.

A row is a stored record with the fields of its batch. Spark's own connector shows only a part of them. Only the wanted
columns are built. Bodies are not decompressed if the batch headers have all wanted columns.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from odradek.protocol.control import ControlRecordType, control_record_type
from odradek.protocol.errors import CorruptDataError
from odradek.protocol.record_batch import CorruptBatchError, RecordBatch, TimestampType, check_crc
from odradek.protocol.records import Buffer

if TYPE_CHECKING:
    import pyarrow as pa

    from odradek.pipeline.record_columns import RecordColumns

COLUMNS: Mapping[str, str] = {
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestamp_type": "string",
    "key": "binary",
    "value": "binary",
    "headers": "array<struct<key:string,value:binary>>",
    "base_offset": "bigint",
    "producer_id": "bigint",
    "producer_epoch": "int",
    "sequence": "int",
    "transactional": "boolean",
    "control": "string",
    "leader_epoch": "int",
    "codec": "string",
    "batch_size": "int",
}
"""Names and Spark types. `sequence`, `producer_id`, `producer_epoch`: -1 without idempotence. `control`: null
for a record, else `commit`, `abort` or the name of another type. `batch_size`: bytes of the stored batch."""


def schema_of(columns: Iterable[str]) -> str:
    """Some columns as a schema for `spark.read.schema`."""
    return ", ".join(f"{name} {COLUMNS[name]}" for name in columns)


SCHEMA = schema_of(COLUMNS)

_CHUNK_ROWS = 20_000
_CHUNK_BYTES = 16 * 1024 * 1024
_IN_BODIES = frozenset({"timestamp", "key", "value", "headers"})
_CONTROL_NAMES = {kind.value: kind.name.lower() for kind in ControlRecordType}


class Wanted(NamedTuple):
    """The records of a partition that become rows, and the columns of the rows."""

    topic: str
    partition: int
    start: int
    """First offset."""
    end: int
    """Offset after the last."""
    from_ms: int | None = None
    """First timestamp."""
    until_ms: int | None = None
    """Timestamp after the last."""
    control: bool = True
    """Whether control records are rows too."""
    columns: tuple[str, ...] = tuple(COLUMNS)
    fail_on_data_loss: bool = True
    """Whether missing records fail the task."""


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
    import pyarrow as pa

    chunk = _Chunk(batches, bodies)
    chunk.keep(wanted)
    if chunk.rows:
        arrays = [_BUILDERS[name](chunk, wanted) for name in wanted.columns]
        yield pa.RecordBatch.from_arrays(arrays, names=list(wanted.columns))


class _Chunk:
    """Several batches as arrays: headers by batch, record fields by row, and the batch of each row."""

    def __init__(self, batches: Sequence[RecordBatch], bodies: Sequence[Buffer]) -> None:
        import numpy as np

        self.np = np
        self.batches = batches
        counts = np.array([batch.record_count for batch in batches])
        self.batch_of = np.repeat(np.arange(len(batches)), counts)
        self.records: RecordColumns | None = None
        if bodies:
            from odradek.pipeline.record_columns import read_columns

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
        return self.np.array(values)[self.batch_of]

    def timestamp(self) -> Any:
        """Milliseconds: the record's own, or the append time of its batch."""
        assert self.records is not None
        appended = [batch.timestamp_type is TimestampType.LOG_APPEND_TIME for batch in self.batches]
        base = self.each([batch.base_timestamp for batch in self.batches])
        created = base + self.records.timestamp_delta
        if not any(appended):
            return created
        return self.np.where(self.each(appended), self.each([batch.max_timestamp for batch in self.batches]), created)

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
        return self.np.where(first < 0, -1, (first + self.offset_delta) & 0x7FFFFFFF)

    def control(self) -> pa.Array:
        import pyarrow as pa

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
        import pyarrow as pa

        different = sorted(set(values))
        number = {text: index for index, text in enumerate(different)}
        return pa.array(different, pa.string()).take(pa.array(self.each([number[text] for text in values])))


def _numbers(kind: str, read: Callable[[RecordBatch], int | bool]) -> Callable[[_Chunk, Wanted], pa.Array]:
    """A column of numbers from batch headers."""

    def build(chunk: _Chunk, wanted: Wanted) -> pa.Array:
        return _array(chunk.each([read(batch) for batch in chunk.batches]), kind)

    return build


def _array(values: Any, kind: str) -> pa.Array:
    import pyarrow as pa

    return pa.array(values).cast(kind)


def _repeated(value: Any, kind: str, count: int) -> pa.Array:
    import pyarrow as pa

    return pa.repeat(pa.scalar(value, pa.type_for_alias(kind)), count)


def _timestamps(chunk: _Chunk, wanted: Wanted) -> pa.Array:
    import pyarrow as pa

    return pa.array(chunk.timestamp()).cast(pa.timestamp("ms", "UTC")).cast(pa.timestamp("us", "UTC"))


def _from_records(build: Callable[[RecordColumns], pa.Array]) -> Callable[[_Chunk, Wanted], pa.Array]:
    def column(chunk: _Chunk, wanted: Wanted) -> pa.Array:
        assert chunk.records is not None
        return build(chunk.records)

    return column


def _timestamp_type(batch: RecordBatch) -> str:
    return "LogAppendTime" if batch.timestamp_type is TimestampType.LOG_APPEND_TIME else "CreateTime"


_BUILDERS: Mapping[str, Callable[[_Chunk, Wanted], pa.Array]] = {
    "topic": lambda chunk, wanted: _repeated(wanted.topic, "string", chunk.rows),
    "partition": lambda chunk, wanted: _repeated(wanted.partition, "int32", chunk.rows),
    "offset": lambda chunk, wanted: _array(chunk.offset, "int64"),
    "timestamp": _timestamps,
    "timestamp_type": lambda chunk, wanted: chunk.labels([_timestamp_type(batch) for batch in chunk.batches]),
    "key": _from_records(lambda records: records.binary(records.key)),
    "value": _from_records(lambda records: records.binary(records.value)),
    "headers": _from_records(lambda records: records.headers()),
    "base_offset": _numbers("int64", lambda batch: batch.base_offset),
    "producer_id": _numbers("int64", lambda batch: batch.producer_id),
    "producer_epoch": _numbers("int32", lambda batch: batch.producer_epoch),
    "sequence": lambda chunk, wanted: _array(chunk.sequence(), "int32"),
    "transactional": _numbers("bool", lambda batch: batch.is_transactional),
    "control": lambda chunk, wanted: chunk.control(),
    "leader_epoch": _numbers("int32", lambda batch: batch.partition_leader_epoch),
    "codec": lambda chunk, wanted: chunk.labels([batch.codec.name.lower() for batch in chunk.batches]),
    "batch_size": _numbers("int32", lambda batch: batch.size_bytes),
}


@cache
def spare_imports() -> None:
    """Exclude the imported modules of a Python worker from garbage collection. Does nothing outside a task.

    Spark collects garbage after each task. With pandas, pyarrow and numpy that takes 35 ms, longer than many tasks.
    """
    from pyspark import TaskContext

    if TaskContext.get() is not None:
        gc.freeze()
