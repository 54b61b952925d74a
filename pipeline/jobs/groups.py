"""`__consumer_offsets` as tables: commits, generations, members, tombstones, rebalances, and lag over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from odradek.pipeline.jobs.coordinator_rows import DECODED, decode_groups
from odradek.pipeline.jobs.group_timeline import TIMELINE_SCHEMA, timeline
from odradek.pipeline.jobs.logs import LogPlace

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

OFFSETS_TOPIC = "__consumer_offsets"


def run(spark: SparkSession, place: LogPlace, *, with_lag: bool = True) -> dict[str, DataFrame]:
    """The tables by name: ``commits``, ``generations``, ``members``, ``tombstones``, ``rebalances`` and ``lag``.

    ``lag`` reads the topics that were committed to as well; ``with_lag=False`` leaves it out.
    """
    records = decode_groups(place.read(spark, [OFFSETS_TOPIC], columns=DECODED)).persist()
    commits = records.where("kind = 'OffsetCommit' and not tombstone")
    tables = {
        "commits": commits.select(
            "group_id",
            "topic",
            "partition",
            "committed_offset",
            "leader_epoch",
            "metadata",
            "commit_time_ms",
            "log_partition",
            "log_offset",
        ),
        "generations": _generations(records),
        "members": _members(records),
        "tombstones": records.where("tombstone").select(
            "kind", "group_id", "topic", "partition", "member_id", "time_ms", "log_partition", "log_offset"
        ),
        "rebalances": rebalances(records),
    }
    if with_lag:
        tables["lag"] = lag(spark, place, tables["commits"])
    return tables


def _generations(records: DataFrame) -> DataFrame:
    """Every generation (classic groups) or epoch (newer groups), with its number of members."""
    kinds = "kind in ('GroupMetadata', 'ConsumerGroupMetadata') and not tombstone"
    return records.where(kinds).selectExpr(
        "group_id",
        "generation",
        "protocol_type",
        "protocol",
        "leader",
        "size(members) as members",
        "time_ms",
        "log_partition",
        "log_offset",
    )


def _members(records: DataFrame) -> DataFrame:
    """The members of every generation with subscription and assignment; newer groups have a row for each change."""
    classic = records.where("kind = 'GroupMetadata' and not tombstone")
    of_classic = classic.selectExpr("group_id", "generation", "time_ms", "log_offset", "inline(members)")
    newer = "kind in ('ConsumerGroupMemberMetadata', 'ConsumerGroupCurrentMemberAssignment') and not tombstone"
    of_newer = records.where(newer).select(
        "group_id", "generation", "time_ms", "log_offset", "member_id", "subscription", "assignment"
    )
    return of_classic.unionByName(of_newer, allowMissingColumns=True)


def rebalances(records: DataFrame) -> DataFrame:
    """Who joined, who left and which partitions moved, by group in the order of the log; a task holds one group."""

    def tell(pdf: pd.DataFrame) -> pd.DataFrame:
        import pandas

        rows = pdf.sort_values("log_offset").astype(object)
        rows = rows.where(rows.notna(), None)
        return pandas.DataFrame(_events(rows), columns=[column.split()[0] for column in TIMELINE_SCHEMA.split(", ")])

    return (
        records.where("group_id is not null and kind != 'OffsetCommit'")
        .groupBy("group_id")
        .applyInPandas(tell, TIMELINE_SCHEMA)
    )


def _events(rows: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    yield from (tuple(event) for event in timeline(rows.to_dict("records")))


def lag(spark: SparkSession, place: LogPlace, commits: DataFrame) -> DataFrame:
    """How far each commit was behind the end of its partition when it was made, by the records' timestamps."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    topics = sorted(row["topic"] for row in commits.select("topic").distinct().collect())
    there = _existing(spark, place, topics)
    if not there:
        return commits.limit(0).selectExpr(
            "group_id", "topic", "partition", "commit_time_ms", "committed_offset", "0L as end_offset", "0L as lag"
        )
    written = place.read(spark, there, columns=["topic", "partition", "offset", "timestamp"]).selectExpr(
        "topic", "partition", "unix_millis(timestamp) as commit_time_ms", "offset + 1 as written"
    )
    both = written.unionByName(commits.drop("leader_epoch", "metadata"), allowMissingColumns=True)
    so_far = Window.partitionBy("topic", "partition").orderBy("commit_time_ms")
    behind = both.withColumn("end_offset", f.max("written").over(so_far)).where("group_id is not null")
    return behind.selectExpr(
        "group_id",
        "topic",
        "partition",
        "commit_time_ms",
        "committed_offset",
        "greatest(coalesce(end_offset, committed_offset), committed_offset) as end_offset",
        "greatest(coalesce(end_offset, committed_offset) - committed_offset, 0) as lag",
    )


def _existing(spark: SparkSession, place: LogPlace, topics: list[str]) -> list[str]:
    """The topics that (still) exist: commits outlive their topics."""
    from pathlib import Path

    from odradek.pipeline.cluster_client import ClusterClient
    from odradek.pipeline.log_folder import partitions_in

    if place.path is not None:
        known = {topic for topic, _ in partitions_in(Path(place.path))}
    else:
        with ClusterClient(place.bootstrap_servers or "") as client:
            known = set(client.topics())
    return [topic for topic in topics if topic in known]
