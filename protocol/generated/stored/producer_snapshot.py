"""ProducerSnapshot. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, DataMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ProducerEntry(Message):
    """Part of `ProducerSnapshot`."""

    __slots__ = (
        "producer_id",
        "epoch",
        "last_sequence",
        "last_offset",
        "offset_delta",
        "timestamp",
        "coordinator_epoch",
        "current_txn_first_offset",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        producer_id: int = 0,
        epoch: int = 0,
        last_sequence: int = 0,
        last_offset: int = 0,
        offset_delta: int = 0,
        timestamp: int = 0,
        coordinator_epoch: int = 0,
        current_txn_first_offset: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.last_sequence = last_sequence
        self.last_offset = last_offset
        self.offset_delta = offset_delta
        self.timestamp = timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_first_offset = current_txn_first_offset
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("producer_id" / s.Int64, "1"),
            s.Field("epoch" / s.Int16, "1"),
            s.Field("last_sequence" / s.Int32, "1"),
            s.Field("last_offset" / s.Int64, "1"),
            s.Field("offset_delta" / s.Int32, "1"),
            s.Field("timestamp" / s.Int64, "1"),
            s.Field("coordinator_epoch" / s.Int32, "1"),
            s.Field("current_txn_first_offset" / s.Int64, "1"),
        ]


@mypyc_attr(acyclic=True)
class ProducerSnapshot(DataMessage):
    """Version 1, never flexible."""

    __slots__ = (
        "crc",
        "producer_entries",
        "unknown_tagged_fields",
    )
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        crc: int = 0,
        producer_entries: list[ProducerEntry] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.crc = crc
        self.producer_entries: list[ProducerEntry] = [] if producer_entries is NO_ITEMS else producer_entries
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("crc" / s.UInt32, "1"),
            s.Field("producer_entries" / s.ArrayOf(s.StructOf(ProducerEntry)), "1"),
        ]
