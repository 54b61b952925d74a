"""JoinGroup (API key 11). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class JoinGroupRequestProtocol(Message):
    """Part of `JoinGroupRequest`."""

    __slots__ = (
        "name",
        "metadata",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        metadata: bytes = b"",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.metadata = metadata
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("metadata" / s.Bytes, "0+"),
        ]


@mypyc_attr(acyclic=True)
class JoinGroupRequest(ApiMessage):
    """API key 11, versions 0 to 9, flexible from 6."""

    __slots__ = (
        "group_id",
        "session_timeout_ms",
        "rebalance_timeout_ms",
        "member_id",
        "group_instance_id",
        "protocol_type",
        "protocols",
        "reason",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 9
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    def __init__(
        self,
        group_id: str = "",
        session_timeout_ms: int = 0,
        rebalance_timeout_ms: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str = "",
        protocols: list[JoinGroupRequestProtocol] = NO_ITEMS,
        reason: str | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocols: list[JoinGroupRequestProtocol] = [] if protocols is NO_ITEMS else protocols
        self.reason = reason
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0+"),
            s.Field("session_timeout_ms" / s.Int32, "0+"),
            s.Field("rebalance_timeout_ms" / s.Int32, "1+", default=-1, ignorable=True),
            s.Field("member_id" / s.String, "0+"),
            s.Field("group_instance_id" / s.String, "5+", nullable="5+", default=None),
            s.Field("protocol_type" / s.String, "0+"),
            s.Field("protocols" / s.ArrayOf(s.StructOf(JoinGroupRequestProtocol)), "0+"),
            s.Field("reason" / s.String, "8+", nullable="8+", default=None, ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class JoinGroupResponseMember(Message):
    """Part of `JoinGroupResponse`."""

    __slots__ = (
        "member_id",
        "group_instance_id",
        "metadata",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        metadata: bytes = b"",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.metadata = metadata
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("member_id" / s.String, "0+"),
            s.Field("group_instance_id" / s.String, "5+", nullable="5+", default=None, ignorable=True),
            s.Field("metadata" / s.Bytes, "0+"),
        ]


@mypyc_attr(acyclic=True)
class JoinGroupResponse(ApiMessage):
    """API key 11, versions 0 to 9, flexible from 6."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "generation_id",
        "protocol_type",
        "protocol_name",
        "leader",
        "skip_assignment",
        "member_id",
        "members",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 9
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        generation_id: int = -1,
        protocol_type: str | None = None,
        protocol_name: str | None = "",
        leader: str = "",
        skip_assignment: bool = False,
        member_id: str = "",
        members: list[JoinGroupResponseMember] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.generation_id = generation_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.leader = leader
        self.skip_assignment = skip_assignment
        self.member_id = member_id
        self.members: list[JoinGroupResponseMember] = [] if members is NO_ITEMS else members
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "2+", ignorable=True),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("generation_id" / s.Int32, "0+", default=-1),
            s.Field("protocol_type" / s.String, "7+", nullable="7+", default=None, ignorable=True),
            s.Field("protocol_name" / s.String, "0+", nullable="7+"),
            s.Field("leader" / s.String, "0+"),
            s.Field("skip_assignment" / s.Boolean, "9+"),
            s.Field("member_id" / s.String, "0+"),
            s.Field("members" / s.ArrayOf(s.StructOf(JoinGroupResponseMember)), "0+"),
        ]
