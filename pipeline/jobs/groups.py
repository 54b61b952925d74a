"""The coordinators' topics of groups as tables: commits, generations, members, rebalances, lag, share states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from odradek.pipeline.jobs.coordinator_rows import DECODED, GROUP_SCHEMA, decode_groups, decode_share_states
from odradek.pipeline.jobs.group_lag import lag, lag_over_time
from odradek.pipeline.jobs.group_timeline import TIMELINE_SCHEMA, timeline
from odradek.pipeline.jobs.logs import LogPlace, has_topic
from odradek.pipeline.jobs.readable import readable

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

OFFSETS_TOPIC = "__consumer_offsets"
SHARE_TOPIC = "__share_group_state"
_NEWER = ("Consumer", "Share", "Streams")


def run(
    spark: SparkSession, place: LogPlace, *, with_lag: bool = True, with_shares: bool = True
) -> dict[str, DataFrame]:
    """The tables by name. Times are timestamps; each is ``time``, that of the record, unless its name says more.

    ``commits``, ``generations``, ``members``, ``targets``, ``tombstones`` and ``rebalances`` are rows of the log;
    ``share_states`` are those of `__share_group_state`, if it exists. ``lag`` has a row for each group and partition,
    as things stand at the log's end. ``lag_over_time`` has one for each commit; it reads the topics that were committed
    to as well. ``with_lag=False`` leaves both out, and ``with_shares=False`` leaves ``share_states`` out. A place that
    never had a group has no `__consumer_offsets`: the tables have no rows then.
    """
    if has_topic(place, OFFSETS_TOPIC):
        records = decode_groups(place.read(spark, [OFFSETS_TOPIC], columns=DECODED)).persist()
    else:
        records = spark.createDataFrame([], GROUP_SCHEMA)
    commits = records.where("kind = 'OffsetCommit' and not tombstone").select(
        "group_id",
        "topic",
        "partition",
        "committed_offset",
        "leader_epoch",
        "metadata",
        "commit_time_ms",
        "log_partition",
        "log_offset",
    )
    tables = {
        "commits": commits,
        "generations": _generations(records),
        "members": _members(records),
        "targets": _targets(records),
        "tombstones": records.where("tombstone").select(
            "kind", "group_id", "topic", "partition", "member_id", "time_ms", "log_partition", "log_offset"
        ),
        "rebalances": rebalances(records),
    }
    if with_shares and has_topic(place, SHARE_TOPIC):
        tables["share_states"] = decode_share_states(place.read(spark, [SHARE_TOPIC], columns=DECODED))
    if with_lag:
        tables["lag"] = lag(spark, place, records)
        tables["lag_over_time"] = lag_over_time(spark, place, commits)
    return {name: readable(table) for name, table in tables.items()}


def _kinds(suffix: str) -> str:
    """The condition for a kind of record of the newer types of groups, without tombstones."""
    return "not tombstone and kind in (" + ", ".join(f"'{group_type}Group{suffix}'" for group_type in _NEWER) + ")"


def _generations(records: DataFrame) -> DataFrame:
    """Every generation (classic groups, with its number of members) or epoch (newer groups)."""
    kinds = f"({_kinds('Metadata')}) or (kind = 'GroupMetadata' and not tombstone)"
    return records.where(kinds).selectExpr(
        "group_id",
        "group_type",
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
    of_classic = classic.selectExpr("group_id", "group_type", "generation", "time_ms", "log_offset", "inline(members)")
    newer = records.where(f"({_kinds('MemberMetadata')}) or ({_kinds('CurrentMemberAssignment')})").select(
        "group_id",
        "group_type",
        "generation",
        "time_ms",
        "log_offset",
        "member_id",
        "instance_id",
        "client_id",
        "client_host",
        "rack_id",
        "state",
        "subscription",
        "pattern",
        "assignment",
        "standby",
        "pending",
    )
    return of_classic.unionByName(newer, allowMissingColumns=True)


def _targets(records: DataFrame) -> DataFrame:
    """The target assignments of members of newer groups, a row for each change."""
    return records.where(_kinds("TargetAssignmentMember")).select(
        "group_id", "group_type", "member_id", "assignment", "standby", "time_ms", "log_partition", "log_offset"
    )


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
