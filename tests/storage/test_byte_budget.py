"""What many hold in memory together."""

from __future__ import annotations

from odradek.storage.byte_budget import ByteBudget


def test_the_holder_that_grew_least_recently_gives_way_to_the_others() -> None:
    gone: list[str] = []
    budget = ByteBudget[str](100, gone.append)
    for holder in "abc":
        budget.hold(holder, 30)
    budget.hold("a", 40)
    assert (budget.sum, gone) == (100, [])
    budget.hold("d", 20)
    assert (budget.sum, gone) == (90, ["b"])


def test_a_holder_that_ends_gives_its_bytes_back() -> None:
    gone: list[str] = []
    budget = ByteBudget[str](100, gone.append)
    budget.hold("a", 90)
    budget.release("a")
    budget.release("a")
    budget.hold("b", 90)
    assert (budget.sum, gone) == (90, [])


def test_a_holder_alone_never_gives_way() -> None:
    gone: list[str] = []
    budget = ByteBudget[str](100, gone.append)
    budget.hold("a", 500)
    assert (budget.sum, gone) == (500, [])


def test_without_a_limit_nobody_gives_way() -> None:
    gone: list[str] = []
    budget = ByteBudget[str](-1, gone.append)
    for holder in "ab":
        budget.hold(holder, 1 << 40)
    assert gone == []
