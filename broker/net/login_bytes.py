"""What those who have not logged in may cost in sum: the bytes of the frames that they have begun."""

from __future__ import annotations

from typing import Protocol

_MOST_BYTES = 32 * 1024 * 1024


class Holder(Protocol):
    """One log-in under way. Hashable by identity."""

    def cut(self, reason: str) -> None:
        """End its connection."""


class LoginBytes:
    """The large receive buffers of a cluster's log-ins, oldest first.

    A buffer follows what its client has really sent, up to `sasl.server.max.receive.size`, so a thousand clients can
    have half a gigabyte. Beyond `limit` bytes in all, the log-in that grew least recently is cut. An ordinary one fits
    into a connection's first buffer and counts for nothing.
    """

    __slots__ = ("_held", "limit", "sum")

    def __init__(self, limit: int = _MOST_BYTES) -> None:
        self.limit = limit
        self.sum = 0
        self._held: dict[Holder, int] = {}

    def hold(self, login: Holder, size: int) -> None:
        """A log-in's buffer has so many bytes now."""
        self.release(login)
        self._held[login] = size
        self.sum += size
        while self.sum > self.limit and len(self._held) > 1:
            oldest = next(iter(self._held))
            self.release(oldest)
            oldest.cut(f"the log-ins under way hold more than {self.limit} bytes")

    def release(self, login: Holder) -> None:
        """A log-in has ended, one way or the other."""
        self.sum -= self._held.pop(login, 0)
