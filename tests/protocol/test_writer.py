from __future__ import annotations

from collections.abc import Callable
from struct import pack
from typing import Any

import pytest

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import INLINE_RECORDS
from odradek.protocol.generated.messages.produce import ProduceResponse, TopicProduceResponse
from odradek.protocol.writer import Writer, encoded_again, in_one_piece


def made(write: Callable[[Writer], None]) -> str:
    writer = Writer()
    write(writer)
    return writer.whole().hex()


@pytest.mark.parametrize(
    ("write", "data"),
    [
        (lambda w: w.string("ab"), "00026162"),
        (lambda w: w.string("x" * 300), "012c" + "78" * 300),
        (lambda w: w.string_or_null(None), "ffff"),
        (lambda w: w.compact_string("ab"), "036162"),
        (lambda w: w.compact_string("x" * 127), "8001" + "78" * 127),
        (lambda w: w.compact_string_or_null(None), "00"),
        (lambda w: w.byte_string(memoryview(b"ab")), "000000026162"),
        (lambda w: w.byte_string(bytes(200)), "000000c8" + "00" * 200),
        (lambda w: w.byte_string_or_null(None), "ffffffff"),
        (lambda w: w.compact_byte_string(bytearray(b"ab")), "036162"),
        (lambda w: w.compact_byte_string_or_null(None), "00"),
        (lambda w: w.records([b"a", memoryview(b"b")]), "000000026162"),
        (lambda w: w.records_or_null(None), "ffffffff"),
        (lambda w: w.compact_records_or_null(b"ab"), "036162"),
        (lambda w: w.compact_records_or_null(None), "00"),
        (lambda w: w.numbers("l", [1, -1]), "0000000200000001ffffffff"),
        (lambda w: w.compact_numbers("h", list(range(12))), "0d" + pack(">12h", *range(12)).hex()),
        (lambda w: w.compact_numbers("b", []), "01"),
        (lambda w: w.count(-1), "ffffffff"),
        (lambda w: w.compact(-1), "00"),
        (lambda w: w.uuid(bytes(range(16))), bytes(range(16)).hex()),
        (lambda w: w.tags((), ()), "00"),
        (lambda w: w.tags(((0, b"a"),), ((5, b""),)), "020001610500"),
    ],
)
def test_what_is_written(write: Callable[[Writer], None], data: str) -> None:
    assert made(write) == data


@pytest.mark.parametrize(
    "write",
    [
        lambda w: w.string("x" * 32_768),
        lambda w: w.compact_string("\ud800"),
        lambda w: w.string(None),
        lambda w: w.byte_string(None),
        lambda w: w.compact_records(None),
        lambda w: w.uuid(b"short"),
        lambda w: w.numbers("b", [200]),
        lambda w: w.compact_numbers("l", [2**40] * 20),
        lambda w: w.tags((), ((3, b""), (2, b""))),
        lambda w: w.refuse(),
    ],
)
def test_what_cannot_be_written(write: Callable[[Writer], None]) -> None:
    with pytest.raises(ENCODING_ERRORS):
        made(write)


def test_large_records_end_a_part() -> None:
    large = bytearray(INLINE_RECORDS + 1)
    writer = Writer()
    writer.string("a")
    writer.records(large)
    writer.records(b"small")
    parts = writer.parts()
    size = pack(">l", len(large))
    assert [part for part in parts if isinstance(part, bytes)] == [
        b"\x00\x01a" + size,
        b"\x00\x00\x00\x05small",
    ]
    assert isinstance(parts[1], memoryview)
    assert parts[1].obj is large
    assert in_one_piece(parts) == b"\x00\x01a" + size + bytes(large) + b"\x00\x00\x00\x05small"


def test_in_one_piece() -> None:
    only = b"bytes"
    assert in_one_piece([only]) is only
    assert in_one_piece([]) == b""
    assert in_one_piece([memoryview(b"ab")]) == b"ab"


def test_the_other_encoder_finds_the_words() -> None:
    with pytest.raises(ProtocolError, match=r"ProduceResponse version 3.responses\[0\].name: string of 40000 bytes"):
        encoded_again(ProduceResponse, 3, ProduceResponse(responses=[TopicProduceResponse(name="x" * 40_000)]))
    any_value: Any = 5
    with pytest.raises(ProtocolError, match="a ProduceResponse is needed, not int"):
        encoded_again(ProduceResponse, 3, any_value)
