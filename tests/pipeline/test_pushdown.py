"""The bounds that a query's filters give."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from odradek.pipeline.pushdown import Narrowing, narrowed

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def millis(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


@dataclass
class Filter:
    attribute: tuple[str, ...]
    value: Any


class EqualTo(Filter): ...


class In(Filter): ...


class GreaterThan(Filter): ...


class GreaterThanOrEqual(Filter): ...


class LessThan(Filter): ...


class LessThanOrEqual(Filter): ...


class StringContains(Filter): ...


_HOLDS: dict[type[Filter], Any] = {
    EqualTo: lambda row, value: row == value,
    In: lambda row, value: row in value,
    GreaterThan: lambda row, value: row > value,
    GreaterThanOrEqual: lambda row, value: row >= value,
    LessThan: lambda row, value: row < value,
    LessThanOrEqual: lambda row, value: row <= value,
}


@pytest.mark.parametrize("kinds", list(itertools.product(_HOLDS, repeat=2)))
def test_offsets_that_filters_let_through_are_inside_the_bounds(kinds: tuple[type[Filter], type[Filter]]) -> None:
    for values in itertools.product([0, 3, 7], repeat=2):
        given = [([value, value + 1] if kind is In else value) for kind, value in zip(kinds, values, strict=True)]
        bounds = narrowed([kind(("offset",), value) for kind, value in zip(kinds, given, strict=True)])
        first, end = bounds.offsets(0, 10)
        for offset in range(10):
            if all(_HOLDS[kind](offset, value) for kind, value in zip(kinds, given, strict=True)):
                assert first <= offset < end
        assert end - first <= 10


@pytest.mark.parametrize("kind", [each for each in _HOLDS if each is not In])
def test_times_that_filters_let_through_are_inside_the_bounds(kind: type[Filter]) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for microseconds in (0, 400, 1000):
        bound = start + timedelta(microseconds=microseconds)
        for given_as in (bound, bound.astimezone(timezone(timedelta(hours=7)))):
            found = narrowed([kind(("timestamp",), given_as)])
            for offset in range(-3, 4):
                moment = start + timedelta(milliseconds=offset)
                if _HOLDS[kind](moment, bound):
                    assert found.from_ms is None or millis(moment) >= found.from_ms
                    assert found.until_ms is None or millis(moment) < found.until_ms


def test_topics_and_partitions_are_chosen_and_other_filters_passed_over() -> None:
    found = narrowed(
        [
            In(("topic",), ("a", "b")),
            EqualTo(("topic",), "a"),
            EqualTo(("partition",), 1),
            EqualTo(("codec",), "gzip"),
            StringContains(("topic",), "b"),
            EqualTo(("headers", "key"), "x"),
        ]
    )
    assert found == Narrowing(frozenset({"a"}), frozenset({1}))
    assert found.allows("a", 1)
    assert not found.allows("a", 0)
    assert not found.allows("b", 1)
