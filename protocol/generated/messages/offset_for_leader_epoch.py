"""OffsetForLeaderEpoch (API key 23). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class OffsetForLeaderPartition(Message):
    """Part of `OffsetForLeaderEpochRequest`."""

    __slots__ = (
        "partition",
        "current_leader_epoch",
        "leader_epoch",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        leader_epoch: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.leader_epoch = leader_epoch
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition" / s.Int32, "0+"),
            s.Field("current_leader_epoch" / s.Int32, "2+", default=-1, ignorable=True),
            s.Field("leader_epoch" / s.Int32, "0+"),
        ]


@mypyc_attr(acyclic=True)
class OffsetForLeaderTopic(Message):
    """Part of `OffsetForLeaderEpochRequest`."""

    __slots__ = (
        "topic",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic: str = "",
        partitions: list[OffsetForLeaderPartition] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic = topic
        self.partitions: list[OffsetForLeaderPartition] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.StructOf(OffsetForLeaderPartition)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class OffsetForLeaderEpochRequest(ApiMessage):
    """API key 23, versions 0 to 4, flexible from 4."""

    __slots__ = (
        "replica_id",
        "topics",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        replica_id: int = -2,
        topics: list[OffsetForLeaderTopic] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.replica_id = replica_id
        self.topics: list[OffsetForLeaderTopic] = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("replica_id" / s.Int32, "3+", default=-2, ignorable=True),
            s.Field("topics" / s.ArrayOf(s.StructOf(OffsetForLeaderTopic)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class EpochEndOffset(Message):
    """Part of `OffsetForLeaderEpochResponse`."""

    __slots__ = (
        "error_code",
        "partition",
        "leader_epoch",
        "end_offset",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        error_code: int = 0,
        partition: int = 0,
        leader_epoch: int = -1,
        end_offset: int = -1,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.end_offset = end_offset
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("partition" / s.Int32, "0+"),
            s.Field("leader_epoch" / s.Int32, "1+", default=-1, ignorable=True),
            s.Field("end_offset" / s.Int64, "0+", default=-1),
        ]


@mypyc_attr(acyclic=True)
class OffsetForLeaderTopicResult(Message):
    """Part of `OffsetForLeaderEpochResponse`."""

    __slots__ = (
        "topic",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic: str = "",
        partitions: list[EpochEndOffset] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic = topic
        self.partitions: list[EpochEndOffset] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.StructOf(EpochEndOffset)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class OffsetForLeaderEpochResponse(ApiMessage):
    """API key 23, versions 0 to 4, flexible from 4."""

    __slots__ = (
        "throttle_time_ms",
        "topics",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[OffsetForLeaderTopicResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[OffsetForLeaderTopicResult] = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "2+", ignorable=True),
            s.Field("topics" / s.ArrayOf(s.StructOf(OffsetForLeaderTopicResult)), "0+"),
        ]
