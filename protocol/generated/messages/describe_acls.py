"""DescribeAcls (API key 29). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class DescribeAclsRequest(ApiMessage):
    """API key 29, versions 0 to 3, flexible from 2."""

    __slots__ = (
        "resource_type_filter",
        "resource_name_filter",
        "pattern_type_filter",
        "principal_filter",
        "host_filter",
        "operation",
        "permission_type",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 29
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        resource_type_filter: int = 0,
        resource_name_filter: str | None = "",
        pattern_type_filter: int = 3,
        principal_filter: str | None = "",
        host_filter: str | None = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.resource_type_filter = resource_type_filter
        self.resource_name_filter = resource_name_filter
        self.pattern_type_filter = pattern_type_filter
        self.principal_filter = principal_filter
        self.host_filter = host_filter
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("resource_type_filter" / s.Int8, "0+"),
            s.Field("resource_name_filter" / s.String, "0+", nullable="0+"),
            s.Field("pattern_type_filter" / s.Int8, "1+", default=3),
            s.Field("principal_filter" / s.String, "0+", nullable="0+"),
            s.Field("host_filter" / s.String, "0+", nullable="0+"),
            s.Field("operation" / s.Int8, "0+"),
            s.Field("permission_type" / s.Int8, "0+"),
        ]


@mypyc_attr(acyclic=True)
class AclDescription(Message):
    """Part of `DescribeAclsResponse`."""

    __slots__ = (
        "principal",
        "host",
        "operation",
        "permission_type",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("principal" / s.String, "0+"),
            s.Field("host" / s.String, "0+"),
            s.Field("operation" / s.Int8, "0+"),
            s.Field("permission_type" / s.Int8, "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeAclsResource(Message):
    """Part of `DescribeAclsResponse`."""

    __slots__ = (
        "resource_type",
        "resource_name",
        "pattern_type",
        "acls",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        acls: list[AclDescription] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.acls: list[AclDescription] = [] if acls is NO_ITEMS else acls
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("resource_type" / s.Int8, "0+"),
            s.Field("resource_name" / s.String, "0+"),
            s.Field("pattern_type" / s.Int8, "1+", default=3),
            s.Field("acls" / s.ArrayOf(s.StructOf(AclDescription)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeAclsResponse(ApiMessage):
    """API key 29, versions 0 to 3, flexible from 2."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "resources",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 29
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        resources: list[DescribeAclsResource] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.resources: list[DescribeAclsResource] = [] if resources is NO_ITEMS else resources
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+"),
            s.Field("resources" / s.ArrayOf(s.StructOf(DescribeAclsResource)), "0+"),
        ]
