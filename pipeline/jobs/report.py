"""The contents of the HTML reports: an overview of the topics, and the charts of the jobs' tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from odradek.pipeline.charts import Bars, Lines, Points, TimeBars
from odradek.pipeline.html_report import Section
from odradek.pipeline.jobs import groups, transactions
from odradek.pipeline.jobs.audit import Finding, Verdict
from odradek.pipeline.jobs.coordinator_rows import OFFSETS_TOPIC, SHARE_TOPIC, STATE_TOPIC
from odradek.pipeline.jobs.logs import LogPlace, Readable, readable_topics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MAX_ROWS = 1000
_MAX_POINTS = 200
_MAX_SERIES = 20
_WIDTHS_S = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 6 * 3600, 86_400, 7 * 86_400)
_AGES_S = (0.01, 0.1, *_WIDTHS_S)
_STORED = ("topic", "partition", "timestamp", "base_offset", "batch_size")


def _up_to(ms: str) -> str:
    """SQL for the smallest of the limits (seconds) that a number of milliseconds does not exceed."""
    steps = " ".join(f"when {ms} <= {round(age * 1000)} then {age}D" for age in _AGES_S)
    return f"case when {ms} is null then null {steps} else double('infinity') end"


class Drawn(NamedTuple):
    """The chart of a table: SQL for the axes and for the series. ``y`` is an aggregate."""

    title: str
    x: str
    y: str
    x_title: str
    y_title: str
    series: str = ""
    """By default a single series with the name ``y_title``."""


class OverTime(NamedTuple):
    """A chart over time: counts for each span (``counted``), or values at points in time."""

    title: str
    time: str
    y: str
    y_title: str
    series: str = ""
    """By default a single series with the name ``y_title``."""
    counted: bool = True
    least_width_s: int = 1
    """The smallest span: the unit of the table's counts."""


_AFTER_FAILURES = "if(attempts = 1 and outcome = 'succeeded', null, attempts)"
_AGE_MS = "coalesce(duration_ms, unix_millis(current_timestamp()) - unix_millis(start_time))"
_PARTITION = "concat(topic, '-', partition)"
_WAITING = "messages that wait, by the time when they are due"
_MESSAGES = "sum(messages)"

DRAWN: Mapping[str, Drawn | OverTime] = {
    "topics": Drawn("bytes by topic, as they are stored", "topic", "sum(bytes)", "topic", "bytes"),
    "archived": Drawn("bytes by topic, in the files of the archive", "topic", "sum(bytes)", "topic", "bytes"),
    "sent": Drawn(
        "records by topic and topic in the archive", "topic", "sum(records)", "topic", "records", "archived_topic"
    ),
    "activity": OverTime("records by their time", "time", "sum(records)", "records", "topic"),
    "lag": Drawn("lag by group and topic", "group_id", "sum(lag)", "group", "lag (records)", "topic"),
    "lag_over_time": OverTime(
        "largest lag at the commits", "commit_time", "max(lag)", "lag (records)", "group_id", False
    ),
    "rebalances": OverTime("rebalances by group", "time", "count_if(event = 'generation')", "rebalances", "group_id"),
    "transactions": Drawn(
        "transactions by age and outcome", _up_to(_AGE_MS), "count(*)", "age, up to", "transactions", "outcome"
    ),
    "markers": OverTime("markers", "time", "count(*)", "markers", "control"),
    "attempts": Drawn(
        "attempts of messages that failed", _AFTER_FAILURES, _MESSAGES, "attempts", "messages", "outcome"
    ),
    "failed_attempts": Drawn("messages by attempts", "attempts", _MESSAGES, "attempts", "messages"),
    "errors": Drawn("messages by kind of error", "kind", _MESSAGES, "error", "messages"),
    "origins": Drawn("messages by the partition where they began", _PARTITION, _MESSAGES, "partition", "messages"),
    "waiting": OverTime(_WAITING, "due_time", _MESSAGES, "messages", least_width_s=60),
    "journeys": Drawn(
        "messages by time in retry", _up_to("in_retry_ms"), "count(*)", "time in retry, up to", "messages", "outcome"
    ),
}
"""Table of a job to its chart."""

