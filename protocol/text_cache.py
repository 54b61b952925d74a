"""`lru_cache` for functions of texts that clients choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

MOST_LENGTH = 1 << 21
"""Of the texts in one cache, together."""


def text_cache(maxsize: int) -> Callable[[F], F]:
    """Cache as `lru_cache(maxsize)`, and begin anew when the texts and sequences among the arguments have become long.

    A number of entries is no limit: ids may have 32 kB. Only a call that is not in the cache counts, so a hit costs
    nothing more.
    """

    def cached(function: F) -> F:
        room = MOST_LENGTH

        def missed(*given: Any, **named: Any) -> Any:
            nonlocal room
            for each in (*given, *named.values()):
                room -= _length(each)
            if room < 0:
                room = MOST_LENGTH
                found.cache_clear()
            return function(*given, **named)

        found: Any = lru_cache(maxsize)(missed)
        result: F = found
        return result

    return cached


def _length(given: Any) -> int:
    if isinstance(given, str | bytes):
        return len(given)
    return sum(map(_length, given)) if isinstance(given, Sequence) else 0
