"""Groups as tables, from the coordinators' topics: commits, generations, members, rebalances, lag, share states.

There is the present lag of each partition, and the lag at each commit. Rebalances follow from the records of a group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from odradek.pipeline.cluster_client import LATEST
from odradek.pipeline.jobs.coordinator_rows import NEWER_GROUPS, OFFSETS_TOPIC, SHARE_TOPIC, coordinator_rows
from odradek.pipeline.jobs.logs import LogPlace, existing_topics, readable_topics, with_times
from odradek.pipeline.log_folder import end_offset, partitions_in
from odradek.pipeline.transaction_writer import PROGRESS

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import Column, DataFrame, SparkSession

_PLACE = ("log_partition", "log_offset")
_PARTITION = ("group_id", "topic", "partition")
_MEMBER = ("member_id", "instance_id", "client_id", "client_host", "rack_id", "state")
_TAKEN = ("subscription", "pattern", "assignment", "standby", "pending")


def run(spark: SparkSession, place: LogPlace, *, with_shares: bool = True) -> dict[str, DataFrame]:
    """The tables by name. ``time`` is the timestamp of the record.

    ``commits``, ``generations``, ``members``, ``targets``, ``tombstones`` and ``rebalances`` have rows of
    `__consumer_offsets`, ``share_states`` of `__share_group_state`, if it exists. ``lag`` has a row for each group and
    partition, at the end of the log. ``lag_over_time`` has a row for each commit, and reads the committed topics, too.
    ``with_shares=False`` omits ``share_states``. Without `__consumer_offsets` there has been no group, and the tables
    are empty.
    """
    records = coordinator_rows(spark, place, OFFSETS_TOPIC).persist()
    commits = records.where("kind = 'OffsetCommit' and not tombstone").select(
        *_PARTITION, "committed_offset", "leader_epoch", "metadata", "commit_time_ms", *_PLACE
    )
    tables = {
        "commits": commits,
        "generations": _generations(records),
        "members": _members(records),
        "targets": records.where(_kinds("TargetAssignmentMember")).select(
            "group_id", "group_type", "member_id", "assignment", "standby", "time_ms", *_PLACE
        ),
        "tombstones": records.where("tombstone").select("kind", *_PARTITION, "member_id", "time_ms", *_PLACE),
        "rebalances": rebalances(records),
    }
    if with_shares and existing_topics(place, [SHARE_TOPIC]):
        tables["share_states"] = coordinator_rows(spark, place, SHARE_TOPIC)
    tables["lag"] = lag(spark, place, records)
    tables["lag_over_time"] = lag_over_time(spark, place, commits)
    return {name: with_times(table) for name, table in tables.items()}


def _kinds(suffix: str) -> str:
    """The SQL condition for a kind of record of the newer group types, without tombstones."""
    return f"not tombstone and kind in {tuple(f'{group_type}Group{suffix}' for group_type in NEWER_GROUPS)}"


def _generations(records: DataFrame) -> DataFrame:
    """Every generation of a classic group, with its number of members, and every epoch of a newer group."""
    kinds = f"({_kinds('Metadata')}) or (kind = 'GroupMetadata' and not tombstone)"
    protocol = ("protocol_type", "protocol", "leader", "size(members) as members")
    return records.where(kinds).selectExpr("group_id", "group_type", "generation", *protocol, "time_ms", *_PLACE)


def _members(records: DataFrame) -> DataFrame:
    """The members of every generation with subscription and assignment. Newer groups have a row for each change."""
    group = ("group_id", "group_type", "generation", "time_ms", "log_offset")
    of_classic = records.where("kind = 'GroupMetadata' and not tombstone").selectExpr(*group, "inline(members)")
    newer = records.where(f"({_kinds('MemberMetadata')}) or ({_kinds('CurrentMemberAssignment')})")
    return of_classic.unionByName(newer.select(*group, *_MEMBER, *_TAKEN), allowMissingColumns=True)


def rebalances(records: DataFrame) -> DataFrame:
    """Joins, leaves and moved partitions, by group in the order of the log. A task handles one group."""

    def tell(pdf: pd.DataFrame) -> pd.DataFrame:
        import pandas

        rows = pdf.sort_values("log_offset").astype(object)
        rows = rows.where(rows.notna(), None)
        return pandas.DataFrame(timeline(rows.to_dict("records")), columns=GroupEvent._fields)

    of_groups = records.where("group_id is not null and kind != 'OffsetCommit'")
    return of_groups.groupBy("group_id").applyInPandas(tell, TIMELINE_SCHEMA)


_SUBSCRIBING = (
    "kind in ('GroupMetadata', 'ConsumerGroupMemberMetadata', 'ConsumerGroupRegularExpression', 'StreamsGroupTopology')"
)
_PATTERN_OF_KEY = "if(kind = 'ConsumerGroupRegularExpression', pattern, null)"
_OF_A_READER = f"not metadata <=> '{PROGRESS}'"
_ENDS = "topic string, partition int, end_offset bigint"


def lag(spark: SparkSession, place: LogPlace, records: DataFrame) -> DataFrame:
    """One row for each group and partition: the committed offset and the lag.

    The partitions are those with a commit, and those of the subscribed topics. Without a commit, ``committed_offset``
    and ``lag`` are null. A commit of a deleted topic has no ``lag``. Commits of the sink `odradek` are micro-batch
    numbers, and are omitted.
    """
    committed, subscribed = _committed(records), _subscribed(records)
    names = committed.select("topic").union(subscribed.select("topic")).distinct().collect()
    ends = spark.createDataFrame(_ends(place, {row["topic"] for row in names}), _ENDS)
    expected = subscribed.join(ends.drop("end_offset"), "topic")
    both = expected.join(committed, list(_PARTITION), "full_outer").join(ends, ["topic", "partition"], "left")
    # Null if the end or the commit is unknown.
    behind = "if(end_offset < committed_offset, 0, end_offset - committed_offset) as lag"
    return both.selectExpr(*_PARTITION, "committed_offset", "end_offset", behind, "commit_time_ms").orderBy(*_PARTITION)


def _committed(records: DataFrame) -> DataFrame:
    """The last commit of each partition, unless it was deleted."""
    newest = records.where("kind = 'OffsetCommit'").groupBy(*_PARTITION)
    commits = newest.agg(_newest("tombstone, committed_offset, commit_time_ms, metadata"))
    held = commits.where("not newest.tombstone").selectExpr(*_PARTITION, "newest.*").where(_OF_A_READER)
    return held.select(*_PARTITION, "committed_offset", "commit_time_ms")


def _subscribed(records: DataFrame) -> DataFrame:
    """(group_id, topic) of all topics that members of a group read, by the records at the end of the log."""
    from pyspark.sql import functions as f

    # The last record of a key is valid. The key has the group, and the member or the pattern.
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
    """The end offsets of the existing topics. Commits outlive their topics."""
    wanted = set(topics)
    if place.path is not None:
        found = partitions_in(Path(place.path)).items()
        return [(topic, index, end_offset(segments)) for (topic, index), segments in found if topic in wanted]
    with place.client() as client:
        there = {topic: indexes for topic, indexes in client.topics().items() if topic in wanted}
        at = {(topic, index): LATEST for topic, indexes in there.items() for index in indexes}
        return [(topic, index, end) for (topic, index), end in client.offsets(at).items()]


def lag_over_time(spark: SparkSession, place: LogPlace, commits: DataFrame) -> DataFrame:
    """The lag at each commit: the distance to the end of the partition at that time, by the records' timestamps.

    Commits of topics that the user may not read are omitted.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    commits = commits.where(_OF_A_READER)
    topics = {row["topic"] for row in commits.select("topic").distinct().collect()}
    found = readable_topics(place, topics)
    commits = commits.where(~f.col("topic").isin(found.refused))
    there = sorted(topics & set(found.topics))
    shown = (*_PARTITION, "commit_time_ms", "committed_offset")
    if not there:
        return commits.limit(0).selectExpr(*shown, "0L as end_offset", "0L as lag")
    columns = ["topic", "partition", "offset", "timestamp"]
    written = place.read(spark, there, columns=columns, includeControl="true").selectExpr(
        "topic", "partition", "unix_millis(timestamp) as commit_time_ms", "offset + 1 as written"
    )
    both = written.unionByName(commits.drop("leader_epoch", "metadata"), allowMissingColumns=True)
    so_far = Window.partitionBy("topic", "partition").orderBy("commit_time_ms")
    behind = both.withColumn("end_offset", f.max("written").over(so_far)).where("group_id is not null")
    # `greatest` ignores a null: then the partition has no record before the commit.
    ends = behind.selectExpr(*shown, "greatest(end_offset, committed_offset) as end_offset")
    return ends.selectExpr("*", "end_offset - committed_offset as lag")


