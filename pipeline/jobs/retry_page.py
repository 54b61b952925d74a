"""The HTML page of a retry job: the history of its micro-batches, renewed while the job runs."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING

from odradek.pipeline.charts import TimeBars
from odradek.pipeline.html_report import Section
from odradek.pipeline.jobs import retries
from odradek.pipeline.jobs.report import duration, sections
from odradek.pipeline.jobs.state_folder import StateFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from odradek.pipeline.jobs.retry import BatchReport, RetryJob
    from odradek.pipeline.jobs.retry_policy import RetryPolicy

_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400
_KEPT_S = ((_DAY_S, 7 * _DAY_S), (_HOUR_S, 6 * _HOUR_S))
"""(width, age) in seconds: older counts are merged into spans of this width."""
_LAST_ERRORS = 50


@dataclass
class _Counts:
    width_s: int = 0
    arrived: int = 0
    due: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    longest_s: float = 0.0

    def add(self, arrived: int, due: int, failed: Mapping[str, int], longest_s: float) -> None:
        self.arrived += arrived
        self.due += due
        self.failed.update(failed)
        self.longest_s = max(self.longest_s, longest_s)


class RetryHistory:
    """Counts by minute; by hour after six hours, and by day after a week.

    ``topics``: the targets of failures, in the order of the delays; the failed topic is the last.
    """

    def __init__(self, topics: Sequence[str]) -> None:
        self._topics = topics
        self._spans: dict[int, _Counts] = {}
        self._total = _Counts()
        self._errors: deque[tuple[str, str, str, str]] = deque(maxlen=_LAST_ERRORS)
        self._last: BatchReport | None = None

    def add(self, report: BatchReport) -> bool:
        """Add a micro-batch. Returns whether it did anything."""
        self._last = report
        if not (report.arrived or report.due or report.failed):
            return False
        now_s = report.now_ms // 1000
        start, width_s = _span(now_s, now_s)
        if start not in self._spans:
            self._thin_out(now_s)
            self._spans[start] = _Counts(width_s)
        for counts in (self._spans[start], self._total):
            counts.add(report.arrived, report.due, report.failed, report.took_s)
        for topic, (origin, error) in report.errors.items():
            self._errors.appendleft((_moment(report.now_ms), topic, origin, error))
        return True

    def _thin_out(self, now_s: int) -> None:
        before, self._spans = self._spans, {}
        for earlier, counts in before.items():
            start, width_s = _span(earlier, now_s)
            merged = self._spans.setdefault(start, _Counts(width_s))
            merged.add(counts.arrived, counts.due, counts.failed, counts.longest_s)

    @property
    def summary(self) -> str:
        """All micro-batches in one line."""
        return self._words(self._total.arrived, self._total.due, self._total.failed)

    def in_words(self, report: BatchReport) -> str:
        """A micro-batch in one line."""
        return f"{self._words(report.arrived, report.due, report.failed)}, {report.took_s:.1f} s"

    def _words(self, arrived: int, due: int, failed: Mapping[str, int]) -> str:
        went = ", ".join(f"{failed[topic]} to {topic}" for topic in self._topics if failed.get(topic)) or "none failed"
        return f"{arrived} arrived, {due} due, {went}"

    def facts(self) -> Iterator[str]:
        """The lines at the top of a page."""
        yield f"since the job was started: {self.summary}"
        if self._last is not None:
            took = f"took {self._last.took_s:.1f} s"
            yield f"last batch: number {self._last.batch}, at {_moment(self._last.now_ms)}, {took}"

    def sections(self) -> Iterator[Section]:
        """Charts of the micro-batches, and the last errors."""
        spans = list(self._spans.values())
        handled = {"no failure": [each.due - each.failed.total() for each in spans]}
        for topic in filter(self._total.failed.get, self._topics):
            name = "failed" if topic == self._topics[-1] else f"to {topic}"
            handled[name] = [each.failed[topic] for each in spans]
        yield Section("handled", chart=_rates("messages that were due, by what became of them", self._spans, handled))
        columns = ("time", "went_to", "origin", "error")
        note = f"One of each batch and topic, the last {_LAST_ERRORS}." if self._errors else ""
        yield Section("last errors", columns, list(self._errors), note=note)
        arrived = {"arrived": [each.arrived for each in spans]}
        title = "messages that arrived on the main topic and the retry topics"
        yield Section("arrived", chart=_rates(title, self._spans, arrived))
        longest = {"longest batch": [each.longest_s for each in spans]}
        yield Section("batches", chart=_by_span("longest batch", self._spans, longest, "seconds"))


def _rates(title: str, spans: Mapping[int, _Counts], counts: Mapping[str, Sequence[int]]) -> TimeBars | None:
    minutes = [each.width_s / _MINUTE_S for each in spans.values()]
    rates = {name: [count / each for count, each in zip(counts[name], minutes, strict=True)] for name in counts}
    return _by_span(title, spans, rates, "messages per min")


def _by_span(
    title: str, spans: Mapping[int, _Counts], values: Mapping[str, Sequence[float]], unit: str
) -> TimeBars | None:
    if not spans:
        return None
    starts = [_moment(1000 * start, "T") for start in spans]
    widths = [each.width_s for each in spans.values()]
    return TimeBars(title, {name: (starts, heights) for name, heights in values.items()}, unit, widths)


def _span(at_s: int, now_s: int) -> tuple[int, int]:
    """The first second and the width of the span of a second. A whole span has one age."""
    for width_s, kept_s in _KEPT_S:
        start = at_s - at_s % width_s
        if now_s - (start + width_s) >= kept_s:
            return start, width_s
    return at_s - at_s % _MINUTE_S, _MINUTE_S


def _moment(ms: int, between: str = " ") -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime(f"%Y-%m-%d{between}%H:%M:%S")


RENEWED_S = 60
"""The page is renewed at most once in this number of seconds, if there is news."""
_REST = 20
"""After a renewal the page rests for this multiple of its duration."""
_WIDTHS_S = (60, 600, 3600, 86_400)
_MOST_SPANS = 1000


class RetryPage:
    """The page of a job. ``complain`` gets the error of a renewal, and the job continues.

    ``write`` writes the page from its sections, the facts at its top, and whether the job is running.
    """

    def __init__(
        self,
        job: RetryJob,
        spark: SparkSession,
        history: RetryHistory,
        write: Callable[[Iterable[Section], Iterable[str], bool], None],
        complain: Callable[[Exception], None],
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._job, self._spark, self._history = job, spark, history
        self._write, self._complain, self._clock_s = write, complain, clock_s
        self._news, self._next_s = True, clock_s()

    def renew(self, report: BatchReport, *, news: bool) -> None:
        """Renew the page within a micro-batch, if it is time."""
        self._news |= news
        began_s = self._clock_s()
        if not self._news or began_s < self._next_s:
            return
        try:
            wait = waiting(self._spark, self._job.checkpoint, report.now_ms, width_s(self._job.policy))
            facts = ["running; a browser loads this page again each minute", *self._history.facts()]
            self._write([*self._history.sections(), wait], facts, True)
        except Exception as error:
            self._complain(error)
        ended_s = self._clock_s()
        self._news, self._next_s = False, max(began_s + RENEWED_S, ended_s + _REST * (ended_s - began_s))

    def finish(self, how: str) -> None:
        """Write the page of an ended job, with the tables of its messages."""
        tables = retries.run(self._spark, self._job.place, self._job.policy, self._job.now_ms())
        parts = chain(self._history.sections(), sections(tables))
        self._write(parts, [how, *self._history.facts()], False)

    def fail(self, reason: str) -> None:
        """Write the page of a failed job, without a request to Spark or the cluster."""
        self._write(self._history.sections(), [f"FAILED: {reason}", *self._history.facts()], False)


def width_s(policy: RetryPolicy) -> int:
    """The width in seconds of the spans of waiting messages, so that the longest delay has few spans."""
    longest_ms = max((step.delay_ms for step in policy.steps), default=0) * (1 + policy.jitter)
    return next((each for each in _WIDTHS_S if longest_ms / 1000 <= _MOST_SPANS * each), _WIDTHS_S[-1])


def waiting(spark: SparkSession, checkpoint: str, now_ms: int, width_s: int) -> Section:
    """The number of stored messages that are due later, by due time. Takes a single Spark job."""
    found: dict[int, int] = {}
    state = StateFolder(spark, f"{checkpoint}/state")
    if state.names("pending"):
        rows = spark.read.schema("due_ms bigint, bucket bigint, batch bigint").parquet(state.path("pending"))
        due = rows.where(f"due_ms > {now_ms}").selectExpr(f"due_ms div {1000 * width_s} * {width_s} as due_s")
        found = dict(sorted((row["due_s"], row["count"]) for row in due.groupBy("due_s").count().collect()))
    moments = [_moment(1000 * second) for second in found]
    series = {"messages": (moments, list(found.values()))}
    title = "messages that wait, by the time when they are due"
    unit = f"messages per {duration(width_s).removeprefix('1 ')}"
    chart = TimeBars(title, series, unit, width_s) if found else None
    return Section("waiting", ("due_time", "messages"), list(zip(*series["messages"], strict=True)), chart=chart)
