"""ListConfigResources (API key 74). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ListConfigResourcesRequest(ApiMessage):
    """API key 74, versions 0 to 1, flexible from 0."""

    __slots__ = (
        "resource_types",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 74
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        resource_types: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.resource_types: list[int] = [] if resource_types is NO_ITEMS else resource_types
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("resource_types" / s.ArrayOf(s.Int8), "1+"),
        ]


@mypyc_attr(acyclic=True)
class ConfigResource(Message):
    """Part of `ListConfigResourcesResponse`."""

    __slots__ = (
        "resource_name",
        "resource_type",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        resource_name: str = "",
        resource_type: int = 16,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.resource_name = resource_name
        self.resource_type = resource_type
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("resource_name" / s.String, "0+"),
            s.Field("resource_type" / s.Int8, "1+", default=16, ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class ListConfigResourcesResponse(ApiMessage):
    """API key 74, versions 0 to 1, flexible from 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "config_resources",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 74
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        config_resources: list[ConfigResource] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.config_resources: list[ConfigResource] = [] if config_resources is NO_ITEMS else config_resources
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("config_resources" / s.ArrayOf(s.StructOf(ConfigResource)), "0+"),
        ]
