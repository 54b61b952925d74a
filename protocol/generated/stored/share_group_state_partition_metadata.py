"""ShareGroupStatePartitionMetadata. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, CoordinatorRecord, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ShareGroupStatePartitionMetadataKey(CoordinatorRecord):
    """Version 0, never flexible."""

    __slots__ = (
        "group_id",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        group_id: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0"),
        ]


@mypyc_attr(acyclic=True)
class TopicPartitionsInfo(Message):
    """Part of `ShareGroupStatePartitionMetadataValue`."""

    __slots__ = (
        "topic_id",
        "topic_name",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        partitions: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions: list[int] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_id" / s.Uuid, "0+"),
            s.Field("topic_name" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.Int32), "0+"),
        ]


@mypyc_attr(acyclic=True)
class TopicInfo(Message):
    """Part of `ShareGroupStatePartitionMetadataValue`."""

    __slots__ = (
        "topic_id",
        "topic_name",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_id" / s.Uuid, "0+"),
            s.Field("topic_name" / s.String, "0+"),
        ]


@mypyc_attr(acyclic=True)
class ShareGroupStatePartitionMetadataValue(CoordinatorRecord):
    """Version 0, flexible from 0."""

    __slots__ = (
        "initializing_topics",
        "initialized_topics",
        "deleting_topics",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        initializing_topics: list[TopicPartitionsInfo] = NO_ITEMS,
        initialized_topics: list[TopicPartitionsInfo] = NO_ITEMS,
        deleting_topics: list[TopicInfo] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.initializing_topics: list[TopicPartitionsInfo] = (
            [] if initializing_topics is NO_ITEMS else initializing_topics
        )
        self.initialized_topics: list[TopicPartitionsInfo] = (
            [] if initialized_topics is NO_ITEMS else initialized_topics
        )
        self.deleting_topics: list[TopicInfo] = [] if deleting_topics is NO_ITEMS else deleting_topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("initializing_topics" / s.ArrayOf(s.StructOf(TopicPartitionsInfo)), "0+"),
            s.Field("initialized_topics" / s.ArrayOf(s.StructOf(TopicPartitionsInfo)), "0+"),
            s.Field("deleting_topics" / s.ArrayOf(s.StructOf(TopicInfo)), "0+"),
        ]
