"""DescribeQuorum (API key 55). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class PartitionData(Message):
    """Part of `DescribeQuorumRequest`."""

    __slots__ = (
        "partition_index",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
        ]


@mypyc_attr(acyclic=True)
class TopicData(Message):
    """Part of `DescribeQuorumRequest`."""

    __slots__ = (
        "topic_name",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_name: str = "",
        partitions: list[PartitionData] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions: list[PartitionData] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_name" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.StructOf(PartitionData)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeQuorumRequest(ApiMessage):
    """API key 55, versions 0 to 2, flexible from 0."""

    __slots__ = (
        "topics",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 55
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        topics: list[TopicData] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topics: list[TopicData] = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topics" / s.ArrayOf(s.StructOf(TopicData)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class ReplicaState(Message):
    """Part of `DescribeQuorumResponse`."""

    __slots__ = (
        "replica_id",
        "replica_directory_id",
        "log_end_offset",
        "last_fetch_timestamp",
        "last_caught_up_timestamp",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        log_end_offset: int = 0,
        last_fetch_timestamp: int = -1,
        last_caught_up_timestamp: int = -1,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.log_end_offset = log_end_offset
        self.last_fetch_timestamp = last_fetch_timestamp
        self.last_caught_up_timestamp = last_caught_up_timestamp
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("replica_id" / s.Int32, "0+"),
            s.Field("replica_directory_id" / s.Uuid, "2+"),
            s.Field("log_end_offset" / s.Int64, "0+"),
            s.Field("last_fetch_timestamp" / s.Int64, "1+", default=-1, ignorable=True),
            s.Field("last_caught_up_timestamp" / s.Int64, "1+", default=-1, ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class ResponsePartitionData(Message):
    """Part of `DescribeQuorumResponse`."""

    __slots__ = (
        "partition_index",
        "error_code",
        "error_message",
        "leader_id",
        "leader_epoch",
        "high_watermark",
        "current_voters",
        "observers",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        leader_id: int = 0,
        leader_epoch: int = 0,
        high_watermark: int = 0,
        current_voters: list[ReplicaState] = NO_ITEMS,
        observers: list[ReplicaState] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.high_watermark = high_watermark
        self.current_voters: list[ReplicaState] = [] if current_voters is NO_ITEMS else current_voters
        self.observers: list[ReplicaState] = [] if observers is NO_ITEMS else observers
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "2+", nullable="2+", ignorable=True),
            s.Field("leader_id" / s.Int32, "0+"),
            s.Field("leader_epoch" / s.Int32, "0+"),
            s.Field("high_watermark" / s.Int64, "0+"),
            s.Field("current_voters" / s.ArrayOf(s.StructOf(ReplicaState)), "0+"),
            s.Field("observers" / s.ArrayOf(s.StructOf(ReplicaState)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class ResponseTopicData(Message):
    """Part of `DescribeQuorumResponse`."""

    __slots__ = (
        "topic_name",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_name: str = "",
        partitions: list[ResponsePartitionData] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions: list[ResponsePartitionData] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_name" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.StructOf(ResponsePartitionData)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class Listener(Message):
    """Part of `DescribeQuorumResponse`."""

    __slots__ = (
        "name",
        "host",
        "port",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "2+"),
            s.Field("host" / s.String, "2+"),
            s.Field("port" / s.UInt16, "2+"),
        ]


@mypyc_attr(acyclic=True)
class Node(Message):
    """Part of `DescribeQuorumResponse`."""

    __slots__ = (
        "node_id",
        "listeners",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        node_id: int = 0,
        listeners: list[Listener] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.node_id = node_id
        self.listeners: list[Listener] = [] if listeners is NO_ITEMS else listeners
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("node_id" / s.Int32, "2+"),
            s.Field("listeners" / s.ArrayOf(s.StructOf(Listener)), "2+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeQuorumResponse(ApiMessage):
    """API key 55, versions 0 to 2, flexible from 0."""

    __slots__ = (
        "error_code",
        "error_message",
        "topics",
        "nodes",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 55
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[ResponseTopicData] = NO_ITEMS,
        nodes: list[Node] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.topics: list[ResponseTopicData] = [] if topics is NO_ITEMS else topics
        self.nodes: list[Node] = [] if nodes is NO_ITEMS else nodes
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "2+", nullable="2+", ignorable=True),
            s.Field("topics" / s.ArrayOf(s.StructOf(ResponseTopicData)), "0+"),
            s.Field("nodes" / s.ArrayOf(s.StructOf(Node)), "2+"),
        ]
