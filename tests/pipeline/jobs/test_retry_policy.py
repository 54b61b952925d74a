"""The rules of the retry pipeline: delays and topics."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.pipeline.jobs.retry_policy import RetryPolicy, Step, parse_delay

MINUTE = 60_000


POLICY = RetryPolicy()


DELAYS_MIN = [5, 5, 30, 30, 30, 60]


def test_each_failure_picks_the_next_delay() -> None:
    steps = [POLICY.after_failure(number) for number in range(7)]
    assert [step and step.delay_ms for step in steps] == [each * MINUTE for each in DELAYS_MIN] + [None]
    assert steps[0] == Step("retry_5m_topic", 5 * MINUTE)
    assert POLICY.retry_topics == ["retry_5m_topic", "retry_30m_topic", "retry_1h_topic"]


@pytest.mark.parametrize("text", ["", "5", "m", "0s", "5 weeks", "-5m"])
def test_malformed_delays_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a delay is"):
        parse_delay(text)


def test_topics_that_coincide_are_refused() -> None:
    with pytest.raises(ValueError, match="differ from one another"):
        RetryPolicy(main_topic="a", failed_topic="a")
    with pytest.raises(ValueError, match="do not occur"):
        RetryPolicy(delays=("1m",), topics={"2m": "x"})


@pytest.mark.parametrize("jitter", [-0.1, 1.5])
def test_jitter_is_a_part_of_the_delay(jitter: float) -> None:
    with pytest.raises(ValueError, match="jitter is a part of the delay"):
        RetryPolicy(jitter=jitter)


TWO_TOPICS = RetryPolicy("main", "dead", ("1m", "5m", "1m"))
RECORD = (
    "topic string, partition int, offset bigint, timestamp timestamp, key binary, value binary,"
    " headers array<struct<key: string, value: binary>>"
)


def record(topic: str, **headers: bytes | None) -> tuple[Any, ...]:
    return topic, 3, 7, None, b"k", b"v", list(headers.items()) or None


@pytest.mark.parametrize(
    ("topic", "headers", "expected"),
    [
        ("main", {}, (0, 0, "main/3/7")),
        ("main", {"retry_number": b"9", "retry_timestamp": b"8", "retry_origin": b"o"}, (0, 0, "main/3/7")),
        ("retry_1m_topic", {}, (1, 0, "retry_1m_topic/3/7")),
        (
            "retry_5m_topic",
            {"retry_number": b"2", "retry_timestamp": b"99", "retry_origin": b"main/0/1"},
            (2, 99, "main/0/1"),
        ),
        (
            "retry_5m_topic",
            {"retry_number": b"two", "retry_timestamp": b"", "retry_origin": None},
            (1, 0, "retry_5m_topic/3/7"),
        ),
    ],
)
def test_headers_of_a_retried_message_are_columns(
    spark: Any, topic: str, headers: dict[str, bytes | None], expected: tuple[int, int, str]
) -> None:
    from odradek.pipeline.jobs.retry_policy import parsed

    rows = spark.createDataFrame([record(topic, **headers)], RECORD)
    (row,) = parsed(rows, TWO_TOPICS).collect()
    assert (row.retry_number, row.due_ms, row.origin) == expected


def test_a_failure_goes_to_its_next_delay_or_to_the_failed_topic(spark: Any) -> None:
    from pyspark.sql import functions as f

    from odradek.pipeline.jobs.retry_policy import next_step, parsed

    mine = {"retry_number": b"3", "mine": b"1"}
    rows = spark.createDataFrame([record("main", mine=b"1"), record("retry_1m_topic", **mine)], RECORD)
    step = next_step(TWO_TOPICS, f.lit(1000))
    failures = parsed(rows, TWO_TOPICS).withColumn("error", f.lit("why"))
    columns = step.topic.alias("to"), step.headers.alias("with"), step.due_ms.alias("due"), step.retry_number.alias("n")
    first, last = failures.select(*columns).orderBy("n").collect()
    assert (first.to, first.due, first.n) == ("retry_1m_topic", 61_000, 1)
    assert {each.key: bytes(each.value) for each in first["with"]} == {
        "mine": b"1",
        "retry_number": b"1",
        "retry_timestamp": b"61000",
        "retry_origin": b"main/3/7",
        "retry_error": b"why",
    }
    assert (last.to, last.due, last.n) == ("dead", None, 3)
    assert {each.key for each in last["with"]} == {"mine", "retry_number", "retry_origin", "retry_error"}


def test_jitter_makes_a_delay_longer_by_a_part_that_stays(spark: Any) -> None:
    from pyspark.sql import functions as f

    from odradek.pipeline.jobs.retry_policy import due_after

    policy = RetryPolicy("main", "dead", ("1m",), jitter=0.5)
    rows = spark.range(200).select(f.lit(0).alias("number"), f.col("id").cast("string").alias("origin"))
    due = due_after(policy, f.lit(0), f.col("number"), f.col("origin"))
    found, again = ([row.due for row in rows.select(due.alias("due")).collect()] for _ in range(2))
    assert found == again
    assert len(set(found)) > 150
    assert all(60_000 <= each < 90_000 for each in found)
