"""Times in tables that people read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def test_milliseconds_are_timestamps_and_minus_one_is_none(spark: Any) -> None:
    from odradek.pipeline.jobs.readable import readable

    moments = "1000L as time_ms, 2500L as commit_time_ms, -1L as start_ms, null as end_ms"
    table = readable(spark.sql(f"select {moments}, 7L as duration_ms, 8L as session_timeout_ms, 'g' as group"))
    assert table.columns[:4] == ["time", "commit_time", "start_time", "end_time"]
    assert table.columns[4:] == ["duration_ms", "session_timeout_ms", "group"]
    (found,) = table.collect()
    assert [moment and moment.astimezone(UTC) for moment in found[:4]] == [
        datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC),
        datetime(1970, 1, 1, 0, 0, 2, 500_000, tzinfo=UTC),
        None,
        None,
    ]
    assert found[4:] == (7, 8, "g")
