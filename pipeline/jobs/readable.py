"""Tables for people: times as timestamps."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_DURATIONS = frozenset({"duration_ms"})


def readable(table: DataFrame) -> DataFrame:
    """Milliseconds since 1970 as timestamps, under a name without the unit; -1, Kafka's word for none, as null.

    ``time_ms`` becomes ``time``, ``commit_time_ms`` ``commit_time``, ``start_ms`` ``start_time``.
    """
    return table.selectExpr(*map(_column, table.columns))


def _column(name: str) -> str:
    if not name.endswith("_ms") or name in _DURATIONS:
        return name
    stem = name.removesuffix("_ms")
    shown = stem if stem == "time" or stem.endswith("_time") else f"{stem}_time"
    return f"timestamp_millis(nullif({name}, -1L)) as {shown}"
