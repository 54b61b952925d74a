"""ShareGroupTargetAssignmentMetadata. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import CoordinatorRecord, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ShareGroupTargetAssignmentMetadataKey(CoordinatorRecord):
    """Version 0, never flexible."""

    __slots__ = (
        "group_id",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 12
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
class ShareGroupTargetAssignmentMetadataValue(CoordinatorRecord):
    """Version 0, flexible from 0."""

    __slots__ = (
        "assignment_epoch",
        "assignment_timestamp",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        assignment_epoch: int = 0,
        assignment_timestamp: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.assignment_epoch = assignment_epoch
        self.assignment_timestamp = assignment_timestamp
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("assignment_epoch" / s.Int32, "0+"),
            s.Field("assignment_timestamp" / s.Int64, "0+", tag=0, tagged="0+", ignorable=True),
        ]
