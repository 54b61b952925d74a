"""Filters of a query that the data source can use: conditions on topic, partition, offset and timestamp.

Spark tells a Python data source of its filters from 4.1 on, if `spark.sql.python.filterPushdown.enabled` is set; under
4.0 the options of `odradek.pipeline.source_options` are the way to say the same. What is read is narrowed and Spark
is left to apply its filters to the rows, so that a condition needs only to be understood as far as it helps.

Off unless the option `pushFilters` says otherwise: Spark 4.2.0 and 4.3.0 keep the narrowed reader with what `load()`
returned, and read too little when that is used again without the filter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Narrowing:
    """Bounds on what a query can see: None is no bound; ends are exclusive."""

    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    first_offset: int | None = None
    end_offset: int | None = None
    from_ms: int | None = None
    until_ms: int | None = None

    def allows(self, topic: str, partition: int) -> bool:
        """Whether a query can see rows of a partition."""
        in_topics = self.topics is None or topic in self.topics
        return in_topics and (self.partitions is None or partition in self.partitions)

    def offsets(self, first: int, end: int) -> tuple[int, int]:
        """A range of offsets, narrowed."""
        return _latest(first, self.first_offset), _earliest(end, self.end_offset)


def narrowed(filters: Iterable[Any]) -> Narrowing:
    """The bounds that hold under all of the filters (`pyspark.sql.datasource.Filter`); others are ignored."""
    found = Narrowing()
    for condition in filters:
        column: Any = getattr(condition, "attribute", ())
        if len(column) == 1 and hasattr(condition, "value"):
            found = _NARROW.get(column[0], _unchanged)(found, type(condition).__name__, condition.value)
    return found


def _unchanged(found: Narrowing, kind: str, value: Any) -> Narrowing:
    return found


def _topic(found: Narrowing, kind: str, value: Any) -> Narrowing:
    return replace(found, topics=_among(found.topics, kind, value))


def _partition(found: Narrowing, kind: str, value: Any) -> Narrowing:
    return replace(found, partitions=_among(found.partitions, kind, value))


def _among(known: frozenset[Any] | None, kind: str, value: Any) -> frozenset[Any] | None:
    if kind not in ("EqualTo", "EqualNullSafe", "In"):
        return known
    given = frozenset(value) if kind == "In" else frozenset([value])
    return given if known is None else known & given


def _offset(found: Narrowing, kind: str, value: Any) -> Narrowing:
    first, end = _range(kind, value)
    return replace(found, first_offset=_latest(first, found.first_offset), end_offset=_earliest(end, found.end_offset))


def _timestamp(found: Narrowing, kind: str, value: Any) -> Narrowing:
    if isinstance(value, (list, tuple)):
        return found
    moment = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    # A record's time is whole milliseconds: the one that a bound falls into is kept, Spark looks at the rest.
    first, end = _range(kind, (moment - _EPOCH) // _MILLISECOND)
    if kind == "LessThan" and end is not None:
        end += 1
    return replace(found, from_ms=_latest(first, found.from_ms), until_ms=_earliest(end, found.until_ms))


def _range(kind: str, value: Any) -> tuple[Any, Any]:
    """The whole numbers that satisfy a comparison: the first, and the one after the last."""
    match kind:
        case "EqualTo" | "EqualNullSafe":
            return value, value + 1
        case "GreaterThanOrEqual" | "GreaterThan":  # one too many of the latter does no harm
            return value, None
        case "LessThan":
            return None, value
        case "LessThanOrEqual":
            return None, value + 1
        case "In":
            return min(value, default=None), max(value, default=-1) + 1
        case _:
            return None, None


def _latest(one: Any, other: Any) -> Any:
    return max((bound for bound in (one, other) if bound is not None), default=None)


def _earliest(one: Any, other: Any) -> Any:
    return min((bound for bound in (one, other) if bound is not None), default=None)


_NARROW = {"topic": _topic, "partition": _partition, "offset": _offset, "timestamp": _timestamp}
