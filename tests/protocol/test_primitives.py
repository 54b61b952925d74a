"""The constructs of the wire format, one by one: their bytes by Kafka's protocol guide, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest
from construct import Construct

from odradek.protocol.errors import ProtocolError
from odradek.protocol.primitives import (
    BOOLEAN,
    COMPACT_LENGTH,
    FLOAT64,
    INT16,
    INT32,
    UUID,
    UVARINT,
    Blob,
    ListOf,
    RecordData,
    Text,
)

STRING = Text(INT16, nullable=False)
NULLABLE_STRING = Text(INT16, nullable=True)
COMPACT_STRING = Text(COMPACT_LENGTH, nullable=False)
BYTES = Blob(INT32, nullable=True)
ARRAY = ListOf(INT32, INT16, nullable=True)
COMPACT_ARRAY = ListOf(COMPACT_LENGTH, INT16, nullable=True)


@pytest.mark.parametrize(
    ("construct", "value", "encoded"),
    [
        (BOOLEAN, True, b"\1"),
        (FLOAT64, 1.0, b"\x3f\xf0\0\0\0\0\0\0"),
        (UVARINT, 300, b"\xac\x02"),
        (UUID, bytes(range(16)), bytes(range(16))),
        (STRING, "a\u00e9", b"\0\3a\xc3\xa9"),
        (STRING, "", b"\0\0"),
        (NULLABLE_STRING, None, b"\xff\xff"),
        (COMPACT_STRING, "a", b"\2a"),
        (COMPACT_STRING, "", b"\1"),
        (Text(COMPACT_LENGTH, nullable=True), None, b"\0"),
        (BYTES, b"ab", b"\0\0\0\2ab"),
        (BYTES, None, b"\xff\xff\xff\xff"),
        (Blob(COMPACT_LENGTH, nullable=False), b"ab", b"\3ab"),
        (ARRAY, [1, -1], b"\0\0\0\2\0\1\xff\xff"),
        (ARRAY, [], b"\0\0\0\0"),
        (ARRAY, None, b"\xff\xff\xff\xff"),
        (COMPACT_ARRAY, [1], b"\2\0\1"),
        (COMPACT_ARRAY, None, b"\0"),
        (ListOf(INT32, STRING, nullable=False), ["a", "b"], b"\0\0\0\2\0\1a\0\1b"),
    ],
)
def test_primitive_values_are_built_and_parsed(construct: Construct, value: Any, encoded: bytes) -> None:
    assert construct.build(value) == encoded
    assert construct.parse(encoded) == value


def test_record_data_in_parts_is_written_as_one() -> None:
    assert RecordData(INT32, nullable=True).build([b"ab", memoryview(b"c")]) == b"\0\0\0\3abc"


def test_bytes_that_are_not_utf8_are_read_with_a_replacement() -> None:
    assert STRING.parse(b"\0\2a\xff") == "a\ufffd"


@pytest.mark.parametrize(
    ("construct", "encoded", "message"),
    [
        (STRING, b"\xff\xff", "null"),
        (STRING, b"\0\5ab", "string of 5 bytes, 2 are left"),
        (COMPACT_STRING, b"\x82\x80\x02", "at most 32767"),
        (BYTES, b"\0\0\0\5ab", "byte string of 5 bytes, 2 are left"),
        (UUID, bytes(15), "UUID of 16 bytes, 15 are left"),
        (UVARINT, b"\x80", "cut off"),
        (ARRAY, b"\x7f\xff\xff\xff\0\1", "2147483647 elements announced, 2 bytes are left"),
        (ListOf(INT32, INT16, nullable=False), b"\xff\xff\xff\xff", "null"),
    ],
)
def test_primitive_bytes_that_are_malformed_are_refused(construct: Construct, encoded: bytes, message: str) -> None:
    with pytest.raises(ProtocolError, match=message):
        construct.parse(encoded)


@pytest.mark.parametrize(
    ("construct", "value", "message"),
    [
        (STRING, None, "null"),
        (STRING, b"a", "not text"),
        (STRING, "\ud800", "not text"),
        (STRING, "a" * 32_768, "at most 32767"),
        (BYTES, "a", "bytes are needed, not str"),
        (UUID, b"short", "a UUID is 16 bytes"),
        (ARRAY, "ab", "a list is needed, not str"),
        (ListOf(INT32, STRING, nullable=True), ["a", None], r"\[1\]"),
    ],
)
def test_primitive_values_out_of_range_are_refused(construct: Construct, value: Any, message: str) -> None:
    with pytest.raises(ProtocolError, match=message):
        construct.build(value)
