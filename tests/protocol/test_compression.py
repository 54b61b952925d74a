"""Codecs: round trips, foreign data, bounds on inflation, and one kind of error for garbage."""

from __future__ import annotations

import gzip
import struct
import tracemalloc

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.protocol.compression import (
    Codec,
    CompressionError,
    InflatesTooFarError,
    codec_of,
    compress,
    compress_pieces,
    decompress,
)
from tests.fakes.examples import examples

PACKED = [c for c in Codec if c]


@given(st.binary(max_size=5000), st.sampled_from(Codec))
@settings(max_examples=examples(100))
def test_compressed_data_come_back(data: bytes, codec: Codec) -> None:
    assert bytes(decompress(codec, compress(codec, data))) == data


@given(st.lists(st.binary(max_size=40_000), max_size=5), st.sampled_from(Codec))
@settings(max_examples=examples(100))
def test_pieces_are_compressed_as_the_whole_is(pieces: list[bytes], codec: Codec) -> None:
    whole = b"".join(pieces)
    packed = compress_pieces(codec, pieces)
    assert bytes(decompress(codec, packed)) == whole
    if codec in (Codec.NONE, Codec.SNAPPY, Codec.GZIP):
        assert packed == compress(codec, whole)


@pytest.mark.parametrize("codec", Codec)
def test_large_data_and_memoryviews(codec: Codec) -> None:
    data = bytes(range(256)) * 20_000
    assert bytes(decompress(codec, memoryview(compress(codec, memoryview(data))))) == data


@pytest.mark.parametrize(
    ("codec", "levels"), [(Codec.GZIP, [-1, 1, 9]), (Codec.LZ4, [1, 9, 17]), (Codec.ZSTD, [-5, 1, 19])]
)
def test_data_compressed_at_each_level_come_back(codec: Codec, levels: list[int]) -> None:
    data = b"some text that repeats, some text that repeats" * 50
    for level in levels:
        assert bytes(decompress(codec, compress(codec, data, level))) == data


def test_snappy_is_written_in_xerial_framing_of_32_kib_blocks() -> None:
    data = bytes(70_000)
    packed = compress(Codec.SNAPPY, data)
    magic, version, compatible = struct.unpack_from(">8sii", packed)
    assert (magic, version, compatible) == (b"\x82SNAPPY\0", 1, 1)
    sizes = []
    pos = 16
    while pos < len(packed):
        (size,) = struct.unpack_from(">i", packed, pos)
        sizes.append(len(cramjam.snappy.decompress_raw(packed[pos + 4 : pos + 4 + size])))
        pos += 4 + size
    assert sizes == [32768, 32768, 4464]


def test_plain_snappy_is_read() -> None:
    assert bytes(decompress(Codec.SNAPPY, bytes(cramjam.snappy.compress_raw(b"abc" * 100)))) == b"abc" * 100


def test_lz4_frames_have_independent_blocks() -> None:
    flags = compress(Codec.LZ4, bytes(200_000))[4]
    assert flags >> 6 == 1
    assert flags & 0x20


def test_gzip_of_several_members_is_read() -> None:
    data = gzip.compress(b"a" * 100_000) + gzip.compress(b"b" * 300_000)
    assert bytes(decompress(Codec.GZIP, data)) == b"a" * 100_000 + b"b" * 300_000


@pytest.mark.parametrize("codec", PACKED)
def test_inflation_is_bounded(codec: Codec) -> None:
    bomb = compress(codec, bytes(50_000_000))
    assert len(bomb) < 3_000_000
    tracemalloc.start()
    try:
        with pytest.raises(CompressionError, match="beyond 1000000 bytes"):
            decompress(codec, bomb, 1_000_000)
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


def test_a_snappy_block_that_only_claims_to_be_large_is_refused_without_allocating() -> None:
    with pytest.raises(CompressionError, match="cannot come"):
        decompress(Codec.SNAPPY, b"\xff\xff\xff\x7f" + bytes(20))


