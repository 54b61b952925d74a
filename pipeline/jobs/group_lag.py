"""The lag of groups: now, partition by partition, and at the time of each commit."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from odradek.pipeline.cluster_client import LATEST
from odradek.pipeline.jobs.logs import LogPlace, readable_topics
from odradek.pipeline.log_folder import end_offset, partitions_in
from odradek.pipeline.transaction_writer import PROGRESS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_SUBSCRIBING = (
    "kind in ('GroupMetadata', 'ConsumerGroupMemberMetadata', 'ConsumerGroupRegularExpression', 'StreamsGroupTopology')"
)
_PATTERN_OF_KEY = "if(kind = 'ConsumerGroupRegularExpression', pattern, null)"
_OF_A_READER = f"not metadata <=> '{PROGRESS}'"
_ENDS = "topic string, partition int, end_offset bigint"


def lag(spark: SparkSession, place: LogPlace, records: DataFrame) -> DataFrame:
    """One row for each group and partition: where the group stands, and how much it has not read.

    The partitions are those that have a commit, and all of the topics to which members are subscribed. A partition
    without a commit has neither ``committed_offset`` nor ``lag``. A commit of a topic that is gone has no ``lag``.
    What the sink `odradek` commits is no position of a reader, and is left out.
    """
    committed, subscribed = _committed(records), _subscribed(records)
    names = committed.select("topic").union(subscribed.select("topic")).distinct().collect()
    ends = spark.createDataFrame(_ends(place, {row["topic"] for row in names}), _ENDS)
    expected = subscribed.join(ends.drop("end_offset"), "topic")
    both = expected.join(committed, ["group_id", "topic", "partition"], "full_outer")
    return (
        both.join(ends, ["topic", "partition"], "left")
        .selectExpr(
            "group_id",
            "topic",
            "partition",
            "committed_offset",
            "end_offset",
            "case when end_offset >= committed_offset then end_offset - committed_offset "
            "when end_offset < committed_offset then 0 end as lag",  # no lag where either is unknown
            "commit_time_ms",
        )
        .orderBy("group_id", "topic", "partition")
    )


def _committed(records: DataFrame) -> DataFrame:
    """The last commit of each partition in the log; none if it was deleted."""
    newest = records.where("kind = 'OffsetCommit'").groupBy("group_id", "topic", "partition")
    commits = newest.agg(_newest("tombstone, committed_offset, commit_time_ms, metadata"))
    return (
        commits.where("not newest.tombstone")
        .selectExpr("*", "newest.metadata")
        .where(_OF_A_READER)
        .selectExpr("group_id", "topic", "partition", "newest.committed_offset", "newest.commit_time_ms")
    )


def _subscribed(records: DataFrame) -> DataFrame:
    """(group_id, topic) of every topic that a group's members read, as its records say at the log's end."""
    from pyspark.sql import functions as f

    # What one record says stands until the next with its key: the group, and its member or pattern.
    subscribing = records.where(_SUBSCRIBING).withColumn("of_pattern", f.expr(_PATTERN_OF_KEY))
    by_key = subscribing.groupBy("kind", "group_id", "member_id", "of_pattern")
    there = by_key.agg(_newest("tombstone, subscription, members")).where("not newest.tombstone")
    topics = "flatten(transform(coalesce(newest.members, array()), each -> each.subscription))"
    all_topics = f"explode(concat(coalesce(newest.subscription, array()), {topics})) as topic"
    return there.selectExpr("group_id", all_topics).distinct()


def _newest(columns: str) -> Column:
    from pyspark.sql import functions as f

    return f.expr(f"max_by(struct({columns}), log_offset) as newest")


def _ends(place: LogPlace, topics: Iterable[str]) -> list[tuple[str, int, int]]:
    """The end offset of each partition of the topics that (still) exist: commits outlive their topics."""
    wanted = set(topics)
    if place.path is not None:
        found = partitions_in(Path(place.path)).items()
        return [(topic, index, end_offset(segments)) for (topic, index), segments in found if topic in wanted]
    with place.client() as client:
        there = {topic: indexes for topic, indexes in client.topics().items() if topic in wanted}
        at = {(topic, index): LATEST for topic, indexes in there.items() for index in indexes}
        return [(topic, index, end) for (topic, index), end in client.offsets(at).items()]


def lag_over_time(spark: SparkSession, place: LogPlace, commits: DataFrame) -> DataFrame:
    """How far each commit was behind the end of its partition when it was made, by the records' timestamps.

    Commits of topics that the user may not read are left out.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    commits = commits.where(_OF_A_READER)
    topics = {row["topic"] for row in commits.select("topic").distinct().collect()}
    found = readable_topics(place, topics)
    commits = commits.where(~f.col("topic").isin(found.refused))
    there = sorted(topics & set(found.topics))
    if not there:
        return commits.limit(0).selectExpr(
            "group_id", "topic", "partition", "commit_time_ms", "committed_offset", "0L as end_offset", "0L as lag"
        )
    columns = ["topic", "partition", "offset", "timestamp"]
    written = place.read(spark, there, columns=columns, includeControl="true").selectExpr(
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
