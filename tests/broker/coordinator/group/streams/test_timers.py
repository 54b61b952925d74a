"""The keys of timers do not meet."""

from __future__ import annotations

from odradek.broker.coordinator.group.streams.timers import (
    initial_delay_key,
    member_timers,
    rebalance_key,
    session_key,
)


def test_each_member_has_its_own() -> None:
    keys = [*member_timers("g", "m"), *member_timers("g", "n"), *member_timers("h", "m"), initial_delay_key("g")]
    assert len(set(keys)) == 7
    assert member_timers("g", "m") == (session_key("g", "m"), rebalance_key("g", "m"))
