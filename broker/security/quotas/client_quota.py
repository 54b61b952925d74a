"""What clients have used of one quota, and how long they have to wait for having used too much.

Pure: no clock. `ClientQuota` is Kafka's way with bytes and request time, `MutationQuota` with controller mutations.
A client is known by user and client id; `Limits` says which clients are counted together.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Generic, TypeVar

from odradek.broker.security.quotas.limits import Limits, Tags
from odradek.broker.security.quotas.rate import Rate, TokenBucket, Window, refill_ms, throttle_ms

_UNLIMITED = float(2**63)
"""What Kafka counts against where there is no quota."""
_IDLE_MS = 3_600_000
_FEW = 256
T = TypeVar("T")


class Counters(Generic[T]):
    """A counter for each group of clients, forgotten when it was unused for an hour."""

    __slots__ = ("_last_used_ms", "_made", "_make", "_sweep_at")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: dict[Tags, T] = {}
        self._last_used_ms: dict[Tags, int] = {}
        self._sweep_at = _FEW

    def __len__(self) -> int:
        return len(self._made)

    def of(self, tags: Tags, now_ms: int) -> T:
        """The counter of these clients, which are using it."""
        if len(self._made) >= self._sweep_at:
            self._sweep(now_ms)
        self._last_used_ms[tags] = now_ms
        counter = self._made.get(tags)
        if counter is None:
            counter = self._made[tags] = self._make()
        return counter

    def _sweep(self, now_ms: int) -> None:
        for tags, last_ms in list(self._last_used_ms.items()):
            if now_ms - last_ms > _IDLE_MS:
                del self._made[tags], self._last_used_ms[tags]
        self._sweep_at = max(_FEW, 2 * len(self._made))


class ClientQuota:
    """A rate that clients may not exceed. `limits` may be replaced at any time; what was used stays.

    `longest_ms`: the longest time that a client has to wait; None for no limit.
    """

    __slots__ = ("_longest_ms", "_rates", "_window", "limits")

    def __init__(self, limits: Limits, window: Window, longest_ms: int | None = None) -> None:
        self.limits = limits
        self._window = window
        self._longest_ms = longest_ms
        self._rates: Counters[Rate] = Counters(Rate)

    def __len__(self) -> int:
        return len(self._rates)

    def use(self, user: str, client_id: str | None, amount: float, now_ms: int) -> int:
        """Count what a client used; return how long it has to wait, in milliseconds."""
        if not self.limits:
            return 0
        tags = self.limits.tags(user, client_id)
        rate, limit = self._rates.of(tags, now_ms), self._limit(tags)
        rate.record(self._window, amount, now_ms)
        measured = rate.measure(self._window, now_ms)
        if measured <= limit:
            return 0
        return max(0, throttle_ms(measured, limit, rate.width_ms(self._window, now_ms), self._longest_ms))

    def take_back(self, user: str, client_id: str | None, amount: float, now_ms: int) -> None:
        """The client has not used it after all. As in Kafka this counts without a quota, too."""
        self._rates.of(self.limits.tags(user, client_id), now_ms).record(self._window, -amount, now_ms)

    def most_at_once(self, user: str, client_id: str | None) -> float:
        """More than this is throttled even if nothing was used before; infinite without a quota."""
        limit = self.limits.limit(self.limits.tags(user, client_id)) if self.limits else None
        if limit is None:
            return inf
        return limit * (self._window.samples - 1) * (self._window.sample_ms // 1000)

    def _limit(self, tags: Tags) -> float:
        limit = self.limits.limit(tags)
        return _UNLIMITED if limit is None else limit


class MutationQuota:
    """Tokens for partitions that clients create and delete (KIP-599)."""

    __slots__ = ("_buckets", "_window", "limits")

    def __init__(self, limits: Limits, window: Window) -> None:
        self.limits = limits
        self._window = window
        self._buckets: Counters[TokenBucket] = Counters(TokenBucket)

    def take(self, user: str, client_id: str | None, permits: int, now_ms: int, *, strict: bool) -> tuple[bool, int]:
        """Take tokens; return whether they were taken, and how long the client has to wait.

        `strict`: nothing is taken while the level is below 0. Else all are, and the level may be far below 0.
        """
        if not self.limits:
            return True, 0
        tags = self.limits.tags(user, client_id)
        bucket = self._buckets.of(tags, now_ms)
        limit = self.limits.limit(tags)
        quota = _UNLIMITED if limit is None else limit
        if not strict:
            bucket.take(self._window, quota, permits, now_ms)
        level = bucket.level(self._window, quota, now_ms)
        if level < 0:
            return not strict, max(0, refill_ms(level, quota))
        if strict:
            bucket.take(self._window, quota, permits, now_ms)
        return True, 0
