"""SyncGroup (API key 14). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class SyncGroupRequestAssignment(Message):
    """Part of `SyncGroupRequest`."""

    __slots__ = (
        "member_id",
        "assignment",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        member_id: str = "",
        assignment: bytes = b"",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.assignment = assignment
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("member_id" / s.String, "0+"),
            s.Field("assignment" / s.Bytes, "0+"),
        ]


@mypyc_attr(acyclic=True)
class SyncGroupRequest(ApiMessage):
    """API key 14, versions 0 to 5, flexible from 4."""

    __slots__ = (
        "group_id",
        "generation_id",
        "member_id",
        "group_instance_id",
        "protocol_type",
        "protocol_name",
        "assignments",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignments: list[SyncGroupRequestAssignment] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignments: list[SyncGroupRequestAssignment] = [] if assignments is NO_ITEMS else assignments
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0+"),
            s.Field("generation_id" / s.Int32, "0+"),
            s.Field("member_id" / s.String, "0+"),
            s.Field("group_instance_id" / s.String, "3+", nullable="3+", default=None),
            s.Field("protocol_type" / s.String, "5+", nullable="5+", default=None, ignorable=True),
            s.Field("protocol_name" / s.String, "5+", nullable="5+", default=None, ignorable=True),
            s.Field("assignments" / s.ArrayOf(s.StructOf(SyncGroupRequestAssignment)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class SyncGroupResponse(ApiMessage):
    """API key 14, versions 0 to 5, flexible from 4."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "protocol_type",
        "protocol_name",
        "assignment",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignment: bytes = b"",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignment = assignment
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "1+", ignorable=True),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("protocol_type" / s.String, "5+", nullable="5+", default=None, ignorable=True),
            s.Field("protocol_name" / s.String, "5+", nullable="5+", default=None, ignorable=True),
            s.Field("assignment" / s.Bytes, "0+"),
        ]
