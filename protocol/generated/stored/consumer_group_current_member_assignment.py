"""ConsumerGroupCurrentMemberAssignment. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, CoordinatorRecord, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ConsumerGroupCurrentMemberAssignmentKey(CoordinatorRecord):
    """Version 0, never flexible."""

    __slots__ = (
        "group_id",
        "member_id",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0"),
            s.Field("member_id" / s.String, "0"),
        ]


@mypyc_attr(acyclic=True)
class TopicPartitions(Message):
    """Part of `ConsumerGroupCurrentMemberAssignmentValue`."""

    __slots__ = (
        "topic_id",
        "partitions",
        "assignment_epochs",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = NO_ITEMS,
        assignment_epochs: list[int] | None = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions: list[int] = [] if partitions is NO_ITEMS else partitions
        self.assignment_epochs: list[int] | None = [] if assignment_epochs is NO_ITEMS else assignment_epochs
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_id" / s.Uuid, "0+"),
            s.Field("partitions" / s.ArrayOf(s.Int32), "0+"),
            s.Field("assignment_epochs" / s.ArrayOf(s.Int32), "0+", nullable="0+", tag=0, tagged="0+"),
        ]


@mypyc_attr(acyclic=True)
class ConsumerGroupCurrentMemberAssignmentValue(CoordinatorRecord):
    """Version 0, flexible from 0."""

    __slots__ = (
        "member_epoch",
        "previous_member_epoch",
        "state",
        "assigned_partitions",
        "partitions_pending_revocation",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: list[TopicPartitions] = NO_ITEMS,
        partitions_pending_revocation: list[TopicPartitions] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.assigned_partitions: list[TopicPartitions] = [] if assigned_partitions is NO_ITEMS else assigned_partitions
        self.partitions_pending_revocation: list[TopicPartitions] = (
            [] if partitions_pending_revocation is NO_ITEMS else partitions_pending_revocation
        )
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("member_epoch" / s.Int32, "0+"),
            s.Field("previous_member_epoch" / s.Int32, "0+"),
            s.Field("state" / s.Int8, "0+"),
            s.Field("assigned_partitions" / s.ArrayOf(s.StructOf(TopicPartitions)), "0+"),
            s.Field("partitions_pending_revocation" / s.ArrayOf(s.StructOf(TopicPartitions)), "0+"),
        ]
