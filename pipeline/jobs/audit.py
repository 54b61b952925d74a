"""The exactly-once audit of a topic, or of a pair of topics: gaps, duplicates, and a verdict.

Checks of a topic: the sequences of idempotent producers have no gaps and no repetitions in a partition. An id (the key
or a header) occurs once among the committed records. Checks of a pair: the output has every id of the input once, and
no other id. Compaction and retention leave gaps, too: audit topics that keep all records.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from odradek.pipeline.jobs.logs import LogPlace, last_header

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_MAX_SHOWN = 1000
_SEQUENCES = 2**31
_SEQUENCED = ["topic", "partition", "offset", "producer_id", "producer_epoch", "sequence", "control"]


class Finding(NamedTuple):
    """One fault: the failed check, its place (partition and offset, -1 for none) and a description."""

    check: str
    topic: str
    partition: int
    offset: int
    detail: str


@dataclass
class Verdict:
    """The result of an audit. ``counts``: records by view. ``found``: faults by check. ``findings``: the first ones."""

    counts: dict[str, int] = field(default_factory=dict)
    found: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    folder: str | None = None
    """The parquet folder for all findings. The first finding creates it."""
    _written: bool = False

    @property
    def passed(self) -> bool:
        """Whether there is no finding."""
        return not self.found

    def add(self, rows: DataFrame) -> None:
        """Add rows (check, topic, partition, offset, detail) as findings."""
        rows = rows.persist()
        try:
            for row in rows.groupBy("check").count().collect():
                self.found[row["check"]] = self.found.get(row["check"], 0) + int(row["count"])
            first = rows.orderBy("check", "topic", "partition", "offset").limit(_MAX_SHOWN).collect()
            self.findings += [Finding(*row) for row in first]
            if self.folder is not None:
                rows.write.mode("append" if self._written else "errorifexists").parquet(self.folder)
                self._written = True
        finally:
            rows.unpersist()

    def lines(self) -> list[str]:
        """The verdict as text."""
        lines = [f"{name}: {count}" for name, count in self.counts.items()]
        for check, topic, partition, offset, detail in self.findings:
            lines.append(f"{check}: {topic}-{partition} offset {offset}: {detail}")
        lines += [f"{check}: {count} found" for check, count in sorted(self.found.items())]
        return [*lines, "passed" if self.passed else "FAILED"]


def run(
    spark: SparkSession,
    place: LogPlace,
    topic: str,
    target: str | None = None,
    *,
    by: str | None = None,
    output: str | None = None,
) -> Verdict:
    """Audit a topic, or the pair of ``topic`` and ``target``.

    ``by``: the id of a record, ``key`` or ``header:NAME``. A pair needs it (default: key); a single topic does not.
    ``output``: a parquet folder for all findings. The verdict holds only the first ones.
    """
    verdict = Verdict(folder=output)
    for name in [topic] if target is None else [topic, target]:
        raw = place.read(spark, [name], columns=_SEQUENCED)
        committed = place.read(spark, [name], columns=["offset"], isolation="read_committed")
        verdict.counts[f"{name} records"] = raw.count()
        verdict.counts[f"{name} committed"] = committed.count()
    verdict.add(findings(spark, place, topic, target, by=by))
    return verdict


def findings(
    spark: SparkSession, place: LogPlace, topic: str, target: str | None = None, *, by: str | None = None
) -> DataFrame:
    """What `run` finds, as a table: ``check``, ``topic``, ``partition``, ``offset``, ``detail``."""
    names = [topic] if target is None else [topic, target]
    found = [sequence_findings(place.read(spark, [name], columns=_SEQUENCED)) for name in names]
    if target is not None:
        sent, kept = (_identified(place, spark, name, by or "key") for name in names)
        absent = sent.join(kept.select("id").distinct(), "id", "left_anti")
        others = kept.where("id is not null").join(sent.select("id").distinct(), "id", "left_anti")
        found += [_duplicates(kept), _described("'missing in output'", absent), _described("'not in input'", others)]
    elif by is not None:
        found.append(_duplicates(_identified(place, spark, topic, by)))
    return reduce(lambda one, other: one.unionByName(other), found)


def sequence_findings(rows: DataFrame) -> DataFrame:
    """Records whose sequence does not follow the sequence before, by partition, producer and epoch."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    order = Window.partitionBy("topic", "partition", "producer_id", "producer_epoch").orderBy("offset")
    idempotent = rows.where("control is null and sequence >= 0").withColumn("before", f.lag("sequence").over(order))
    # The distance on the circle of sequences: 1 is the next one, more than half the circle is a step back.
    step = idempotent.withColumn("step", f.pmod(f.col("sequence").cast("bigint") - f.col("before"), f.lit(_SEQUENCES)))
    wrong = step.where("before is not null and step != 1")
    return wrong.selectExpr(
        f"if(step = 0 or step > {_SEQUENCES // 2}, 'duplicate sequence', 'sequence gap') as check",
        "topic",
        "partition",
        "offset",
        "concat('producer ', producer_id, ' epoch ', producer_epoch, ': sequence ', sequence, ' after ', before)"
        " as detail",
    )


def _identified(place: LogPlace, spark: SparkSession, topic: str, by: str) -> DataFrame:
    columns = ["topic", "partition", "offset", "key" if by == "key" else "headers"]
    rows = place.read(spark, [topic], columns=columns, isolation="read_committed")
    return rows.select("topic", "partition", "offset", _identity(by).alias("id"))


def _identity(by: str) -> Column:
    if by == "key":
        from pyspark.sql import functions as f

        return f.col("key")
    kind, _, name = by.partition(":")
    if kind != "header" or not name:
        raise ValueError(f"records are identified by key or header:NAME, not {by!r}")
    return last_header(name)


def _duplicates(rows: DataFrame) -> DataFrame:
    """Every record but the first of its id, and every record without an id."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    order = Window.partitionBy("id").orderBy("partition", "offset")
    numbered = rows.withColumn("number", f.row_number().over(order))
    wrong = numbered.where("id is null or number > 1")
    return _described("if(id is null, 'without id', 'duplicate id')", wrong)


def _described(check: str, rows: DataFrame) -> DataFrame:
    """Rows with ``id`` as findings. ``check``: SQL."""
    detail = "coalesce(cast(id as string), 'null') as detail"
    return rows.selectExpr(f"{check} as check", "topic", "partition", "offset", detail)
