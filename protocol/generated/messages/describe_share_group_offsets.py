"""DescribeShareGroupOffsets (API key 90). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class DescribeShareGroupOffsetsRequestTopic(Message):
    """Part of `DescribeShareGroupOffsetsRequest`."""

    __slots__ = (
        "topic_name",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_name: str = "",
        partitions: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions: list[int] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_name" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.Int32), "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeShareGroupOffsetsRequestGroup(Message):
    """Part of `DescribeShareGroupOffsetsRequest`."""

    __slots__ = (
        "group_id",
        "topics",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        group_id: str = "",
        topics: list[DescribeShareGroupOffsetsRequestTopic] | None = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.topics: list[DescribeShareGroupOffsetsRequestTopic] | None = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0+"),
            s.Field("topics" / s.ArrayOf(s.StructOf(DescribeShareGroupOffsetsRequestTopic)), "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeShareGroupOffsetsRequest(ApiMessage):
    """API key 90, versions 0 to 1, flexible from 0."""

    __slots__ = (
        "groups",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 90
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        groups: list[DescribeShareGroupOffsetsRequestGroup] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.groups: list[DescribeShareGroupOffsetsRequestGroup] = [] if groups is NO_ITEMS else groups
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("groups" / s.ArrayOf(s.StructOf(DescribeShareGroupOffsetsRequestGroup)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeShareGroupOffsetsResponsePartition(Message):
    """Part of `DescribeShareGroupOffsetsResponse`."""

    __slots__ = (
        "partition_index",
        "start_offset",
        "leader_epoch",
        "lag",
        "error_code",
        "error_message",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        start_offset: int = 0,
        leader_epoch: int = 0,
        lag: int = -1,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.start_offset = start_offset
        self.leader_epoch = leader_epoch
        self.lag = lag
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("start_offset" / s.Int64, "0+"),
            s.Field("leader_epoch" / s.Int32, "0+"),
            s.Field("lag" / s.Int64, "1+", default=-1, ignorable=True),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+", default=None),
        ]


@mypyc_attr(acyclic=True)
class DescribeShareGroupOffsetsResponseTopic(Message):
    """Part of `DescribeShareGroupOffsetsResponse`."""

    __slots__ = (
        "topic_name",
        "topic_id",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[DescribeShareGroupOffsetsResponsePartition] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions: list[DescribeShareGroupOffsetsResponsePartition] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_name" / s.String, "0+"),
            s.Field("topic_id" / s.Uuid, "0+"),
            s.Field("partitions" / s.ArrayOf(s.StructOf(DescribeShareGroupOffsetsResponsePartition)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeShareGroupOffsetsResponseGroup(Message):
    """Part of `DescribeShareGroupOffsetsResponse`."""

    __slots__ = (
        "group_id",
        "topics",
        "error_code",
        "error_message",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        group_id: str = "",
        topics: list[DescribeShareGroupOffsetsResponseTopic] = NO_ITEMS,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.topics: list[DescribeShareGroupOffsetsResponseTopic] = [] if topics is NO_ITEMS else topics
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0+"),
            s.Field("topics" / s.ArrayOf(s.StructOf(DescribeShareGroupOffsetsResponseTopic)), "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+", default=None),
        ]


@mypyc_attr(acyclic=True)
class DescribeShareGroupOffsetsResponse(ApiMessage):
    """API key 90, versions 0 to 1, flexible from 0."""

    __slots__ = (
        "throttle_time_ms",
        "groups",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 90
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: list[DescribeShareGroupOffsetsResponseGroup] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups: list[DescribeShareGroupOffsetsResponseGroup] = [] if groups is NO_ITEMS else groups
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("groups" / s.ArrayOf(s.StructOf(DescribeShareGroupOffsetsResponseGroup)), "0+"),
        ]
