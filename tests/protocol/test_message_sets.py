"""Message sets of formats 0 and 1: what real brokers wrote is read, and what is written is read again."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.protocol.compression import Codec, CompressionError, compress
from odradek.protocol.errors import CorruptDataError, ErrorCode
from odradek.protocol.long_work import LongWork
from odradek.protocol.message_sets import (
    MessageTooLargeError,
    as_kept,
    encode_message,
    filling,
    format_of,
    in_format,
    is_message_set,
    read_messages,
    records_of,
    to_batch,
    to_message_set,
)
from odradek.protocol.record_batch import TimestampType, batch_size_at, build_batch, read_batch
from odradek.protocol.records import Record
from tests.fakes.examples import examples

CODECS = st.sampled_from([Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
TEXTS = st.none() | st.binary(max_size=40)
ROWS = st.tuples(st.just(0), st.integers(-1, 1 << 50), TEXTS, TEXTS).map(lambda row: Record(*row))
RECORDS = st.lists(ROWS, min_size=1, max_size=8)


def placed(rows: list[Record], base: int) -> list[Record]:
    return [row._replace(offset=base + index) for index, row in enumerate(rows)]


@settings(max_examples=examples(100))
@given(RECORDS, CODECS, st.sampled_from([0, 1]), st.integers(0, 1 << 40))
def test_a_batch_is_converted_and_read_again(rows: list[Record], codec: Codec, magic: int, base: int) -> None:
    batch = read_batch(build_batch(rows, base_offset=base, codec=codec))
    data = to_message_set(batch, magic)
    expected = placed(rows, base)
    if not magic:
        expected = [row._replace(timestamp=-1) for row in expected]
    assert records_of(data) == expected
    messages = list(read_messages(data))
    assert (len(messages) == 1) if codec else len(messages) == len(rows)
    assert messages[-1].offset == base + len(rows) - 1
    sent = read_batch(to_batch(data, LongWork()))
    assert sent.codec is codec
    assert list(sent.records()) == [row._replace(offset=index) for index, row in enumerate(expected)]


@settings(max_examples=examples(200))
@given(st.binary(max_size=80), CODECS, st.sampled_from([0, 1]), st.booleans())
def test_any_bytes_are_read_or_refused(data: bytes, codec: Codec, magic: int, wrapped: bool) -> None:
    buf = encode_message(magic, 0, 5, None, compress(codec, data), codec) if wrapped else data
    try:
        sent = to_batch(buf, LongWork())
    except CorruptDataError:
        return
    assert bool(sent) == (batch_size_at(buf) is not None)


@settings(max_examples=examples(100))
@given(RECORDS, CODECS, st.sampled_from([0, 1]), st.data())
def test_a_damaged_set_is_refused(rows: list[Record], codec: Codec, magic: int, data: st.DataObject) -> None:
    whole = bytearray(to_message_set(read_batch(build_batch(rows[:1], codec=codec)), magic))
    whole[data.draw(st.integers(16, len(whole) - 1))] ^= 0x55
    with pytest.raises(CorruptDataError):
        to_batch(bytes(whole), LongWork())


def test_a_message_of_format_1_has_this_form() -> None:
    """KIP-32: offset, size, CRC-32 of the rest, magic, attributes, timestamp, key, value."""
    rest = bytes((1, 0)) + struct.pack(">q", 1_700_000_000_000) + b"\0\0\0\2k0\0\0\0\2v0"
    expected = struct.pack(">qiI", 7, 4 + len(rest), zlib.crc32(rest)) + rest
    assert encode_message(1, 7, 1_700_000_000_000, b"k0", b"v0") == expected


def test_offsets_in_a_wrapper_of_format_1_are_relative() -> None:
    batch = read_batch(build_batch([Record(0, 5, b"k", b"v")] * 3, base_offset=100, codec=Codec.GZIP))
    (wrapper,) = read_messages(to_message_set(batch, 1))
    assert wrapper.value is not None
    inner = zlib.decompress(wrapper.value, 31)
    assert [message.offset for message in read_messages(inner)] == [0, 1, 2]
    (old,) = read_messages(to_message_set(batch, 0))
    assert old.value is not None
    assert [message.offset for message in read_messages(zlib.decompress(old.value, 31))] == [100, 101, 102]


def test_the_checksum_of_an_lz4_frame_in_format_0_covers_its_magic() -> None:
    """As KIP-57 describes the defect of the first producers."""
    from xxhash import xxh32_intdigest

    batch = read_batch(build_batch([Record(0, 5, b"k", b"v")], codec=Codec.LZ4))
    frames = []
    for magic in (0, 1):
        (wrapper,) = read_messages(to_message_set(batch, magic))
        assert wrapper.value is not None
        frames.append(wrapper.value)
    for frame, start in zip(frames, (0, 4), strict=True):
        assert frame[6] == xxh32_intdigest(frame[start:6]) >> 8 & 0xFF


def test_the_time_of_the_broker_is_that_of_all_messages() -> None:
    rows = [Record(0, 5, b"k", b"v"), Record(0, 6, b"k", b"v")]
    batch = read_batch(build_batch(rows, timestamp_type=TimestampType.LOG_APPEND_TIME, log_append_time_ms=99))
    messages = list(read_messages(to_message_set(batch, 1)))
    assert [(message.has_append_time, message.timestamp) for message in messages] == [(True, 99)] * 2
    assert not any(message.has_append_time for message in read_messages(to_message_set(batch, 0)))


def test_what_formats_0_and_1_do_not_have() -> None:
    rows = [Record(0, 5, b"k", b"v")]
    assert to_message_set(read_batch(build_batch(rows, control=True, transactional=True)), 1) == b""
    with pytest.raises(CompressionError) as refused:
        to_message_set(read_batch(build_batch(rows, codec=Codec.ZSTD)), 1)
    assert refused.value.code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_messages_before_an_offset_are_left_out_unless_they_are_compressed() -> None:
    rows = [Record(0, 5, b"k", b"v")] * 3
    plain, packed = (read_batch(build_batch(rows, base_offset=10, codec=codec)) for codec in (Codec.NONE, Codec.GZIP))
    assert [record.offset for record in records_of(to_message_set(plain, 1, 11))] == [11, 12]
    assert [record.offset for record in records_of(to_message_set(packed, 1, 11))] == [10, 11, 12]
    assert to_message_set(plain, 1, 13) == b""


@pytest.mark.parametrize("size", [0, 1, 11, 12, 60, 61, 200])
def test_filling_is_cut_off_for_every_reader(size: int) -> None:
    data = filling(size)
    assert len(data) == size
    assert batch_size_at(data) is None


def packed(
    inner: bytes, *, magic: int = 1, offset: int = 0, codec: Codec = Codec.GZIP, value: bytes | None = b""
) -> bytes:
    """A message that has others in it; `value`: None for a null in place of them."""
    return encode_message(magic, offset, 5, None, None if value is None else compress(codec, inner), codec)


ONE = encode_message(1, 0, 5, b"k", b"v")
SECOND = encode_message(1, 1, 6, b"k", b"v")


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (ONE + packed(ONE), "is not the only one"),
        (ONE + encode_message(0, 1, 5, b"k", b"v"), "in different formats"),
        (packed(ONE, value=None), "without a value"),
        (packed(b""), "without messages"),
        (packed(ONE + SECOND, codec=Codec.ZSTD), "not compressed with zstd"),
        (packed(ONE + SECOND + encode_message(1, 2, 5, b"k", b"v"), offset=1), "lies before"),
        (packed(packed(ONE)), "in a compressed message"),
        (packed(encode_message(0, 0, 5, b"k", b"v")), "another format"),
        (packed(ONE[:-1] + b"w"), "checksum"),
        (ONE[:-1] + b"w", "checksum"),
        (ONE + build_batch([Record(0, 5, b"k", b"v")]), "format 2 among"),
        (struct.pack(">qi", 0, 13) + bytes(13), "13"),
    ],
)
def test_a_set_that_breaks_the_rules_of_its_format_is_refused(sent: bytes, why: str) -> None:
    with pytest.raises(CorruptDataError, match=why):
        to_batch(sent, LongWork())


def test_a_message_of_a_set_has_a_largest_size() -> None:
    whole = ONE + encode_message(1, 1, 6, b"k", b"longer")
    largest = len(whole) - len(ONE)
    assert read_batch(to_batch(whole, LongWork(), largest)).record_count == 2
    with pytest.raises(MessageTooLargeError):
        to_batch(whole, LongWork(), largest - 1)


def test_the_offset_of_a_wrapper_is_that_of_its_last_message_or_unknown() -> None:
    for offset, found in ((41, [40, 41]), (1, [0, 1]), (0, [0, 1])):
        assert [record.offset for record in records_of(packed(ONE + SECOND, offset=offset))] == found
    cut = ONE + SECOND + SECOND[:-1]
    assert [record.offset for record in records_of(packed(cut, offset=41))] == [40, 41]


def test_a_set_with_the_brokers_time_becomes_a_batch_with_it() -> None:
    with_time = encode_message(1, 0, 7, b"k", b"v", 8) + encode_message(1, 1, 9, b"k", b"v")
    batch = read_batch(to_batch(with_time, LongWork()))
    assert (batch.timestamp_type, batch.max_timestamp) == (TimestampType.LOG_APPEND_TIME, 9)


def test_which_bytes_are_message_sets() -> None:
    assert is_message_set(b"")
    assert is_message_set(encode_message(1, 0, 5, None, None))
    assert not is_message_set(build_batch([Record(0, 5, b"k", b"v")]))


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_a_log_of_an_older_format_has_batches_that_clients_get_as_messages(codec: Codec) -> None:
    batch = read_batch(build_batch(placed([Record(0, 5, b"k", b"v")] * 3, 0), codec=codec))
    assert (format_of(batch), as_kept(batch)) == (2, batch.data)
    first, zeroth = in_format(batch, 1), in_format(batch, 0)
    assert [(format_of(each), each.is_crc_valid, each.codec) for each in (first, zeroth)] == [
        (1, True, codec),
        (0, True, codec),
    ]
    assert records_of(as_kept(first)) == placed([Record(0, 5, b"k", b"v")] * 3, 0)
    assert records_of(as_kept(zeroth)) == placed([Record(0, -1, b"k", b"v")] * 3, 0)
    assert [message.magic for message in read_messages(as_kept(first) + as_kept(zeroth))] == (
        [1, 1, 1, 0, 0, 0] if codec is Codec.NONE else [1, 0]
    )


def test_messages_before_an_offset_are_left_out_of_a_log_of_format_1() -> None:
    batch = in_format(read_batch(build_batch([Record(0, 5, b"k", b"v")] * 3, base_offset=7)), 1)
    assert [record.offset for record in records_of(as_kept(batch, 8))] == [8, 9]
