"""The time that the broker's clock shows. Every request reads it, so it is separate from the code that moves the clock
and waits for it.
"""

from __future__ import annotations

from collections.abc import Callable


class ClockFace:
    """The time below the clock, and how far the clock is from it. Owner: the `BrokerClock`, which alone changes it.

    `source`: the time below, in seconds. `ahead`: seconds that the clock was moved forward. `epoch`: what is to be
    added for seconds since 1970. `frozen_at` and `frozen_ns`: where the clock stands still, in its own seconds and in
    nanoseconds since 1970; `frozen_at` is None while it runs.
    """

    __slots__ = ("ahead", "epoch", "frozen_at", "frozen_ns", "source")

    def __init__(self, source: Callable[[], float], epoch: float) -> None:
        self.source = source
        self.ahead = 0.0
        self.epoch = epoch
        self.frozen_at: float | None = None
        self.frozen_ns = 0

    def current_time(self) -> float:
        """Seconds on the clock, from an arbitrary origin."""
        frozen = self.frozen_at
        return self.source() + self.ahead if frozen is None else frozen

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC, as records carry them."""
        if self.frozen_at is not None:
            return self.frozen_ns // 1_000_000
        return int((self.source() + self.ahead + self.epoch) * 1000)
