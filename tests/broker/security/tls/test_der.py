"""The small DER reader."""

from __future__ import annotations

import pytest

from odradek.broker.security.tls.der import elements, object_id, read
from odradek.protocol.errors import CorruptDataError


def test_an_element_ends_where_its_length_says() -> None:
    element = read(bytes.fromhex("0401aa0402bbcc"))
    assert (element.tag, element.content, element.encoded.hex()) == (4, b"\xaa", "0401aa")
    assert [part.content.hex() for part in elements(bytes.fromhex("0401aa0402bbcc"))] == ["aa", "bbcc"]


def test_long_lengths() -> None:
    assert len(read(b"\x04\x82\x01\x00" + bytes(256)).content) == 256


@pytest.mark.parametrize("text", ["", "04", "0402aa", "0480", "0485000000000100", "048201", "04820100"])
def test_what_is_not_whole_is_damaged(text: str) -> None:
    with pytest.raises(CorruptDataError):
        read(bytes.fromhex(text))


@pytest.mark.parametrize(
    ("content", "text"),
    [("550403", "2.5.4.3"), ("2a864886f70d010901", "1.2.840.113549.1.9.1"), ("883701", "2.999.1"), ("00", "0.0")],
)
def test_object_identifiers(content: str, text: str) -> None:
    assert object_id(bytes.fromhex(content)) == text


@pytest.mark.parametrize("content", ["", "5504c0"])
def test_cut_object_identifiers(content: str) -> None:
    with pytest.raises(CorruptDataError):
        object_id(bytes.fromhex(content))
