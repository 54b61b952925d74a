"""ConsumerProtocolAssignment. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, DataMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class TopicPartition(Message):
    """Part of `ConsumerProtocolAssignment`."""

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
            s.Field("topic" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.Int32), "0+"),
        ]


@mypyc_attr(acyclic=True)
class ConsumerProtocolAssignment(DataMessage):
    """Versions 0 to 3, never flexible."""

    __slots__ = (
        "assigned_partitions",
        "user_data",
        "unknown_tagged_fields",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        assigned_partitions: list[TopicPartition] = NO_ITEMS,
        user_data: bytes | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.assigned_partitions: list[TopicPartition] = [] if assigned_partitions is NO_ITEMS else assigned_partitions
        self.user_data = user_data
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("assigned_partitions" / s.ArrayOf(s.StructOf(TopicPartition)), "0+"),
            s.Field("user_data" / s.Bytes, "0+", nullable="0+", default=None),
        ]
