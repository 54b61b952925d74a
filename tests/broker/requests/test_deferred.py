"""A part that is made by the first call."""

from __future__ import annotations

from odradek.broker.requests.deferred import Deferred


def test_it_is_made_once_and_when_it_is_needed() -> None:
    made: list[list[int]] = []

    def make() -> list[int]:
        made.append([])
        return made[-1]

    part = Deferred(make)
    assert part.made is None
    assert part() is part() is part.made
    assert len(made) == 1
