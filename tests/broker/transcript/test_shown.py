"""Lists in words."""

from __future__ import annotations

from odradek.broker.transcript.shown import few


def test_a_long_list_is_cut() -> None:
    assert few([1, 2], 2) == "1 2"
    assert few([1, 2, 3, 4], 2, ", ") == "1, 2, +2 more"
    assert few([]) == ""
