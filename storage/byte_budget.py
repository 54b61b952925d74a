"""A limit for what many hold in memory together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class ByteBudget(Generic[T]):
    """The bytes that holders have in memory, the one that grew least recently first.

    Beyond `limit` bytes in all, that one is told to give way (`give_way`). A holder alone never is. Negative: no limit.
    Holders are hashable by identity. Owner: one thread.
    """

    def __init__(self, limit: int, give_way: Callable[[T], None]) -> None:
        self.limit = limit
        self.sum = 0
        self._give_way = give_way
        self._held: dict[T, int] = {}

    def hold(self, holder: T, size: int) -> None:
        """Note the present size of what a holder has."""
        self.release(holder)
        self._held[holder] = size
        self.sum += size
        while self.sum > self.limit >= 0 and len(self._held) > 1:
            oldest = next(iter(self._held))
            self.release(oldest)
            self._give_way(oldest)

    def release(self, holder: T) -> None:
        """A holder has nothing any more."""
        self.sum -= self._held.pop(holder, 0)
