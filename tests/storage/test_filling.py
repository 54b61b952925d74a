from __future__ import annotations

import pytest

from odradek.storage.filling import Filling


def test_what_is_written_is_in_the_buffer() -> None:
    buffer = bytearray(8)
    filling = Filling(buffer)
    assert (filling.capacity, filling.fill) == (8, 0)
    filling.writer[:3] = b"abc"
    assert buffer == b"abc\0\0\0\0\0"


def test_nothing_fits_into_one_that_has_ended() -> None:
    filling = Filling(bytearray(8))
    filling.fill = 3
    filling.end()
    assert (filling.capacity, filling.fill) == (0, 3)
    with pytest.raises(TypeError, match="read-only"):
        filling.writer[:3] = b"abc"
