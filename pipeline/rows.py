"""Rows of the `odradek` data source: the columns, and record batches turned into Arrow.

A row is a record as it lies in the log, with what its batch says; Spark's own connector shows a part of it only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from odradek.protocol.control import ControlRecordType, control_record_type
from odradek.protocol.record_batch import RecordBatch, TimestampType, check_crc
from odradek.protocol.records import Record

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA = (
    "topic string, partition int, offset bigint, timestamp timestamp, timestamp_type string, key binary, value binary,"
    " headers array<struct<key: string, value: binary>>, base_offset bigint, producer_id bigint, producer_epoch int,"
    " sequence int, transactional boolean, control string, leader_epoch int, codec string, batch_size int"
)
"""``sequence``, ``producer_id``, ``producer_epoch``: -1 without idempotence. ``control``: null for a record, else
``commit``, ``abort`` or the name of another control type. ``batch_size``: bytes of the batch as it is stored."""

_CHUNK_ROWS = 20_000
_CHUNK_BYTES = 8 * 1024 * 1024
_CONTROL_NAMES = {each.value: each.name.lower() for each in ControlRecordType}


class Wanted(NamedTuple):
    """Which records of a partition's batches become rows."""

    topic: str
    partition: int
    start: int
    """First offset."""
    end: int
    """Offset behind the last."""
    from_ms: int | None = None
    """First timestamp."""
    until_ms: int | None = None
    """Timestamp behind the last."""
    control: bool = True
    """Whether control records are rows too."""


def arrow_chunks(batches: Iterable[RecordBatch], wanted: Wanted) -> Iterator[pa.RecordBatch]:
    """The wanted records of the batches, a chunk of some thousand rows at a time; corrupt batches raise."""
    columns = _Columns(wanted.topic, wanted.partition)
    for batch in batches:
        if batch.next_offset <= wanted.start or (batch.is_control and not wanted.control):
            continue
        check_crc(batch)
        records = _selected(batch, wanted)
        if records:
            columns.add(batch, records)
        if columns.count >= _CHUNK_ROWS or columns.size >= _CHUNK_BYTES:
            yield columns.take()
    if columns.count:
        yield columns.take()


def _selected(batch: RecordBatch, wanted: Wanted) -> list[Record]:
    records = list(batch.records())
    if batch.base_offset < wanted.start or batch.last_offset >= wanted.end:
        records = [each for each in records if wanted.start <= each.offset < wanted.end]
    if wanted.from_ms is not None:
        records = [each for each in records if each.timestamp >= wanted.from_ms]
    if wanted.until_ms is not None:
        records = [each for each in records if each.timestamp < wanted.until_ms]
    return records


