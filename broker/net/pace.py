"""How late bytes are on their way over a link."""

from __future__ import annotations

from typing import NamedTuple


class Pace(NamedTuple):
    """Bytes are `delay_ms` late and up to `jitter_ms` more, and there are not more than so many in a second."""

    delay_ms: int = 0
    jitter_ms: int = 0
    bytes_per_second: int | None = None

    def then(self, other: Pace) -> Pace:
        """Of one link behind the other."""
        rates = [rate for rate in (self.bytes_per_second, other.bytes_per_second) if rate is not None]
        delay_ms, jitter_ms = self.delay_ms + other.delay_ms, self.jitter_ms + other.jitter_ms
        return Pace(delay_ms, jitter_ms, min(rates, default=None))


PROMPT = Pace()
