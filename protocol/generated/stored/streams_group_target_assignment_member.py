"""StreamsGroupTargetAssignmentMember. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, CoordinatorRecord, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class StreamsGroupTargetAssignmentMemberKey(CoordinatorRecord):
    """Version 0, never flexible."""

    __slots__ = (
        "group_id",
        "member_id",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 21
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
class TaskIds(Message):
    """Part of `StreamsGroupTargetAssignmentMemberValue`."""

    __slots__ = (
        "subtopology_id",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        subtopology_id: str = "",
        partitions: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions: list[int] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("subtopology_id" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.Int32), "0+"),
        ]


@mypyc_attr(acyclic=True)
class StreamsGroupTargetAssignmentMemberValue(CoordinatorRecord):
    """Version 0, flexible from 0."""

    __slots__ = (
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 21
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        active_tasks: list[TaskIds] = NO_ITEMS,
        standby_tasks: list[TaskIds] = NO_ITEMS,
        warmup_tasks: list[TaskIds] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.active_tasks: list[TaskIds] = [] if active_tasks is NO_ITEMS else active_tasks
        self.standby_tasks: list[TaskIds] = [] if standby_tasks is NO_ITEMS else standby_tasks
        self.warmup_tasks: list[TaskIds] = [] if warmup_tasks is NO_ITEMS else warmup_tasks
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("active_tasks" / s.ArrayOf(s.StructOf(TaskIds)), "0+"),
            s.Field("standby_tasks" / s.ArrayOf(s.StructOf(TaskIds)), "0+"),
            s.Field("warmup_tasks" / s.ArrayOf(s.StructOf(TaskIds)), "0+"),
        ]
