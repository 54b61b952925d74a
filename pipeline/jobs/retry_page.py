"""The page of a retry job: renewed while the job runs, and complete at its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from odradek.client_security.options import security_options
from odradek.pipeline.html_report import Section
from odradek.pipeline.jobs import retries
from odradek.pipeline.jobs.logs import LogPlace
from odradek.pipeline.jobs.report import sections
from odradek.pipeline.jobs.retry_history import RetryHistory
from odradek.pipeline.jobs.state_folder import StateFolder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from odradek.pipeline.jobs.retry import BatchReport, RetryJob

RENEWED_S = 60
"""A page is renewed once in so many seconds, if there is news."""
_REST = 20
"""After a renewal there is none for so many times as long as it took."""


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
            wait = waiting(self._spark, self._job.checkpoint, report.now_ms)
            self._write(
                self._sections({"waiting": wait}),
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
        self._write(self._sections(tables), [how, *self._history.facts()], running=False)

    def fail(self, reason: str) -> None:
        """The page of a job that an error has ended: what is known without asking Spark or the cluster."""
        self._write(self._history.sections(), [f"FAILED: {reason}", *self._history.facts()], running=False)

    def _sections(self, tables: dict[str, DataFrame]) -> Iterator[Section]:
        yield from self._history.sections()
        yield from sections(tables)


def place_of(job: RetryJob) -> LogPlace:
    """The cluster of a job."""
    return LogPlace(bootstrap_servers=job.bootstrap_servers, security=security_options(job.kafka, "kafka."))


def waiting(spark: SparkSession, checkpoint: str, now_ms: int) -> DataFrame:
    """How many messages a job keeps that are due after a time, by the minute in which they are."""
    state = StateFolder(spark, f"{checkpoint}/state")
    if state.names("pending"):
        rows = spark.read.schema("due_ms bigint, bucket bigint, batch bigint").parquet(state.path("pending"))
    else:
        rows = spark.createDataFrame([], "due_ms bigint")
    return retries.by_minute(rows.where(f"due_ms > {now_ms}"))
