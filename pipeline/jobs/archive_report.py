"""What an archive holds and what a replay of it sent, as the tables of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from odradek.pipeline.jobs.archive import archived_rows
from odradek.pipeline.jobs.logs import LogPlace
from odradek.pipeline.jobs.report import records_by_second
from odradek.pipeline.jobs.transactions import with_outcome

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_IN_BATCH_HEADERS = ("topic", "partition", "base_offset", "producer_id", "transactional", "control")


def archived(
    spark: SparkSession,
    place: LogPlace,
    folder: str,
    topics: Sequence[str] | None = None,
    *,
    read_committed: bool = True,
) -> dict[str, DataFrame]:
    """The tables of a new archive of a place; the arguments are those of `archive`.

    ``archived``: a row for each partition: records, first and last offset, first and last time, and the bytes of its
    files. With ``read_committed`` also how many records are not in it: ``aborted``, ``open`` (of an open transaction)
    and ``later`` (behind an open transaction, or written since). For these the headers of the place's batches are read.
    ``activity``: records of each second, by topic.
    """
    rows = archived_rows(spark, folder)
    held = _partitions(rows)
    if read_committed:
        seen = _by_outcome(place.read(spark, topics, columns=_IN_BATCH_HEADERS, includeControl="true"))
        held = held.join(seen, ["topic", "partition"], "full").selectExpr(
            "topic",
            "partition",
            "coalesce(records, 0L) as records",
            "coalesce(aborted, 0L) as aborted",
            "coalesce(open, 0L) as open",
            "greatest(coalesce(committed, 0L) - coalesce(records, 0L), 0L) as later",
            *held.columns[3:],
        )
    return {"archived": held.orderBy("topic", "partition"), "activity": _activity(rows)}


def replayed(spark: SparkSession, folder: str, sent: DataFrame) -> dict[str, DataFrame]:
    """The tables of a replay of an archive, from the result of `replay`.

    ``sent``: a row for each partition: its topic and offsets in the archive, and its topic, records, batches and first
    offset in the cluster. ``activity``: records of each second, by topic of the archive.
    """
    rows = archived_rows(spark, folder)
    origins = _partitions(rows).selectExpr(
        "topic as archived_topic",
        "partition",
        "first_offset as archived_first_offset",
        "last_offset as archived_last_offset",
        "first_time",
        "last_time",
    )
    pairs = origins.join(sent, ["archived_topic", "partition"]).select(
        "archived_topic",
        "partition",
        "archived_first_offset",
        "archived_last_offset",
        "topic",
        "records",
        "batches",
        "first_offset",
        "first_time",
        "last_time",
    )
    return {"sent": pairs.orderBy("archived_topic", "partition"), "activity": _activity(rows)}


def _partitions(rows: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    by_file = rows.groupBy("topic", "partition", "_metadata.file_path").agg(
        f.count("*").alias("records"),
        f.expr("first(_metadata.file_size)").alias("bytes"),
        f.min("offset").alias("first_offset"),
        f.max("offset").alias("last_offset"),
        f.min("timestamp_ms").alias("first_ms"),
        f.max("timestamp_ms").alias("last_ms"),
    )
    return by_file.groupBy("topic", "partition").agg(
        f.sum("records").alias("records"),
        f.min("first_offset").alias("first_offset"),
        f.max("last_offset").alias("last_offset"),
        f.timestamp_millis(f.min("first_ms")).alias("first_time"),
        f.timestamp_millis(f.max("last_ms")).alias("last_time"),
        f.sum("bytes").alias("bytes"),
    )


def _activity(rows: DataFrame) -> DataFrame:
    return records_by_second(rows.selectExpr("topic", "timestamp_millis(timestamp_ms) as timestamp"))


def _by_outcome(records: DataFrame) -> DataFrame:
    """How many records of each partition are aborted, of an open transaction, and neither."""
    from pyspark.sql import functions as f

    batches = records.groupBy(*_IN_BATCH_HEADERS).agg(f.count("*").alias("records"))
    ended = with_outcome(batches.withColumnRenamed("base_offset", "offset")).where("control is null")
    kinds = {
        "aborted": "transactional and outcome <=> 'abort'",
        "open": "transactional and outcome is null",
        "committed": "not transactional or outcome <=> 'commit'",
    }
    sums = [f.expr(f"sum(if({which}, records, 0L))").alias(name) for name, which in kinds.items()]
    return ended.groupBy("topic", "partition").agg(*sums)
