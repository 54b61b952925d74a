"""CRC-32C as everybody computes it."""

from __future__ import annotations

import pytest
from crc32c import crc32c as packaged

from odradek.protocol.checksum import crc32c


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"", 0), (b"123456789", 0xE3069283), (bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43)],
)
def test_crc32c_of_known_values(data: bytes, expected: int) -> None:
    """The first is the check value of the Castagnoli polynomial, the others are of RFC 3720, B.4."""
    assert crc32c(data) == expected
    assert crc32c(memoryview(data)) == expected
    assert packaged(data) == expected


def test_a_checksum_goes_on_from_a_value() -> None:
    assert crc32c(b"6789", crc32c(b"12345")) == 0xE3069283