_NOT_SHOWN = {"activity"}


def run(spark: SparkSession, place: LogPlace, topics: Sequence[str] | None = None) -> dict[str, DataFrame]:
    """The tables of a report: ``topics`` and ``activity`` of the topics, and those of other jobs.

    Default: all topics that the user may read. The tables of `groups` and `transactions` are included if the user may
    read their topics.
    """
    there = reportable(place).topics
    shown = topics if topics is not None else there or None
    tables = overview(place.read(spark, shown, columns=_STORED, includeControl="true"))
    if OFFSETS_TOPIC in there:
        tables |= groups.run(spark, place, with_shares=SHARE_TOPIC in there)
    if STATE_TOPIC in there:
        tables |= transactions.run(spark, place, shown)
    return tables


def reportable(place: LogPlace) -> Readable:
    """The topics that a report can show, and those that it omits. ValueError if it can show none."""
    found = readable_topics(place, (OFFSETS_TOPIC, SHARE_TOPIC, STATE_TOPIC))
    if found.refused and not found.topics:
        raise ValueError("the user may read no topic: a report takes the rights to describe and to read topics")
    return found


def overview(records: DataFrame) -> dict[str, DataFrame]:
    """``topics``: a row for each partition with its contents. ``activity``: records of each second, by topic."""
    from pyspark.sql import functions as f

    batches = records.groupBy("topic", "partition", "base_offset").agg(
        f.count("*").alias("records"),
        f.max("batch_size").alias("bytes"),
        f.min("timestamp").alias("first_time"),
        f.max("timestamp").alias("last_time"),
    )
    by_partition = batches.groupBy("topic", "partition").agg(
        f.sum("records").alias("records"),
        f.count("*").alias("batches"),
        f.sum("bytes").alias("bytes"),
        f.min("first_time").alias("first_time"),
        f.max("last_time").alias("last_time"),
    )
    return {"topics": by_partition.orderBy("topic", "partition"), "activity": records_by_second(records)}


def records_by_second(records: DataFrame) -> DataFrame:
    """Records of each second, by topic, without Kafka's internal topics."""
    seconds = records.where("topic not like '\\\\_\\\\_%'").selectExpr(
        "topic", "date_trunc('second', timestamp) as time"
    )
    return seconds.groupBy("topic", "time").count().withColumnRenamed("count", "records")


def sections(tables: Mapping[str, DataFrame]) -> Iterator[Section]:
    """The tables as sections of a page, with their first rows and their charts."""
    for name, table in tables.items():
        kept = table.persist()
        try:
            total = kept.count()
            chart = _chart(kept, DRAWN[name]) if name in DRAWN and total else None
            columns = [] if name in _NOT_SHOWN else kept.columns
            shown = kept.selectExpr(*map(_shown, kept.dtypes)).limit(_MAX_ROWS).collect() if columns else []
            yield Section(name.replace("_", " "), columns, shown, total - len(shown) if columns else 0, chart)
        finally:
            kept.unpersist()


def verdict_sections(verdict: Verdict) -> Iterator[Section]:
    """An audit as sections of a page."""
    counts = {"records": (list(verdict.counts), list(verdict.counts.values()))}
    chart = Bars("records of each topic, and committed ones", counts, "", "records")
    yield Section("records", ("what", "records"), list(verdict.counts.items()), chart=chart)
    if verdict.found:
        found = {"findings": (list(verdict.found), list(verdict.found.values()))}
        chart = Bars("findings by check", found, "check", "findings")
        yield Section("checks", ("check", "findings"), list(verdict.found.items()), chart=chart)
        rows = verdict.findings
        left_out = sum(verdict.found.values()) - len(rows)
        yield Section("findings", Finding._fields, rows, left_out, _places(rows))


