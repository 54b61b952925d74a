"""ClientQuotaRecord. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, Message, MetadataRecord, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class EntityData(Message):
    """Part of `ClientQuotaRecord`."""

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
class ClientQuotaRecord(MetadataRecord):
    """Version 0, flexible from 0."""

    __slots__ = (
        "entity",
        "key",
        "value",
        "remove",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        entity: list[EntityData] = NO_ITEMS,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.entity: list[EntityData] = [] if entity is NO_ITEMS else entity
        self.key = key
        self.value = value
        self.remove = remove
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("entity" / s.ArrayOf(s.StructOf(EntityData)), "0+"),
            s.Field("key" / s.String, "0+"),
            s.Field("value" / s.Float64, "0+"),
            s.Field("remove" / s.Boolean, "0+"),
        ]
