"""The messages of a retry pipeline as tables: how many attempts they took, and how long they were in retry.

All is read from the topics, beside a job that runs or without one. A success leaves nothing there: a message has
succeeded if its last retry came due and no failure followed, as far as the job has come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.pipeline.jobs.logs import LogPlace, has_topic
from odradek.pipeline.jobs.readable import readable
from odradek.pipeline.jobs.retry_policy import RETRY_ERROR, RETRY_NUMBER, RETRY_ORIGIN, RETRY_TIMESTAMP, RetryPolicy
from odradek.pipeline.jobs.retry_rows import header_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_READ = ("topic", "partition", "offset", "timestamp", "key", "headers")
_COMMITTED = {"isolation": "read_committed"}


def run(spark: SparkSession, place: LogPlace, policy: RetryPolicy, now_ms: int) -> dict[str, DataFrame]:
    """The tables by name. ``outcome`` is ``succeeded``, ``waiting`` (for a retry after ``now_ms``) or ``failed``.

    ``attempts``: a row for each number of attempts and outcome, with how many ``messages`` took so many.
    ``waiting``: how many messages wait, by the minute in which they are due.
    ``journeys``: a row for each message that failed: its ``origin`` (topic, partition, offset), ``failures``, first
    failure, last due time, milliseconds in retry, and last error. ValueError without the main topic.
    """
    if not has_topic(place, policy.main_topic):
        raise ValueError(f"no topic {policy.main_topic}")
    there = [name for name in policy.output_topics if has_topic(place, name)]
    rows = place.read(spark, there or [policy.main_topic], columns=_READ, **_COMMITTED)
    journeys = _journeys(rows, policy, now_ms).persist()
    main = place.read(spark, [policy.main_topic], columns=["topic", "partition", "offset"], **_COMMITTED)
    taken = journeys.selectExpr("if(outcome = 'succeeded', failures + 1, failures) as attempts", "outcome")
    at_once = main.count() - journeys.count()
    first = spark.range(1).selectExpr("1 as attempts", "'succeeded' as outcome", f"{max(at_once, 0)}L as messages")
    counted = taken.groupBy("attempts", "outcome").count().withColumnRenamed("count", "messages")
    attempts = first.unionByName(counted).where("messages > 0").orderBy("attempts", "outcome")
    due = journeys.where("outcome = 'waiting'").selectExpr("last_due_time_ms as due_ms")
    return {"attempts": attempts, "waiting": by_minute(due), "journeys": readable(journeys)}


def by_minute(due: DataFrame) -> DataFrame:
    """Rows with ``due_ms`` as ``messages`` by ``due_time``, a minute."""
    minutes = due.selectExpr("timestamp_millis(due_ms div 60000 * 60000) as due_time")
    return minutes.groupBy("due_time").count().withColumnRenamed("count", "messages").orderBy("due_time")


def _journeys(rows: DataFrame, policy: RetryPolicy, now_ms: int) -> DataFrame:
    from pyspark.sql import functions as f

    number, due = (header_text(name).try_cast("bigint") for name in (RETRY_NUMBER, RETRY_TIMESTAMP))
    dead = f.col("topic") == f.lit(policy.failed_topic)
    failures = rows.select(
        header_text(RETRY_ORIGIN).alias("origin"),
        "key",
        f.unix_millis("timestamp").alias("failed_ms"),
        # In the failed topic it is the number of the retry that failed last, elsewhere that of the one to come.
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
        # A failure is written a moment after it, so a delay may have passed before.
        f"greatest(coalesce(dead_ms, least(last_due_time_ms, {now_ms}L)) - first_failure_time_ms, 0L) as in_retry_ms",
        "error",
    )