TIMELINE_SCHEMA = (
    "group_id string, log_offset bigint, time_ms bigint, generation int, event string, member_id string,"
    " partitions array<string>"
)


_OF_GROUP = frozenset({"GroupMetadata", *(f"{group_type}GroupMetadata" for group_type in NEWER_GROUPS)})
_OF_MEMBER = frozenset(f"{group_type}GroupMemberMetadata" for group_type in NEWER_GROUPS)
_CURRENT = frozenset(f"{group_type}GroupCurrentMemberAssignment" for group_type in NEWER_GROUPS)


class GroupEvent(NamedTuple):
    """``event``: ``generation`` (a rebalance ended), ``joined``, ``left``, ``assigned``, ``revoked`` or ``deleted``."""

    group_id: str
    log_offset: int
    time_ms: int
    generation: int | None
    event: str
    member_id: str | None
    partitions: list[str]


def timeline(rows: Iterable[Mapping[str, Any]]) -> Iterator[GroupEvent]:
    """The events of one group from its rows (`coordinator_rows.GROUP_SCHEMA`) in the order of the log."""
    members: dict[str, set[str]] = {}
    generation: int | None = None
    for row in rows:
        kind, gone = row["kind"], row["tombstone"]
        if kind in _OF_GROUP:
            found, generation = _group_events(row, members, generation)
            yield from found
        elif kind in _OF_MEMBER:
            yield from _member_events(row, members, generation)
        elif kind in _CURRENT and not gone:
            member = row["member_id"]
            yield from _moved(row, row["generation"], member, members.get(member, set()), set(row["assignment"]))
            members[member] = set(row["assignment"])


