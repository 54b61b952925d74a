"""IncrementalAlterConfigs (API key 44). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class AlterableConfig(Message):
    """Part of `IncrementalAlterConfigsRequest`."""

    __slots__ = (
        "name",
        "config_operation",
        "value",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        config_operation: int = 0,
        value: str | None = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.config_operation = config_operation
        self.value = value
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("config_operation" / s.Int8, "0+"),
            s.Field("value" / s.String, "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class AlterConfigsResource(Message):
    """Part of `IncrementalAlterConfigsRequest`."""

    __slots__ = (
        "resource_type",
        "resource_name",
        "configs",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[AlterableConfig] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs: list[AlterableConfig] = [] if configs is NO_ITEMS else configs
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("resource_type" / s.Int8, "0+"),
            s.Field("resource_name" / s.String, "0+"),
            s.Field("configs" / s.ArrayOf(s.StructOf(AlterableConfig)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class IncrementalAlterConfigsRequest(ApiMessage):
    """API key 44, versions 0 to 1, flexible from 1."""

    __slots__ = (
        "resources",
        "validate_only",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 44
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        resources: list[AlterConfigsResource] = NO_ITEMS,
        validate_only: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.resources: list[AlterConfigsResource] = [] if resources is NO_ITEMS else resources
        self.validate_only = validate_only
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("resources" / s.ArrayOf(s.StructOf(AlterConfigsResource)), "0+"),
            s.Field("validate_only" / s.Boolean, "0+"),
        ]


@mypyc_attr(acyclic=True)
class AlterConfigsResourceResponse(Message):
    """Part of `IncrementalAlterConfigsResponse`."""

    __slots__ = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+"),
            s.Field("resource_type" / s.Int8, "0+"),
            s.Field("resource_name" / s.String, "0+"),
        ]


@mypyc_attr(acyclic=True)
class IncrementalAlterConfigsResponse(ApiMessage):
    """API key 44, versions 0 to 1, flexible from 1."""

    __slots__ = (
        "throttle_time_ms",
        "responses",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 44
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: list[AlterConfigsResourceResponse] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses: list[AlterConfigsResourceResponse] = [] if responses is NO_ITEMS else responses
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("responses" / s.ArrayOf(s.StructOf(AlterConfigsResourceResponse)), "0+"),
        ]
