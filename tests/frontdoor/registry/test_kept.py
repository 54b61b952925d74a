"""Values that are kept as far as a size allows."""

from __future__ import annotations

import pytest

from odradek.registry import kept
from odradek.registry.kept import Kept


@pytest.fixture(autouse=True)
def sizes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_EACH", 0)


def test_those_that_nobody_asked_for_make_room() -> None:
    values: Kept[str, int] = Kept(10)
    values.put("a", 1, 4)
    values.put("b", 2, 4)
    assert values.get("a") == 1
    values.put("c", 3, 6)
    assert [values.get(each) for each in "abc"] == [1, None, 3]
    assert (values.size, repr(values)) == (10, "<Kept: 2 of the size 10>")


def test_one_that_is_too_large_leaves_the_others() -> None:
    values: Kept[str, int] = Kept(10)
    values.put("a", 1, 10)
    values.put("b", 2, 11)
    assert (values.get("a"), values.get("b")) == (1, None)


def test_one_that_is_put_again_counts_once() -> None:
    values: Kept[str, int] = Kept(10)
    for size in (10, 3, 7):
        values.put("a", size, size)
        assert (values.get("a"), values.size) == (size, size)


def test_small_ones_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_EACH", 100)
    values: Kept[int, int] = Kept(1000)
    for number in range(1000):
        values.put(number, number, 0)
    assert values.size == 1000
