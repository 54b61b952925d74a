"""CreateAcls (API key 30). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class AclCreation(Message):
    """Part of `CreateAclsRequest`."""

    __slots__ = (
        "resource_type",
        "resource_name",
        "resource_pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        resource_pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.resource_pattern_type = resource_pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("resource_type" / s.Int8, "0+"),
            s.Field("resource_name" / s.String, "0+"),
            s.Field("resource_pattern_type" / s.Int8, "1+", default=3),
            s.Field("principal" / s.String, "0+"),
            s.Field("host" / s.String, "0+"),
            s.Field("operation" / s.Int8, "0+"),
            s.Field("permission_type" / s.Int8, "0+"),
        ]


@mypyc_attr(acyclic=True)
class CreateAclsRequest(ApiMessage):
    """API key 30, versions 0 to 3, flexible from 2."""

    __slots__ = (
        "creations",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 30
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        creations: list[AclCreation] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.creations: list[AclCreation] = [] if creations is NO_ITEMS else creations
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("creations" / s.ArrayOf(s.StructOf(AclCreation)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class AclCreationResult(Message):
    """Part of `CreateAclsResponse`."""

    __slots__ = (
        "error_code",
        "error_message",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class CreateAclsResponse(ApiMessage):
    """API key 30, versions 0 to 3, flexible from 2."""

    __slots__ = (
        "throttle_time_ms",
        "results",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 30
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[AclCreationResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results: list[AclCreationResult] = [] if results is NO_ITEMS else results
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("results" / s.ArrayOf(s.StructOf(AclCreationResult)), "0+"),
        ]
