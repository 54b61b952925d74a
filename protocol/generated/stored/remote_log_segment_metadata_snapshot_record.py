"""RemoteLogSegmentMetadataSnapshotRecord. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, Message, MetadataRecord, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class SegmentLeaderEpochEntry(Message):
    """Part of `RemoteLogSegmentMetadataSnapshotRecord`."""

    __slots__ = (
        "leader_epoch",
        "offset",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        leader_epoch: int = 0,
        offset: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.leader_epoch = leader_epoch
        self.offset = offset
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("leader_epoch" / s.Int32, "0+"),
            s.Field("offset" / s.Int64, "0+"),
        ]


@mypyc_attr(acyclic=True)
class RemoteLogSegmentMetadataSnapshotRecord(MetadataRecord):
    """Version 0, flexible from 0."""

    __slots__ = (
        "segment_id",
        "start_offset",
        "end_offset",
        "broker_id",
        "max_timestamp_ms",
        "event_timestamp_ms",
        "segment_leader_epochs",
        "segment_size_in_bytes",
        "custom_metadata",
        "remote_log_segment_state",
        "txn_index_empty",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        segment_id: bytes = ZERO_UUID,
        start_offset: int = 0,
        end_offset: int = 0,
        broker_id: int = 0,
        max_timestamp_ms: int = 0,
        event_timestamp_ms: int = 0,
        segment_leader_epochs: list[SegmentLeaderEpochEntry] = NO_ITEMS,
        segment_size_in_bytes: int = 0,
        custom_metadata: bytes | None = None,
        remote_log_segment_state: int = 0,
        txn_index_empty: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.segment_id = segment_id
        self.start_offset = start_offset
        self.end_offset = end_offset
        self.broker_id = broker_id
        self.max_timestamp_ms = max_timestamp_ms
        self.event_timestamp_ms = event_timestamp_ms
        self.segment_leader_epochs: list[SegmentLeaderEpochEntry] = (
            [] if segment_leader_epochs is NO_ITEMS else segment_leader_epochs
        )
        self.segment_size_in_bytes = segment_size_in_bytes
        self.custom_metadata = custom_metadata
        self.remote_log_segment_state = remote_log_segment_state
        self.txn_index_empty = txn_index_empty
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("segment_id" / s.Uuid, "0+"),
            s.Field("start_offset" / s.Int64, "0+"),
            s.Field("end_offset" / s.Int64, "0+"),
            s.Field("broker_id" / s.Int32, "0+"),
            s.Field("max_timestamp_ms" / s.Int64, "0+"),
            s.Field("event_timestamp_ms" / s.Int64, "0+"),
            s.Field("segment_leader_epochs" / s.ArrayOf(s.StructOf(SegmentLeaderEpochEntry)), "0+"),
            s.Field("segment_size_in_bytes" / s.Int32, "0+"),
            s.Field("custom_metadata" / s.Bytes, "0+", nullable="0+", default=None),
            s.Field("remote_log_segment_state" / s.Int8, "0+"),
            s.Field("txn_index_empty" / s.Boolean, "0+", tag=0, tagged="0+"),
        ]
