"""Whose commits make a lag. The other rows are in test_groups."""

from __future__ import annotations

from typing import Any

import pytest

import odradek
from odradek.pipeline.jobs.logs import LogPlace
from tests.pipeline.test_session import produce


@pytest.mark.kafka(topics={"in": 1, "out": 1})
def test_what_a_sink_commits_is_no_position(spark: Any, kafka_broker: odradek.KafkaBroker, as_task: Any) -> None:
    """A sink counts its micro-batches in a group of its own."""
    from pyspark.sql import Row
    from pyspark.sql.types import StringType, StructField, StructType

    from odradek.pipeline.jobs import groups
    from odradek.pipeline.sink import SinkOptions, StreamWriter

    produce(kafka_broker, "in", ["a", "b"])
    kafka_broker.group("reader").set_offsets({("in", 0): 1})
    place = LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers)
    given = {"kafka.bootstrap.servers": kafka_broker.bootstrap_servers, "topic": "out"}
    writer = StreamWriter(SinkOptions.parse(given, StructType([StructField("value", StringType())])))
    writer.commit([as_task(writer, 0, Row(value="a"))], 0)
    tables = groups.run(spark, place)
    commits = {row.group_id: row.metadata for row in tables["commits"].collect()}
    assert commits == {"reader": "", "odradek-query-0": "micro-batches of a sink odradek"}
    for name in ("lag", "lag_over_time"):
        assert [(row.group_id, row.lag) for row in tables[name].collect()] == [("reader", 1)]
