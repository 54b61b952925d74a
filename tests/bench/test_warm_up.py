"""When a broker counts as warm."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tests.bench.load_program import Measured
from tests.bench.warm_up import warm_up


def windows(*figures: tuple[float, float]) -> list[Measured]:
    """Windows of a rate and a CPU time a unit."""
    return [Measured(rate, 0, 0, 0, 1, cpu_us) for rate, cpu_us in figures]


def one_by_one(found: Iterable[Measured]) -> Callable[[], Measured]:
    return iter(found).__next__


def test_warm_up_goes_on_until_two_windows_have_the_same_rate() -> None:
    left = iter(windows((100, 90), (200, 50), (400, 25), (410, 20), (999, 1)))
    assert warm_up(left.__next__, 12)
    assert [window.per_second for window in left] == [999]


def test_warm_up_ends_when_two_windows_cost_the_same() -> None:
    """On a busy machine no two rates are the same."""
    left = iter(windows((100, 90), (300, 50), (100, 25), (200, 24.5), (999, 1)))
    assert warm_up(left.__next__, 12)
    assert [window.per_second for window in left] == [999]


def test_warm_up_is_over_after_more_than_two_windows_alike() -> None:
    left = iter(windows((100, 90), (100, 90), (200, 50), (200, 50), (999, 1)))
    assert warm_up(left.__next__, 12)
    assert [window.per_second for window in left] == [999]


def test_warm_up_gives_up_and_says_so() -> None:
    assert not warm_up(one_by_one(windows(*((2.0**turn, 2.0**-turn) for turn in range(4)))), 4)
