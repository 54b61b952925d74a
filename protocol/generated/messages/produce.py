"""Produce (API key 0). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, ApiMessage, Message, Records, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class PartitionProduceData(Message):
    """Part of `ProduceRequest`."""

    __slots__ = (
        "index",
        "records",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        index: int = 0,
        records: Records | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.index = index
        self.records = records
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("index" / s.Int32, "0+"),
            s.Field("records" / s.Records, "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class TopicProduceData(Message):
    """Part of `ProduceRequest`."""

    __slots__ = (
        "name",
        "topic_id",
        "partition_data",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_data: list[PartitionProduceData] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_data: list[PartitionProduceData] = [] if partition_data is NO_ITEMS else partition_data
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0-12", ignorable=True),
            s.Field("topic_id" / s.Uuid, "13+", ignorable=True),
            s.Field("partition_data" / s.ArrayOf(s.StructOf(PartitionProduceData)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class ProduceRequest(ApiMessage):
    """API key 0, versions 0 to 13, flexible from 9."""

    __slots__ = (
        "transactional_id",
        "acks",
        "timeout_ms",
        "topic_data",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int | None] = 9

    def __init__(
        self,
        transactional_id: str | None = None,
        acks: int = 0,
        timeout_ms: int = 0,
        topic_data: list[TopicProduceData] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.topic_data: list[TopicProduceData] = [] if topic_data is NO_ITEMS else topic_data
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("transactional_id" / s.String, "3+", nullable="3+", default=None),
            s.Field("acks" / s.Int16, "0+"),
            s.Field("timeout_ms" / s.Int32, "0+"),
            s.Field("topic_data" / s.ArrayOf(s.StructOf(TopicProduceData)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class BatchIndexAndErrorMessage(Message):
    """Part of `ProduceResponse`."""

    __slots__ = (
        "batch_index",
        "batch_index_error_message",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        batch_index: int = 0,
        batch_index_error_message: str | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.batch_index = batch_index
        self.batch_index_error_message = batch_index_error_message
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("batch_index" / s.Int32, "8+"),
            s.Field("batch_index_error_message" / s.String, "8+", nullable="8+", default=None),
        ]


@mypyc_attr(acyclic=True)
class LeaderIdAndEpoch(Message):
    """Part of `ProduceResponse`."""

    __slots__ = (
        "leader_id",
        "leader_epoch",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("leader_id" / s.Int32, "10+", default=-1),
            s.Field("leader_epoch" / s.Int32, "10+", default=-1),
        ]


@mypyc_attr(acyclic=True)
class PartitionProduceResponse(Message):
    """Part of `ProduceResponse`."""

    __slots__ = (
        "index",
        "error_code",
        "base_offset",
        "log_append_time_ms",
        "log_start_offset",
        "record_errors",
        "error_message",
        "current_leader",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        index: int = 0,
        error_code: int = 0,
        base_offset: int = 0,
        log_append_time_ms: int = -1,
        log_start_offset: int = -1,
        record_errors: list[BatchIndexAndErrorMessage] = NO_ITEMS,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.log_start_offset = log_start_offset
        self.record_errors: list[BatchIndexAndErrorMessage] = [] if record_errors is NO_ITEMS else record_errors
        self.error_message = error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is None else current_leader
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("index" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("base_offset" / s.Int64, "0+"),
            s.Field("log_append_time_ms" / s.Int64, "2+", default=-1, ignorable=True),
            s.Field("log_start_offset" / s.Int64, "5+", default=-1, ignorable=True),
            s.Field("record_errors" / s.ArrayOf(s.StructOf(BatchIndexAndErrorMessage)), "8+", ignorable=True),
            s.Field("error_message" / s.String, "8+", nullable="8+", default=None, ignorable=True),
            s.Field("current_leader" / s.StructOf(LeaderIdAndEpoch), "10+", tag=0, tagged="10+"),
        ]


@mypyc_attr(acyclic=True)
class TopicProduceResponse(Message):
    """Part of `ProduceResponse`."""

    __slots__ = (
        "name",
        "topic_id",
        "partition_responses",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_responses: list[PartitionProduceResponse] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_responses: list[PartitionProduceResponse] = (
            [] if partition_responses is NO_ITEMS else partition_responses
        )
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0-12", ignorable=True),
            s.Field("topic_id" / s.Uuid, "13+", ignorable=True),
            s.Field("partition_responses" / s.ArrayOf(s.StructOf(PartitionProduceResponse)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class NodeEndpoint(Message):
    """Part of `ProduceResponse`."""

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
            s.Field("node_id" / s.Int32, "10+"),
            s.Field("host" / s.String, "10+"),
            s.Field("port" / s.Int32, "10+"),
            s.Field("rack" / s.String, "10+", nullable="10+", default=None),
        ]


@mypyc_attr(acyclic=True)
class ProduceResponse(ApiMessage):
    """API key 0, versions 0 to 13, flexible from 9."""

    __slots__ = (
        "responses",
        "throttle_time_ms",
        "node_endpoints",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int | None] = 9

    def __init__(
        self,
        responses: list[TopicProduceResponse] = NO_ITEMS,
        throttle_time_ms: int = 0,
        node_endpoints: list[NodeEndpoint] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.responses: list[TopicProduceResponse] = [] if responses is NO_ITEMS else responses
        self.throttle_time_ms = throttle_time_ms
        self.node_endpoints: list[NodeEndpoint] = [] if node_endpoints is NO_ITEMS else node_endpoints
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("responses" / s.ArrayOf(s.StructOf(TopicProduceResponse)), "0+"),
            s.Field("throttle_time_ms" / s.Int32, "1+", ignorable=True),
            s.Field("node_endpoints" / s.ArrayOf(s.StructOf(NodeEndpoint)), "10+", tag=0, tagged="10+"),
        ]