def _event(
    row: Mapping[str, Any], generation: int | None, event: str, member: str | None, parts: Iterable[str]
) -> GroupEvent:
    return GroupEvent(row["group_id"], row["log_offset"], row["time_ms"], generation, event, member, sorted(parts))


def _group_events(
    row: Mapping[str, Any], members: dict[str, set[str]], before: int | None
) -> tuple[Sequence[GroupEvent], int | None]:
    """The events of a record of the group. In the classic protocol it has all members."""
    if row["tombstone"]:
        members.clear()
        return [_event(row, before, "deleted", None, ())], None
    generation = row["generation"]
    events = [] if generation == before else [_event(row, generation, "generation", None, ())]
    if row["kind"] == "GroupMetadata":
        now = {member["member_id"]: set(member["assignment"]) for member in row["members"]}
        for member in sorted(members.keys() - now.keys()):
            events.append(_event(row, generation, "left", member, members[member]))
        for member, assigned in sorted(now.items()):
            if member not in members:
                events.append(_event(row, generation, "joined", member, ()))
            events += _moved(row, generation, member, members.get(member, set()), assigned)
        members.clear()
        members.update(now)
    return events, generation


def _member_events(
    row: Mapping[str, Any], members: dict[str, set[str]], generation: int | None
) -> Iterator[GroupEvent]:
    member = row["member_id"]
    if row["tombstone"]:
        if member in members:
            yield _event(row, generation, "left", member, members.pop(member))
    elif member not in members:
        members[member] = set()
        yield _event(row, generation, "joined", member, ())


def _moved(
    row: Mapping[str, Any], generation: int | None, member: str, before: set[str], now: set[str]
) -> Iterator[GroupEvent]:
    if before - now:
        yield _event(row, generation, "revoked", member, before - now)
    if now - before:
        yield _event(row, generation, "assigned", member, now - before)
