"""LeaveGroup (API key 13). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class MemberIdentity(Message):
    """Part of `LeaveGroupRequest`."""

    __slots__ = (
        "member_id",
        "group_instance_id",
        "reason",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        reason: str | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.reason = reason
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("member_id" / s.String, "3+"),
            s.Field("group_instance_id" / s.String, "3+", nullable="3+", default=None),
            s.Field("reason" / s.String, "5+", nullable="5+", default=None, ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class LeaveGroupRequest(ApiMessage):
    """API key 13, versions 0 to 5, flexible from 4."""

    __slots__ = (
        "group_id",
        "member_id",
        "members",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        members: list[MemberIdentity] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.members: list[MemberIdentity] = [] if members is NO_ITEMS else members
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0+"),
            s.Field("member_id" / s.String, "0-2"),
            s.Field("members" / s.ArrayOf(s.StructOf(MemberIdentity)), "3+"),
        ]


@mypyc_attr(acyclic=True)
class MemberResponse(Message):
    """Part of `LeaveGroupResponse`."""

    __slots__ = (
        "member_id",
        "group_instance_id",
        "error_code",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = "",
        error_code: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("member_id" / s.String, "3+"),
            s.Field("group_instance_id" / s.String, "3+", nullable="3+"),
            s.Field("error_code" / s.Int16, "3+"),
        ]


@mypyc_attr(acyclic=True)
class LeaveGroupResponse(ApiMessage):
    """API key 13, versions 0 to 5, flexible from 4."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "members",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        members: list[MemberResponse] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.members: list[MemberResponse] = [] if members is NO_ITEMS else members
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "1+", ignorable=True),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("members" / s.ArrayOf(s.StructOf(MemberResponse)), "3+"),
        ]
