"""The generated index of handlers."""

from __future__ import annotations

from odradek.broker.api import generate_index


def test_the_index_is_current() -> None:
    current = generate_index.index_source()
    assert generate_index.TARGET.read_text() == current, "run: python -m odradek.broker.api.generate_index"
