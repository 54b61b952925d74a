"""The last requests as text."""

from __future__ import annotations

from odradek.broker.requests.recent import RecentRequests


def test_the_last_64_requests_newest_last() -> None:
    recent = RecentRequests()
    for number in range(100):
        recent.entries.append(("c1", 3, 12, number, None, 20))
    lines = recent.lines()
    assert len(lines) == 64
    assert lines[-1] == "c1 Metadata v12 correlation 99 client None (20 bytes)"
