"""TxnOffsetCommit (API key 28). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class TxnOffsetCommitRequestPartition(Message):
    """Part of `TxnOffsetCommitRequest`."""

    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "committed_metadata",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        committed_metadata: str | None = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.committed_metadata = committed_metadata
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("committed_offset" / s.Int64, "0+"),
            s.Field("committed_leader_epoch" / s.Int32, "2+", default=-1, ignorable=True),
            s.Field("committed_metadata" / s.String, "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class TxnOffsetCommitRequestTopic(Message):
    """Part of `TxnOffsetCommitRequest`."""

    __slots__ = (
        "name",
        "topic_id",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[TxnOffsetCommitRequestPartition] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions: list[TxnOffsetCommitRequestPartition] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0-5", ignorable=True),
            s.Field("topic_id" / s.Uuid, "6+", ignorable=True),
            s.Field("partitions" / s.ArrayOf(s.StructOf(TxnOffsetCommitRequestPartition)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class TxnOffsetCommitRequest(ApiMessage):
    """API key 28, versions 0 to 6, flexible from 3."""

    __slots__ = (
        "transactional_id",
        "group_id",
        "producer_id",
        "producer_epoch",
        "generation_id_or_member_epoch",
        "member_id",
        "group_instance_id",
        "topics",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 28
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        transactional_id: str = "",
        group_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        topics: list[TxnOffsetCommitRequestTopic] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.group_id = group_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.generation_id_or_member_epoch = generation_id_or_member_epoch
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.topics: list[TxnOffsetCommitRequestTopic] = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("transactional_id" / s.String, "0+"),
            s.Field("group_id" / s.String, "0+"),
            s.Field("producer_id" / s.Int64, "0+"),
            s.Field("producer_epoch" / s.Int16, "0+"),
            s.Field("generation_id_or_member_epoch" / s.Int32, "3+", default=-1),
            s.Field("member_id" / s.String, "3+"),
            s.Field("group_instance_id" / s.String, "3+", nullable="3+", default=None),
            s.Field("topics" / s.ArrayOf(s.StructOf(TxnOffsetCommitRequestTopic)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class TxnOffsetCommitResponsePartition(Message):
    """Part of `TxnOffsetCommitResponse`."""

    __slots__ = (
        "partition_index",
        "error_code",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
        ]


@mypyc_attr(acyclic=True)
class TxnOffsetCommitResponseTopic(Message):
    """Part of `TxnOffsetCommitResponse`."""

    __slots__ = (
        "name",
        "topic_id",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[TxnOffsetCommitResponsePartition] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions: list[TxnOffsetCommitResponsePartition] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0-5", ignorable=True),
            s.Field("topic_id" / s.Uuid, "6+", ignorable=True),
            s.Field("partitions" / s.ArrayOf(s.StructOf(TxnOffsetCommitResponsePartition)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class TxnOffsetCommitResponse(ApiMessage):
    """API key 28, versions 0 to 6, flexible from 3."""

    __slots__ = (
        "throttle_time_ms",
        "topics",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 28
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[TxnOffsetCommitResponseTopic] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[TxnOffsetCommitResponseTopic] = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("topics" / s.ArrayOf(s.StructOf(TxnOffsetCommitResponseTopic)), "0+"),
        ]
