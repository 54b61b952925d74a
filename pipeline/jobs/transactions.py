"""`__transaction_state` and transaction markers as tables: all transactions, hanging ones, and aborted records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from odradek.pipeline.jobs.coordinator_rows import STATE_TOPIC, coordinator_rows
from odradek.pipeline.jobs.logs import LogPlace, with_times

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PRODUCER = ("producer_id", "producer_epoch")
_MARKED = ("topic", "partition", "offset", "timestamp", *_PRODUCER, "sequence", "transactional", "control")
_SHOWN = ("topic", "partition", "offset", "unix_millis(timestamp) as time_ms", *_PRODUCER)


def run(spark: SparkSession, place: LogPlace, topics: Sequence[str] | None = None) -> dict[str, DataFrame]:
    """The tables by name: ``states``, ``transactions``, ``hanging``, ``markers`` and ``aborted``. Times are timestamps.

    ``topics``: the topics with markers and aborted records (default: all). Without `__transaction_state`, the tables
    of states are empty.
    """
    states = coordinator_rows(spark, place, STATE_TOPIC).persist()
    found = transactions(states)
    data = place.read(spark, topics, columns=_MARKED, includeControl="true")
    data = data.where(f"transactional and topic != '{STATE_TOPIC}'")
    ended = with_outcome(data).persist()
    unfinished = found.where("outcome = 'open'").selectExpr(
        "transactional_id", *_PRODUCER, "last_state as state", "start_ms", "partitions"
    )
    tables = {
        "states": states,
        "transactions": found,
        "hanging": unfinished.unionByName(_open_in_the_log(ended), allowMissingColumns=True),
        "markers": ended.where("control is not null").selectExpr(*_SHOWN, "control"),
        "aborted": ended.where("control is null and outcome = 'abort'").selectExpr(*_SHOWN, "sequence"),
    }
    return {name: with_times(table) for name, table in tables.items()}


def transactions(states: DataFrame) -> DataFrame:
    """A row for each transaction: its states with their times, its partitions, outcome and duration.

    Producer id and start time identify a transaction. ``outcome``: ``commit``, ``abort`` or ``open`` (without an end).
    """
    from pyspark.sql import functions as f

    steps = states.where("not tombstone and state != 'Empty' and start_ms > 0")
    one = f.array_sort(f.collect_list(f.struct("log_offset", "state", "update_ms", "producer_epoch", "partitions")))
    grouped = steps.groupBy("transactional_id", "producer_id", "start_ms").agg(one.alias("steps"))
    last = "element_at(steps, -1)"
    end = f"case when {last}.state like 'Complete%' then {last}.update_ms end"
    return grouped.selectExpr(
        "transactional_id",
        "producer_id",
        "element_at(steps, 1).producer_epoch as producer_epoch",
        "start_ms",
        f"{end} as end_ms",
        f"{end} - start_ms as duration_ms",
        "transform(steps, each -> struct(each.state as state, timestamp_millis(each.update_ms) as time)) as states",
        "array_sort(array_distinct(flatten(transform(steps, each -> each.partitions)))) as partitions",
        f"{last}.state as last_state",
        f"case {last}.state when 'CompleteCommit' then 'commit' when 'CompleteAbort' then 'abort' else 'open' end"
        " as outcome",
    )


def with_outcome(rows: DataFrame) -> DataFrame:
    """Transactional rows with the outcome of their transaction: ``commit``, ``abort`` or null (still open)."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    # In descending order: Spark's window over all later rows is quadratic, the one over all earlier rows is not.
    backwards = Window.partitionBy("topic", "partition", "producer_id").orderBy(f.desc("offset"))
    backwards = backwards.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    return rows.withColumn("outcome", f.last("control", ignorenulls=True).over(backwards))


def _open_in_the_log(ended: DataFrame) -> DataFrame:
    """Transactions with records but without a marker. They hold back the last stable offset."""
    from pyspark.sql import functions as f

    rows = (
        ended.where("outcome is null")
        .groupBy("topic", "partition", *_PRODUCER)
        .agg(
            f.min("offset").alias("first_offset"),
            f.unix_millis(f.min("timestamp")).alias("start_ms"),
            f.count("*").alias("records"),
        )
    )
    return rows.selectExpr("*", "array(concat(topic, '-', partition)) as partitions").drop("topic", "partition")
