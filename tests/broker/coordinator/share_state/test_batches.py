"""Merging state batches, held against a model that looks at each offset by itself."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.share_state.batches import combine
from odradek.broker.partitions.share.states import StateBatch


def spread(batches: list[StateBatch] | tuple[StateBatch, ...], start: int) -> dict[int, tuple[int, int]]:
    """Delivery count and state of each offset: the largest that any batch says."""
    found: dict[int, tuple[int, int]] = {}
    for first, last, state, count in batches:
        for offset in range(max(first, start), last + 1):
            found[offset] = max(found.get(offset, (-1, -1)), (count, state))
    return found


SOME = st.lists(
    st.builds(
        lambda first, size, state, count: StateBatch(first, first + size, state, count),
        st.integers(0, 30),
        st.integers(0, 8),
        st.sampled_from([0, 2, 4]),
        st.integers(1, 3),
    ),
    max_size=6,
)


@given(writes=st.lists(st.tuples(SOME, st.integers(-1, 25)), max_size=5))
def test_says_the_same_of_each_offset_as_the_model(writes: list[tuple[list[StateBatch], int]]) -> None:
    stored: list[StateBatch] = []
    start = -1
    everything: list[StateBatch] = []
    for new, moved in writes:
        start = max(start, moved)
        stored = combine(stored, new, start)
        everything += new
        assert spread(stored, -1) == spread(everything, start)
        for one, other in itertools.pairwise(stored):
            assert one.last_offset < other.first_offset


def test_neighbours_with_the_same_content_become_one() -> None:
    assert combine([StateBatch(0, 4, 2, 1)], [StateBatch(5, 9, 2, 1)], 0) == [(0, 9, 2, 1)]


def test_what_lies_before_the_start_goes() -> None:
    assert combine([StateBatch(0, 4, 2, 1), StateBatch(6, 9, 0, 1)], [], 7) == [(7, 9, 0, 1)]


def test_a_late_answer_does_not_take_back_a_later_delivery() -> None:
    assert combine([StateBatch(0, 9, 0, 2)], [StateBatch(3, 4, 2, 1)], 0) == [(0, 9, 0, 2)]
