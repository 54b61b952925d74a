"""Rows for a sink: their columns, and the partitions that they go to."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa
from pyspark.sql import Row

from odradek.pipeline.cluster_client import TopicPartition
from odradek.pipeline.record_bytes import Records
from odradek.pipeline.sink_rows import Outgoing, record_rows
from odradek.protocol.partitioner import Partitioner
from odradek.protocol.records import iter_records


def form(*rows: Row, topic: str | None = "t") -> pa.RecordBatch:
    """The rows in the form of records."""
    (batch,) = record_rows(iter(rows), topic)
    return batch


def values_of(batches: Mapping[TopicPartition, Records]) -> dict[TopicPartition, list[bytes]]:
    """The values in the batches of a request."""
    return {
        place: [record.value or b"" for record in iter_records(bytes(batch.body), batch.record_count, 0, 0)]
        for place, batch in batches.items()
    }


def test_rows_and_arrow_batches_become_the_same() -> None:
    moment = datetime(1969, 12, 31, 23, 59, 59, 998500, tzinfo=UTC)  # 1.5 ms before 1970
    header = Row(key="h", value=b"\xff")
    rows = [
        Row(key="k", value="v", headers=[header], topic=None, partition=2, timestamp=moment),
        Row(key=None, value=None, headers=None, topic="other", partition=None, timestamp=moment),
    ]
    given = pa.RecordBatch.from_pydict(
        {
            "value": pa.array(["v", None]),
            "key": pa.array(["k", None]),
            "partition": pa.array([2, None], pa.int32()),
            "topic": pa.array([None, "other"]),
            "timestamp": pa.array([moment, moment], pa.timestamp("us", "UTC")),
            "headers": pa.array([[{"key": "h", "value": b"\xff"}], None]),
        }
    )
    expected: list[dict[str, Any]] = [
        {"topic": "t", "partition": 2, "timestamp_ms": -2, "key": b"k", "value": b"v"},
        {"topic": "other", "partition": None, "timestamp_ms": -2, "key": None, "value": None},
    ]
    headers = [[{"key": "h", "value": b"\xff"}], None]
    for batch in (form(*rows), next(record_rows(iter([given]), "t"))):
        assert batch.to_pylist() == [{**row, "headers": each} for row, each in zip(expected, headers, strict=True)]


def test_rows_that_are_no_records() -> None:
    with pytest.raises(ValueError, match="a row without a topic"):
        form(Row(value="v", topic=None), topic=None)
    with pytest.raises(ValueError, match="a header without a name"):
        form(Row(value="v", headers=[Row(key=None, value=b"x")]))


def test_each_partition_gets_its_rows_in_their_order() -> None:
    sent: dict[TopicPartition, list[bytes]] = {}

    def send(batches: Mapping[TopicPartition, Records]) -> None:
        for place, values in values_of(batches).items():
            sent.setdefault(place, []).extend(values)

    outgoing = Outgoing({"a": 3, "b": 2}.__getitem__, send)
    partitioner = Partitioner()
    expected: dict[TopicPartition, list[bytes]] = {}
    for turn in range(3):
        rows: list[Any] = []
        for number in range(50):
            topic, value = "ab"[number % 2], b"%d-%d" % (turn, number)
            key = None if number % 5 == 0 else b"key %d" % number
            partition = 1 if number % 7 == 0 else None
            rows.append(Row(key=key, value=value, topic=topic, partition=partition))
            chosen = partitioner.partition(topic, key, {"a": 3, "b": 2}[topic]) if partition is None else partition
            expected.setdefault((topic, chosen), []).append(value)
        outgoing.add(form(*rows))
    assert not sent
    outgoing.flush()
    assert sent == expected
    outgoing.add(form(Row(value="v", topic="a", partition=3)))
    with pytest.raises(ValueError, match="a has no partition 3: there are 3"):
        outgoing.flush()


def test_batches_are_no_larger_than_they_should_be() -> None:
    values = [b"x" * 1000] * 600  # 24 bytes more each as a record
    values += [b"y" * 300_000] + [b"z"]
    sent: list[list[bytes]] = []
    outgoing = Outgoing({"t": 2}.__getitem__, lambda batches: sent.extend(values_of(batches).values()))
    outgoing.add(form(*(Row(value=value, partition=1) for value in values)))
    outgoing.flush()
    assert [value for batch in sent for value in batch] == values
    assert [len(batch) for batch in sent] == [256, 256, 88, 1, 1]


def test_a_request_has_one_batch_of_each_partition() -> None:
    rows = [Row(value=b"%d" % number * 200_000, partition=number % 3 // 2) for number in range(7)]
    sent: list[dict[int, bytes]] = []

    def send(batches: Mapping[TopicPartition, Records]) -> None:
        sent.append({partition: b"".join(each)[:1] for (_, partition), each in values_of(batches).items()})

    outgoing = Outgoing({"t": 2}.__getitem__, send)
    outgoing.add(form(*rows))
    outgoing.flush()
    assert sent == [{0: b"0", 1: b"2"}, {0: b"1", 1: b"5"}, {0: b"3"}, {0: b"4"}, {0: b"6"}]


def test_what_waits_is_some_million_bytes() -> None:
    """A batch of Arrow that is much larger is sent in parts."""
    sizes: list[int] = []
    outgoing = Outgoing({"t": 200}.__getitem__, lambda batches: sizes.append(len(batches)))
    rows = form(*(Row(value=b"x" * 250_000, partition=number) for number in range(100)))
    outgoing.add(rows)
    outgoing.flush()
    assert sum(sizes) == 100
    assert len(sizes) > 1
    assert max(sizes) < 70
