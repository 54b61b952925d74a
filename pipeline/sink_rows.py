"""Rows of a sink as Arrow batches of one form, and as batches for the partitions of a cluster's topics."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from odradek.pipeline.cluster_client import TopicPartition
from odradek.pipeline.record_bytes import Records, partitions_by_key, records_of, row_sizes
from odradek.pipeline.record_columns import HEADER_TYPE

if TYPE_CHECKING:
    from odradek.pipeline.record_bytes import Ints

_ROWS_AT_ONCE = 10_000
_BATCH_BYTES = 256 * 1024
_WAITING_BYTES = 4 * 1024 * 1024


def record_rows(given: Iterator[Any], topic: str | None) -> Iterator[pa.RecordBatch]:
    """Rows from Spark (Arrow batches or `Row`s) with the columns of a record and their other columns.

    Columns: ``topic`` (default: the argument), ``partition`` (null: not chosen yet), ``timestamp_ms`` (default: now),
    ``key``, ``value``, ``headers``. ValueError for a row without a topic, and for a header without a name.
    """
    for first in given:
        if isinstance(first, pa.RecordBatch):
            batch = first
        else:
            batch = _batch_of([first, *islice(given, _ROWS_AT_ONCE - 1)])
        if batch.num_rows:
            yield _record_form(batch, topic)


def _batch_of(rows: list[Any]) -> pa.RecordBatch:
    dicts = [row.asDict(recursive=True) for row in rows]
    arrays: dict[str, pa.Array] = {}
    for name in dicts[0]:
        values = [row[name] for row in dicts]
        if name in ("key", "value"):
            arrays[name] = pa.array([each.encode() if isinstance(each, str) else each for each in values], pa.binary())
        elif name == "headers":
            arrays[name] = pa.array(values, HEADER_TYPE)
        elif name == "timestamp":
            micros = [None if each is None else round(each.timestamp() * 1_000_000) for each in values]
            arrays[name] = pa.array(micros, pa.int64()).cast(pa.timestamp("us", "UTC"))
        else:
            arrays[name] = pa.array(values)
    return pa.RecordBatch.from_pydict(arrays)


def _record_form(batch: pa.RecordBatch, topic: str | None) -> pa.RecordBatch:
    count = batch.num_rows
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))

    def column(name: str, kind: pa.DataType) -> pa.Array:
        given = columns.pop(name, None)
        return pa.nulls(count, kind) if given is None else given.cast(kind)

    topics = column("topic", pa.string())
    if topics.null_count:
        if topic is None:
            raise ValueError("a row without a topic, and no option topic")
        topics = pc.fill_null(topics, topic)
    moments = column("timestamp", pa.timestamp("us", "UTC")).cast(pa.int64())
    headers = column("headers", HEADER_TYPE)
    if headers.flatten().field("key").null_count:
        raise ValueError("a header without a name")
    arrays = {
        "topic": topics,
        "partition": column("partition", pa.int32()),
        "timestamp_ms": pc.fill_null(_floor_1000(moments), time.time_ns() // 1_000_000),
        "key": column("key", pa.binary()),
        "value": column("value", pa.binary()),
        "headers": headers,
        **columns,
    }
    return pa.RecordBatch.from_pydict(arrays)


def _floor_1000(moments: pa.Array) -> pa.Array:
    if moments.null_count == len(moments):
        return moments
    held = moments.fill_null(0).to_numpy(zero_copy_only=False)
    return pa.array(np.floor_divide(held, 1000), pa.int64(), mask=moments.is_null().to_numpy(zero_copy_only=False))


class Outgoing:
    """Sends rows to the partitions of a cluster, some megabytes at a time.

    ``partitions`` returns the partition count of a topic, and is called once for each topic. ``send`` receives one
    batch for each of several partitions.
    """

    def __init__(
        self, partitions: Callable[[str], int], send: Callable[[Mapping[TopicPartition, Records]], None]
    ) -> None:
        self._partitions, self._send = cache(partitions), send
        self._waiting: list[pa.RecordBatch] = []
        self._size = 0
        self._turns: dict[str, int] = {}

    def add(self, rows: pa.RecordBatch) -> None:
        """Add rows in the form of `record_rows`. ValueError, now or later, for a partition that does not exist."""
        step = max(1, rows.num_rows * _WAITING_BYTES // max(rows.nbytes, 1))
        for begin in range(0, rows.num_rows, step):
            part = rows.slice(begin, step)
            self._waiting.append(part)
            self._size += part.nbytes
            if self._size >= _WAITING_BYTES:
                self.flush()

    def flush(self) -> None:
        """Send the remaining rows."""
        if not self._waiting:
            return
        rows = joined(self._waiting)
        self._waiting, self._size = [], 0
        turns: list[dict[TopicPartition, Records]] = []
        number: dict[TopicPartition, int] = {}
        for place, records in self._batches(rows):
            turn = number[place] = number.get(place, -1) + 1
            if turn == len(turns):
                turns.append({})
            turns[turn][place] = records
        for batches in turns:
            self._send(batches)

    def _batches(self, rows: pa.RecordBatch) -> Iterator[tuple[TopicPartition, Records]]:
        """The rows of each partition as batches, in their order."""
        topics = rows["topic"].dictionary_encode()
        for number, topic in enumerate(topics.dictionary.to_pylist()):
            of_topic = rows
            if len(topics.dictionary) > 1:
                of_topic = rows.filter(pa.array(np.asarray(topics.indices) == number))
            chosen = self._chosen(topic, of_topic)
            counts = np.bincount(chosen)
            narrow = chosen.astype(np.min_scalar_type(len(counts)))  # numpy sorts small integers much faster
            order = np.argsort(narrow, kind="stable")
            places, begins = _batch_begins(counts, row_sizes(of_topic)[order])
            for place, records in zip(places, records_of(of_topic, order, begins), strict=True):
                yield (topic, place), records

    def _chosen(self, topic: str, rows: pa.RecordBatch) -> Any:
        """The partition of each row: as given, else by its key as in the Java client, else round robin."""
        count = self._partitions(topic)
        partition, key = rows["partition"], rows["key"]
        given = partition.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        unset = partition.is_null().to_numpy(zero_copy_only=False)
        wrong = given[~unset & ((given < 0) | (given >= count))]
        if len(wrong):
            raise ValueError(f"{topic} has no partition {wrong[0]}: there are {count}")
        if not unset.any():
            return given
        keyless = unset & key.is_null().to_numpy(zero_copy_only=False)
        chosen = np.where(unset, partitions_by_key(key, count), given)
        first = self._turns.get(topic, 0)
        turns = int(keyless.sum())
        chosen[keyless] = (first + np.arange(turns)) % count
        self._turns[topic] = (first + turns) % count
        return chosen


def _batch_begins(counts: Ints, sizes: Ints) -> tuple[list[int], Ints]:
    """The partition and the first row of each batch. A batch keeps the size limit, or has a single row.

    ``counts``: rows of each partition. ``sizes``: bytes of each row, sorted by partition.
    """
    ends = np.cumsum(sizes)
    places: list[int] = []
    begins: list[int] = []
    begin = 0
    for place, last in enumerate(np.cumsum(counts).tolist()):
        while begin < last:
            places.append(place)
            begins.append(begin)
            before = int(ends[begin - 1]) if begin else 0
            begin = min(max(int(np.searchsorted(ends, before + _BATCH_BYTES, side="right")), begin + 1), last)
    return places, np.array(begins)


def joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """The rows of some batches as one."""
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
