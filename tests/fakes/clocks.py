"""Clocks for tests that say what time it is."""

from __future__ import annotations

from odradek.broker.clock import BrokerClock


def clock_at(start_ms: int, kind: type[BrokerClock] = BrokerClock) -> BrokerClock:
    """A clock that stands at this millisecond: one that is frozen when it runs already may have got on to the next."""
    clock = kind(start_ms=start_ms)
    clock.set_ms(start_ms, frozen=True)
    return clock
