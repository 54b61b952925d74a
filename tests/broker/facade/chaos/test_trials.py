"""Delta debugging over schedules, and which faults a trial keeps."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.facade.chaos.chaos import Chaos
from odradek.broker.facade.chaos.trials import Trials, shrunk


@given(st.sets(st.integers(0, 40), max_size=4), st.integers(41, 60))
def test_the_faults_that_matter_are_found(needed: set[int], count: int) -> None:
    runs: list[Sequence[int]] = []

    def fails(some: Sequence[int]) -> bool:
        runs.append(some)
        return needed <= set(some)

    assert shrunk(range(count), fails, tries=1000) == sorted(needed)
    assert len(runs) < 250


def test_either_of_two_that_do_it_alone_is_enough() -> None:
    assert shrunk(range(10), lambda some: 3 in some or 8 in some) in ([3], [8])


def test_no_more_runs_than_allowed_and_what_was_found_until_then() -> None:
    runs = 0

    def fails(some: Sequence[int]) -> bool:
        nonlocal runs
        runs += 1
        return {1, 38} <= set(some)

    found = shrunk(range(40), fails, tries=12)

    assert runs <= 12
    assert {1, 38} <= set(found)
    assert len(found) < 40


def test_a_trial_keeps_the_faults_that_it_names_of_each_chaos_that_runs() -> None:
    trials = Trials()
    first, second = Chaos(seed=1), Chaos(seed=2)
    trials.ran += [first, second]
    assert trials.keeps(first, 5)

    with trials.keeping([(0, 5), (1, 2)]):
        assert not trials.ran
        trials.ran += [first, second]
        assert [number for number in range(9) if trials.keeps(first, number)] == [5]
        assert [number for number in range(9) if trials.keeps(second, number)] == [2]

    assert trials.keeps(first, 6)
