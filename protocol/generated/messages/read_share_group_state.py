"""ReadShareGroupState (API key 84). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class PartitionData(Message):
    """Part of `ReadShareGroupStateRequest`."""

    __slots__ = (
        "partition",
        "leader_epoch",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition: int = 0,
        leader_epoch: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition" / s.Int32, "0+"),
            s.Field("leader_epoch" / s.Int32, "0+"),
        ]


@mypyc_attr(acyclic=True)
class ReadStateData(Message):
    """Part of `ReadShareGroupStateRequest`."""

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
class ReadShareGroupStateRequest(ApiMessage):
    """API key 84, version 0, flexible from 0."""

    __slots__ = (
        "group_id",
        "topics",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 84
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        group_id: str = "",
        topics: list[ReadStateData] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.topics: list[ReadStateData] = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0+"),
            s.Field("topics" / s.ArrayOf(s.StructOf(ReadStateData)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class StateBatch(Message):
    """Part of `ReadShareGroupStateResponse`."""

    __slots__ = (
        "first_offset",
        "last_offset",
        "delivery_state",
        "delivery_count",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("first_offset" / s.Int64, "0+"),
            s.Field("last_offset" / s.Int64, "0+"),
            s.Field("delivery_state" / s.Int8, "0+"),
            s.Field("delivery_count" / s.Int16, "0+"),
        ]


@mypyc_attr(acyclic=True)
class PartitionResult(Message):
    """Part of `ReadShareGroupStateResponse`."""

    __slots__ = (
        "partition",
        "error_code",
        "error_message",
        "state_epoch",
        "start_offset",
        "state_batches",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        state_epoch: int = 0,
        start_offset: int = 0,
        state_batches: list[StateBatch] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        self.state_epoch = state_epoch
        self.start_offset = start_offset
        self.state_batches: list[StateBatch] = [] if state_batches is NO_ITEMS else state_batches
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+", default=None),
            s.Field("state_epoch" / s.Int32, "0+"),
            s.Field("start_offset" / s.Int64, "0+"),
            s.Field("state_batches" / s.ArrayOf(s.StructOf(StateBatch)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class ReadStateResult(Message):
    """Part of `ReadShareGroupStateResponse`."""

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
class ReadShareGroupStateResponse(ApiMessage):
    """API key 84, version 0, flexible from 0."""

    __slots__ = (
        "results",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 84
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        results: list[ReadStateResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.results: list[ReadStateResult] = [] if results is NO_ITEMS else results
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("results" / s.ArrayOf(s.StructOf(ReadStateResult)), "0+"),
        ]