def _places(findings: Sequence[Finding]) -> Points:
    series: dict[str, tuple[list[float], list[str]]] = {}
    for finding in findings:
        offsets, partitions = series.setdefault(finding.check, ([], []))
        offsets.append(finding.offset)
        partitions.append(f"{finding.topic}-{finding.partition}")
    places = sorted({(finding.topic, finding.partition) for finding in findings})
    return Points("findings by partition and offset", series, [f"{topic}-{number}" for topic, number in places])


def _shown(column: tuple[str, str]) -> str:
    """SQL for a column. Times become text, because Python would convert them to the machine's time zone."""
    name, kind = column
    return f"date_format({name}, 'yyyy-MM-dd HH:mm:ss.SSS') as {name}" if kind == "timestamp" else name


def _chart(table: DataFrame, drawn: Drawn | OverTime) -> Bars | TimeBars | Lines | None:
    if isinstance(drawn, Drawn):
        series, order, title = _series(table, drawn, drawn.x)
        return Bars(title, series, drawn.x_title, drawn.y_title, order) if series else None
    width_s = _width_s(table, drawn.time, drawn.least_width_s)
    if width_s is None:
        return None
    moment = f"timestamp_seconds(unix_seconds({drawn.time}) div {width_s} * {width_s})"
    series, _, title = _series(table, drawn, f"date_format({moment}, \"yyyy-MM-dd'T'HH:mm:ss\")")
    if drawn.counted:
        return TimeBars(title, series, f"{drawn.y_title} per {duration(width_s).removeprefix('1 ')}", width_s)
    return Lines(title, series, drawn.y_title)


def _series(
    table: DataFrame, drawn: Drawn | OverTime, x: str
) -> tuple[dict[str, tuple[list[str], list[float]]], list[str], str]:
    """The largest series, all x values in order, and the title."""
    from pyspark.sql import functions as f

    points = table.selectExpr("*", f"{x} as x", f"{drawn.series or repr(drawn.y_title)} as series").where(
        "x is not null"
    )
    grouped = points.groupBy("series", "x").agg(f.expr(f"cast({drawn.y} as double) as y")).orderBy("x")
    series: dict[str, tuple[list[str], list[float]]] = {}
    order: dict[str, None] = {}
    for row in grouped.limit(_MAX_POINTS * _MAX_SERIES).collect():
        xs, ys = series.setdefault(str(row["series"]), ([], []))
        xs.append(_label(row["x"]))
        ys.append(float(row["y"] or 0))
        order.setdefault(xs[-1])
    largest = sorted(series, key=lambda name: -max(series[name][1]))[:_MAX_SERIES]
    kept = {name: series[name] for name in series if name in largest}
    title = drawn.title if len(kept) == len(series) else f"{drawn.title} (the {_MAX_SERIES} largest)"
    return kept, list(order), title


def _label(x: str | float) -> str:
    if isinstance(x, float):
        return duration(x) if math.isfinite(x) else "more"
    return str(x)


def duration(seconds: float) -> str:
    """A duration in its largest unit: ``10 ms``, ``5 min``, ``7 d``."""
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        if seconds >= size:
            return f"{seconds / size:g} {unit}"
    return f"{1000 * seconds:g} ms"


def _width_s(table: DataFrame, column: str, least: int) -> int | None:
    """The width of a span in seconds, so that the chart has at most _MAX_POINTS spans. None without times."""
    (span,) = table.selectExpr(
        f"min(unix_seconds({column})) as first", f"max(unix_seconds({column})) as last"
    ).collect()
    if span["first"] is None:
        return None
    needed = max(least, (span["last"] - span["first"]) / _MAX_POINTS)
    return next((each for each in _WIDTHS_S if each >= needed), _WIDTHS_S[-1])
