"""The part of DER that is needed for fields that Python's ssl omits: names and alternative names of a certificate.

OpenSSL has checked the certificates, or they come from a store. Every length is checked all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from odradek.protocol.errors import CorruptDataError

SEQUENCE = 0x30
SET = 0x31
OBJECT_ID = 0x06
OCTET_STRING = 0x04


class Element(NamedTuple):
    """One element. `encoded` has tag, length and `content`."""

    tag: int
    content: bytes
    encoded: bytes

    def children(self) -> list[Element]:
        """The elements of a constructed one."""
        return list(elements(self.content))


def read(data: bytes | memoryview) -> Element:
    """The first element of `data`; CorruptDataError if it is not whole."""
    if len(data) < 2:
        raise CorruptDataError("DER: no element")
    size, start = data[1], 2
    if size & 0x80:
        count = size & 0x7F
        start += count
        if not 1 <= count <= 4 or len(data) < start:
            raise CorruptDataError("DER: a length that is not allowed")
        size = int.from_bytes(data[2:start], "big")
    if len(data) < start + size:
        raise CorruptDataError("DER: an element is cut off")
    return Element(data[0], bytes(data[start : start + size]), bytes(data[: start + size]))


def elements(data: bytes) -> Iterator[Element]:
    """All elements of `data`, one after the other."""
    left = memoryview(data)  # as copies of what is left would take as long as a square
    while left:
        element = read(left)
        yield element
        left = left[len(element.encoded) :]


def object_id(content: bytes) -> str:
    """The dotted form of an OBJECT IDENTIFIER."""
    numbers: list[int] = []
    value = 0
    for byte in content:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(value)
            value = 0
    if not numbers or content[-1] & 0x80:
        raise CorruptDataError("DER: an object identifier is cut off")
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, [first, numbers[0] - 40 * first, *numbers[1:]]))
