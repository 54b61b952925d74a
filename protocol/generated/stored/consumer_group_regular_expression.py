"""ConsumerGroupRegularExpression. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, CoordinatorRecord, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ConsumerGroupRegularExpressionKey(CoordinatorRecord):
    """Version 0, never flexible."""

    __slots__ = (
        "group_id",
        "regular_expression",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        group_id: str = "",
        regular_expression: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.regular_expression = regular_expression
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0"),
            s.Field("regular_expression" / s.String, "0"),
        ]


@mypyc_attr(acyclic=True)
class ConsumerGroupRegularExpressionValue(CoordinatorRecord):
    """Version 0, flexible from 0."""

    __slots__ = (
        "topics",
        "version",
        "timestamp",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        topics: list[str] = NO_ITEMS,
        version: int = 0,
        timestamp: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topics: list[str] = [] if topics is NO_ITEMS else topics
        self.version = version
        self.timestamp = timestamp
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topics" / s.ArrayOf(s.String), "0+"),
            s.Field("version" / s.Int64, "0+"),
            s.Field("timestamp" / s.Int64, "0+"),
        ]
