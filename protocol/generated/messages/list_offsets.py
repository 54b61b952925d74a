"""ListOffsets (API key 2). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ListOffsetsPartition(Message):
    """Part of `ListOffsetsRequest`."""

    __slots__ = (
        "partition_index",
        "current_leader_epoch",
        "timestamp",
        "max_num_offsets",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        current_leader_epoch: int = -1,
        timestamp: int = 0,
        max_num_offsets: int = 1,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.current_leader_epoch = current_leader_epoch
        self.timestamp = timestamp
        self.max_num_offsets = max_num_offsets
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("current_leader_epoch" / s.Int32, "4+", default=-1, ignorable=True),
            s.Field("timestamp" / s.Int64, "0+"),
            s.Field("max_num_offsets" / s.Int32, "0", default=1),
        ]


@mypyc_attr(acyclic=True)
class ListOffsetsTopic(Message):
    """Part of `ListOffsetsRequest`."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[ListOffsetsPartition] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions: list[ListOffsetsPartition] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.StructOf(ListOffsetsPartition)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class ListOffsetsRequest(ApiMessage):
    """API key 2, versions 0 to 11, flexible from 6."""

    __slots__ = (
        "replica_id",
        "isolation_level",
        "topics",
        "timeout_ms",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 11
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    def __init__(
        self,
        replica_id: int = 0,
        isolation_level: int = 0,
        topics: list[ListOffsetsTopic] = NO_ITEMS,
        timeout_ms: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.replica_id = replica_id
        self.isolation_level = isolation_level
        self.topics: list[ListOffsetsTopic] = [] if topics is NO_ITEMS else topics
        self.timeout_ms = timeout_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("replica_id" / s.Int32, "0+"),
            s.Field("isolation_level" / s.Int8, "2+"),
            s.Field("topics" / s.ArrayOf(s.StructOf(ListOffsetsTopic)), "0+"),
            s.Field("timeout_ms" / s.Int32, "10+", ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class ListOffsetsPartitionResponse(Message):
    """Part of `ListOffsetsResponse`."""

    __slots__ = (
        "partition_index",
        "error_code",
        "old_style_offsets",
        "timestamp",
        "offset",
        "leader_epoch",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        old_style_offsets: list[int] = NO_ITEMS,
        timestamp: int = -1,
        offset: int = -1,
        leader_epoch: int = -1,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.old_style_offsets: list[int] = [] if old_style_offsets is NO_ITEMS else old_style_offsets
        self.timestamp = timestamp
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("old_style_offsets" / s.ArrayOf(s.Int64), "0"),
            s.Field("timestamp" / s.Int64, "1+", default=-1),
            s.Field("offset" / s.Int64, "1+", default=-1),
            s.Field("leader_epoch" / s.Int32, "4+", default=-1),
        ]


@mypyc_attr(acyclic=True)
class ListOffsetsTopicResponse(Message):
    """Part of `ListOffsetsResponse`."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[ListOffsetsPartitionResponse] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions: list[ListOffsetsPartitionResponse] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.StructOf(ListOffsetsPartitionResponse)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class ListOffsetsResponse(ApiMessage):
    """API key 2, versions 0 to 11, flexible from 6."""

    __slots__ = (
        "throttle_time_ms",
        "topics",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 11
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[ListOffsetsTopicResponse] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[ListOffsetsTopicResponse] = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "2+", ignorable=True),
            s.Field("topics" / s.ArrayOf(s.StructOf(ListOffsetsTopicResponse)), "0+"),
        ]
