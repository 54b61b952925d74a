"""AlterClientQuotas (API key 49). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class EntityData(Message):
    """Part of `AlterClientQuotasRequest`."""

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
class OpData(Message):
    """Part of `AlterClientQuotasRequest`."""

    __slots__ = (
        "key",
        "value",
        "remove",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.key = key
        self.value = value
        self.remove = remove
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("key" / s.String, "0+"),
            s.Field("value" / s.Float64, "0+"),
            s.Field("remove" / s.Boolean, "0+"),
        ]


@mypyc_attr(acyclic=True)
class EntryData(Message):
    """Part of `AlterClientQuotasRequest`."""

    __slots__ = (
        "entity",
        "ops",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        entity: list[EntityData] = NO_ITEMS,
        ops: list[OpData] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.entity: list[EntityData] = [] if entity is NO_ITEMS else entity
        self.ops: list[OpData] = [] if ops is NO_ITEMS else ops
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("entity" / s.ArrayOf(s.StructOf(EntityData)), "0+"),
            s.Field("ops" / s.ArrayOf(s.StructOf(OpData)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class AlterClientQuotasRequest(ApiMessage):
    """API key 49, versions 0 to 1, flexible from 1."""

    __slots__ = (
        "entries",
        "validate_only",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 49
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        entries: list[EntryData] = NO_ITEMS,
        validate_only: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.entries: list[EntryData] = [] if entries is NO_ITEMS else entries
        self.validate_only = validate_only
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("entries" / s.ArrayOf(s.StructOf(EntryData)), "0+"),
            s.Field("validate_only" / s.Boolean, "0+"),
        ]


@mypyc_attr(acyclic=True)
class ResponseEntityData(Message):
    """Part of `AlterClientQuotasResponse`."""

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
class ResponseEntryData(Message):
    """Part of `AlterClientQuotasResponse`."""

    __slots__ = (
        "error_code",
        "error_message",
        "entity",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        entity: list[ResponseEntityData] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.entity: list[ResponseEntityData] = [] if entity is NO_ITEMS else entity
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+"),
            s.Field("entity" / s.ArrayOf(s.StructOf(ResponseEntityData)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class AlterClientQuotasResponse(ApiMessage):
    """API key 49, versions 0 to 1, flexible from 1."""

    __slots__ = (
        "throttle_time_ms",
        "entries",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 49
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        throttle_time_ms: int = 0,
        entries: list[ResponseEntryData] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.entries: list[ResponseEntryData] = [] if entries is NO_ITEMS else entries
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("entries" / s.ArrayOf(s.StructOf(ResponseEntryData)), "0+"),
        ]
