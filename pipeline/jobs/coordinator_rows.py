"""Records of `__consumer_offsets`, `__transaction_state` and `__share_group_state` as rows. Executors decode them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from odradek.pipeline.jobs.logs import LogPlace, existing_topics
from odradek.pipeline.rows import arrow_schema, spare_imports
from odradek.protocol.consumer_protocol import decode_assignment, decode_subscription
from odradek.protocol.errors import ProtocolError
from odradek.protocol.stored import (
    TRANSACTION_STATES,
    UnknownRecordTypeError,
    decode_group_record,
    decode_share_record,
    decode_transaction_record,
)
from odradek.protocol.uuids import uuid_to_text

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Row = dict[str, Any]

OFFSETS_TOPIC = "__consumer_offsets"
SHARE_TOPIC = "__share_group_state"
STATE_TOPIC = "__transaction_state"
NEWER_GROUPS = ("Consumer", "Share", "Streams")

_READ = ("partition", "offset", "timestamp", "key", "value", "control")
_MEMBER = (
    "struct<member_id: string, instance_id: string, client_id: string, client_host: string, session_timeout_ms: int,"
    " rebalance_timeout_ms: int, subscription: array<string>, assignment: array<string>>"
)
GROUP_SCHEMA = (
    "log_partition int, log_offset bigint, time_ms bigint, kind string, tombstone boolean, group_id string,"
    " topic string, partition int, committed_offset bigint, leader_epoch int, metadata string, commit_time_ms bigint,"
    f" generation int, protocol_type string, protocol string, leader string, members array<{_MEMBER}>,"
    " member_id string, subscription array<string>, assignment array<string>, problem string, group_type string,"
    " state string, client_id string, client_host string, instance_id string, rack_id string, pattern string,"
    " standby array<string>, pending array<string>"
)
"""``kind``: of the record (``OffsetCommit``, ``GroupMetadata``, ``ConsumerGroupMemberMetadata``, ...), or ``unknown``
or ``malformed``. ``group_type``: null for a commit, because groups of all types commit. ``assignment``:
``topic-partition``; by topic id in groups of the newer protocols; tasks as ``subtopology_partition`` in streams groups,
with ``standby`` tasks. ``pending``: partitions or tasks that a member has to revoke. ``subscription``: of a streams
topology, the source topics; of a pattern, the matching topics. ``problem``: the fault of a malformed record."""

TRANSACTION_SCHEMA = (
    "log_partition int, log_offset bigint, time_ms bigint, transactional_id string, tombstone boolean,"
    " producer_id bigint, producer_epoch int, timeout_ms int, state string, partitions array<string>,"
    " start_ms bigint, update_ms bigint, problem string"
)


_BATCH = "struct<first_offset: bigint, last_offset: bigint, delivery_state: string, delivery_count: int>"
SHARE_SCHEMA = (
    "log_partition int, log_offset bigint, time_ms bigint, kind string, tombstone boolean, group_id string,"
    " topic_id string, partition int, snapshot_epoch int, state_epoch int, leader_epoch int, start_offset bigint,"
    f" delivery_complete_count int, batches array<{_BATCH}>, create_time_ms bigint, write_time_ms bigint,"
    " problem string"
)
"""``kind``: ``ShareSnapshot`` (the whole state), ``ShareUpdate`` (the changes; -1: unchanged), ``unknown`` or
``malformed``."""


def coordinator_rows(spark: SparkSession, place: LogPlace, topic: str) -> DataFrame:
    """The records of OFFSETS_TOPIC, STATE_TOPIC or SHARE_TOPIC as rows. Empty if the topic does not exist.

    The schemas are GROUP_SCHEMA, TRANSACTION_SCHEMA and SHARE_SCHEMA.
    """
    decode, schema = _TOPICS[topic]
    if not existing_topics(place, [topic]):
        return spark.createDataFrame([], schema)
    columns = arrow_schema(schema)

    def run(chunks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow

        spare_imports()
        for chunk in chunks:
            partitions, offsets, times, keys, values = (column.to_pylist() for column in chunk.columns)
            found = [decode(key, value) for key, value in zip(keys, values, strict=True)]
            places = {"log_partition": partitions, "log_offset": offsets, "time_ms": times}
            arrays = [
                pyarrow.array(places.get(field.name) or [row.get(field.name) for row in found], field.type)
                for field in columns
            ]
            yield pyarrow.RecordBatch.from_arrays(arrays, schema=columns)

    records = place.read(spark, [topic], columns=_READ).where("control is null and key is not null")
    given = records.selectExpr("partition", "offset", "unix_millis(timestamp) as time_ms", "key", "value")
    return given.mapInArrow(run, schema)


def _kind(
    decode: Callable[[bytes, bytes | None], tuple[Any, Any]], key: bytes, value: bytes | None
) -> tuple[Row, Any, Any]:
    """The kind of a record as a row, its decoded key and value. Without a key: ``unknown`` or ``malformed``."""
    row: Row = {"kind": "unknown", "tombstone": value is None}
    try:
        decoded_key, decoded = decode(key, value)
    except UnknownRecordTypeError:
        return row, None, None
    except ProtocolError as error:
        return row | {"kind": "malformed", "problem": str(error)}, None, None
    return row | {"kind": type(decoded_key).__name__.removesuffix("Key")}, decoded_key, decoded


# --- groups -----------------------------------------------------------------------------------------------------------


def group_row(key: bytes, value: bytes | None) -> Row:
    """One record of `__consumer_offsets`."""
    row, decoded_key, decoded = _kind(decode_group_record, key, value)
    if decoded_key is None:
        return row
    kind = row["kind"]
    row["group_id"] = getattr(decoded_key, "group", getattr(decoded_key, "group_id", None))
    row["member_id"] = getattr(decoded_key, "member_id", None)
    row["group_type"] = _group_type(kind)
    if kind == "ConsumerGroupRegularExpression":
        row["pattern"] = decoded_key.regular_expression
    if kind == "OffsetCommit":
        row |= {"topic": decoded_key.topic, "partition": decoded_key.partition}
    fill = _FILL.get(kind)
    return row | fill(decoded) if fill is not None and decoded is not None else row


def _classic_member(member: Any, protocol_type: str) -> Row:
    subscription: list[str] = []
    assignment: list[str] = []
    if protocol_type == "consumer":
        try:
            subscription = sorted(decode_subscription(member.subscription)[0].topics)
            assigned = decode_assignment(member.assignment)[0].assigned_partitions
            assignment = [f"{topic.topic}-{index}" for topic in assigned for index in sorted(topic.partitions)]
        except ProtocolError:
            pass  # other bytes under the type "consumer": the member is shown without topics
    return {
        "member_id": member.member_id,
        "instance_id": member.group_instance_id,
        "client_id": member.client_id,
        "client_host": member.client_host,
        "session_timeout_ms": member.session_timeout,
        "rebalance_timeout_ms": member.rebalance_timeout,
        "subscription": subscription,
        "assignment": sorted(assignment),
    }


def _by_id(topics: Any) -> list[str]:
    return sorted(f"{uuid_to_text(topic.topic_id)}-{index}" for topic in topics for index in topic.partitions)


def _tasks(subtopologies: Any) -> list[str]:
    return sorted(f"{tasks.subtopology_id}_{index}" for tasks in subtopologies for index in tasks.partitions)


def _group_type(kind: str) -> str | None:
    """``classic``, ``consumer``, ``share`` or ``streams``, by the kind of the record."""
    if kind == "GroupMetadata":
        return "classic"
    group_type = kind.partition("Group")[0].lower()
    return group_type if group_type in ("consumer", "share", "streams") else None


def _member(value: Any) -> Row:
    """The metadata of a member of a newer group. Members of streams groups subscribe through the topology."""
    return {
        "client_id": value.client_id,
        "client_host": value.client_host,
        "instance_id": getattr(value, "instance_id", None),
        "rack_id": value.rack_id,
        "subscription": sorted(getattr(value, "subscribed_topic_names", ())),
        "pattern": getattr(value, "subscribed_topic_regex", None) or None,
    }


def _topology(value: Any) -> Row:
    """The topics that an application reads, with its own repartition topics."""
    topics: set[str] = set()
    for subtopology in value.subtopologies:
        topics.update(subtopology.source_topics)
        topics.update(topic.name for topic in subtopology.repartition_source_topics)
    return {"generation": value.epoch, "subscription": sorted(topics)}


def _target(value: Any) -> Row:
    """Assigned partitions, or tasks of a streams group."""
    if hasattr(value, "topic_partitions"):
        return {"assignment": _by_id(value.topic_partitions)}
    return {"assignment": _tasks(value.active_tasks), "standby": _tasks(value.standby_tasks)}


CONSUMER_STATES = {0: "Stable", 1: "UnrevokedPartitions", 2: "UnreleasedPartitions", 127: "Unknown"}
STREAMS_STATES = {1: "Stable", 2: "UnrevokedTasks", 3: "UnreleasedTasks", 127: "Unknown"}

_FILL: Mapping[str, Callable[[Any], Row]] = {
    "OffsetCommit": lambda value: {
        "committed_offset": value.offset,
        "leader_epoch": value.leader_epoch,
        "metadata": value.metadata,
        "commit_time_ms": value.commit_timestamp,
    },
    "GroupMetadata": lambda value: {
        "generation": value.generation,
        "protocol_type": value.protocol_type,
        "protocol": value.protocol,
        "leader": value.leader,
        "members": [_classic_member(member, value.protocol_type) for member in value.members],
    },
    **{f"{kind}GroupMetadata": lambda value: {"generation": value.epoch} for kind in NEWER_GROUPS},
    **{f"{kind}GroupMemberMetadata": _member for kind in NEWER_GROUPS},
    **{
        f"{kind}GroupTargetAssignmentMetadata": lambda value: {"generation": value.assignment_epoch}
        for kind in NEWER_GROUPS
    },
    **{f"{kind}GroupTargetAssignmentMember": _target for kind in NEWER_GROUPS},
    "ConsumerGroupRegularExpression": lambda value: {"subscription": sorted(value.topics)},
    "ConsumerGroupCurrentMemberAssignment": lambda value: {
        "generation": value.member_epoch,
        "state": CONSUMER_STATES.get(value.state, str(value.state)),
        "assignment": _by_id(value.assigned_partitions),
        "pending": _by_id(value.partitions_pending_revocation),
    },
    "ShareGroupCurrentMemberAssignment": lambda value: {
        "generation": value.member_epoch,
        "assignment": _by_id(value.assigned_partitions),
    },
    "ShareGroupStatePartitionMetadata": lambda value: {
        "assignment": _by_id(value.initialized_topics),
        "pending": _by_id(value.initializing_topics),
    },
    "StreamsGroupTopology": _topology,
    "StreamsGroupCurrentMemberAssignment": lambda value: {
        "generation": value.member_epoch,
        "state": STREAMS_STATES.get(value.state, str(value.state)),
        **_target(value),
        "pending": _tasks([*value.active_tasks_pending_revocation, *value.standby_tasks_pending_revocation]),
    },
}


# --- transactions -----------------------------------------------------------------------------------------------------


def transaction_row(key: bytes, value: bytes | None) -> Row:
    """One record of `__transaction_state`."""
    decoded: Any
    try:
        decoded_key, decoded = decode_transaction_record(key, value)
    except ProtocolError as error:
        return {"tombstone": value is None, "problem": str(error)}
    row: Row = {"transactional_id": getattr(decoded_key, "transactional_id", None), "tombstone": decoded is None}
    if decoded is None:
        return row
    topics = decoded.transaction_partitions or ()
    return row | {
        "producer_id": decoded.producer_id,
        "producer_epoch": decoded.producer_epoch,
        "timeout_ms": decoded.transaction_timeout_ms,
        "state": TRANSACTION_STATES.get(decoded.transaction_status, str(decoded.transaction_status)),
        "partitions": sorted(f"{topic.topic}-{index}" for topic in topics for index in topic.partition_ids),
        "start_ms": decoded.transaction_start_timestamp_ms,
        "update_ms": decoded.transaction_last_update_timestamp_ms,
    }


# --- states of share groups -------------------------------------------------------------------------------------------

DELIVERY_STATES = {0: "AVAILABLE", 1: "ACQUIRED", 2: "ACKNOWLEDGED", 3: "ARCHIVING", 4: "ARCHIVED"}


def share_row(key: bytes, value: bytes | None) -> Row:
    """One record of `__share_group_state`. An update has no state epoch and no times."""
    row, place, decoded = _kind(decode_share_record, key, value)
    if place is None:
        return row
    row |= {"group_id": place.group_id, "topic_id": uuid_to_text(place.topic_id), "partition": place.partition}
    if decoded is None:
        return row
    return row | {
        "snapshot_epoch": decoded.snapshot_epoch,
        "state_epoch": getattr(decoded, "state_epoch", None),
        "leader_epoch": decoded.leader_epoch,
        "start_offset": decoded.start_offset,
        "delivery_complete_count": decoded.delivery_complete_count,
        "batches": [
            {
                "first_offset": batch.first_offset,
                "last_offset": batch.last_offset,
                "delivery_state": DELIVERY_STATES.get(batch.delivery_state, str(batch.delivery_state)),
                "delivery_count": batch.delivery_count,
            }
            for batch in decoded.state_batches
        ],
        "create_time_ms": getattr(decoded, "create_timestamp", None),
        "write_time_ms": getattr(decoded, "write_timestamp", None),
    }


_TOPICS: Mapping[str, tuple[Callable[[bytes, bytes | None], Row], str]] = {
    OFFSETS_TOPIC: (group_row, GROUP_SCHEMA),
    STATE_TOPIC: (transaction_row, TRANSACTION_SCHEMA),
    SHARE_TOPIC: (share_row, SHARE_SCHEMA),
}
