from __future__ import annotations

from collections.abc import Callable
from struct import pack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.messages.produce import ProduceRequest
from odradek.protocol.reader import WINDOW, Reader, decoded_again
from odradek.protocol.varint import MAX_ELEMENTS, MAX_TAGGED_FIELDS, encode_uvarint

UNREADABLE = (IndexError, ProtocolError)


@given(
    st.integers(-(2**7), 2**7 - 1),
    st.integers(-(2**15), 2**15 - 1),
    st.integers(0, 2**16 - 1),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 2**32 - 1),
)
def test_numbers(byte: int, short: int, unsigned: int, number: int, long: int, varint: int) -> None:
    data = pack(">bhHlq?", byte, short, unsigned, number, long, True) + encode_uvarint(varint)
    reader = Reader(b"." + data, 1)
    assert (reader.int8(), reader.int16(), reader.uint16(), reader.int32()) == (byte, short, unsigned, number)
    assert (reader.int64(), reader.boolean(), reader.uvarint()) == (long, True, varint)
    assert reader.offset == 1 + len(data)


@pytest.mark.parametrize(
    ("data", "read", "value"),
    [
        ("0002 6162", Reader.string, "ab"),
        ("ffff", Reader.string_or_null, None),
        ("03 6162", Reader.compact_string, "ab"),
        ("00", Reader.compact_string_or_null, None),
        ("ffffffff0f", Reader.compact_string_or_null, None),
        ("02 ff", Reader.compact_string, "\ufffd"),
        ("00000002 6162", Reader.byte_string, b"ab"),
        ("ffffffff", Reader.byte_string_or_null, None),
        ("03 6162", Reader.compact_byte_string, b"ab"),
        ("00", Reader.compact_byte_string_or_null, None),
        ("00000002 6162", Reader.records, b"ab"),
        ("ffffffff", Reader.records_or_null, None),
        ("03 6162", Reader.compact_records_or_null, b"ab"),
        ("00", Reader.compact_records_or_null, None),
        ("00112233445566778899aabbccddeeff", Reader.uuid, bytes.fromhex("00112233445566778899aabbccddeeff")),
        ("02 05 01 61 07 00", Reader.unknown_tags, ((5, b"a"), (7, b""))),
        ("00", Reader.unknown_tags, ()),
    ],
)
def test_what_has_a_length(data: str, read: Callable[[Reader], Any], value: Any) -> None:
    reader = Reader(bytes.fromhex(data), 0)
    assert read(reader) == value
    assert reader.offset == len(bytes.fromhex(data))


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize(
    ("data", "read"),
    [
        ("", Reader.int8),
        ("01", Reader.int16),
        ("010203", Reader.int32),
        ("01020304050607", Reader.int64),
        ("8080", Reader.uvarint),
        ("808080808000", Reader.uvarint),
        ("ffff", Reader.string),
        ("0003 6162", Reader.string),
        ("00", Reader.compact_string),
        ("81800261", Reader.compact_string),
        ("ffffffff", Reader.byte_string),
        ("00000003 6162", Reader.byte_string_or_null),
        ("00", Reader.compact_byte_string),
        ("ffffffff", Reader.records),
        ("00", Reader.compact_records),
        ("04 6162", Reader.compact_records),
        ("0011223344", Reader.uuid),
        ("01 05 02 61", Reader.unknown_tags),
        ("00000003 0000", lambda reader: reader.count(1)),
        ("ffffffff", lambda reader: reader.count(1)),
        ("00", lambda reader: reader.compact_count(1)),
        ("04 0000", lambda reader: reader.compact_count_or_null(1)),
        ("7fffffff", lambda reader: reader.count_or_null(1)),
    ],
)
def test_what_is_cut_off_or_null(data: str, read: Callable[[Reader], Any], long: bool) -> None:
    """At the end of a buffer of one window, and of many."""
    source = bytes.fromhex(data)
    reader = Reader(memoryview(bytes(WINDOW) + source), WINDOW) if long else Reader(source, 0)
    with pytest.raises(UNREADABLE):
        read(reader)


def test_counts_that_may_be_null() -> None:
    assert Reader(b"\xff\xff\xff\xff", 0).count_or_null(1) == -1
    assert Reader(b"\x00", 0).compact_count_or_null(1) == -1
    assert Reader(b"\x00\x00\x00\x02ab", 0).count(1) == 2
    assert Reader(b"\x03ab", 0).compact_count(1) == 2


@pytest.mark.parametrize("minimum", [0, 1])
def test_counts_beyond_a_million_are_refused(minimum: int) -> None:
    size = MAX_ELEMENTS + 1
    counts: list[tuple[bytes, Callable[[Reader], int]]] = [
        (size.to_bytes(4, "big"), lambda reader: reader.count(minimum)),
        (size.to_bytes(4, "big"), lambda reader: reader.count_or_null(minimum)),
        (encode_uvarint(size + 1), lambda reader: reader.compact_count(minimum)),
        (encode_uvarint(size + 1), lambda reader: reader.compact_count_or_null(minimum)),
    ]
    for length, read in counts:
        with pytest.raises(ProtocolError):
            read(Reader(length + bytes(size), 0))
    assert Reader(MAX_ELEMENTS.to_bytes(4, "big") + bytes(MAX_ELEMENTS), 0).count(minimum) == MAX_ELEMENTS


@pytest.mark.parametrize("count", [MAX_TAGGED_FIELDS + 1, 0x80000000, 0xFFFFFFFF])
def test_numbers_of_tagged_fields_that_are_refused(count: int) -> None:
    for read in (Reader.tags, Reader.unknown_tags):
        with pytest.raises(ProtocolError):
            read(Reader(encode_uvarint(count) + bytes(2 * MAX_TAGGED_FIELDS + 2), 0))


def test_windows_follow_the_place() -> None:
    """Values that lie over the end of a window, records longer than one, and what comes behind them."""
    records = bytes(range(256)) * 64
    head = b"\x01" * (WINDOW - 3)
    data = head + pack(">q", 12345) + pack(">l", len(records)) + records + pack(">l", 9) + b"\x00\x03abc"
    for source in (memoryview(data), bytearray(data), data):
        reader = Reader(source, len(head))
        assert reader.int64() == 12345
        assert bytes(reader.records()) == records
        assert reader.int32() == 9
        assert reader.string() == "abc"
        assert reader.offset == len(data)


def test_a_long_string_over_windows() -> None:
    text = "x" * 30_000
    reader = Reader(memoryview(b"\x75\x30" + text.encode() + b"\x07"), 0)
    assert reader.string() == text
    assert reader.int8() == 7


def test_the_other_decoder_finds_the_words() -> None:
    with pytest.raises(ProtocolError, match="ProduceRequest version 9 is cut off after 0 bytes"):
        decoded_again(ProduceRequest, 9, b"", 0)
