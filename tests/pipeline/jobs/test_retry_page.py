"""When the page of a retry job is written, and what waits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from odradek.pipeline.charts import TimeBars
from odradek.pipeline.html_report import Section
from odradek.pipeline.jobs import retry_page
from odradek.pipeline.jobs.retry import BatchReport, RetryJob
from odradek.pipeline.jobs.retry_history import RetryHistory
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

    def write(self, parts: Iterable[Section], facts: Iterable[str], *, running: bool) -> None:
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
