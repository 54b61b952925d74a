"""Times in tables that people read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def test_milliseconds_are_timestamps_and_minus_one_is_none(spark: Any) -> None:
    from odradek.pipeline.jobs.readable import readable

    row = "1000L as time_ms, 2500L as commit_time_ms, -1L as start_ms, null as end_ms, 7L as duration_ms, 'g' as group"
    table = readable(spark.sql(f"select {row}"))
    assert table.columns == ["time", "commit_time", "start_time", "end_time", "duration_ms", "group"]
    (found,) = table.collect()
    assert [moment and moment.astimezone(UTC) for moment in found[:4]] == [
        datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC),
        datetime(1970, 1, 1, 0, 0, 2, 500_000, tzinfo=UTC),
        None,
        None,
    ]
    assert found[4:] == (7, "g")
