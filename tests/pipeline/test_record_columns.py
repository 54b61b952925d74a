"""Rows by column against the codec that reads record by record."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("pyarrow")
pytest.importorskip("numpy")

from odradek.pipeline.record_columns import arrow_chunks
from odradek.pipeline.rows import COLUMNS, Wanted
from odradek.protocol.compression import Codec
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.errors import CorruptDataError
from odradek.protocol.record_batch import TimestampType, assemble, build_batch, iter_batches, parse_batch, read_batch
from odradek.protocol.records import Record, encode_varint
from tests.fakes.examples import examples

# Lengths around the limits of one- and two-byte varints, and runs of equal ones, which are read in another way.
_BYTES = st.one_of(st.none(), st.binary(max_size=70), st.sampled_from([b"x" * 63, b"y" * 64, b"z" * 8200]))
_HEADERS = st.lists(st.tuples(st.text(max_size=3), st.one_of(st.none(), st.binary(max_size=70))), max_size=3)
_RECORDS = st.builds(
    Record,
    timestamp=st.integers(-1, 2**42),
    key=_BYTES,
    value=_BYTES,
    headers=_HEADERS.map(tuple),
)
_BATCHES = st.lists(
    st.tuples(
        st.one_of(
            st.lists(_RECORDS, min_size=1, max_size=8),
            st.tuples(st.integers(17, 90), _RECORDS).map(lambda each: [each[1]] * each[0]),
        ),
        st.sampled_from(list(Codec)),
        st.sampled_from([-1, 0, 2**31 - 3]),
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
)


def stored(shapes: Sequence[Any], gap: int = 0) -> bytes:
    log, offset = [], 0
    for records, codec, sequence, appended in shapes:
        log.append(
            build_batch(
                records,
                base_offset=offset,
                codec=codec,
                base_sequence=sequence,
                producer_id=9 if sequence >= 0 else -1,
                timestamp_type=TimestampType(appended),
                log_append_time_ms=1_700_000_000_000,
            )
        )
        offset += len(records) + gap
    return b"".join(log)


def rows_of(data: bytes, **wanted: Any) -> list[dict[str, Any]]:
    chunks = arrow_chunks(iter_batches(data), Wanted("t", 3, **{"start": 0, "end": 2**60, **wanted}))
    return [row for chunk in chunks for row in chunk.to_pylist()]


def millis(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def as_record(row: dict[str, Any]) -> Record:
    headers = tuple((each["key"], each["value"]) for each in row["headers"])
    return Record(row["offset"], millis(row["timestamp"]), row["key"], row["value"], headers)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_BATCHES, st.integers(0, 120), st.integers(1, 120))
def test_columns_hold_what_the_codec_reads(shapes: Any, start: int, count: int) -> None:
    data = stored(shapes, gap=1)
    batches = list(iter_batches(data))
    expected = [
        (record, batch) for batch in batches for record in batch.records() if start <= record.offset < start + count
    ]
    rows = rows_of(data, start=start, end=start + count)
    assert [as_record(row) for row in rows] == [record for record, _ in expected]
    for row, (record, batch) in zip(rows, expected, strict=True):
        first = batch.base_sequence
        assert row["sequence"] == (-1 if first < 0 else (first + record.offset - batch.base_offset) % 2**31)
        assert (row["base_offset"], row["batch_size"], row["codec"]) == (
            batch.base_offset,
            batch.size_bytes,
            batch.codec.name.lower(),
        )
        assert row["timestamp_type"] == ("LogAppendTime" if batch.timestamp_type else "CreateTime")
        assert (row["topic"], row["partition"], row["producer_id"]) == ("t", 3, batch.producer_id)


@pytest.mark.parametrize("columns", [("offset", "sequence", "control"), ("value", "offset"), ("timestamp",)])
def test_chosen_columns_are_those_of_all(columns: tuple[str, ...]) -> None:
    shapes = [([Record(timestamp=n, value=b"v" * n)] * 30, Codec.ZSTD, n, False) for n in range(20)]
    data = stored(shapes) + build_end_txn_batch(
        EndTxnMarker(commit=False, coordinator_epoch=0), base_offset=600, producer_id=9, producer_epoch=0, timestamp=5
    )
    whole = rows_of(data)
    assert rows_of(data, columns=columns) == [{name: row[name] for name in columns} for row in whole]
    assert [row["control"] for row in whole[-2:]] == [None, "abort"]


def test_offsets_come_from_the_headers_where_they_say_all_and_else_from_the_records() -> None:
    dense = build_batch([Record(value=b"v")] * 3, codec=Codec.GZIP)
    broken = bytearray(dense)
    broken[-6:] = bytes(6)  # gzip's trailer, so that inflating would fail
    parsed = read_batch(broken)
    tail = (parsed.attributes, 2, -1, -1, -1, -1, -1, 3)
    unreadable = assemble(0, 0, tail, bytes(parsed.data[61:]))
    assert [row["offset"] for row in rows_of(unreadable, columns=("offset",))] == [0, 1, 2]
    with pytest.raises(CorruptDataError):
        rows_of(unreadable, columns=("offset", "value"))
    compacted = build_batch([Record(1), Record(4)], base_offset=0, keep_offsets=True, last_offset=6)
    assert [row["offset"] for row in rows_of(compacted, columns=("offset",))] == [1, 4]


def test_header_names_that_are_no_text_show_replacement_characters() -> None:
    body = b"\0\0\0" + b"\x01\x01" + encode_varint(1) + encode_varint(2) + b"a\xff" + b"\x01"
    body = encode_varint(len(body)) + body
    data = assemble(0, 0, (0, 0, 5, 5, -1, -1, -1, 1), body)
    assert rows_of(data)[0]["headers"] == [{"key": "a�", "value": None}]


@pytest.mark.parametrize("position", range(40))
def test_malformed_records_are_refused_as_the_codec_refuses_them(position: int) -> None:
    body = bytearray(build_batch([Record(0, 5, b"key", b"value", (("h", b"1"),))] * 2)[61:])
    for wrong in (0x01, 0x7F, 0xFF, 0x7E):
        changed = bytearray(body)
        changed[position % len(body)] = wrong
        data = assemble(0, 0, (0, 1, 5, 5, -1, -1, -1, 2), bytes(changed))
        assert _outcome(_as_rows, data) == _outcome(_as_records, data)


def _as_rows(data: bytes) -> list[Record]:
    return [as_record(row) for row in rows_of(data)]


def _as_records(data: bytes) -> list[Record]:
    return list(parse_batch(data).records())


def _outcome(read: Callable[[bytes], list[Record]], data: bytes) -> tuple[str, Any]:
    try:
        return "records", read(data)
    except CorruptDataError as error:
        return type(error).__name__, error.message


def test_a_time_range_leaves_out_records_and_whole_batches() -> None:
    shapes = [([Record(timestamp=10 * n + k) for k in range(10)], Codec.NONE, -1, False) for n in range(10)]
    found = [millis(row["timestamp"]) for row in rows_of(stored(shapes), from_ms=35, until_ms=62)]
    assert found == list(range(35, 62))


def test_rows_of_a_batch_have_every_column() -> None:
    data = stored([([Record(value=b"v")], Codec.NONE, 0, False)])
    assert tuple(rows_of(data)[0]) == tuple(COLUMNS)


@pytest.mark.parametrize(("in_task", "frozen"), [(True, 1), (False, 0)])
def test_a_worker_freezes_what_it_imported_once(monkeypatch: pytest.MonkeyPatch, in_task: bool, frozen: int) -> None:
    pyspark = pytest.importorskip("pyspark")
    from odradek.pipeline.rows import spare_imports

    calls: list[int] = []
    monkeypatch.setattr(gc, "freeze", lambda: calls.append(1))
    monkeypatch.setattr(pyspark.TaskContext, "get", lambda: object() if in_task else None)
    spare_imports.cache_clear()
    spare_imports()
    spare_imports()
    assert len(calls) == frozen
    spare_imports.cache_clear()
