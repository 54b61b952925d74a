"""Record bodies: decoding is the inverse of encoding, the scans agree with it, and garbage only raises one error."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.protocol.records import (
    MAX_HEADERS,
    PIECE_BYTES,
    InvalidRecordError,
    Record,
    check_record_chain,
    encode_records,
    encode_varint,
    iter_keys,
    iter_records,
    read_varint,
    record_pieces,
    scan_in_pieces,
    scan_records,
)
from tests.fakes.examples import examples

timestamps = st.integers(-(10**15), 10**15)
headers = st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=5)), max_size=3).map(tuple)
contents = st.tuples(timestamps, st.none() | st.binary(max_size=200), st.none() | st.binary(max_size=200), headers)


def numbered(rows: list[tuple[int, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]]) -> list[Record]:
    return [Record(i, *row) for i, row in enumerate(rows)]


@given(st.integers(-(2**63), 2**63 - 1))
def test_varints_round_trip(value: int) -> None:
    data = encode_varint(value)
    assert read_varint(data, 0) == (value, len(data))


@pytest.mark.parametrize(
    ("value", "data"),
    [(0, "00"), (-1, "01"), (1, "02"), (63, "7e"), (-64, "7f"), (64, "8001"), (300, "d804"), (-(2**31), "ffffffff0f")],
)
def test_varints_are_zigzag(value: int, data: str) -> None:
    assert encode_varint(value).hex() == data


def test_endless_varint_is_refused() -> None:
    with pytest.raises(InvalidRecordError):
        read_varint(b"\xff" * 20, 0)


@given(st.lists(contents, max_size=20).map(numbered), timestamps)
@settings(max_examples=examples(60))
def test_records_round_trip_and_both_walks_accept_them(records: list[Record], base_timestamp: int) -> None:
    body = encode_records(records, 0, base_timestamp)
    assert list(iter_records(body, len(records), 0, base_timestamp)) == records
    check_record_chain(memoryview(body), len(records))
    newest, oldest, sequential, keyless = scan_records(memoryview(body), len(records))
    assert sequential
    assert keyless == any(r.key is None for r in records)
    if records:
        assert base_timestamp + newest == max(r.timestamp for r in records)
        assert base_timestamp + oldest == min(r.timestamp for r in records)


@given(st.lists(contents, min_size=1, max_size=8).map(numbered), st.integers(-3, 3).filter(bool))
@settings(max_examples=examples(60))
def test_a_wrong_count_is_refused_by_every_walk(records: list[Record], off_by: int) -> None:
    body = encode_records(records, 0, 0)
    count = max(0, len(records) + off_by)
    for walk in (check_record_chain, scan_records, lambda b, n: list(iter_records(b, n, 0, 0))):
        with pytest.raises(InvalidRecordError):
            walk(body, count)


@pytest.mark.parametrize("count", [63, 64, 65, 200, 1000])
@pytest.mark.parametrize("size", [0, 30, 54, 55, 56, 57, 100, 8000, 8190])
def test_the_chain_of_many_equal_records(count: int, size: int) -> None:
    records = [Record(i, 5, b"k", bytes(size)) for i in range(count)]
    body = encode_records(records, 0, 5)
    check_record_chain(memoryview(body), count)
    for wrong in (count - 1, count + 1):
        with pytest.raises(InvalidRecordError):
            check_record_chain(memoryview(body), wrong)
    for cut in (body[:-1], body + b"\0"):
        with pytest.raises(InvalidRecordError):
            check_record_chain(memoryview(cut), count)


def test_the_chain_of_records_whose_sizes_change_within_a_run() -> None:
    records = [Record(i, 5, None, bytes(100 if i != 77 else 101)) for i in range(150)]
    body = encode_records(records, 0, 5)
    check_record_chain(body, 150)
    with pytest.raises(InvalidRecordError):
        check_record_chain(body[:-1], 150)


@given(st.binary(max_size=60), st.integers(0, 6))
@settings(max_examples=examples(300))
def test_garbage_raises_one_kind_of_error_and_the_walks_agree(body: bytes, count: int) -> None:
    def accepted(walk: object) -> bool:
        try:
            walk(body, count)  # type: ignore[operator]
        except InvalidRecordError:
            return False
        return True

    decoded = accepted(lambda b, n: list(iter_records(b, n, 0, 0)))
    assert accepted(scan_records) == decoded
    if decoded:
        assert accepted(check_record_chain)


def test_scan_notices_offsets_out_of_order() -> None:
    body = encode_records([Record(0, 1), Record(2, 1), Record(1, 1)], 0, 1)
    assert not scan_records(body, 3)[2]


def test_log_append_time_replaces_the_records_own() -> None:
    body = encode_records([Record(0, 7), Record(1, 9)], 0, 7)
    assert [r.timestamp for r in iter_records(body, 2, 0, 7, log_append_time=50)] == [50, 50]


def test_a_header_name_that_is_no_utf8_is_readable() -> None:
    body = bytes.fromhex("16000000026b02760202ff01")
    assert next(iter_records(body, 1, 0, 0)).headers == (("\ufffd", None),)


@given(st.lists(contents, max_size=20).map(numbered))
@settings(max_examples=examples(60))
def test_iter_keys_tells_keys_and_whether_there_is_a_value(records: list[Record]) -> None:
    body = encode_records(records, 0, 0)
    assert list(iter_keys(body, len(records))) == [(r.offset, r.key, r.value is not None) for r in records]


@given(st.binary(max_size=60), st.integers(0, 6))
@settings(max_examples=examples(200))
def test_keys_of_garbage_raise_one_kind_of_error(body: bytes, count: int) -> None:
    try:
        list(iter_keys(body, count))
    except InvalidRecordError:
        pass


# -- large bodies


def body_of(sizes: list[int]) -> tuple[bytes, list[Record]]:
    records = [Record(index, 5 + index % 7, b"%d" % index, b"v" * size) for index, size in enumerate(sizes)]
    return encode_records(records, 0, 5), records


LARGE_BODIES = {
    "small records": [index % 90 for index in range(4000)],
    "records larger than a piece": [10, PIECE_BYTES * 2, 10, PIECE_BYTES + 1, 10],
    "one record": [PIECE_BYTES * 2],
}


@pytest.mark.parametrize("sizes", LARGE_BODIES.values(), ids=list(LARGE_BODIES))
def test_a_large_body_is_read_in_pieces_as_a_small_one_is(sizes: list[int]) -> None:
    body, records = body_of(sizes)
    assert len(body) > PIECE_BYTES
    pieces = list(record_pieces(memoryview(body), len(records)))
    assert b"".join(piece for _, piece in pieces) == body
    assert sum(number for number, _ in pieces) == len(records)
    assert all(len(piece) <= PIECE_BYTES or number == 1 for number, piece in pieces)
    assert list(iter_records(body, len(records), 0, 5)) == records
    assert [key for _, key, _ in iter_keys(body, len(records))] == [record.key for record in records]
    gave_way: list[int] = []
    assert scan_in_pieces(body, len(records), lambda: gave_way.append(1)) == scan_records(body, len(records))
    assert len(gave_way) == len(pieces)


@pytest.mark.parametrize("off_by", [-1, 1])
def test_a_wrong_count_of_a_large_body_is_refused(off_by: int) -> None:
    body, records = body_of(LARGE_BODIES["small records"])
    for walk in (
        lambda count: list(record_pieces(body, count)),
        lambda count: list(iter_records(body, count, 0, 0)),
        lambda count: list(iter_keys(body, count)),
        lambda count: scan_in_pieces(body, count, lambda: None),
    ):
        with pytest.raises(InvalidRecordError):
            walk(len(records) + off_by)


@pytest.mark.parametrize("damage", [b"\x01", b"\xff" * 11, b"\xff\xff\xff\xff\x0f"])
def test_a_damaged_length_in_a_large_body_is_refused(damage: bytes) -> None:
    body, records = body_of(LARGE_BODIES["small records"])
    second = len(encode_records(records[:3000], 0, 5))
    broken = body[:second] + damage + body[second + len(damage) :]
    with pytest.raises(InvalidRecordError):
        list(record_pieces(broken, len(records)))


def test_the_offsets_and_times_of_a_large_body_are_compared_across_pieces() -> None:
    sizes = LARGE_BODIES["small records"]
    records = [Record(index, 5, b"k", b"v" * size) for index, size in enumerate(sizes)]
    records[-1] = records[-1]._replace(offset=7, timestamp=1, key=None)
    records[2000] = records[2000]._replace(timestamp=9)
    body = encode_records(records, 0, 5)
    assert scan_in_pieces(body, len(records), lambda: None) == (4, -4, False, True)


def test_a_record_with_too_many_headers_is_refused() -> None:
    rest = b"\0\0\0\x01\x01" + encode_varint(MAX_HEADERS + 1) + b"\0\0" * (MAX_HEADERS + 1)
    body = encode_varint(len(rest)) + rest
    for walk in (lambda: scan_records(body, 1), lambda: list(iter_records(body, 1, 0, 0))):
        with pytest.raises(InvalidRecordError, match="more than 100000"):
            walk()
