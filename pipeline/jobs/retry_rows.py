"""Messages of the retry pipeline as rows: what their headers say, and what becomes of a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from odradek.pipeline.jobs.retry_policy import (
    HEADERS,
    RETRY_ERROR,
    RETRY_NUMBER,
    RETRY_ORIGIN,
    RETRY_TIMESTAMP,
    RetryPolicy,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

COLUMNS = {
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp_ms": "bigint",
    "key": "binary",
    "value": "binary",
    "headers": "array<struct<key: string, value: binary>>",
    "retry_number": "int",
    "due_ms": "bigint",
    "origin": "string",
}
ROW = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())

_PARTS = 1_000_000


class NextStep(NamedTuple):
    """What becomes of a failure, as columns over it."""

    topic: Column
    headers: Column
    retry_number: Column
    due_ms: Column
    """Null: no retry is left."""


def next_step(policy: RetryPolicy, now_ms: Column) -> NextStep:
    """Where a failure at some time goes: to the topic of its next delay, or to the failed topic."""
    from pyspark.sql import functions as f

    steps = policy.steps
    number = f.col("retry_number")
    topic = _choice([f.lit(step.topic) for step in steps], number, f.lit(policy.failed_topic))
    due = due_after(policy, now_ms, number, f.col("origin"))
    next_number = f.when(number < f.lit(len(steps)), number + 1).otherwise(number)
    kept = f.filter(f.coalesce("headers", f.array()), lambda each: ~each["key"].isin(list(HEADERS)))
    ours = f.array(
        _made_header(RETRY_NUMBER, next_number),
        _made_header(RETRY_TIMESTAMP, due),
        _made_header(RETRY_ORIGIN, f.col("origin")),
        _made_header(RETRY_ERROR, f.col("error")),
    )
    ours = f.filter(ours, lambda each: each["value"].isNotNull())
    return NextStep(topic, f.concat(kept, ours), next_number, due)


def due_after(policy: RetryPolicy, now_ms: Column, number: Column, origin: Column) -> Column:
    """When an attempt of that number that failed is due again; null if no retry is left.

    The jitter follows from the attempt: whoever asks again finds the same.
    """
    from pyspark.sql import functions as f

    # A part from 0 to 1 that no other message has, and each of its attempts has another.
    part = f.pmod(f.xxhash64(origin, number), f.lit(_PARTS)) / f.lit(_PARTS) if policy.jitter else f.lit(0)
    delays = [f.lit(step.delay_ms) * (1 + part * f.lit(policy.jitter)) for step in policy.steps]
    return _choice([now_ms + delay.cast("bigint") for delay in delays], number, f.lit(None)).cast("bigint")


def parsed(records: DataFrame, policy: RetryPolicy) -> DataFrame:
    """Records of the main topic and the retry topics as messages, with what their headers say.

    On the main topic every message is at its beginning.
    """
    from pyspark.sql import functions as f

    retried = f.col("topic") != f.lit(policy.main_topic)
    fresh = f.concat_ws("/", "topic", "partition", "offset")
    number = header_text(RETRY_NUMBER).try_cast("int")
    due = header_text(RETRY_TIMESTAMP).try_cast("bigint")
    return records.select(
        "topic",
        "partition",
        "offset",
        f.unix_millis("timestamp").alias("timestamp_ms"),
        "key",
        "value",
        "headers",
        # Whoever else writes to a retry topic starts at retry 1, due at once.
        f.when(retried, f.coalesce(number, f.lit(1))).otherwise(0).cast("int").alias("retry_number"),
        f.when(retried, f.coalesce(due, f.lit(0))).otherwise(0).cast("bigint").alias("due_ms"),
        f.when(retried, f.coalesce(header_text(RETRY_ORIGIN), fresh)).otherwise(fresh).alias("origin"),
    )


def header_text(name: str) -> Column:
    """The last header of a name as text; null without one."""
    from pyspark.sql import functions as f

    found = f.filter("headers", lambda each: each["key"] == f.lit(name))
    return f.try_element_at(found, f.lit(-1))["value"].cast("string")


def _made_header(name: str, value: Column) -> Column:
    from pyspark.sql import functions as f

    return f.struct(f.lit(name).alias("key"), value.cast("string").cast("binary").alias("value"))


def _choice(options: list[Column], index: Column, otherwise: Column) -> Column:
    """The option of that index, or the last one."""
    from pyspark.sql import functions as f

    chosen = otherwise
    for number, option in enumerate(options):
        chosen = f.when(index == number, option).otherwise(chosen)
    return chosen
