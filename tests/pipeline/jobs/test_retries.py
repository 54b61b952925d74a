"""The messages of a retry pipeline, told from its topics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

import odradek
from odradek.__main__ import main
from odradek.pipeline.jobs import retries
from odradek.pipeline.jobs.logs import LogPlace
from odradek.pipeline.jobs.retry_policy import RetryPolicy
from tests.pipeline.test_session import produce

POLICY = RetryPolicy("main", "dead", ("5m", "30m"), {"5m": "soon", "30m": "later"})
WORDS = ["--main-topic", "main", "--failed-topic", "dead", "--delays", "5m,30m", "--topic", "5m=soon"]
TABLES = ("attempts", "waiting", "journeys")
T = 1_700_000_000_000
MINUTE = 60_000


def put(broker: odradek.KafkaBroker, topic: str, origin: str, number: int, failed_ms: int, due_ms: int | None) -> None:
    """A failure as the retry job writes it."""
    headers: dict[str, str] = {"retry_origin": origin, "retry_number": str(number), "retry_error": f"error {number}"}
    if due_ms is not None:
        headers["retry_timestamp"] = str(due_ms)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    given: list[Any] = [(name, value.encode()) for name, value in headers.items()]
    producer.produce(topic, key=f"key of {origin}", value="v", headers=given, timestamp=failed_ms)
    assert producer.flush(30) == 0


@pytest.mark.kafka(topics=["main", "soon", "later", "dead"])
def test_retries_job_counts_attempts_and_journeys(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    from odradek.pipeline.jobs import retries
    from odradek.pipeline.jobs.report import sections

    produce(kafka_broker, "main", ["a", "b", "c", "d", "e"])
    put(kafka_broker, "soon", "main/0/0", 1, T, T + 5 * MINUTE)
    put(kafka_broker, "soon", "main/0/1", 1, T + 1, T + 5 * MINUTE)
    put(kafka_broker, "later", "main/0/1", 2, T + 6 * MINUTE, T + 36 * MINUTE)
    for _ in range(2):  # a task that Spark repeated wrote it once more
        put(kafka_broker, "dead", "main/0/1", 2, T + 37 * MINUTE, None)
    put(kafka_broker, "soon", "main/0/3", 1, T + 2, T + 1)  # of a job that took its time
    put(kafka_broker, "later", "main/0/2", 2, T + 31 * MINUTE, T + 61 * MINUTE)
    produce(kafka_broker, "soon", ["of another writer"])
    place = LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers)
    tables = retries.run(spark, place, POLICY, T + 41 * MINUTE)
    assert [tuple(row) for row in tables["attempts"].collect()] == [
        (1, "succeeded", 1),
        (2, "succeeded", 2),
        (2, "waiting", 1),
        (3, "failed", 1),
    ]
    journeys = {row.origin: row for row in tables["journeys"].collect()}
    assert {
        origin: (bytes(row.key), row.failures, row.outcome, row.in_retry_ms, row.error)
        for origin, row in journeys.items()
    } == {
        "main/0/0": (b"key of main/0/0", 1, "succeeded", 5 * MINUTE, "error 1"),
        "main/0/1": (b"key of main/0/1", 3, "failed", 37 * MINUTE - 1, "error 2"),
        "main/0/3": (b"key of main/0/3", 1, "succeeded", 0, "error 1"),
        "main/0/2": (b"key of main/0/2", 2, "waiting", 10 * MINUTE, "error 2"),
    }
    attempts, waiting, times = (section.chart for section in sections(tables))
    assert attempts is not None
    assert waiting is not None
    assert times is not None
    assert waiting.series == {"messages": (["2023-11-14T23:14:00"], [1.0])}  # T and 61 minutes
    assert attempts.series == {
        "succeeded": (["2"], [2.0]),
        "waiting": (["2"], [1.0]),
        "failed": (["3"], [1.0]),
    }
    none_failed = tables["attempts"].where("attempts = 1")
    assert [section.chart for section in sections({"attempts": none_failed})] == [None]
    assert times.series == {
        "succeeded": (["10 ms", "5 min"], [1.0, 1.0]),
        "waiting": (["10 min"], [1.0]),
        "failed": (["1 h"], [1.0]),
    }


@pytest.mark.kafka(topics=["main", "dead"])
def test_retries_from_the_command_line(
    spark: Any, kafka_broker: odradek.KafkaBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    produce(kafka_broker, "main", ["a", "b"])
    words = ["pipeline", "retries", "--bootstrap-servers", kafka_broker.bootstrap_servers, *WORDS]
    assert main([*words, "--output", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{name}: {tmp_path / 'out' / name}" for name in TABLES]
    assert [tuple(row) for row in spark.read.parquet(str(tmp_path / "out" / "attempts")).collect()] == [
        (1, "succeeded", 2)
    ]
    assert spark.read.parquet(str(tmp_path / "out" / "journeys")).count() == 0
    put(kafka_broker, "dead", "main/0/1", 0, T, None)
    assert main(words) == 0
    assert "|main/0/1|key of main/0/1|" in capsys.readouterr().out
    assert main([*words, "--main-topic", "absent"]) == 2
    assert capsys.readouterr().err == "odradek pipeline retries: no topic absent\n"


@pytest.mark.kafka(topics={"main_topic": 2, "failed_topic": 1})
def test_messages_by_error_attempts_and_origin(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    from odradek.pipeline.jobs.report import sections

    for origin, number in (("main_topic/0/1", 5), ("main_topic/1/4", 0), ("main_topic/1/7", 5), ("main_topic/1/9", 5)):
        put(kafka_broker, "failed_topic", origin, number, T + number * MINUTE, None)
    kafka_broker.produce("failed_topic", "of another writer")
    place, before = LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers), {"failed_topic": {"0": 1}}
    tables = retries.sent_back(spark, place, RetryPolicy(), before, {"failed_topic": {"0": 5}})
    rows = {name: [tuple(row) for row in table.collect()] for name, table in tables.items()}
    assert sorted(row[:2] for row in rows["errors"]) == [("error 0", 1), ("error 5", 2), ("none", 1)]
    assert rows["failed_attempts"] == [(None, 1), (1, 1), (6, 2)]
    assert [row[:4] for row in rows["origins"]] == [(None, None, 1, None), ("main_topic", 1, 3, 4)]
    assert [row[:3] for row in rows["messages"]] == [
        ("main_topic", 1, 4),
        ("main_topic", 1, 7),
        ("main_topic", 1, 9),
        (None, None, None),
    ]
    charts = {section.title: section.chart for section in sections(tables)}
    assert charts["failed attempts"].series == {"messages": (["1", "6"], [1.0, 2.0])}  # type: ignore[union-attr]
    assert charts["origins"].series == {"messages": (["main_topic-1"], [3.0])}  # type: ignore[union-attr]
    nothing = retries.sent_back(spark, place, RetryPolicy(), {}, {})
    assert nothing["messages"].collect() == []


def test_offsets_are_those_of_the_last_batch_that_was_committed(spark: Any, tmp_path: Path) -> None:
    assert retries.replayed_offsets(spark, str(tmp_path)) == {}
    for number, end in ((9, 3), (10, 8), (11, 20)):
        lines = ["v1", json.dumps({"batchWatermarkMs": 0}), json.dumps({"failed_topic": {"0": end}})]
        file = tmp_path / "replay" / "offsets" / str(number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines))
    (tmp_path / "replay" / "commits").mkdir()
    for number in (9, 10):
        (tmp_path / "replay" / "commits" / str(number)).write_text("v1\n{}")
    assert retries.replayed_offsets(spark, str(tmp_path)) == {"failed_topic": {"0": 8}}
