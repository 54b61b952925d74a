"""DescribeConfigs (API key 32). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class DescribeConfigsResource(Message):
    """Part of `DescribeConfigsRequest`."""

    __slots__ = (
        "resource_type",
        "resource_name",
        "configuration_keys",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        configuration_keys: list[str] | None = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configuration_keys: list[str] | None = [] if configuration_keys is NO_ITEMS else configuration_keys
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("resource_type" / s.Int8, "0+"),
            s.Field("resource_name" / s.String, "0+"),
            s.Field("configuration_keys" / s.ArrayOf(s.String), "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeConfigsRequest(ApiMessage):
    """API key 32, versions 0 to 4, flexible from 4."""

    __slots__ = (
        "resources",
        "include_synonyms",
        "include_documentation",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 32
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        resources: list[DescribeConfigsResource] = NO_ITEMS,
        include_synonyms: bool = False,
        include_documentation: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.resources: list[DescribeConfigsResource] = [] if resources is NO_ITEMS else resources
        self.include_synonyms = include_synonyms
        self.include_documentation = include_documentation
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("resources" / s.ArrayOf(s.StructOf(DescribeConfigsResource)), "0+"),
            s.Field("include_synonyms" / s.Boolean, "1+"),
            s.Field("include_documentation" / s.Boolean, "3+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeConfigsSynonym(Message):
    """Part of `DescribeConfigsResponse`."""

    __slots__ = (
        "name",
        "value",
        "source",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        source: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.value = value
        self.source = source
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "1+"),
            s.Field("value" / s.String, "1+", nullable="0+"),
            s.Field("source" / s.Int8, "1+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeConfigsResourceResult(Message):
    """Part of `DescribeConfigsResponse`."""

    __slots__ = (
        "name",
        "value",
        "read_only",
        "is_default",
        "config_source",
        "is_sensitive",
        "synonyms",
        "config_type",
        "documentation",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        is_default: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        synonyms: list[DescribeConfigsSynonym] = NO_ITEMS,
        config_type: int = 0,
        documentation: str | None = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.is_default = is_default
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.synonyms: list[DescribeConfigsSynonym] = [] if synonyms is NO_ITEMS else synonyms
        self.config_type = config_type
        self.documentation = documentation
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("value" / s.String, "0+", nullable="0+"),
            s.Field("read_only" / s.Boolean, "0+"),
            s.Field("is_default" / s.Boolean, "0"),
            s.Field("config_source" / s.Int8, "1+", default=-1, ignorable=True),
            s.Field("is_sensitive" / s.Boolean, "0+"),
            s.Field("synonyms" / s.ArrayOf(s.StructOf(DescribeConfigsSynonym)), "1+", ignorable=True),
            s.Field("config_type" / s.Int8, "3+", ignorable=True),
            s.Field("documentation" / s.String, "3+", nullable="0+", ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class DescribeConfigsResult(Message):
    """Part of `DescribeConfigsResponse`."""

    __slots__ = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
        "configs",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[DescribeConfigsResourceResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs: list[DescribeConfigsResourceResult] = [] if configs is NO_ITEMS else configs
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+"),
            s.Field("resource_type" / s.Int8, "0+"),
            s.Field("resource_name" / s.String, "0+"),
            s.Field("configs" / s.ArrayOf(s.StructOf(DescribeConfigsResourceResult)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeConfigsResponse(ApiMessage):
    """API key 32, versions 0 to 4, flexible from 4."""

    __slots__ = (
        "throttle_time_ms",
        "results",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 32
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[DescribeConfigsResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results: list[DescribeConfigsResult] = [] if results is NO_ITEMS else results
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("results" / s.ArrayOf(s.StructOf(DescribeConfigsResult)), "0+"),
        ]
