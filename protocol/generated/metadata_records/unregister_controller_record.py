"""UnregisterControllerRecord. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import MetadataRecord, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class UnregisterControllerRecord(MetadataRecord):
    """Version 0, flexible from 0."""

    __slots__ = (
        "controller_id",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 29
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        controller_id: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.controller_id = controller_id
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("controller_id" / s.Int32, "0+"),
        ]
