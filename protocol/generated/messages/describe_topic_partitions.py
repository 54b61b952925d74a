"""DescribeTopicPartitions (API key 75). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class TopicRequest(Message):
    """Part of `DescribeTopicPartitionsRequest`."""

    __slots__ = (
        "name",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
        ]


@mypyc_attr(acyclic=True)
class Cursor(Message):
    """Part of `DescribeTopicPartitionsRequest`."""

    __slots__ = (
        "topic_name",
        "partition_index",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_name" / s.String, "0+"),
            s.Field("partition_index" / s.Int32, "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeTopicPartitionsRequest(ApiMessage):
    """API key 75, version 0, flexible from 0."""

    __slots__ = (
        "topics",
        "response_partition_limit",
        "cursor",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 75
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        topics: list[TopicRequest] = NO_ITEMS,
        response_partition_limit: int = 2000,
        cursor: Cursor | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topics: list[TopicRequest] = [] if topics is NO_ITEMS else topics
        self.response_partition_limit = response_partition_limit
        self.cursor = cursor
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topics" / s.ArrayOf(s.StructOf(TopicRequest)), "0+"),
            s.Field("response_partition_limit" / s.Int32, "0+", default=2000),
            s.Field("cursor" / s.StructOf(Cursor), "0+", nullable="0+", default=None),
        ]


@mypyc_attr(acyclic=True)
class DescribeTopicPartitionsResponsePartition(Message):
    """Part of `DescribeTopicPartitionsResponse`."""

    __slots__ = (
        "error_code",
        "partition_index",
        "leader_id",
        "leader_epoch",
        "replica_nodes",
        "isr_nodes",
        "eligible_leader_replicas",
        "last_known_elr",
        "offline_replicas",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = NO_ITEMS,
        isr_nodes: list[int] = NO_ITEMS,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        offline_replicas: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes: list[int] = [] if replica_nodes is NO_ITEMS else replica_nodes
        self.isr_nodes: list[int] = [] if isr_nodes is NO_ITEMS else isr_nodes
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.offline_replicas: list[int] = [] if offline_replicas is NO_ITEMS else offline_replicas
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("leader_id" / s.Int32, "0+"),
            s.Field("leader_epoch" / s.Int32, "0+", default=-1, ignorable=True),
            s.Field("replica_nodes" / s.ArrayOf(s.Int32), "0+"),
            s.Field("isr_nodes" / s.ArrayOf(s.Int32), "0+"),
            s.Field("eligible_leader_replicas" / s.ArrayOf(s.Int32), "0+", nullable="0+", default=None),
            s.Field("last_known_elr" / s.ArrayOf(s.Int32), "0+", nullable="0+", default=None),
            s.Field("offline_replicas" / s.ArrayOf(s.Int32), "0+", ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class DescribeTopicPartitionsResponseTopic(Message):
    """Part of `DescribeTopicPartitionsResponse`."""

    __slots__ = (
        "error_code",
        "name",
        "topic_id",
        "is_internal",
        "partitions",
        "topic_authorized_operations",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[DescribeTopicPartitionsResponsePartition] = NO_ITEMS,
        topic_authorized_operations: int = -2147483648,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions: list[DescribeTopicPartitionsResponsePartition] = [] if partitions is NO_ITEMS else partitions
        self.topic_authorized_operations = topic_authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("name" / s.String, "0+", nullable="0+"),
            s.Field("topic_id" / s.Uuid, "0+", ignorable=True),
            s.Field("is_internal" / s.Boolean, "0+", ignorable=True),
            s.Field("partitions" / s.ArrayOf(s.StructOf(DescribeTopicPartitionsResponsePartition)), "0+"),
            s.Field("topic_authorized_operations" / s.Int32, "0+", default=-2147483648),
        ]


@mypyc_attr(acyclic=True)
class ResponseCursor(Message):
    """Part of `DescribeTopicPartitionsResponse`."""

    __slots__ = (
        "topic_name",
        "partition_index",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_name" / s.String, "0+"),
            s.Field("partition_index" / s.Int32, "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeTopicPartitionsResponse(ApiMessage):
    """API key 75, version 0, flexible from 0."""

    __slots__ = (
        "throttle_time_ms",
        "topics",
        "next_cursor",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 75
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[DescribeTopicPartitionsResponseTopic] = NO_ITEMS,
        next_cursor: ResponseCursor | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[DescribeTopicPartitionsResponseTopic] = [] if topics is NO_ITEMS else topics
        self.next_cursor = next_cursor
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+", ignorable=True),
            s.Field("topics" / s.ArrayOf(s.StructOf(DescribeTopicPartitionsResponseTopic)), "0+"),
            s.Field("next_cursor" / s.StructOf(ResponseCursor), "0+", nullable="0+", default=None),
        ]
