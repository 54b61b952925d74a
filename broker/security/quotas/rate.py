"""Kafka's rate over a window of samples, its token bucket, and the throttle times.

Pure: the time comes as an argument, in milliseconds. Figures are those of Kafka 4.3.1
(`tests/vectors/quota_figures.json.gz`), so the arithmetic follows Java's: longs that wrap to ints, roundings half up.
"""

from __future__ import annotations

from collections import defaultdict
from math import floor, isnan
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig


_INT, _LONG = 1 << 32, 1 << 63


class Window(NamedTuple):
    """The window of a quota: `samples` of `sample_ms` milliseconds each, including the current one."""

    samples: int
    sample_ms: int


class _Sample:
    __slots__ = ("last_ms", "start_ms", "value")

    def __init__(self, now_ms: int) -> None:
        self.reset(now_ms)

    def reset(self, now_ms: int) -> None:
        self.start_ms = self.last_ms = now_ms
        self.value = 0.0


class Rate:
    """A rate per second over the window that ends now.

    A sample begins with the first record after the last sample is full; pauses belong to no sample. A sample without a
    record in the window no longer counts, however late that is noticed. A new window counts as if all its samples but
    one had passed, so that a burst at the start does not look like a high rate.
    """

    def __init__(self) -> None:
        self._samples: list[_Sample] = []
        self._current = 0

    def record(self, window: Window, value: float, now_ms: int) -> None:
        """Add `value`; a negative one takes usage back."""
        samples = self._samples
        if not samples:
            samples.append(_Sample(now_ms))
        sample = samples[self._current]
        if now_ms - sample.start_ms >= window.sample_ms:
            self._current = (self._current + 1) % (window.samples + 1)
            if self._current >= len(samples):
                samples.append(_Sample(now_ms))
                self._current = len(samples) - 1
                sample = samples[self._current]
            else:
                sample = samples[self._current]
                sample.reset(now_ms)
        sample.value += value
        sample.last_ms = now_ms

    def charge(self, window: Window, value: float, limit: float, now_ms: int, longest_ms: int | None) -> int:
        """Add `value`; the time until the rate has fallen to the limit, if nothing more comes (see `throttle_ms`)."""
        self.record(window, value, now_ms)
        rate = self.measure(window, now_ms)
        if rate <= limit:
            return 0
        return throttle_ms(rate, limit, self.width_ms(window, now_ms), longest_ms) if limit else window.sample_ms

    def measure(self, window: Window, now_ms: int) -> float:
        """The rate per second."""
        width_ms = self.width_ms(window, now_ms)
        return sum(sample.value for sample in self._samples) / (width_ms / 1000)

    def width_ms(self, window: Window, now_ms: int) -> int:
        """The length of the window that the rate is measured by; obsolete samples are dropped."""
        samples = self._samples
        if not samples:
            samples.append(_Sample(now_ms))
        age_ms = window.samples * window.sample_ms
        for sample in samples:
            if now_ms - sample.last_ms >= age_ms:
                sample.reset(now_ms)
        elapsed_ms = now_ms - min(sample.start_ms for sample in samples)
        missing = window.samples - 1 - elapsed_ms // window.sample_ms
        if missing > 0:
            elapsed_ms += missing * window.sample_ms
        return max(elapsed_ms, 1)


class TokenBucket:
    """A token bucket, filled at a rate up to the tokens of a whole window (KIP-599). The level may be negative."""

    def __init__(self) -> None:
        self._tokens = 0.0
        self._last_ms = 0

    def take(self, window: Window, quota: float, value: float, now_ms: int) -> None:
        """Take tokens, even if there are too few."""
        burst = self._refill(window, quota, now_ms)
        self._tokens = min(burst, self._tokens - value)

    def level(self, window: Window, quota: float, now_ms: int) -> float:
        """The present number of tokens."""
        self._refill(window, quota, now_ms)
        return self._tokens

    def _refill(self, window: Window, quota: float, now_ms: int) -> float:
        burst = window.samples * (window.sample_ms / 1000) * quota
        self._tokens = min(burst, self._tokens + quota * ((now_ms - self._last_ms) / 1000))
        self._last_ms = now_ms
        return burst


def throttle_ms(rate: float, quota: float, width_ms: int, longest_ms: int | None = None) -> int:
    """The time until a rate over `width_ms` has fallen to the quota, if nothing more comes.

    `longest_ms` limits it. Without a limit a huge time wraps like a Java int: it may be negative, which throttles
    nobody.
    """
    delay_ms = _round((rate - quota) / quota * width_ms)
    return _as_int(delay_ms if longest_ms is None else min(delay_ms, longest_ms))


def refill_ms(tokens: float, quota: float) -> int:
    """The time until a bucket with `tokens` (below zero) reaches zero."""
    return _as_int(_round(-tokens / quota * 1000))


def _round(value: float) -> int:
    """`Math.round`: half up, at most a long, 0 for NaN."""
    if isnan(value):
        return 0
    if abs(value) >= _LONG:
        return _LONG - 1 if value > 0 else -_LONG
    whole = floor(value)
    return whole + (value - whole >= 0.5)


def _as_int(value: int) -> int:
    """A long cast to an int."""
    return (value + _INT // 2) % _INT - _INT // 2


# -- How fast new connections come to a node: as a whole, and to each of its listeners.


class ConnectionRates:
    """Rates by listener (and by the empty name, of all of them), over the window of the quotas. Made when
    the first limit is set: nobody counts before.
    """

    def __init__(self, config: BrokerConfig) -> None:
        seconds = config.get_int("quota.window.size.seconds")
        self._window = Window(config.get_int("quota.window.num"), seconds * 1000)
        self._rates: defaultdict[str, Rate] = defaultdict(Rate)

    def arrived(self, name: str, limit: int, now_ms: int) -> int:
        """Count a connection; how long it waits for the rate to come down to the limit, a sample's time at most."""
        return self._rates[name].charge(self._window, 1, limit, now_ms, self._window.sample_ms)

    def take_back(self, name: str, now_ms: int) -> None:
        """A connection that was counted did not come in after all."""
        self._rates[name].record(self._window, -1, now_ms)