class _Columns:
    """Columns under construction: what differs by record as lists, what a batch shares as runs."""

    def __init__(self, topic: str, partition: int) -> None:
        self._topic, self._partition = topic, partition
        self._clear()

    def _clear(self) -> None:
        self.count = self.size = 0
        self._records: list[Record] = []
        self._runs: list[tuple[int, RecordBatch]] = []

    def add(self, batch: RecordBatch, records: list[Record]) -> None:
        self._records += records
        self._runs.append((len(records), batch))
        self.count += len(records)
        self.size += batch.size_bytes

    def take(self) -> pa.RecordBatch:
        import pyarrow as pa

        offsets, timestamps, keys, values, headers = zip(*self._records, strict=True)
        shared = self._shared()
        microseconds = pa.array(timestamps, pa.int64())
        arrays = {
            "topic": pa.array([self._topic] * self.count, pa.string()),
            "partition": pa.array([self._partition] * self.count, pa.int32()),
            "offset": pa.array(offsets, pa.int64()),
            "timestamp": microseconds.cast(pa.timestamp("ms", "UTC")).cast(pa.timestamp("us", "UTC")),
            "timestamp_type": pa.array(shared["timestamp_type"], pa.string()),
            "key": pa.array(keys, pa.binary()),
            "value": pa.array(values, pa.binary()),
            "headers": _header_array(headers),
            "base_offset": pa.array(shared["base_offset"], pa.int64()),
            "producer_id": pa.array(shared["producer_id"], pa.int64()),
            "producer_epoch": pa.array(shared["producer_epoch"], pa.int32()),
            "sequence": pa.array(self._sequences(), pa.int32()),
            "transactional": pa.array(shared["transactional"], pa.bool_()),
            "control": pa.array(self._controls(), pa.string()),
            "leader_epoch": pa.array(shared["leader_epoch"], pa.int32()),
            "codec": pa.array(shared["codec"], pa.string()),
            "batch_size": pa.array(shared["batch_size"], pa.int32()),
        }
        self._clear()
        return pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))

    def _shared(self) -> Mapping[str, list[Any]]:
        columns: dict[str, list[Any]] = {name: [] for name in _BATCH_FIELDS}
        for count, batch in self._runs:
            for name, value in zip(_BATCH_FIELDS, _batch_values(batch), strict=True):
                columns[name] += [value] * count
        return columns

    def _sequences(self) -> list[int]:
        """Sequences run with the offsets of a batch and wrap behind 2^31-1."""
        found: list[int] = []
        position = 0
        for count, batch in self._runs:
            first, base = batch.base_sequence, batch.base_offset
            if first < 0:
                found += [-1] * count
            else:
                rows = self._records[position : position + count]
                found += [(first + each.offset - base) & 0x7FFFFFFF for each in rows]
            position += count
        return found

    def _controls(self) -> list[str | None]:
        found: list[str | None] = []
        for count, batch in self._runs:
            if batch.is_control:
                rows = self._records[len(found) : len(found) + count]
                found += [_CONTROL_NAMES.get(kind := control_record_type(each), str(kind)) for each in rows]
            else:
                found += [None] * count
        return found


_BATCH_FIELDS = (
    "timestamp_type",
    "base_offset",
    "producer_id",
    "producer_epoch",
    "transactional",
    "leader_epoch",
    "codec",
    "batch_size",
)


def _batch_values(batch: RecordBatch) -> tuple[Any, ...]:
    appended = batch.timestamp_type is TimestampType.LOG_APPEND_TIME
    return (
        "LogAppendTime" if appended else "CreateTime",
        batch.base_offset,
        batch.producer_id,
        batch.producer_epoch,
        batch.is_transactional,
        batch.partition_leader_epoch,
        batch.codec.name.lower(),
        batch.size_bytes,
    )


def _header_array(headers: tuple[tuple[tuple[str, bytes | None], ...], ...]) -> pa.Array:
    """Headers as list<struct<key, value>>: an empty list for a record without any."""
    import pyarrow as pa

    kind = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    ends = [0]
    flat: list[tuple[str, bytes | None]] = []
    for each in headers:
        flat += each
        ends.append(len(flat))
    keys = pa.array([key for key, _ in flat], pa.string())
    values = pa.array([value for _, value in flat], pa.binary())
    structs = pa.StructArray.from_arrays([keys, values], fields=list(kind.value_type))
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), structs)


def committed_only(batches: Iterable[RecordBatch], aborted: Iterable[tuple[int, int]]) -> Iterator[RecordBatch]:
    """Leave out what aborted transactions wrote, as a consumer does with the answer to a fetch.

    ``aborted``: (producer id, first offset) of each aborted transaction with records in the batches; a producer's abort
    marker ends its transaction.
    """
    waiting = sorted(aborted, key=lambda each: each[1])
    position = 0
    open_aborts: set[int] = set()
    for batch in batches:
        while position < len(waiting) and waiting[position][1] <= batch.last_offset:
            open_aborts.add(waiting[position][0])
            position += 1
        if batch.is_control:
            open_aborts.discard(batch.producer_id)
        elif batch.is_transactional and batch.producer_id in open_aborts:
            continue
        yield batch
