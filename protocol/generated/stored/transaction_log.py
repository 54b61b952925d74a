"""TransactionLog. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, CoordinatorRecord, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class TransactionLogKey(CoordinatorRecord):
    """Version 0, never flexible."""

    __slots__ = (
        "transactional_id",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        transactional_id: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("transactional_id" / s.String, "0"),
        ]


@mypyc_attr(acyclic=True)
class PartitionsSchema(Message):
    """Part of `TransactionLogValue`."""

    __slots__ = (
        "topic",
        "partition_ids",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic: str = "",
        partition_ids: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic = topic
        self.partition_ids: list[int] = [] if partition_ids is NO_ITEMS else partition_ids
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic" / s.String, "0+"),
            s.Field("partition_ids" / s.ArrayOf(s.Int32), "0+"),
        ]


@mypyc_attr(acyclic=True)
class TransactionLogValue(CoordinatorRecord):
    """Versions 0 to 1, flexible from 1."""

    __slots__ = (
        "producer_id",
        "previous_producer_id",
        "next_producer_id",
        "producer_epoch",
        "next_producer_epoch",
        "transaction_timeout_ms",
        "transaction_status",
        "transaction_partitions",
        "transaction_last_update_timestamp_ms",
        "transaction_start_timestamp_ms",
        "client_transaction_version",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    def __init__(
        self,
        producer_id: int = 0,
        previous_producer_id: int = -1,
        next_producer_id: int = -1,
        producer_epoch: int = 0,
        next_producer_epoch: int = -1,
        transaction_timeout_ms: int = 0,
        transaction_status: int = 0,
        transaction_partitions: list[PartitionsSchema] | None = NO_ITEMS,
        transaction_last_update_timestamp_ms: int = 0,
        transaction_start_timestamp_ms: int = 0,
        client_transaction_version: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.producer_id = producer_id
        self.previous_producer_id = previous_producer_id
        self.next_producer_id = next_producer_id
        self.producer_epoch = producer_epoch
        self.next_producer_epoch = next_producer_epoch
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_status = transaction_status
        self.transaction_partitions: list[PartitionsSchema] | None = (
            [] if transaction_partitions is NO_ITEMS else transaction_partitions
        )
        self.transaction_last_update_timestamp_ms = transaction_last_update_timestamp_ms
        self.transaction_start_timestamp_ms = transaction_start_timestamp_ms
        self.client_transaction_version = client_transaction_version
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("producer_id" / s.Int64, "0+"),
            s.Field("previous_producer_id" / s.Int64, "1+", tag=0, tagged="1+", default=-1),
            s.Field("next_producer_id" / s.Int64, "1+", tag=1, tagged="1+", default=-1),
            s.Field("producer_epoch" / s.Int16, "0+"),
            s.Field("next_producer_epoch" / s.Int16, "1+", tag=3, tagged="1+", default=-1),
            s.Field("transaction_timeout_ms" / s.Int32, "0+"),
            s.Field("transaction_status" / s.Int8, "0+"),
            s.Field("transaction_partitions" / s.ArrayOf(s.StructOf(PartitionsSchema)), "0+", nullable="0+"),
            s.Field("transaction_last_update_timestamp_ms" / s.Int64, "0+"),
            s.Field("transaction_start_timestamp_ms" / s.Int64, "0+"),
            s.Field("client_transaction_version" / s.Int16, "1+", tag=2, tagged="1+"),
        ]
