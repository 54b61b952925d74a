"""DeleteShareGroupState (API key 86). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class PartitionData(Message):
    """Part of `DeleteShareGroupStateRequest`."""

    __slots__ = (
        "partition",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition = partition
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition" / s.Int32, "0+"),
        ]


@mypyc_attr(acyclic=True)
class DeleteStateData(Message):
    """Part of `DeleteShareGroupStateRequest`."""

    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions: list[PartitionData] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_id" / s.Uuid, "0+"),
            s.Field("partitions" / s.ArrayOf(s.StructOf(PartitionData)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class DeleteShareGroupStateRequest(ApiMessage):
    """API key 86, version 0, flexible from 0."""

    __slots__ = (
        "group_id",
        "topics",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 86
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        group_id: str = "",
        topics: list[DeleteStateData] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.topics: list[DeleteStateData] = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0+"),
            s.Field("topics" / s.ArrayOf(s.StructOf(DeleteStateData)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class PartitionResult(Message):
    """Part of `DeleteShareGroupStateResponse`."""

    __slots__ = (
        "partition",
        "error_code",
        "error_message",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+", default=None),
        ]


@mypyc_attr(acyclic=True)
class DeleteStateResult(Message):
    """Part of `DeleteShareGroupStateResponse`."""

    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions: list[PartitionResult] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_id" / s.Uuid, "0+"),
            s.Field("partitions" / s.ArrayOf(s.StructOf(PartitionResult)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class DeleteShareGroupStateResponse(ApiMessage):
    """API key 86, version 0, flexible from 0."""

    __slots__ = (
        "results",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 86
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        results: list[DeleteStateResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.results: list[DeleteStateResult] = [] if results is NO_ITEMS else results
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("results" / s.ArrayOf(s.StructOf(DeleteStateResult)), "0+"),
        ]
