from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.protocol.errors import ProtocolError
from odradek.protocol.varint import encode_tagged_section, encode_uvarint, read_compact_length, read_uvarint


@given(st.integers(0, 2**32 - 1))
def test_uvarint_is_written_and_read(value: int) -> None:
    encoded = encode_uvarint(value)
    assert read_uvarint(b"." + encoded + b".", 1) == (value, 1 + len(encoded))


@pytest.mark.parametrize(
    ("value", "encoded"), [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"), (2**32 - 1, "ffffffff0f")]
)
def test_uvarint_has_known_encodings(value: int, encoded: str) -> None:
    assert encode_uvarint(value).hex() == encoded


@pytest.mark.parametrize("value", [-1, 2**32])
def test_uvarint_out_of_range_is_refused(value: int) -> None:
    with pytest.raises(ProtocolError):
        encode_uvarint(value)


def test_too_long_and_cut_off() -> None:
    with pytest.raises(ProtocolError, match="more than 5 bytes"):
        read_uvarint(b"\x80\x80\x80\x80\x80\x00", 0)
    with pytest.raises(IndexError):
        read_uvarint(b"\x80\x80", 0)


def test_compact_length_is_one_less_than_its_varint() -> None:
    assert read_compact_length(b"\x00", 0) == (-1, 1)
    assert read_compact_length(b"\x01", 0) == (0, 1)
    assert read_compact_length(b"\xff\xff\xff\xff\x0f", 0)[0] == -1


def test_tagged_section_interleaves_known_and_unknown_fields() -> None:
    section = encode_tagged_section([(0, b"a"), (3, b"b")], ((1, b"x"), (9, b"y")))
    assert section.hex() == "04" + "000161" + "010178" + "030162" + "090179"
    with pytest.raises(ProtocolError, match="tag 3"):
        encode_tagged_section([(3, b"b")], ((3, b"x"),))
    with pytest.raises(ProtocolError, match="ascending"):
        encode_tagged_section([], ((3, b"x"), (3, b"y")))
