"""RemotePartitionDeleteMetadataRecord. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import ZERO_UUID, Message, MetadataRecord, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class TopicIdPartitionEntry(Message):
    """Part of `RemotePartitionDeleteMetadataRecord`."""

    __slots__ = (
        "name",
        "id",
        "partition",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        id: bytes = ZERO_UUID,
        partition: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.id = id
        self.partition = partition
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("id" / s.Uuid, "0+"),
            s.Field("partition" / s.Int32, "0+"),
        ]


@mypyc_attr(acyclic=True)
class RemotePartitionDeleteMetadataRecord(MetadataRecord):
    """Version 0, flexible from 0."""

    __slots__ = (
        "topic_id_partition",
        "broker_id",
        "event_timestamp_ms",
        "remote_partition_delete_state",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        topic_id_partition: TopicIdPartitionEntry | None = None,
        broker_id: int = 0,
        event_timestamp_ms: int = 0,
        remote_partition_delete_state: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_id_partition = TopicIdPartitionEntry() if topic_id_partition is None else topic_id_partition
        self.broker_id = broker_id
        self.event_timestamp_ms = event_timestamp_ms
        self.remote_partition_delete_state = remote_partition_delete_state
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_id_partition" / s.StructOf(TopicIdPartitionEntry), "0+"),
            s.Field("broker_id" / s.Int32, "0+"),
            s.Field("event_timestamp_ms" / s.Int64, "0+"),
            s.Field("remote_partition_delete_state" / s.Int8, "0+"),
        ]
