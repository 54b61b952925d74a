"""The page of a retry job: renewed while the job runs, and complete at its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from odradek.client_security.options import security_options
from odradek.pipeline.charts import TimeBars
from odradek.pipeline.html_report import Section
from odradek.pipeline.jobs import retries
from odradek.pipeline.jobs.logs import LogPlace
from odradek.pipeline.jobs.report import duration, sections
from odradek.pipeline.jobs.retry_history import RetryHistory
from odradek.pipeline.jobs.state_folder import StateFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from odradek.pipeline.jobs.retry import BatchReport, RetryJob
    from odradek.pipeline.jobs.retry_policy import RetryPolicy

RENEWED_S = 60
"""A page is renewed once in so many seconds, if there is news."""
_REST = 20
"""After a renewal there is none for so many times as long as it took."""
_WIDTHS_S = (60, 600, 3600, 86_400)
_MOST_SPANS = 1000


class WritePage(Protocol):
    """Writes the page of a job that runs, or of one that has ended."""

    def __call__(self, parts: Iterable[Section], facts: Iterable[str], *, running: bool) -> None: ...


class RetryPage:
    """The page of one job, written by ``write``. An error of a renewal goes to ``complain``: the job goes on."""

    def __init__(
        self,
        job: RetryJob,
        spark: SparkSession,
        history: RetryHistory,
        write: WritePage,
        complain: Callable[[Exception], None],
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._job, self._spark, self._history = job, spark, history
        self._write, self._complain, self._clock_s = write, complain, clock_s
        self._news, self._next_s = True, clock_s()

    def renew(self, report: BatchReport, *, news: bool) -> None:
        """Within a batch: renew the page if its time has come."""
        self._news |= news
        began_s = self._clock_s()
        if not self._news or began_s < self._next_s:
            return
        try:
            wait = waiting(self._spark, self._job.checkpoint, report.now_ms, width_s(self._job.policy))
            self._write(
                [*self._history.sections(), wait],
                ["running; a browser loads this page again each minute", *self._history.facts()],
                running=True,
            )
        except Exception as error:
            self._complain(error)
        ended_s = self._clock_s()
        self._news, self._next_s = False, max(began_s + RENEWED_S, ended_s + _REST * (ended_s - began_s))

    def finish(self, how: str) -> None:
        """The page of a job that has ended: with what became of the messages."""
        tables = retries.run(self._spark, place_of(self._job), self._job.policy, self._job.now_ms())
        parts = chain(self._history.sections(), sections(tables))
        self._write(parts, [how, *self._history.facts()], running=False)

    def fail(self, reason: str) -> None:
        """The page of a job that an error has ended: what is known without asking Spark or the cluster."""
        self._write(self._history.sections(), [f"FAILED: {reason}", *self._history.facts()], running=False)


def place_of(job: RetryJob) -> LogPlace:
    """The cluster of a job."""
    return LogPlace(bootstrap_servers=job.bootstrap_servers, security=security_options(job.kafka, "kafka."))


def width_s(policy: RetryPolicy) -> int:
    """Seconds in which to count what waits together, so that there are few such spans until the last message is due."""
    longest_ms = max((step.delay_ms for step in policy.steps), default=0) * (1 + policy.jitter)
    return next((each for each in _WIDTHS_S if longest_ms / 1000 <= _MOST_SPANS * each), _WIDTHS_S[-1])


def waiting(spark: SparkSession, checkpoint: str, now_ms: int, width_s: int) -> Section:
    """How many messages a job keeps that are due after a time, by when they are. It takes a single job of Spark."""
    found: dict[int, int] = {}
    state = StateFolder(spark, f"{checkpoint}/state")
    if state.names("pending"):
        rows = spark.read.schema("due_ms bigint, bucket bigint, batch bigint").parquet(state.path("pending"))
        due = rows.where(f"due_ms > {now_ms}").selectExpr(f"due_ms div {1000 * width_s} * {width_s} as due_s")
        found = dict(sorted((row["due_s"], row["count"]) for row in due.groupBy("due_s").count().collect()))
    moments = [datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%d %H:%M:%S") for second in found]
    series = {"messages": (moments, list(found.values()))}
    title = "messages that wait, by the time when they are due"
    unit = f"messages per {duration(width_s).removeprefix('1 ')}"
    chart = TimeBars(title, series, unit, width_s) if found else None
    return Section("waiting", ("due_time", "messages"), list(zip(*series["messages"], strict=True)), len(found), chart)
