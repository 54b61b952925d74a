"""Metadata (API key 3). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class MetadataRequestTopic(Message):
    """Part of `MetadataRequest`."""

    __slots__ = (
        "topic_id",
        "name",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        name: str | None = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.name = name
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_id" / s.Uuid, "10+", ignorable=True),
            s.Field("name" / s.String, "0+", nullable="10+"),
        ]


@mypyc_attr(acyclic=True)
class MetadataRequest(ApiMessage):
    """API key 3, versions 0 to 13, flexible from 9."""

    __slots__ = (
        "topics",
        "allow_auto_topic_creation",
        "include_cluster_authorized_operations",
        "include_topic_authorized_operations",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int | None] = 9

    def __init__(
        self,
        topics: list[MetadataRequestTopic] | None = NO_ITEMS,
        allow_auto_topic_creation: bool = True,
        include_cluster_authorized_operations: bool = False,
        include_topic_authorized_operations: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topics: list[MetadataRequestTopic] | None = [] if topics is NO_ITEMS else topics
        self.allow_auto_topic_creation = allow_auto_topic_creation
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.include_topic_authorized_operations = include_topic_authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topics" / s.ArrayOf(s.StructOf(MetadataRequestTopic)), "0+", nullable="1+"),
            s.Field("allow_auto_topic_creation" / s.Boolean, "4+", default=True),
            s.Field("include_cluster_authorized_operations" / s.Boolean, "8-10"),
            s.Field("include_topic_authorized_operations" / s.Boolean, "8+"),
        ]


@mypyc_attr(acyclic=True)
class MetadataResponseBroker(Message):
    """Part of `MetadataResponse`."""

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
            s.Field("rack" / s.String, "1+", nullable="1+", default=None, ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class MetadataResponsePartition(Message):
    """Part of `MetadataResponse`."""

    __slots__ = (
        "error_code",
        "partition_index",
        "leader_id",
        "leader_epoch",
        "replica_nodes",
        "isr_nodes",
        "offline_replicas",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = NO_ITEMS,
        isr_nodes: list[int] = NO_ITEMS,
        offline_replicas: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes: list[int] = [] if replica_nodes is NO_ITEMS else replica_nodes
        self.isr_nodes: list[int] = [] if isr_nodes is NO_ITEMS else isr_nodes
        self.offline_replicas: list[int] = [] if offline_replicas is NO_ITEMS else offline_replicas
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("leader_id" / s.Int32, "0+"),
            s.Field("leader_epoch" / s.Int32, "7+", default=-1, ignorable=True),
            s.Field("replica_nodes" / s.ArrayOf(s.Int32), "0+"),
            s.Field("isr_nodes" / s.ArrayOf(s.Int32), "0+"),
            s.Field("offline_replicas" / s.ArrayOf(s.Int32), "5+", ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class MetadataResponseTopic(Message):
    """Part of `MetadataResponse`."""

    __slots__ = (
        "error_code",
        "name",
        "topic_id",
        "is_internal",
        "partitions",
        "topic_authorized_operations",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[MetadataResponsePartition] = NO_ITEMS,
        topic_authorized_operations: int = -2147483648,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions: list[MetadataResponsePartition] = [] if partitions is NO_ITEMS else partitions
        self.topic_authorized_operations = topic_authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("name" / s.String, "0+", nullable="12+"),
            s.Field("topic_id" / s.Uuid, "10+", ignorable=True),
            s.Field("is_internal" / s.Boolean, "1+", ignorable=True),
            s.Field("partitions" / s.ArrayOf(s.StructOf(MetadataResponsePartition)), "0+"),
            s.Field("topic_authorized_operations" / s.Int32, "8+", default=-2147483648),
        ]


@mypyc_attr(acyclic=True)
class MetadataResponse(ApiMessage):
    """API key 3, versions 0 to 13, flexible from 9."""

    __slots__ = (
        "throttle_time_ms",
        "brokers",
        "cluster_id",
        "controller_id",
        "topics",
        "cluster_authorized_operations",
        "error_code",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int | None] = 9

    def __init__(
        self,
        throttle_time_ms: int = 0,
        brokers: list[MetadataResponseBroker] = NO_ITEMS,
        cluster_id: str | None = None,
        controller_id: int = -1,
        topics: list[MetadataResponseTopic] = NO_ITEMS,
        cluster_authorized_operations: int = -2147483648,
        error_code: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.brokers: list[MetadataResponseBroker] = [] if brokers is NO_ITEMS else brokers
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.topics: list[MetadataResponseTopic] = [] if topics is NO_ITEMS else topics
        self.cluster_authorized_operations = cluster_authorized_operations
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "3+", ignorable=True),
            s.Field("brokers" / s.ArrayOf(s.StructOf(MetadataResponseBroker)), "0+"),
            s.Field("cluster_id" / s.String, "2+", nullable="2+", default=None, ignorable=True),
            s.Field("controller_id" / s.Int32, "1+", default=-1, ignorable=True),
            s.Field("topics" / s.ArrayOf(s.StructOf(MetadataResponseTopic)), "0+"),
            s.Field("cluster_authorized_operations" / s.Int32, "8-10", default=-2147483648),
            s.Field("error_code" / s.Int16, "13+", ignorable=True),
        ]
