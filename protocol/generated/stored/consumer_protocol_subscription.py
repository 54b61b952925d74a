"""ConsumerProtocolSubscription. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, DataMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class TopicPartition(Message):
    """Part of `ConsumerProtocolSubscription`."""

    __slots__ = (
        "topic",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic: str = "",
        partitions: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic = topic
        self.partitions: list[int] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic" / s.String, "1+"),
            s.Field("partitions" / s.ArrayOf(s.Int32), "1+"),
        ]


@mypyc_attr(acyclic=True)
class ConsumerProtocolSubscription(DataMessage):
    """Versions 0 to 3, never flexible."""

    __slots__ = (
        "topics",
        "user_data",
        "owned_partitions",
        "generation_id",
        "rack_id",
        "unknown_tagged_fields",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        topics: list[str] = NO_ITEMS,
        user_data: bytes | None = None,
        owned_partitions: list[TopicPartition] = NO_ITEMS,
        generation_id: int = -1,
        rack_id: str | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topics: list[str] = [] if topics is NO_ITEMS else topics
        self.user_data = user_data
        self.owned_partitions: list[TopicPartition] = [] if owned_partitions is NO_ITEMS else owned_partitions
        self.generation_id = generation_id
        self.rack_id = rack_id
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topics" / s.ArrayOf(s.String), "0+"),
            s.Field("user_data" / s.Bytes, "0+", nullable="0+", default=None),
            s.Field("owned_partitions" / s.ArrayOf(s.StructOf(TopicPartition)), "1+", ignorable=True),
            s.Field("generation_id" / s.Int32, "2+", default=-1, ignorable=True),
            s.Field("rack_id" / s.String, "3+", nullable="3+", default=None, ignorable=True),
        ]
