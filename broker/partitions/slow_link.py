"""A slow link between a leader and one of its followers: what was sent arrives later."""

from __future__ import annotations

import random
from collections import deque
from typing import NamedTuple


class Slowness(NamedTuple):
    """The delay of records on a link, the most random delay in addition, and the most bytes in a second."""

    ms: int
    bytes_per_second: int | None = None
    jitter_ms: int = 0


class Sent(NamedTuple):
    """Up to which offset records were sent, and where the leader's log started then."""

    end: int
    start: int


class SlowLink:
    """Records on their way to a follower. `sent`: the last ones that were sent."""

    __slots__ = ("_arrived", "_busy_until_ms", "_draw", "_under_way", "sent", "slowness")

    def __init__(self, slowness: Slowness, arrived: Sent, seed: str = "") -> None:
        """`arrived`: what the follower has. `seed`: draws the jitter, the same one in each run."""
        self.slowness = slowness
        self._draw = random.Random(seed) if slowness.jitter_ms else None
        self._under_way: deque[tuple[float, Sent]] = deque()
        self._busy_until_ms = 0.0
        self._arrived = self.sent = arrived

    def begin_anew(self, arrived: Sent) -> None:
        """The follower has so much of another history; what was on its way is lost."""
        self._under_way.clear()
        self._arrived = self.sent = arrived

    def send(self, what: Sent, size_bytes: int, now_ms: int) -> None:
        """Send the records between `sent` and this, which have that many bytes."""
        rate = self.slowness.bytes_per_second
        self._busy_until_ms = max(self._busy_until_ms, now_ms) + (0 if rate is None else size_bytes * 1000 / rate)
        due_ms = self._busy_until_ms + self.slowness.ms
        if self._draw is not None:
            due_ms += self._draw.uniform(0, self.slowness.jitter_ms)
        if self._under_way:
            due_ms = max(due_ms, self._under_way[-1][0])
        self._under_way.append((due_ms, what))
        self.sent = what

    def arrived(self, now_ms: int) -> Sent:
        """The last of what has arrived."""
        while self._under_way and self._under_way[0][0] <= now_ms:
            self._arrived = self._under_way.popleft()[1]
        return self._arrived

    @property
    def next_ms(self) -> float | None:
        """The time when the next records arrive."""
        return self._under_way[0][0] if self._under_way else None
