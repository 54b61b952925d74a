"""AbortedTxn. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import DataMessage, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class AbortedTxn(DataMessage):
    """Version 0, never flexible."""

    __slots__ = (
        "producer_id",
        "first_offset",
        "last_offset",
        "last_stable_offset",
        "unknown_tagged_fields",
    )
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        producer_id: int = 0,
        first_offset: int = 0,
        last_offset: int = 0,
        last_stable_offset: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.producer_id = producer_id
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.last_stable_offset = last_stable_offset
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("producer_id" / s.Int64, "0+"),
            s.Field("first_offset" / s.Int64, "0+"),
            s.Field("last_offset" / s.Int64, "0+"),
            s.Field("last_stable_offset" / s.Int64, "0+"),
        ]
