"""Values that are kept to be met again, as many as a size allows."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_EACH = 256
"""What a value counts besides its size, so that many small ones count."""


class Kept(Generic[K, V]):
    """By key; those that were not asked for longest make room. Any thread may call.

    ``largest``: the sum of the sizes that are given to `put`.
    """

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()
        self.size = 0

    def __repr__(self) -> str:
        return f"<Kept: {len(self._values)} of the size {self.size}>"

    def get(self, key: K) -> V | None:
        """The value, None if it is not kept."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value. One that is larger than all may be is not kept."""
        size += _EACH
        if size > self._largest:
            return
        with self._lock:
            self.size += size - self._values.pop(key, (None, 0))[1]
            self._values[key] = value, size
            while self.size > self._largest:
                self.size -= self._values.popitem(last=False)[1][1]
