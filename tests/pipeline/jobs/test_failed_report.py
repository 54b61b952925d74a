"""What `replay-failed` says of the messages that it sent back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import odradek
from odradek.pipeline.jobs import failed_report
from odradek.pipeline.jobs.logs import LogPlace
from odradek.pipeline.jobs.retry_policy import RetryPolicy
from tests.pipeline.jobs.test_retries import MINUTE, T, put


@pytest.mark.kafka(topics={"main_topic": 2, "failed_topic": 1})
def test_messages_by_error_attempts_and_origin(spark: Any, kafka_broker: odradek.KafkaBroker) -> None:
    from odradek.pipeline.jobs.report import sections

    for origin, number in (("main_topic/0/1", 5), ("main_topic/1/4", 0), ("main_topic/1/7", 5), ("main_topic/1/9", 5)):
        put(kafka_broker, "failed_topic", origin, number, T + number * MINUTE, None)
    kafka_broker.produce("failed_topic", "of another writer")
    place, before = LogPlace(bootstrap_servers=kafka_broker.bootstrap_servers), {"failed_topic": {"0": 1}}
    tables = failed_report.run(spark, place, RetryPolicy(), before, {"failed_topic": {"0": 5}})
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
    nothing = failed_report.run(spark, place, RetryPolicy(), {}, {})
    assert nothing["messages"].collect() == []


def test_offsets_are_those_of_the_last_batch_that_was_committed(spark: Any, tmp_path: Path) -> None:
    assert failed_report.replayed_offsets(spark, str(tmp_path)) == {}
    for number, end in ((9, 3), (10, 8), (11, 20)):
        lines = ["v1", json.dumps({"batchWatermarkMs": 0}), json.dumps({"failed_topic": {"0": end}})]
        file = tmp_path / "replay" / "offsets" / str(number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines))
    (tmp_path / "replay" / "commits").mkdir()
    for number in (9, 10):
        (tmp_path / "replay" / "commits" / str(number)).write_text("v1\n{}")
    assert failed_report.replayed_offsets(spark, str(tmp_path)) == {"failed_topic": {"0": 8}}
