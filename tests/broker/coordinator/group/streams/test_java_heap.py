"""The heap gives the lightest item, and equal ones in Java's order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.group.streams.java_heap import JavaHeap


@given(st.lists(st.integers(0, 9)))
def test_the_lightest_first(weights: list[int]) -> None:
    heap = JavaHeap(lambda item: item, weights)
    assert [heap.pop() for _ in range(len(heap))] == sorted(weights)


def test_equal_items_as_a_priority_queue_of_java_gives_them() -> None:
    """Polled and offered again, as the assignor does; the order was seen on JDK 17."""
    heap = JavaHeap(lambda item: 0, "abcde")
    assert [heap.pop() for _ in range(5)] == list("aedcb")


def test_an_empty_heap() -> None:
    with pytest.raises(IndexError):
        JavaHeap(lambda item: 0, "").pop()
