"""OffsetFetch (API key 9). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class OffsetFetchRequestTopic(Message):
    """Part of `OffsetFetchRequest`."""

    __slots__ = (
        "name",
        "partition_indexes",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        partition_indexes: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.partition_indexes: list[int] = [] if partition_indexes is NO_ITEMS else partition_indexes
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0-7"),
            s.Field("partition_indexes" / s.ArrayOf(s.Int32), "0-7"),
        ]


@mypyc_attr(acyclic=True)
class OffsetFetchRequestTopics(Message):
    """Part of `OffsetFetchRequest`."""

    __slots__ = (
        "name",
        "topic_id",
        "partition_indexes",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_indexes: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_indexes: list[int] = [] if partition_indexes is NO_ITEMS else partition_indexes
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "8-9", ignorable=True),
            s.Field("topic_id" / s.Uuid, "10+", ignorable=True),
            s.Field("partition_indexes" / s.ArrayOf(s.Int32), "8+"),
        ]


@mypyc_attr(acyclic=True)
class OffsetFetchRequestGroup(Message):
    """Part of `OffsetFetchRequest`."""

    __slots__ = (
        "group_id",
        "member_id",
        "member_epoch",
        "topics",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        group_id: str = "",
        member_id: str | None = None,
        member_epoch: int = -1,
        topics: list[OffsetFetchRequestTopics] | None = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.topics: list[OffsetFetchRequestTopics] | None = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "8+"),
            s.Field("member_id" / s.String, "9+", nullable="9+", default=None, ignorable=True),
            s.Field("member_epoch" / s.Int32, "9+", default=-1, ignorable=True),
            s.Field("topics" / s.ArrayOf(s.StructOf(OffsetFetchRequestTopics)), "8+", nullable="8+"),
        ]


@mypyc_attr(acyclic=True)
class OffsetFetchRequest(ApiMessage):
    """API key 9, versions 0 to 10, flexible from 6."""

    __slots__ = (
        "group_id",
        "topics",
        "groups",
        "require_stable",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 9
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 10
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    def __init__(
        self,
        group_id: str = "",
        topics: list[OffsetFetchRequestTopic] | None = NO_ITEMS,
        groups: list[OffsetFetchRequestGroup] = NO_ITEMS,
        require_stable: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.topics: list[OffsetFetchRequestTopic] | None = [] if topics is NO_ITEMS else topics
        self.groups: list[OffsetFetchRequestGroup] = [] if groups is NO_ITEMS else groups
        self.require_stable = require_stable
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0-7"),
            s.Field("topics" / s.ArrayOf(s.StructOf(OffsetFetchRequestTopic)), "0-7", nullable="2-7"),
            s.Field("groups" / s.ArrayOf(s.StructOf(OffsetFetchRequestGroup)), "8+"),
            s.Field("require_stable" / s.Boolean, "7+"),
        ]


@mypyc_attr(acyclic=True)
class OffsetFetchResponsePartition(Message):
    """Part of `OffsetFetchResponse`."""

    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "metadata",
        "error_code",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0-7"),
            s.Field("committed_offset" / s.Int64, "0-7"),
            s.Field("committed_leader_epoch" / s.Int32, "5-7", default=-1, ignorable=True),
            s.Field("metadata" / s.String, "0-7", nullable="0-7"),
            s.Field("error_code" / s.Int16, "0-7"),
        ]


@mypyc_attr(acyclic=True)
class OffsetFetchResponseTopic(Message):
    """Part of `OffsetFetchResponse`."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[OffsetFetchResponsePartition] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions: list[OffsetFetchResponsePartition] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0-7"),
            s.Field("partitions" / s.ArrayOf(s.StructOf(OffsetFetchResponsePartition)), "0-7"),
        ]


@mypyc_attr(acyclic=True)
class OffsetFetchResponsePartitions(Message):
    """Part of `OffsetFetchResponse`."""

    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "metadata",
        "error_code",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "8+"),
            s.Field("committed_offset" / s.Int64, "8+"),
            s.Field("committed_leader_epoch" / s.Int32, "8+", default=-1, ignorable=True),
            s.Field("metadata" / s.String, "8+", nullable="8+"),
            s.Field("error_code" / s.Int16, "8+"),
        ]


@mypyc_attr(acyclic=True)
class OffsetFetchResponseTopics(Message):
    """Part of `OffsetFetchResponse`."""

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
        partitions: list[OffsetFetchResponsePartitions] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions: list[OffsetFetchResponsePartitions] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "8-9", ignorable=True),
            s.Field("topic_id" / s.Uuid, "10+", ignorable=True),
            s.Field("partitions" / s.ArrayOf(s.StructOf(OffsetFetchResponsePartitions)), "8+"),
        ]


@mypyc_attr(acyclic=True)
class OffsetFetchResponseGroup(Message):
    """Part of `OffsetFetchResponse`."""

    __slots__ = (
        "group_id",
        "topics",
        "error_code",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        group_id: str = "",
        topics: list[OffsetFetchResponseTopics] = NO_ITEMS,
        error_code: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.topics: list[OffsetFetchResponseTopics] = [] if topics is NO_ITEMS else topics
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "8+"),
            s.Field("topics" / s.ArrayOf(s.StructOf(OffsetFetchResponseTopics)), "8+"),
            s.Field("error_code" / s.Int16, "8+"),
        ]


@mypyc_attr(acyclic=True)
class OffsetFetchResponse(ApiMessage):
    """API key 9, versions 0 to 10, flexible from 6."""

    __slots__ = (
        "throttle_time_ms",
        "topics",
        "error_code",
        "groups",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 9
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 10
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[OffsetFetchResponseTopic] = NO_ITEMS,
        error_code: int = 0,
        groups: list[OffsetFetchResponseGroup] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[OffsetFetchResponseTopic] = [] if topics is NO_ITEMS else topics
        self.error_code = error_code
        self.groups: list[OffsetFetchResponseGroup] = [] if groups is NO_ITEMS else groups
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "3+", ignorable=True),
            s.Field("topics" / s.ArrayOf(s.StructOf(OffsetFetchResponseTopic)), "0-7"),
            s.Field("error_code" / s.Int16, "2-7", ignorable=True),
            s.Field("groups" / s.ArrayOf(s.StructOf(OffsetFetchResponseGroup)), "8+"),
        ]
