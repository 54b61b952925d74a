"""A heap that gives equal items in the order in which a `java.util.PriorityQueue` gives them.

The assignor takes the process with the least load; which of several is a matter of how the heap was built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class JavaHeap(Generic[T]):
    """The item of least ``weight`` comes first. The weight of an item may change only while it is not in the heap."""

    __slots__ = ("_items", "_weight")

    def __init__(self, weight: Callable[[T], float], items: Iterable[T] = ()) -> None:
        self._weight = weight
        self._items: list[T] = []
        for item in items:
            self.add(item)

    def __len__(self) -> int:
        return len(self._items)

    def add(self, item: T) -> None:
        """Put an item in: it rises past the heavier ones."""
        items, weight = self._items, self._weight
        items.append(item)
        own = weight(item)
        place = len(items) - 1
        while place > 0:
            parent = (place - 1) >> 1
            if own >= weight(items[parent]):
                break
            items[place] = items[parent]
            place = parent
        items[place] = item

    def pop(self) -> T:
        """Take the lightest item out; the last one sinks from its place. IndexError if there is none."""
        items = self._items
        lightest = items[0]
        last = items.pop()
        if items:
            self._sink(last)
        return lightest

    def _sink(self, item: T) -> None:
        items, weight = self._items, self._weight
        own, count, place = weight(item), len(items), 0
        while place < count >> 1:
            child = 2 * place + 1
            right = child + 1
            if right < count and weight(items[child]) > weight(items[right]):
                child = right
            if own <= weight(items[child]):
                break
            items[place] = items[child]
            place = child
        items[place] = item
