"""Links one behind the other."""

from __future__ import annotations

from odradek.broker.net.pace import PROMPT, Pace


def test_delays_add_up_and_the_thinnest_line_counts() -> None:
    assert Pace(50, 10).then(Pace(20, 1, 1000)) == Pace(70, 11, 1000)
    assert Pace(bytes_per_second=500).then(Pace(bytes_per_second=1000)) == Pace(bytes_per_second=500)
    assert PROMPT.then(PROMPT) == PROMPT
