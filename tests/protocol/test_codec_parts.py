from __future__ import annotations

from struct import pack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.protocol.codec_parts import (
    BYTE,
    encode_whole,
    explained,
    int8_at,
    int16_at,
    int32_at,
    int64_at,
    long_length,
    long_string,
    put_records,
    refuse,
    uint16_at,
)
from odradek.protocol.errors import ProtocolError
from odradek.protocol.file_slice import INLINE_RECORDS, Part
from odradek.protocol.generated.messages.produce import ProduceResponse, TopicProduceResponse
from odradek.protocol.varint import encode_uvarint


@given(
    st.integers(-(2**7), 2**7 - 1),
    st.integers(-(2**15), 2**15 - 1),
    st.integers(0, 2**16 - 1),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**63), 2**63 - 1),
)
def test_numbers_are_read_at_their_place(byte: int, short: int, unsigned: int, number: int, long: int) -> None:
    data = pack(">bhHlq", byte, short, unsigned, number, long)
    assert (int8_at(data, 0), int16_at(data, 1), uint16_at(data, 3)) == (byte, short, unsigned)
    assert (int32_at(data, 5), int64_at(data, 9)) == (number, long)


def test_lengths_of_several_bytes_are_those_plus_one() -> None:
    assert long_string(b"." + encode_uvarint(301), 1) == (301, 3)
    assert long_length(encode_uvarint(100_001), 0) == (100_001, 3)
    assert long_string(b"\xff\xff\xff\xff\x0f", 0) == (0, 5), "null, as Kafka reads a negative number"
    with pytest.raises(ProtocolError, match="string of 32768 bytes"):
        long_string(encode_uvarint(32_769), 0)


def test_large_records_end_a_part() -> None:
    large = bytearray(INLINE_RECORDS + 1)
    parts: list[Part] = []
    out = [b"head"]
    put_records(parts, out, [b"a", memoryview(b"b")], 2)
    put_records(parts, out, large, len(large))
    put_records(parts, out, b"small", 5)
    assert parts[0] == b"headab"
    assert isinstance(parts[1], memoryview)
    assert parts[1].obj is large
    assert out == [b"small"]


def test_a_message_in_one_piece() -> None:
    only = b"bytes"
    assert encode_whole(lambda message: [only], None) is only
    assert encode_whole(lambda message: [], None) == b""
    assert encode_whole(lambda message: [b"a", memoryview(b"b")], None) == b"ab"
    assert BYTE[65] == b"A"


def test_the_construct_finds_the_words_for_what_cannot_be_written() -> None:
    with pytest.raises(ProtocolError) as refused:
        refuse()
    long = ProduceResponse(responses=[TopicProduceResponse(name="x" * 40_000)])
    said = explained(ProduceResponse, 3, long, refused.value)
    assert str(said).startswith("ProduceResponse version 3.responses[0].name: string of 40000 bytes")
    any_value: Any = 5
    assert "a ProduceResponse is needed, not int" in str(explained(ProduceResponse, 3, any_value, refused.value))
    assert str(explained(ProduceResponse, 3, ProduceResponse(), ValueError("why"))) == "ProduceResponse version 3: why"
