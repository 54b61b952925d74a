"""The messages of a retry pipeline as tables: attempts, time in retry, and what a replay sent back.

The tables come from the topics, so a job may run meanwhile. A success writes no record. So a message counts as
succeeded if its last retry was due and no failure followed. If the job is behind, some of these are still waiting.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from odradek.pipeline.cluster_client import EARLIEST
from odradek.pipeline.jobs.logs import LogPlace, check_topics, existing_topics, with_times
from odradek.pipeline.jobs.retry_policy import (
    RETRY_ERROR,
    RETRY_NUMBER,
    RETRY_ORIGIN,
    RETRY_TIMESTAMP,
    RetryPolicy,
    header_text,
)
from odradek.pipeline.jobs.state_folder import StateFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_READ = ("topic", "partition", "offset", "timestamp", "key", "headers")
_COMMITTED = {"isolation": "read_committed"}


def run(spark: SparkSession, place: LogPlace, policy: RetryPolicy, now_ms: int) -> dict[str, DataFrame]:
    """The tables by name. ``outcome`` is ``succeeded``, ``waiting`` (for a retry after ``now_ms``) or ``failed``.

    ``attempts``: the number of ``messages`` for each number of attempts and outcome.
    ``waiting``: the number of waiting messages, by the minute in which they are due.
    ``journeys``: a row for each message that failed: its ``origin`` (topic, partition, offset), ``failures``, first
    failure, last due time, milliseconds in retry, and last error. ValueError without the main topic.
    """
    check_topics(place, [policy.main_topic])
    there = existing_topics(place, policy.output_topics)
    rows = place.read(spark, sorted(there) or [policy.main_topic], columns=_READ, **_COMMITTED)
    journeys = _journeys(rows, policy, now_ms).persist()
    main = place.read(spark, [policy.main_topic], columns=["topic", "partition", "offset"], **_COMMITTED)
    taken = journeys.selectExpr("if(outcome = 'succeeded', failures + 1, failures) as attempts", "outcome")
    at_once = main.count() - journeys.count()
    first = spark.range(1).selectExpr("1 as attempts", "'succeeded' as outcome", f"{max(at_once, 0)}L as messages")
    counted = taken.groupBy("attempts", "outcome").count().withColumnRenamed("count", "messages")
    attempts = first.unionByName(counted).where("messages > 0").orderBy("attempts", "outcome")
    minute = "timestamp_millis(last_due_time_ms div 60000 * 60000) as due_time"
    due = journeys.where("outcome = 'waiting'").selectExpr(minute)
    waiting = due.groupBy("due_time").count().withColumnRenamed("count", "messages").orderBy("due_time")
    return {"attempts": attempts, "waiting": waiting, "journeys": with_times(journeys)}


def _journeys(rows: DataFrame, policy: RetryPolicy, now_ms: int) -> DataFrame:
    from pyspark.sql import functions as f

    number, due = (header_text(name).try_cast("bigint") for name in (RETRY_NUMBER, RETRY_TIMESTAMP))
    dead = f.col("topic") == f.lit(policy.failed_topic)
    failures = rows.select(
        header_text(RETRY_ORIGIN).alias("origin"),
        "key",
        f.unix_millis("timestamp").alias("failed_ms"),
        # In the failed topic it is the number of the last retry, elsewhere the number of the next one.
        f.when(dead, number + 1).otherwise(number).alias("failures"),
        f.when(~dead, due).alias("due_ms"),
        dead.alias("dead"),
        header_text(RETRY_ERROR).alias("error"),
    ).where("origin is not null and failures is not null")
    by_origin = failures.groupBy("origin").agg(
        f.expr("first(key)").alias("key"),
        f.max("failures").alias("failures"),
        f.min("failed_ms").alias("first_failure_time_ms"),
        f.max("due_ms").alias("last_due_time_ms"),
        f.expr("max(if(dead, failed_ms, null))").alias("dead_ms"),
        f.expr("max_by(error, failures)").alias("error"),
    )
    outcome = f"case when dead_ms is not null then 'failed' when last_due_time_ms > {now_ms}L then 'waiting'"
    return by_origin.selectExpr(
        "origin",
        "key",
        "failures",
        f"{outcome} else 'succeeded' end as outcome",
        "first_failure_time_ms",
        "last_due_time_ms",
        # A failure is written after it happened, so a short delay may have passed.
        f"greatest(coalesce(dead_ms, least(last_due_time_ms, {now_ms}L)) - first_failure_time_ms, 0L) as in_retry_ms",
        "error",
    )


Offsets = dict[str, dict[str, int]]


def replayed_offsets(spark: SparkSession, checkpoint: str) -> Offsets:
    """The offsets of the last replay in a job's checkpoint, by topic and partition. Empty before the first replay."""
    state = StateFolder(spark, f"{checkpoint}/replay")
    batches = [int(name) for name in state.names("commits") if name.isdigit()]
    log = state.read_text(f"offsets/{max(batches)}") if batches else None
    # The lines are a version, Spark's metadata of the batch, and the offsets of the stream.
    found: Any = json.loads(log.splitlines()[2]) if log else {}
    return {topic: dict(partitions) for topic, partitions in found.items()}


def sent_back(
    spark: SparkSession, place: LogPlace, policy: RetryPolicy, before: Offsets, after: Offsets
) -> dict[str, DataFrame]:
    """The tables of the messages that a replay sent back: those between two results of `replayed_offsets`.

    ``errors``: the number of messages by kind of their last error, with an example. ``failed_attempts``: the number by
    attempts. ``origins``: the number by original partition in the main topic. ``messages``: a row for each message.
    """
    from pyspark.sql import functions as f

    ends = after.get(policy.failed_topic, {})
    begins = dict.fromkeys(ends, EARLIEST) | before.get(policy.failed_topic, {})
    ranges = {
        name: json.dumps({policy.failed_topic: offsets})
        for name, offsets in (("startingOffsets", begins), ("endingOffsets", ends))
    }
    options = {"isolation": "read_committed", "failOnDataLoss": "false"}
    if ends:
        options |= ranges
    rows = place.read(spark, [policy.failed_topic], columns=_READ, **options)
    messages = _messages(rows if ends else rows.limit(0)).persist()
    count = f.count("*").alias("messages")
    errors = messages.groupBy("kind").agg(count, f.first("error").alias("example"))
    attempts = messages.groupBy("attempts").agg(count)
    origins = messages.groupBy("topic", "partition").agg(
        count, f.min("origin_offset").alias("first_offset"), f.min("failed_time_ms").alias("first_failed_time_ms")
    )
    return {
        "errors": errors.orderBy("messages", ascending=False),
        "failed_attempts": attempts.orderBy("attempts"),
        "origins": with_times(origins).orderBy("topic", "partition"),
        "messages": with_times(
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
        # The header has the number of the last failed retry.
        (header_text(RETRY_NUMBER).try_cast("int") + 1).alias("attempts"),
        f.unix_millis("timestamp").alias("failed_time_ms"),
        header_text(RETRY_ERROR).alias("error"),
    ).selectExpr("*", "coalesce(substring_index(error, ':', 1), 'none') as kind")
