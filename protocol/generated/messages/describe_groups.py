"""DescribeGroups (API key 15). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class DescribeGroupsRequest(ApiMessage):
    """API key 15, versions 0 to 6, flexible from 5."""

    __slots__ = (
        "groups",
        "include_authorized_operations",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 5

    def __init__(
        self,
        groups: list[str] = NO_ITEMS,
        include_authorized_operations: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.groups: list[str] = [] if groups is NO_ITEMS else groups
        self.include_authorized_operations = include_authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("groups" / s.ArrayOf(s.String), "0+"),
            s.Field("include_authorized_operations" / s.Boolean, "3+"),
        ]


@mypyc_attr(acyclic=True)
class DescribedGroupMember(Message):
    """Part of `DescribeGroupsResponse`."""

    __slots__ = (
        "member_id",
        "group_instance_id",
        "client_id",
        "client_host",
        "member_metadata",
        "member_assignment",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        member_metadata: bytes = b"",
        member_assignment: bytes = b"",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.member_metadata = member_metadata
        self.member_assignment = member_assignment
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("member_id" / s.String, "0+"),
            s.Field("group_instance_id" / s.String, "4+", nullable="4+", default=None, ignorable=True),
            s.Field("client_id" / s.String, "0+"),
            s.Field("client_host" / s.String, "0+"),
            s.Field("member_metadata" / s.Bytes, "0+"),
            s.Field("member_assignment" / s.Bytes, "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribedGroup(Message):
    """Part of `DescribeGroupsResponse`."""

    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "protocol_type",
        "protocol_data",
        "members",
        "authorized_operations",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        protocol_type: str = "",
        protocol_data: str = "",
        members: list[DescribedGroupMember] = NO_ITEMS,
        authorized_operations: int = -2147483648,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.protocol_type = protocol_type
        self.protocol_data = protocol_data
        self.members: list[DescribedGroupMember] = [] if members is NO_ITEMS else members
        self.authorized_operations = authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "6+", nullable="6+", default=None),
            s.Field("group_id" / s.String, "0+"),
            s.Field("group_state" / s.String, "0+"),
            s.Field("protocol_type" / s.String, "0+"),
            s.Field("protocol_data" / s.String, "0+"),
            s.Field("members" / s.ArrayOf(s.StructOf(DescribedGroupMember)), "0+"),
            s.Field("authorized_operations" / s.Int32, "3+", default=-2147483648),
        ]


@mypyc_attr(acyclic=True)
class DescribeGroupsResponse(ApiMessage):
    """API key 15, versions 0 to 6, flexible from 5."""

    __slots__ = (
        "throttle_time_ms",
        "groups",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 5

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups: list[DescribedGroup] = [] if groups is NO_ITEMS else groups
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "1+", ignorable=True),
            s.Field("groups" / s.ArrayOf(s.StructOf(DescribedGroup)), "0+"),
        ]
