from __future__ import annotations

import pytest

from odradek.storage.filling import Filling


def test_filling_writes_into_its_buffer() -> None:
    buffer = bytearray(8)
    filling = Filling(buffer)
    assert (filling.capacity, filling.fill) == (8, 0)
    filling.writer[:3] = b"abc"
    assert buffer == b"abc\0\0\0\0\0"


def test_filling_that_has_ended_takes_nothing() -> None:
    filling = Filling(bytearray(8))
    filling.fill = 3
    filling.end()
    assert (filling.capacity, filling.fill) == (0, 3)
    with pytest.raises(TypeError, match="read-only"):
        filling.writer[:3] = b"abc"
