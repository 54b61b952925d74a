"""DescribeClientQuotas (API key 48). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ComponentData(Message):
    """Part of `DescribeClientQuotasRequest`."""

    __slots__ = (
        "entity_type",
        "match_type",
        "match",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        entity_type: str = "",
        match_type: int = 0,
        match: str | None = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.entity_type = entity_type
        self.match_type = match_type
        self.match = match
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("entity_type" / s.String, "0+"),
            s.Field("match_type" / s.Int8, "0+"),
            s.Field("match" / s.String, "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeClientQuotasRequest(ApiMessage):
    """API key 48, versions 0 to 1, flexible from 1."""

    __slots__ = (
        "components",
        "strict",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 48
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        components: list[ComponentData] = NO_ITEMS,
        strict: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.components: list[ComponentData] = [] if components is NO_ITEMS else components
        self.strict = strict
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("components" / s.ArrayOf(s.StructOf(ComponentData)), "0+"),
            s.Field("strict" / s.Boolean, "0+"),
        ]


@mypyc_attr(acyclic=True)
class EntityData(Message):
    """Part of `DescribeClientQuotasResponse`."""

    __slots__ = (
        "entity_type",
        "entity_name",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        entity_type: str = "",
        entity_name: str | None = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("entity_type" / s.String, "0+"),
            s.Field("entity_name" / s.String, "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class ValueData(Message):
    """Part of `DescribeClientQuotasResponse`."""

    __slots__ = (
        "key",
        "value",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        key: str = "",
        value: float = 0.0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.key = key
        self.value = value
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("key" / s.String, "0+"),
            s.Field("value" / s.Float64, "0+"),
        ]


@mypyc_attr(acyclic=True)
class EntryData(Message):
    """Part of `DescribeClientQuotasResponse`."""

    __slots__ = (
        "entity",
        "values",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        entity: list[EntityData] = NO_ITEMS,
        values: list[ValueData] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.entity: list[EntityData] = [] if entity is NO_ITEMS else entity
        self.values: list[ValueData] = [] if values is NO_ITEMS else values
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("entity" / s.ArrayOf(s.StructOf(EntityData)), "0+"),
            s.Field("values" / s.ArrayOf(s.StructOf(ValueData)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeClientQuotasResponse(ApiMessage):
    """API key 48, versions 0 to 1, flexible from 1."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "entries",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 48
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        entries: list[EntryData] | None = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.entries: list[EntryData] | None = [] if entries is NO_ITEMS else entries
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+"),
            s.Field("entries" / s.ArrayOf(s.StructOf(EntryData)), "0+", nullable="0+"),
        ]