@pytest.mark.parametrize("codec", PACKED)
@given(data=st.binary(min_size=1, max_size=100))
@settings(max_examples=examples(60))
def test_garbage_raises_one_kind_of_error(codec: Codec, data: bytes) -> None:
    try:
        decompress(codec, data, 100_000)
    except CompressionError:
        pass


@pytest.mark.parametrize("codec", PACKED)
@given(at=st.integers(0, 10**6), flip=st.integers(1, 255))
@settings(max_examples=examples(60))
def test_damage_raises_one_kind_of_error(codec: Codec, at: int, flip: int) -> None:
    packed = bytearray(compress(codec, b"the quick brown fox" * 40))
    packed[at % len(packed)] ^= flip
    try:
        decompress(codec, bytes(packed), 100_000)
    except CompressionError:
        pass


@pytest.mark.parametrize("codec", PACKED)
def test_truncated_data_is_refused(codec: Codec) -> None:
    packed = compress(codec, bytes(range(256)) * 20)
    with pytest.raises(CompressionError):
        decompress(codec, packed[: len(packed) // 2])


def test_codec_of_an_unknown_number_is_refused() -> None:
    assert [codec_of(0x30 | n) for n in range(5)] == list(Codec)
    for number in (5, 6, 7):
        with pytest.raises(CompressionError):
            codec_of(number)


@pytest.mark.parametrize(
    ("codec", "tail", "read"),
    [
        (Codec.GZIP, b"\0" * 20, True),
        (Codec.GZIP, b"\xff" * 5, True),
        (Codec.LZ4, b"\0" * 20, True),
        (Codec.LZ4, b"\xff" * 5, True),
        (Codec.SNAPPY, b"\0\0\0", True),
        (Codec.SNAPPY, b"\xff" * 5, False),
        (Codec.ZSTD, b"\0", False),
    ],
)
def test_decompress_takes_trailing_bytes_as_kafka_does(codec: Codec, tail: bytes, read: bool) -> None:
    """Observed: which produce requests with bytes behind the compressed records Kafka accepts."""
    packed = compress(codec, b"records" * 20) + tail
    if read:
        assert bytes(decompress(codec, packed)) == b"records" * 20
    else:
        with pytest.raises(CompressionError):
            decompress(codec, packed)


def test_decompress_of_concatenated_frames_reads_as_java_does() -> None:
    """Observed likewise: only the first LZ4 frame counts; other codecs go on."""
    for codec in PACKED:
        expected = b"ab" * (1 if codec is Codec.LZ4 else 2)
        assert bytes(decompress(codec, compress(codec, b"ab") * 2)) == expected


def test_a_gzip_bomb_with_trailing_bytes_is_bounded() -> None:
    with pytest.raises(CompressionError, match="beyond 1000 bytes"):
        decompress(Codec.GZIP, compress(Codec.GZIP, bytes(1_000_000)) + b"xx", 1000)


@pytest.mark.parametrize("codec", PACKED)
def test_data_that_inflate_beyond_the_bound_are_told_from_damaged_ones(codec: Codec) -> None:
    with pytest.raises(InflatesTooFarError):
        decompress(codec, compress(codec, bytes(1000)), 999)
    with pytest.raises(CompressionError) as damaged:
        decompress(codec, b"\xff" * 50, 999)
    assert not isinstance(damaged.value, InflatesTooFarError)


@pytest.mark.parametrize(
    ("codec", "one"),
    [
        (Codec.GZIP, gzip.compress(b"a", mtime=0)),
        (Codec.SNAPPY, struct.pack(">i", 3) + bytes(cramjam.snappy.compress_raw(b"a"))),
    ],
)
def test_many_parts_of_next_to_nothing_count_as_much(codec: Codec, one: bytes) -> None:
    """Each costs a call; the trailing byte lets the members of gzip be read one by one."""
    head = struct.pack(">8sii", b"\x82SNAPPY\0", 1, 1) if codec is Codec.SNAPPY else b""
    assert bytes(decompress(codec, head + one * 10 + b"x", 1_000_000)) == b"a" * 10
    with pytest.raises(InflatesTooFarError):
        decompress(codec, head + one * 100 + b"x", 1_000_000)
