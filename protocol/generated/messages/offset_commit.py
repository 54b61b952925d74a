"""OffsetCommit (API key 8). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class OffsetCommitRequestPartition(Message):
    """Part of `OffsetCommitRequest`."""

    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "commit_timestamp",
        "committed_metadata",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        commit_timestamp: int = -1,
        committed_metadata: str | None = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.commit_timestamp = commit_timestamp
        self.committed_metadata = committed_metadata
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("committed_offset" / s.Int64, "0+"),
            s.Field("committed_leader_epoch" / s.Int32, "6+", default=-1, ignorable=True),
            s.Field("commit_timestamp" / s.Int64, "1", default=-1),
            s.Field("committed_metadata" / s.String, "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class OffsetCommitRequestTopic(Message):
    """Part of `OffsetCommitRequest`."""

    __slots__ = (
        "name",
        "topic_id",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[OffsetCommitRequestPartition] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions: list[OffsetCommitRequestPartition] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0-9", ignorable=True),
            s.Field("topic_id" / s.Uuid, "10+", ignorable=True),
            s.Field("partitions" / s.ArrayOf(s.StructOf(OffsetCommitRequestPartition)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class OffsetCommitRequest(ApiMessage):
    """API key 8, versions 0 to 10, flexible from 8."""

    __slots__ = (
        "group_id",
        "generation_id_or_member_epoch",
        "member_id",
        "group_instance_id",
        "retention_time_ms",
        "topics",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 10
    FLEXIBLE_FROM: ClassVar[int | None] = 8

    def __init__(
        self,
        group_id: str = "",
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        retention_time_ms: int = -1,
        topics: list[OffsetCommitRequestTopic] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.generation_id_or_member_epoch = generation_id_or_member_epoch
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.retention_time_ms = retention_time_ms
        self.topics: list[OffsetCommitRequestTopic] = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0+"),
            s.Field("generation_id_or_member_epoch" / s.Int32, "1+", default=-1, ignorable=True),
            s.Field("member_id" / s.String, "1+", ignorable=True),
            s.Field("group_instance_id" / s.String, "7+", nullable="7+", default=None),
            s.Field("retention_time_ms" / s.Int64, "2-4", default=-1, ignorable=True),
            s.Field("topics" / s.ArrayOf(s.StructOf(OffsetCommitRequestTopic)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class OffsetCommitResponsePartition(Message):
    """Part of `OffsetCommitResponse`."""

    __slots__ = (
        "partition_index",
        "error_code",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
        ]


@mypyc_attr(acyclic=True)
class OffsetCommitResponseTopic(Message):
    """Part of `OffsetCommitResponse`."""

    __slots__ = (
        "name",
        "topic_id",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[OffsetCommitResponsePartition] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions: list[OffsetCommitResponsePartition] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0-9", ignorable=True),
            s.Field("topic_id" / s.Uuid, "10+", ignorable=True),
            s.Field("partitions" / s.ArrayOf(s.StructOf(OffsetCommitResponsePartition)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class OffsetCommitResponse(ApiMessage):
    """API key 8, versions 0 to 10, flexible from 8."""

    __slots__ = (
        "throttle_time_ms",
        "topics",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 10
    FLEXIBLE_FROM: ClassVar[int | None] = 8

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[OffsetCommitResponseTopic] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[OffsetCommitResponseTopic] = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "3+", ignorable=True),
            s.Field("topics" / s.ArrayOf(s.StructOf(OffsetCommitResponseTopic)), "0+"),
        ]
