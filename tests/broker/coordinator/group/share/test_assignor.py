"""The simple assignor: everything is given out, evenly, and moved no more than needed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.group.assignment import Partitions
from odradek.broker.coordinator.group.share.assignor import assign

A, B = bytes(15) + b"\1", bytes(15) + b"\2"


def places(given: dict[str, Partitions]) -> list[tuple[str, bytes, int]]:
    return [(m, topic, index) for m, parts in given.items() for topic, indexes in parts.items() for index in indexes]


@given(
    members=st.integers(1, 12),
    later=st.integers(0, 12),
    sizes=st.dictionaries(st.sampled_from([A, B]), st.integers(1, 6), min_size=1),
)
def test_one_subscription(members: int, later: int, sizes: dict[bytes, int]) -> None:
    assignable = {topic: range(size) for topic, size in sizes.items()}
    names = {f"m{number}": sorted(sizes) for number in range(members)}
    first = assign(names, {}, assignable)
    check_even(first, len(names), sum(sizes.values()))
    grown = {**names, **{f"n{number}": sorted(sizes) for number in range(later)}}
    second = assign(grown, first, assignable)
    check_even(second, len(grown), sum(sizes.values()))
    assert assign(grown, second, assignable) == second


def check_even(given: dict[str, Partitions], members: int, partitions: int) -> None:
    sharing = -(-members // partitions)
    rows = places(given)
    counts = [sum(1 for _, topic, index in rows if (topic, index) == place) for place in {row[1:] for row in rows}]
    assert len(counts) == partitions
    assert set(counts) == {sharing}
    sizes = [sum(len(indexes) for indexes in parts.values()) for parts in given.values()]
    assert max(sizes) - min(sizes) <= 1


def test_members_get_only_what_they_subscribe_to() -> None:
    given = assign({"a": [A], "b": [A, B], "c": [B]}, {}, {A: range(2), B: range(3)})
    assert set(given["a"]) == {A}
    assert set(given["c"]) == {B}
    assert {(t, i) for _, t, i in places(given)} == {(A, 0), (A, 1), (B, 0), (B, 1), (B, 2)}


def test_what_cannot_be_assigned_is_taken_away() -> None:
    assert assign({"a": [A]}, {"a": {A: (0, 1), B: (0,)}}, {A: range(1)}) == {"a": {A: (0,)}}


def test_nothing_to_give() -> None:
    assert assign({"a": [A], "b": [A]}, {}, {}) == {"a": {}, "b": {}}
