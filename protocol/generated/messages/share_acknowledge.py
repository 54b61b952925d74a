"""ShareAcknowledge (API key 79). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class AcknowledgementBatch(Message):
    """Part of `ShareAcknowledgeRequest`."""

    __slots__ = (
        "first_offset",
        "last_offset",
        "acknowledge_types",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        acknowledge_types: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.acknowledge_types: list[int] = [] if acknowledge_types is NO_ITEMS else acknowledge_types
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("first_offset" / s.Int64, "0+"),
            s.Field("last_offset" / s.Int64, "0+"),
            s.Field("acknowledge_types" / s.ArrayOf(s.Int8), "0+"),
        ]


@mypyc_attr(acyclic=True)
class AcknowledgePartition(Message):
    """Part of `ShareAcknowledgeRequest`."""

    __slots__ = (
        "partition_index",
        "acknowledgement_batches",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        acknowledgement_batches: list[AcknowledgementBatch] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.acknowledgement_batches: list[AcknowledgementBatch] = (
            [] if acknowledgement_batches is NO_ITEMS else acknowledgement_batches
        )
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("acknowledgement_batches" / s.ArrayOf(s.StructOf(AcknowledgementBatch)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class AcknowledgeTopic(Message):
    """Part of `ShareAcknowledgeRequest`."""

    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[AcknowledgePartition] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions: list[AcknowledgePartition] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_id" / s.Uuid, "0+"),
            s.Field("partitions" / s.ArrayOf(s.StructOf(AcknowledgePartition)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class ShareAcknowledgeRequest(ApiMessage):
    """API key 79, versions 1 to 2, flexible from 0."""

    __slots__ = (
        "group_id",
        "member_id",
        "share_session_epoch",
        "is_renew_ack",
        "topics",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 79
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        is_renew_ack: bool = False,
        topics: list[AcknowledgeTopic] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.is_renew_ack = is_renew_ack
        self.topics: list[AcknowledgeTopic] = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0+", nullable="0+", default=None),
            s.Field("member_id" / s.String, "0+", nullable="0+"),
            s.Field("share_session_epoch" / s.Int32, "0+"),
            s.Field("is_renew_ack" / s.Boolean, "2+"),
            s.Field("topics" / s.ArrayOf(s.StructOf(AcknowledgeTopic)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class LeaderIdAndEpoch(Message):
    """Part of `ShareAcknowledgeResponse`."""

    __slots__ = (
        "leader_id",
        "leader_epoch",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        leader_id: int = 0,
        leader_epoch: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("leader_id" / s.Int32, "0+"),
            s.Field("leader_epoch" / s.Int32, "0+"),
        ]


@mypyc_attr(acyclic=True)
class PartitionData(Message):
    """Part of `ShareAcknowledgeResponse`."""

    __slots__ = (
        "partition_index",
        "error_code",
        "error_message",
        "current_leader",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is None else current_leader
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+", default=None),
            s.Field("current_leader" / s.StructOf(LeaderIdAndEpoch), "0+"),
        ]


@mypyc_attr(acyclic=True)
class ShareAcknowledgeTopicResponse(Message):
    """Part of `ShareAcknowledgeResponse`."""

    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions: list[PartitionData] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_id" / s.Uuid, "0+"),
            s.Field("partitions" / s.ArrayOf(s.StructOf(PartitionData)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class NodeEndpoint(Message):
    """Part of `ShareAcknowledgeResponse`."""

    __slots__ = (
        "node_id",
        "host",
        "port",
        "rack",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("node_id" / s.Int32, "0+"),
            s.Field("host" / s.String, "0+"),
            s.Field("port" / s.Int32, "0+"),
            s.Field("rack" / s.String, "0+", nullable="0+", default=None),
        ]


@mypyc_attr(acyclic=True)
class ShareAcknowledgeResponse(ApiMessage):
    """API key 79, versions 1 to 2, flexible from 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "acquisition_lock_timeout_ms",
        "responses",
        "node_endpoints",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 79
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: list[ShareAcknowledgeTopicResponse] = NO_ITEMS,
        node_endpoints: list[NodeEndpoint] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.acquisition_lock_timeout_ms = acquisition_lock_timeout_ms
        self.responses: list[ShareAcknowledgeTopicResponse] = [] if responses is NO_ITEMS else responses
        self.node_endpoints: list[NodeEndpoint] = [] if node_endpoints is NO_ITEMS else node_endpoints
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+", default=None),
            s.Field("acquisition_lock_timeout_ms" / s.Int32, "2+", ignorable=True),
            s.Field("responses" / s.ArrayOf(s.StructOf(ShareAcknowledgeTopicResponse)), "0+"),
            s.Field("node_endpoints" / s.ArrayOf(s.StructOf(NodeEndpoint)), "0+"),
        ]
