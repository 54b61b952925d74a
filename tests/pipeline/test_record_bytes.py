"""Record bodies of Arrow rows: what the codec of records writes, byte by byte."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("pyspark")

import numpy as np
import pyarrow as pa

from odradek.pipeline.record_bytes import partitions_by_key, records_of, row_sizes
from odradek.pipeline.record_columns import HEADER_TYPE
from odradek.protocol.partitioner import murmur2
from odradek.protocol.records import Record, encode_records

SIZES = (0, 0, 1, 2, 3, 4, 5, 7, 8, 12, 60, 63, 64, 100, 8191, 8192)
TIMES = (0, 1, -1, 63, 64, -64, -65, 1_700_000_000_000, 2**62 - 1, -(2**62))


def bytes_or_none(rng: random.Random) -> bytes | None:
    return None if rng.random() < 0.1 else rng.randbytes(rng.choice(SIZES))


def record(rng: random.Random, number: int) -> Record:
    """A record with anything in it."""
    names = ("", "a", "\N{GREEK SMALL LETTER ALPHA}" * 70)
    headers = tuple((rng.choice(names), bytes_or_none(rng)) for _ in range(rng.choice((0, 0, 1, 3))))
    return Record(number, rng.choice(TIMES), bytes_or_none(rng), bytes_or_none(rng), headers)


def rows_of(records: list[Record]) -> pa.RecordBatch:
    headers = [[{"key": name, "value": value} for name, value in each.headers] or None for each in records]
    return pa.RecordBatch.from_pydict(
        {
            "timestamp_ms": pa.array([each.timestamp for each in records], pa.int64()),
            "key": pa.array([each.key for each in records], pa.binary()),
            "value": pa.array([each.value for each in records], pa.binary()),
            "headers": pa.array(headers, HEADER_TYPE),
        }
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_records_of_each_batch_are_those_of_the_codec(seed: int) -> None:
    rng = random.Random(seed)
    records = [record(rng, number) for number in range(300)]
    order = np.array(rng.sample(range(300), 280))
    begins = np.array([0, 1, 17, 120, 279])
    whole = rows_of([record(rng, 0), *records]).slice(1)
    batches = records_of(whole, order, begins)
    sizes = row_sizes(whole)
    assert len(batches) == 5
    for number, rows in enumerate(np.split(order, begins[1:])):
        part = [records[row]._replace(offset=offset) for offset, row in enumerate(rows)]
        times = [each.timestamp for each in part]
        body = batches[number].body
        assert body == encode_records(part, 0, times[0])
        assert batches[number][1:] == (len(part), times[0], max(times))
        assert len(body) <= sizes[rows].sum()


def test_sizes_of_keys_and_values_are_counted() -> None:
    records = [Record(0, 0, b"k" * 7, b"v" * 100, ()), Record(1, 0, None, None, (("name", b"value"),))]
    plain, headed = row_sizes(rows_of(records))
    assert (plain - 107, headed - 9 > plain - 107) == (24, True)


def test_keys_go_where_the_java_client_sends_them() -> None:
    rng = random.Random(7)
    keys = [rng.randbytes(rng.choice(SIZES)) for _ in range(500)]
    expected = [(murmur2(key) & 0x7FFFFFFF) % 12 for key in keys]
    assert partitions_by_key(pa.array(keys), 12).tolist() == expected
    assert partitions_by_key(pa.array([b"ahead", *keys, None])[1:], 12).tolist()[:-1] == expected
    assert partitions_by_key(pa.array([], pa.binary()), 3).shape == np.zeros(0).shape
