"""DeleteAcls (API key 31). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class DeleteAclsFilter(Message):
    """Part of `DeleteAclsRequest`."""

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
class DeleteAclsRequest(ApiMessage):
    """API key 31, versions 0 to 3, flexible from 2."""

    __slots__ = (
        "filters",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 31
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        filters: list[DeleteAclsFilter] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.filters: list[DeleteAclsFilter] = [] if filters is NO_ITEMS else filters
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("filters" / s.ArrayOf(s.StructOf(DeleteAclsFilter)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class DeleteAclsMatchingAcl(Message):
    """Part of `DeleteAclsResponse`."""

    __slots__ = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
        "pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+"),
            s.Field("resource_type" / s.Int8, "0+"),
            s.Field("resource_name" / s.String, "0+"),
            s.Field("pattern_type" / s.Int8, "1+", default=3),
            s.Field("principal" / s.String, "0+"),
            s.Field("host" / s.String, "0+"),
            s.Field("operation" / s.Int8, "0+"),
            s.Field("permission_type" / s.Int8, "0+"),
        ]


@mypyc_attr(acyclic=True)
class DeleteAclsFilterResult(Message):
    """Part of `DeleteAclsResponse`."""

    __slots__ = (
        "error_code",
        "error_message",
        "matching_acls",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        matching_acls: list[DeleteAclsMatchingAcl] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.matching_acls: list[DeleteAclsMatchingAcl] = [] if matching_acls is NO_ITEMS else matching_acls
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+"),
            s.Field("matching_acls" / s.ArrayOf(s.StructOf(DeleteAclsMatchingAcl)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class DeleteAclsResponse(ApiMessage):
    """API key 31, versions 0 to 3, flexible from 2."""

    __slots__ = (
        "throttle_time_ms",
        "filter_results",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 31
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        filter_results: list[DeleteAclsFilterResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.filter_results: list[DeleteAclsFilterResult] = [] if filter_results is NO_ITEMS else filter_results
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("filter_results" / s.ArrayOf(s.StructOf(DeleteAclsFilterResult)), "0+"),
        ]
