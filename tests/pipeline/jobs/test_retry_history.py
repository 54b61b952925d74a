"""What the batches of a retry job did, kept in few numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from odradek.pipeline.jobs.retry import BatchReport
from odradek.pipeline.jobs.retry_history import RetryHistory

HOUR_S = 3600
T0_S = 1_700_006_400 // 86_400 * 86_400
"""The beginning of a day."""


def batch(
    second: int, arrived: int = 0, due: int = 0, failed: Mapping[str, int] | None = None, took_s: float = 0.5
) -> BatchReport:
    failed = failed or {}
    errors = {topic: ("main/0/7", f"error of {topic}") for topic in failed}
    return BatchReport(second, 1000 * (T0_S + second), arrived, due, failed, errors, False, took_s)


def charts_of(history: RetryHistory) -> dict[str, Any]:
    return {section.title: section.chart for section in history.sections()}


def test_messages_by_minute_and_outcome() -> None:
    history = RetryHistory(["soon", "late", "dead"])
    assert history.add(batch(1, 5, 5, {"soon": 2}))
    assert history.add(batch(59, 1, 3, {"soon": 1, "dead": 1}, took_s=2.5))
    assert history.add(batch(60, 4, 4))
    charts = charts_of(history)
    minutes = ["2023-11-15T00:00:00", "2023-11-15T00:01:00"]
    assert charts["handled"].series == {
        "no failure": (minutes, [4, 4]),
        "to soon": (minutes, [3, 0]),
        "failed": (minutes, [1, 0]),
    }
    assert list(charts["handled"].series) == ["no failure", "to soon", "failed"]
    assert charts["arrived"].series == {"arrived": (minutes, [6, 4])}
    assert charts["batches"].series == {"longest batch": (minutes, [2.5, 0.5])}
    assert all(chart.widths_s == [60, 60] for chart in charts.values() if chart is not None)
    assert history.summary == "10 arrived, 12 due, 3 to soon, 1 to dead"


def test_idle_batches_leave_nothing_but_their_time() -> None:
    history = RetryHistory(["soon", "late", "dead"])
    assert not history.add(batch(3))
    assert history.summary == "0 arrived, 0 due, none failed"
    assert list(history.facts()) == [
        "since the job was started: 0 arrived, 0 due, none failed",
        "last batch: number 3, at 2023-11-15 00:00:03, took 0.5 s",
    ]
    assert charts_of(history) == dict.fromkeys(("handled", "arrived", "batches", "last errors"))


def test_old_minutes_become_hours_and_days() -> None:
    history = RetryHistory(["soon", "late", "dead"])
    count = 3 * 7 * 24 * 3
    for number in range(count):  # three an hour for three weeks
        history.add(batch(20 * 60 * number, 2, 2, {"dead": 1}))
    chart = charts_of(history)["handled"]
    moments, rates = chart.series["failed"]
    assert moments == sorted(moments)
    by_width: dict[int, set[float]] = {}
    for rate, width in zip(rates, chart.widths_s, strict=True):
        by_width.setdefault(width, set()).add(rate * width / 60)
    assert by_width == {60: {1}, HOUR_S: {3}, 24 * HOUR_S: {72}}  # each hour and each day is whole
    assert 6 * 3 <= chart.widths_s.count(60) <= 7 * 3
    assert 6 * 24 <= chart.widths_s.count(HOUR_S) <= 8 * 24
    assert sum(rate * width / 60 for rate, width in zip(rates, chart.widths_s, strict=True)) == count


def test_the_last_errors_come_first() -> None:
    history = RetryHistory(["soon", "late", "dead"])
    for second in range(60):
        history.add(batch(second, 1, 1, {"soon": 1}))
    (section,) = (each for each in history.sections() if each.title == "last errors")
    assert section.columns == ("time", "went_to", "origin", "error")
    assert section.rows[0] == ("2023-11-15 00:00:59", "soon", "main/0/7", "error of soon")
    assert len(section.rows) == 50


def test_a_batch_in_words() -> None:
    history = RetryHistory(["soon", "late", "dead"])
    words = history.in_words(batch(1, 5, 4, {"dead": 1, "soon": 2}))
    assert words == "5 arrived, 4 due, 2 to soon, 1 to dead, 0.5 s"
    assert history.in_words(batch(1, 5, 4)) == "5 arrived, 4 due, none failed, 0.5 s"
