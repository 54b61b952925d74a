"""Tables for people: times as timestamps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MOMENTS = frozenset({"start_ms", "update_ms", "end_ms"})


def readable(table: DataFrame) -> DataFrame:
    """Milliseconds since 1970 as timestamps, under a name without the unit; -1, Kafka's word for none, as null.

    ``time_ms`` becomes ``time``, ``commit_time_ms`` ``commit_time``, ``start_ms`` ``start_time``; ``timeout_ms`` stays.
    """
    return table.selectExpr(*map(_column, table.columns))


def _column(name: str) -> str:
    stem = name.removesuffix("_ms")
    if name in _MOMENTS:
        return _moment(name, f"{stem}_time")
    return _moment(name, stem) if name.endswith("time_ms") else name


def _moment(name: str, shown: str) -> str:
    return f"timestamp_millis(nullif({name}, -1L)) as {shown}"
