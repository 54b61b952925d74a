"""Fetch (API key 1). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, ApiMessage, Message, Records, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ReplicaState(Message):
    """Part of `FetchRequest`."""

    __slots__ = (
        "replica_id",
        "replica_epoch",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        replica_id: int = -1,
        replica_epoch: int = -1,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.replica_id = replica_id
        self.replica_epoch = replica_epoch
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("replica_id" / s.Int32, "15+", default=-1),
            s.Field("replica_epoch" / s.Int64, "15+", default=-1),
        ]


@mypyc_attr(acyclic=True)
class FetchPartition(Message):
    """Part of `FetchRequest`."""

    __slots__ = (
        "partition",
        "current_leader_epoch",
        "fetch_offset",
        "last_fetched_epoch",
        "log_start_offset",
        "partition_max_bytes",
        "replica_directory_id",
        "high_watermark",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        fetch_offset: int = 0,
        last_fetched_epoch: int = -1,
        log_start_offset: int = -1,
        partition_max_bytes: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        high_watermark: int = 9223372036854775807,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.fetch_offset = fetch_offset
        self.last_fetched_epoch = last_fetched_epoch
        self.log_start_offset = log_start_offset
        self.partition_max_bytes = partition_max_bytes
        self.replica_directory_id = replica_directory_id
        self.high_watermark = high_watermark
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition" / s.Int32, "0+"),
            s.Field("current_leader_epoch" / s.Int32, "9+", default=-1, ignorable=True),
            s.Field("fetch_offset" / s.Int64, "0+"),
            s.Field("last_fetched_epoch" / s.Int32, "12+", default=-1),
            s.Field("log_start_offset" / s.Int64, "5+", default=-1, ignorable=True),
            s.Field("partition_max_bytes" / s.Int32, "0+"),
            s.Field("replica_directory_id" / s.Uuid, "17+", tag=0, tagged="17+", ignorable=True),
            s.Field(
                "high_watermark" / s.Int64, "18+", tag=1, tagged="18+", default=9223372036854775807, ignorable=True
            ),
        ]


@mypyc_attr(acyclic=True)
class FetchTopic(Message):
    """Part of `FetchRequest`."""

    __slots__ = (
        "topic",
        "topic_id",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[FetchPartition] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions: list[FetchPartition] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic" / s.String, "0-12", ignorable=True),
            s.Field("topic_id" / s.Uuid, "13+", ignorable=True),
            s.Field("partitions" / s.ArrayOf(s.StructOf(FetchPartition)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class ForgottenTopic(Message):
    """Part of `FetchRequest`."""

    __slots__ = (
        "topic",
        "topic_id",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions: list[int] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic" / s.String, "7-12", ignorable=True),
            s.Field("topic_id" / s.Uuid, "13+", ignorable=True),
            s.Field("partitions" / s.ArrayOf(s.Int32), "7+"),
        ]


@mypyc_attr(acyclic=True)
class FetchRequest(ApiMessage):
    """API key 1, versions 0 to 18, flexible from 12."""

    __slots__ = (
        "cluster_id",
        "replica_id",
        "replica_state",
        "max_wait_ms",
        "min_bytes",
        "max_bytes",
        "isolation_level",
        "session_id",
        "session_epoch",
        "topics",
        "forgotten_topics_data",
        "rack_id",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 18
    FLEXIBLE_FROM: ClassVar[int | None] = 12

    def __init__(
        self,
        cluster_id: str | None = None,
        replica_id: int = -1,
        replica_state: ReplicaState | None = None,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        isolation_level: int = 0,
        session_id: int = 0,
        session_epoch: int = -1,
        topics: list[FetchTopic] = NO_ITEMS,
        forgotten_topics_data: list[ForgottenTopic] = NO_ITEMS,
        rack_id: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.replica_state = ReplicaState() if replica_state is None else replica_state
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.isolation_level = isolation_level
        self.session_id = session_id
        self.session_epoch = session_epoch
        self.topics: list[FetchTopic] = [] if topics is NO_ITEMS else topics
        self.forgotten_topics_data: list[ForgottenTopic] = (
            [] if forgotten_topics_data is NO_ITEMS else forgotten_topics_data
        )
        self.rack_id = rack_id
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("cluster_id" / s.String, "12+", nullable="12+", tag=0, tagged="12+", default=None, ignorable=True),
            s.Field("replica_id" / s.Int32, "0-14", default=-1),
            s.Field("replica_state" / s.StructOf(ReplicaState), "15+", tag=1, tagged="15+"),
            s.Field("max_wait_ms" / s.Int32, "0+"),
            s.Field("min_bytes" / s.Int32, "0+"),
            s.Field("max_bytes" / s.Int32, "3+", default=2147483647, ignorable=True),
            s.Field("isolation_level" / s.Int8, "4+", ignorable=True),
            s.Field("session_id" / s.Int32, "7+", ignorable=True),
            s.Field("session_epoch" / s.Int32, "7+", default=-1, ignorable=True),
            s.Field("topics" / s.ArrayOf(s.StructOf(FetchTopic)), "0+"),
            s.Field("forgotten_topics_data" / s.ArrayOf(s.StructOf(ForgottenTopic)), "7+"),
            s.Field("rack_id" / s.String, "11+", ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class EpochEndOffset(Message):
    """Part of `FetchResponse`."""

    __slots__ = (
        "epoch",
        "end_offset",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        epoch: int = -1,
        end_offset: int = -1,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.epoch = epoch
        self.end_offset = end_offset
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("epoch" / s.Int32, "12+", default=-1),
            s.Field("end_offset" / s.Int64, "12+", default=-1),
        ]


@mypyc_attr(acyclic=True)
class LeaderIdAndEpoch(Message):
    """Part of `FetchResponse`."""

    __slots__ = (
        "leader_id",
        "leader_epoch",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("leader_id" / s.Int32, "12+", default=-1),
            s.Field("leader_epoch" / s.Int32, "12+", default=-1),
        ]


@mypyc_attr(acyclic=True)
class SnapshotId(Message):
    """Part of `FetchResponse`."""

    __slots__ = (
        "end_offset",
        "epoch",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        end_offset: int = -1,
        epoch: int = -1,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("end_offset" / s.Int64, "0+", default=-1),
            s.Field("epoch" / s.Int32, "0+", default=-1),
        ]


@mypyc_attr(acyclic=True)
class AbortedTransaction(Message):
    """Part of `FetchResponse`."""

    __slots__ = (
        "producer_id",
        "first_offset",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        producer_id: int = 0,
        first_offset: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.producer_id = producer_id
        self.first_offset = first_offset
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("producer_id" / s.Int64, "4+"),
            s.Field("first_offset" / s.Int64, "4+"),
        ]


@mypyc_attr(acyclic=True)
class PartitionData(Message):
    """Part of `FetchResponse`."""

    __slots__ = (
        "partition_index",
        "error_code",
        "high_watermark",
        "last_stable_offset",
        "log_start_offset",
        "diverging_epoch",
        "current_leader",
        "snapshot_id",
        "aborted_transactions",
        "preferred_read_replica",
        "records",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        high_watermark: int = 0,
        last_stable_offset: int = -1,
        log_start_offset: int = -1,
        diverging_epoch: EpochEndOffset | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        snapshot_id: SnapshotId | None = None,
        aborted_transactions: list[AbortedTransaction] | None = NO_ITEMS,
        preferred_read_replica: int = -1,
        records: Records | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.high_watermark = high_watermark
        self.last_stable_offset = last_stable_offset
        self.log_start_offset = log_start_offset
        self.diverging_epoch = EpochEndOffset() if diverging_epoch is None else diverging_epoch
        self.current_leader = LeaderIdAndEpoch() if current_leader is None else current_leader
        self.snapshot_id = SnapshotId() if snapshot_id is None else snapshot_id
        self.aborted_transactions: list[AbortedTransaction] | None = (
            [] if aborted_transactions is NO_ITEMS else aborted_transactions
        )
        self.preferred_read_replica = preferred_read_replica
        self.records = records
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("high_watermark" / s.Int64, "0+"),
            s.Field("last_stable_offset" / s.Int64, "4+", default=-1, ignorable=True),
            s.Field("log_start_offset" / s.Int64, "5+", default=-1, ignorable=True),
            s.Field("diverging_epoch" / s.StructOf(EpochEndOffset), "12+", tag=0, tagged="12+"),
            s.Field("current_leader" / s.StructOf(LeaderIdAndEpoch), "12+", tag=1, tagged="12+"),
            s.Field("snapshot_id" / s.StructOf(SnapshotId), "12+", tag=2, tagged="12+"),
            s.Field(
                "aborted_transactions" / s.ArrayOf(s.StructOf(AbortedTransaction)), "4+", nullable="4+", ignorable=True
            ),
            s.Field("preferred_read_replica" / s.Int32, "11+", default=-1),
            s.Field("records" / s.Records, "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class FetchableTopicResponse(Message):
    """Part of `FetchResponse`."""

    __slots__ = (
        "topic",
        "topic_id",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions: list[PartitionData] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic" / s.String, "0-12", ignorable=True),
            s.Field("topic_id" / s.Uuid, "13+", ignorable=True),
            s.Field("partitions" / s.ArrayOf(s.StructOf(PartitionData)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class NodeEndpoint(Message):
    """Part of `FetchResponse`."""

    __slots__ = (
        "node_id",
        "host",
        "port",
        "rack",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("node_id" / s.Int32, "16+"),
            s.Field("host" / s.String, "16+"),
            s.Field("port" / s.Int32, "16+"),
            s.Field("rack" / s.String, "16+", nullable="16+", default=None),
        ]


@mypyc_attr(acyclic=True)
class FetchResponse(ApiMessage):
    """API key 1, versions 0 to 18, flexible from 12."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "session_id",
        "responses",
        "node_endpoints",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 18
    FLEXIBLE_FROM: ClassVar[int | None] = 12

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        session_id: int = 0,
        responses: list[FetchableTopicResponse] = NO_ITEMS,
        node_endpoints: list[NodeEndpoint] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.session_id = session_id
        self.responses: list[FetchableTopicResponse] = [] if responses is NO_ITEMS else responses
        self.node_endpoints: list[NodeEndpoint] = [] if node_endpoints is NO_ITEMS else node_endpoints
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "1+", ignorable=True),
            s.Field("error_code" / s.Int16, "7+", ignorable=True),
            s.Field("session_id" / s.Int32, "7+"),
            s.Field("responses" / s.ArrayOf(s.StructOf(FetchableTopicResponse)), "0+"),
            s.Field("node_endpoints" / s.ArrayOf(s.StructOf(NodeEndpoint)), "16+", tag=0, tagged="16+"),
        ]
