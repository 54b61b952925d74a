"""Record batches: round trips, agreement with another implementation, rewriting in place, refusal of damage."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from aiokafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.protocol.compression import CompressionError
from odradek.protocol.errors import ErrorCode
from odradek.protocol.record_batch import (
    CODEC_MASK,
    CONTROL_FLAG,
    DELETE_HORIZON_FLAG,
    MAX_SEQUENCE,
    TIMESTAMP_TYPE_FLAG,
    TRANSACTIONAL_FLAG,
    Codec,
    CorruptBatchError,
    Record,
    TimestampType,
    assign_offsets,
    build_batch,
    check_crc,
    codec_number,
    empty_batch,
    is_transactional_batch,
    iter_batches,
    next_sequence,
    parse_batch,
    read_batch,
)
from tests.fakes.examples import examples

VECTORS = Path(__file__).parent.parent / "vectors"
headers = st.lists(st.tuples(st.text(max_size=5), st.binary(max_size=5)), max_size=3).map(tuple)
rows = st.lists(
    st.tuples(st.integers(0, 10**13), st.none() | st.binary(max_size=50), st.none() | st.binary(max_size=300), headers),
    min_size=1,
    max_size=10,
)


def simple(*values: bytes, **options: object) -> bytes:
    return build_batch([Record(0, 1000 + i, b"k", v) for i, v in enumerate(values)], **options)  # type: ignore[arg-type]


@given(rows, st.sampled_from(Codec), st.integers(0, 2**40), st.booleans())
@settings(max_examples=examples(80))
def test_build_and_parse_are_inverse(data: list[tuple[object, ...]], codec: Codec, base: int, txn: bool) -> None:
    records = [Record(base + i, *row) for i, row in enumerate(data)]  # type: ignore[arg-type]
    raw = build_batch(
        records,
        base_offset=base,
        leader_epoch=3,
        codec=codec,
        producer_id=7,
        producer_epoch=2,
        base_sequence=11,
        transactional=txn,
    )
    batch = parse_batch(raw)
    assert list(batch.records()) == records
    assert batch.is_crc_valid
    assert (batch.base_offset, batch.last_offset, batch.next_offset) == (base, base + len(data) - 1, base + len(data))
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (7, 2, 11)
    assert batch.last_sequence == 11 + len(data) - 1
    assert (batch.codec, batch.is_transactional, batch.is_control) == (codec, txn, False)
    assert (batch.partition_leader_epoch, batch.record_count, batch.size_bytes) == (3, len(data), len(raw))
    assert batch.max_timestamp == max(r.timestamp for r in records)


@given(rows, st.sampled_from(Codec))
@settings(max_examples=examples(60))
def test_record_batch_is_read_by_another_implementation(data: list[tuple[object, ...]], codec: Codec) -> None:
    records = [Record(i, *row) for i, row in enumerate(data)]  # type: ignore[arg-type]
    theirs = DefaultRecordBatch(bytearray(build_batch(records, codec=codec)))
    assert theirs.validate_crc()
    read = [(r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in theirs]
    assert read == [tuple(r) for r in records]


@given(rows, st.sampled_from(Codec))
@settings(max_examples=examples(60))
def test_record_batch_of_another_implementation_is_read(data: list[tuple[object, ...]], codec: Codec) -> None:
    builder = DefaultRecordBatchBuilder(2, int(codec), 0, -1, -1, -1, 1 << 20)
    for i, (timestamp, key, value, names) in enumerate(data):
        builder.append(i, timestamp, key, value, list(names))  # type: ignore[call-overload]
    batch = parse_batch(bytes(builder.build()))
    assert batch.is_crc_valid
    assert [tuple(r) for r in batch.records()] == [(i, *row) for i, row in enumerate(data)]


def test_record_batches_that_kafka_stored_are_read() -> None:
    """Batches that Kafka itself wrote, in every codec, decode and build again to the same bytes where it is ours."""
    with gzip.open(VECTORS / "produce_batches.jsonl.gz", "rt") as lines:
        stored = [bytes.fromhex(row["stored"]) for row in map(json.loads, lines) if row["stored"]]
    seen = set()
    for tail in stored:
        batch = parse_batch(bytes(8) + tail)
        assert batch.is_crc_valid
        assert len(list(batch.records())) == batch.record_count
        seen.add(batch.codec)
    assert seen == set(Codec)


def test_record_batch_attributes_are_kafkas_bits() -> None:
    bits = (CODEC_MASK, TIMESTAMP_TYPE_FLAG, TRANSACTIONAL_FLAG, CONTROL_FLAG, DELETE_HORIZON_FLAG)
    assert bits == (0x07, 0x08, 0x10, 0x20, 0x40)
    batch = parse_batch(simple(b"v", transactional=True, control=True, codec=Codec.ZSTD))
    assert batch.attributes == 0x34


def test_record_batch_with_log_append_time_gives_it_to_all_records() -> None:
    raw = simple(b"a", b"b", timestamp_type=TimestampType.LOG_APPEND_TIME, log_append_time_ms=77)
    batch = parse_batch(raw)
    assert batch.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert [r.timestamp for r in batch.records()] == [77, 77]


def test_delete_horizon_takes_the_place_of_the_base_timestamp() -> None:
    batch = parse_batch(simple(b"a", b"b", delete_horizon_ms=5_000_000))
    assert (batch.delete_horizon_ms, batch.base_timestamp) == (5_000_000, 5_000_000)
    assert [r.timestamp for r in batch.records()] == [1000, 1001]


def test_kept_offsets_may_have_gaps() -> None:
    records = [Record(12, 5, b"a"), Record(19, 6, b"b")]
    batch = parse_batch(build_batch(records, base_offset=10, keep_offsets=True, last_offset=20))
    assert list(batch.records()) == records
    assert (batch.base_offset, batch.last_offset, batch.record_count) == (10, 20, 2)


def test_offsets_and_epoch_are_outside_the_checksum() -> None:
    raw = bytearray(simple(b"v"))
    assign_offsets(raw, 1 << 40, 9)
    batch = parse_batch(raw)
    assert (batch.base_offset, batch.partition_leader_epoch) == (1 << 40, 9)
    assert batch.is_crc_valid


def test_empty_batch_keeps_what_a_producer_needs() -> None:
    full = parse_batch(
        simple(b"a", b"b", base_offset=5, producer_id=3, producer_epoch=1, base_sequence=8, transactional=True)
    )
    empty = parse_batch(empty_batch(full))
    assert empty.is_crc_valid
    assert list(empty.records()) == []
    for name in ("base_offset", "last_offset", "producer_id", "producer_epoch", "base_sequence", "last_sequence"):
        assert getattr(empty, name) == getattr(full, name)
    assert empty.is_transactional


@pytest.mark.parametrize("at", range(17, 80, 7))
def test_a_flipped_bit_breaks_the_checksum(at: int) -> None:
    raw = bytearray(simple(b"some value", b"another"))
    raw[at] ^= 0x10
    with pytest.raises(CorruptBatchError):
        check_crc(parse_batch(raw))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({16: 3}, "Invalid magic found in record: 3"),
        ({16: 255}, "Invalid magic found in record: -1"),
        ({8: 0, 9: 0, 10: 0, 11: 5}, "Record size 5 is less than the minimum record overhead (14)"),
        ({8: 255}, None),
        ({16: 1}, None),
        ({11: 20}, None),
    ],
)
def test_a_damaged_frame_is_refused(change: dict[int, int], message: str | None) -> None:
    raw = bytearray(simple(b"v"))
    for at, byte in change.items():
        raw[at] = byte
    with pytest.raises(CorruptBatchError) as caught:
        parse_batch(raw)
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE
    assert message is None or caught.value.message == message


def test_iterating_stops_at_a_cut_off_batch() -> None:
    raw = simple(b"a", base_offset=0) + simple(b"b", base_offset=1)
    assert [b.base_offset for b in iter_batches(raw)] == [0, 1]
    assert [b.base_offset for b in iter_batches(raw[:-1])] == [0]
    assert [b.base_offset for b in iter_batches([memoryview(raw), memoryview(raw)])] == [0, 1, 0, 1]
    assert list(iter_batches(b"")) == []


def test_record_batch_with_an_unknown_codec_is_refused() -> None:
    raw = bytearray(simple(b"v"))
    raw[22] |= 5
    with pytest.raises(CompressionError, match="codec 5") as caught:
        list(read_batch(raw).records())
    assert caught.value.code is ErrorCode.UNKNOWN_SERVER_ERROR


def test_next_sequence_wraps_round_to_zero() -> None:
    assert next_sequence(MAX_SEQUENCE, 1) == 0
    assert next_sequence(MAX_SEQUENCE - 1, 3) == 1


def test_a_batch_is_a_view() -> None:
    raw = simple(b"v")
    assert memoryview(parse_batch(raw).data).obj is raw


def test_a_look_at_bytes_of_any_length() -> None:
    raw = simple(b"v", transactional=True, codec=Codec.ZSTD)
    assert is_transactional_batch(raw)
    assert not is_transactional_batch(simple(b"v"))
    assert not is_transactional_batch(raw[:22])
    assert not is_transactional_batch(raw[:16] + b"\1" + raw[17:])
    assert (codec_number(raw), codec_number(simple(b"v")), codec_number(raw[:22])) == (4, 0, None)
