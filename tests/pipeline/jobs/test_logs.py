"""Where a job reads from: what it asks of the data source."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import odradek
from odradek.pipeline.jobs.logs import LogPlace, Readable, existing_topics, readable_topics
from odradek.pipeline.rows import COLUMNS
from tests.pipeline.test_session import produce


def test_logs_source_reads_a_log_directory(spark: Any, golden_log_dir: Path) -> None:
    place = LogPlace(path=str(golden_log_dir))
    everything = place.read(spark)
    assert tuple(everything.columns) == tuple(COLUMNS)
    some = place.read(spark, ["d-codecs"], columns=["topic", "offset"])
    assert some.columns == ["topic", "offset"]
    assert {row.topic for row in some.collect()} == {"d-codecs"}
    assert {"d-codecs", "__consumer_offsets"} <= {row.topic for row in everything.select("topic").distinct().collect()}


@pytest.mark.kafka(topics={"in": 1, "other": 1})
def test_logs_source_reads_a_broker(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    produce(kafka_broker, "in", ["a", "b"])
    produce(kafka_broker, "other", ["c"])
    place = LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers)
    assert place.read(spark, ["in"]).count() == 2
    assert place.read(spark).count() == 3
    assert place.read(spark, ["in"], columns=["value"], startingOffsets='{"in": {"0": 1}}').collect()[0].value == b"b"


def test_the_topics_of_a_folder_and_of_a_cluster(golden_log_dir: Path) -> None:
    folder = LogPlace(path=str(golden_log_dir))
    assert {"__consumer_offsets", "__transaction_state"} <= set(readable_topics(folder).topics)
    assert existing_topics(folder, ["__consumer_offsets", "b"]) == {"__consumer_offsets"}
    with odradek.KafkaBroker(topics={"a": 1}) as broker:
        place = LogPlace(bootstrap_servers=broker.bootstrap_servers)
        assert readable_topics(place, ["b"]) == Readable(["a"], [])
        assert existing_topics(place, ["a", "b"]) == {"a"}


def test_milliseconds_are_timestamps_and_minus_one_is_none(spark: Any) -> None:
    from odradek.pipeline.jobs.logs import with_times

    moments = "1000L as time_ms, 2500L as commit_time_ms, -1L as start_ms, null as end_ms"
    table = with_times(spark.sql(f"select {moments}, 7L as duration_ms, 8L as session_timeout_ms, 'g' as group"))
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
