"""When the page of a retry job is written, and what waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from odradek.pipeline.charts import TimeBars
from odradek.pipeline.html_report import Section
from odradek.pipeline.jobs import retry_page
from odradek.pipeline.jobs.retry import BatchReport, RetryJob
from odradek.pipeline.jobs.retry_page import RetryHistory
from odradek.pipeline.jobs.retry_policy import RetryPolicy

NOTHING = BatchReport(7, 1_700_000_000_000, 0, 0, {}, {}, False, 0.5)


class Written:
    """The pages that were written, each with the second in which it was; a clock goes on while one is written."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, takes_s: float = 0) -> None:
        self.now_s, self.takes_s = 0.0, takes_s
        self.pages: list[tuple[float, list[str], bool]] = []
        self.errors: list[Exception] = []
        self.error: Exception | None = None
        monkeypatch.setattr(retry_page, "waiting", lambda *_: Section("waiting"))
        job: Any = RetryJob("localhost:9092", "/nowhere", print)
        spark: Any = None
        self.page = retry_page.RetryPage(
            job,
            spark,
            RetryHistory(["soon", "dead"]),
            self.write,
            self.errors.append,
            lambda: self.now_s,
        )

    def write(self, parts: Iterable[Section], facts: Iterable[str], running: bool) -> None:
        self.pages.append((self.now_s, [part.title for part in parts], running))
        self.now_s += self.takes_s
        if self.error is not None:
            raise self.error

    def batches(self, *seconds: float, news: bool) -> None:
        for second in seconds:
            self.now_s = second
            self.page.renew(NOTHING, news=news)

    @property
    def times(self) -> list[float]:
        return [at for at, _, _ in self.pages]


def test_a_page_is_there_from_the_first_batch_on(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Written(monkeypatch)
    written.batches(0, 100, 200, news=False)
    assert written.pages == [(0, ["handled", "last errors", "arrived", "batches", "waiting"], True)]


def test_news_renew_a_page_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Written(monkeypatch)
    written.batches(*range(0, 130, 10), news=True)
    assert written.times == [0, 60, 120]
    written.batches(150, 179, 180, 300, news=False)  # what came at 130 is shown, later
    assert written.times == [0, 60, 120]


def test_news_are_shown_when_the_minute_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Written(monkeypatch)
    written.batches(0, 5, news=True)
    written.batches(59, 61, 130, news=False)
    assert written.times == [0, 61]


def test_a_page_that_takes_long_is_written_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Written(monkeypatch, takes_s=10)
    written.batches(0, 100, 209, 210, 211, news=True)
    assert written.times == [0, 210]


def test_a_page_that_cannot_be_written_does_not_end_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Written(monkeypatch)
    written.error = OSError(28, "No space left on device")
    written.batches(0, 1, news=True)
    assert written.errors == [written.error]
    written.batches(60, news=True)
    assert len(written.errors) == 2


def test_the_page_of_a_job_that_failed_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    written = Written(monkeypatch)
    written.page.fail("the topic is gone")
    assert written.pages == [(0, ["handled", "last errors", "arrived", "batches"], False)]


def test_the_retry_page_shows_what_waits_by_the_minute(spark: Any, tmp_path: Path) -> None:
    began = 1_700_000_040_000  # a full minute
    nothing = retry_page.waiting(spark, str(tmp_path), began, 60)
    assert (nothing.rows, nothing.chart) == ([], None)
    due = [began + 600_000, began, began + 1, began + 59_999, began + 60_000]
    rows = spark.createDataFrame([(each, each // 60_000, 3) for each in due], "due_ms long, bucket long, batch long")
    rows.write.partitionBy("bucket", "batch").parquet(f"{tmp_path}/state/pending")
    minutes = ["2023-11-14 22:14:00", "2023-11-14 22:15:00", "2023-11-14 22:24:00"]
    found = retry_page.waiting(spark, str(tmp_path), began, 60)
    assert found.rows == list(zip(minutes, (2, 1, 1), strict=True))
    assert isinstance(found.chart, TimeBars)
    assert found.chart.series == {"messages": (minutes, [2, 1, 1])}
    assert (found.chart.y, found.chart.widths_s) == ("messages per min", 60)


@pytest.mark.parametrize(
    ("delays", "jitter", "width_s"),
    [
        ((), 0, 60),
        (("5m", "1h"), 0, 60),
        (("16h",), 0, 60),
        (("16h",), 0.5, 600),
        (("30d",), 0, 3600),
        (("5000d",), 1, 86_400),
    ],
)
def test_long_delays_are_counted_in_long_spans(delays: tuple[str, ...], jitter: float, width_s: int) -> None:
    assert retry_page.width_s(RetryPolicy(delays=delays, jitter=jitter)) == width_s


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


def test_retry_page_tells_a_batch_in_words() -> None:
    history = RetryHistory(["soon", "late", "dead"])
    words = history.in_words(batch(1, 5, 4, {"dead": 1, "soon": 2}))
    assert words == "5 arrived, 4 due, 2 to soon, 1 to dead, 0.5 s"
    assert history.in_words(batch(1, 5, 4)) == "5 arrived, 4 due, none failed, 0.5 s"
