"""The messages that `replay-failed` sent back, as the tables of a report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from odradek.pipeline.cluster_client import EARLIEST
from odradek.pipeline.jobs.logs import LogPlace
from odradek.pipeline.jobs.readable import readable
from odradek.pipeline.jobs.retry_policy import RETRY_ERROR, RETRY_NUMBER, RETRY_ORIGIN, RetryPolicy
from odradek.pipeline.jobs.retry_rows import header_text
from odradek.pipeline.jobs.state_folder import StateFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_READ = ("topic", "partition", "offset", "timestamp", "key", "headers")

Offsets = dict[str, dict[str, int]]


def replayed_offsets(spark: SparkSession, checkpoint: str) -> Offsets:
    """The offsets that replays have reached, by topic and partition, from a job's checkpoint; empty at first."""
    state = StateFolder(spark, f"{checkpoint}/replay")
    batches = [int(name) for name in state.names("commits") if name.isdigit()]
    log = state.read_text(f"offsets/{max(batches)}") if batches else None
    # A version, what Spark says of the batch, and the offsets of the stream.
    found: Any = json.loads(log.splitlines()[2]) if log else {}
    return {topic: dict(partitions) for topic, partitions in found.items()}


def run(
    spark: SparkSession, place: LogPlace, policy: RetryPolicy, before: Offsets, after: Offsets
) -> dict[str, DataFrame]:
    """The tables of what lies between two results of `replayed_offsets`.

    ``errors``: messages by the kind of their last error, with one of these. ``failed_attempts``: by number of attempts.
    ``origins``: by partition of the main topic where they began. ``messages``: each of them.
    """
    ends = after.get(policy.failed_topic, {})
    begins = dict.fromkeys(ends, EARLIEST) | before.get(policy.failed_topic, {})
    ranges = {
        name: json.dumps({policy.failed_topic: offsets})
        for name, offsets in (("startingOffsets", begins), ("endingOffsets", ends))
    }
    options = {"isolation": "read_committed", "failOnDataLoss": "false"}
    if ends:
        rows = place.read(spark, [policy.failed_topic], columns=_READ, **options, **ranges)
    else:
        rows = place.read(spark, [policy.failed_topic], columns=_READ, **options).limit(0)
    messages = _messages(rows).persist()
    errors = messages.groupBy("kind").agg({"*": "count", "error": "first"})
    attempts = messages.groupBy("attempts").count().withColumnRenamed("count", "messages")
    origins = messages.groupBy("topic", "partition").agg(
        {"*": "count", "origin_offset": "min", "failed_time_ms": "min"}
    )
    return {
        "errors": errors.selectExpr("kind", "`count(1)` as messages", "`first(error)` as example").orderBy(
            "messages", ascending=False
        ),
        "failed_attempts": attempts.orderBy("attempts"),
        "origins": readable(
            origins.selectExpr(
                "topic",
                "partition",
                "`count(1)` as messages",
                "`min(origin_offset)` as first_offset",
                "`min(failed_time_ms)` as first_failed_time_ms",
            )
        ).orderBy("topic", "partition"),
        "messages": readable(
            messages.select("topic", "partition", "origin_offset", "key", "attempts", "failed_time_ms", "error")
        ),
    }


def _messages(rows: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    # The name of a topic has no slash.
    origin = f.split(header_text(RETRY_ORIGIN), "/")
    place = [f.try_element_at(origin, f.lit(at)) for at in (1, 2, 3)]
    return rows.select(
        place[0].alias("topic"),
        place[1].try_cast("int").alias("partition"),
        place[2].try_cast("bigint").alias("origin_offset"),
        "key",
        # The header has the number of the retry that failed last.
        (header_text(RETRY_NUMBER).try_cast("int") + 1).alias("attempts"),
        f.unix_millis("timestamp").alias("failed_time_ms"),
        header_text(RETRY_ERROR).alias("error"),
    ).selectExpr("*", "coalesce(substring_index(error, ':', 1), 'none') as kind")
