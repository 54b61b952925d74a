"""The bounds of a read, from the filters of a query on topic, partition, offset and timestamp.

The reader skips data outside the bounds. Spark still applies all filters to the rows, so a filter may be ignored or
used in part. The option `pushFilters` turns this on. It needs Spark 4.1 and the setting
`spark.sql.python.filterPushdown.enabled`.

The option is off by default: Spark 4.2.0 and 4.3.0 keep the narrowed reader in the result of `load()`. A second query
on that result, without the filter, lacks rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Narrowing:
    """Bounds of the rows that a query needs. None: no bound. Ends are exclusive."""

    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    first_offset: int | None = None
    end_offset: int | None = None
    from_ms: int | None = None
    until_ms: int | None = None

    def allows(self, topic: str, partition: int) -> bool:
        """Whether the query needs rows of a partition."""
        in_topics = self.topics is None or topic in self.topics
        return in_topics and (self.partitions is None or partition in self.partitions)

    def offsets(self, first: int, end: int) -> tuple[int, int]:
        """The part of an offset range that the query needs."""
        return _latest(first, self.first_offset), _earliest(end, self.end_offset)


_ALL = Narrowing()


def narrowed(filters: Iterable[Any], found: Narrowing = _ALL) -> Narrowing:
    """Bounds, made narrower by filters (`pyspark.sql.datasource.Filter`). Unknown filters are ignored."""
    for condition in filters:
        column: Any = getattr(condition, "attribute", ())
        if len(column) == 1 and hasattr(condition, "value"):
            narrow = _NARROW.get(column[0])
            found = found if narrow is None else narrow(found, type(condition).__name__, condition.value)
    return found


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
    # Records have whole milliseconds. The millisecond of a bound is read, and Spark filters its rows.
    first, end = _range(kind, (moment - _EPOCH) // _MILLISECOND)
    if kind == "LessThan" and end is not None:
        end += 1
    return replace(found, from_ms=_latest(first, found.from_ms), until_ms=_earliest(end, found.until_ms))


def _range(kind: str, value: Any) -> tuple[Any, Any]:
    """The integers that satisfy a comparison: the first, and the one after the last."""
    match kind:
        case "EqualTo" | "EqualNullSafe":
            return value, value + 1
        case "GreaterThanOrEqual" | "GreaterThan":  # one number too many for the latter is harmless
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


_NARROW: Mapping[str, Callable[[Narrowing, str, Any], Narrowing]] = {
    "topic": lambda found, kind, value: replace(found, topics=_among(found.topics, kind, value)),
    "partition": lambda found, kind, value: replace(found, partitions=_among(found.partitions, kind, value)),
    "offset": _offset,
    "timestamp": _timestamp,
}
