"""StreamsGroupHeartbeat (API key 88). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class KeyValue(Message):
    """Part of `StreamsGroupHeartbeatRequest`."""

    __slots__ = (
        "key",
        "value",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        key: str = "",
        value: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.key = key
        self.value = value
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("key" / s.String, "0+"),
            s.Field("value" / s.String, "0+"),
        ]


@mypyc_attr(acyclic=True)
class TopicInfo(Message):
    """Part of `StreamsGroupHeartbeatRequest`."""

    __slots__ = (
        "name",
        "partitions",
        "replication_factor",
        "topic_configs",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: list[KeyValue] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs: list[KeyValue] = [] if topic_configs is NO_ITEMS else topic_configs
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("partitions" / s.Int32, "0+"),
            s.Field("replication_factor" / s.Int16, "0+"),
            s.Field("topic_configs" / s.ArrayOf(s.StructOf(KeyValue)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class Endpoint(Message):
    """Part of `StreamsGroupHeartbeatRequest`."""

    __slots__ = (
        "host",
        "port",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        host: str = "",
        port: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.host = host
        self.port = port
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("host" / s.String, "0+"),
            s.Field("port" / s.UInt16, "0+"),
        ]


@mypyc_attr(acyclic=True)
class TaskOffset(Message):
    """Part of `StreamsGroupHeartbeatRequest`."""

    __slots__ = (
        "subtopology_id",
        "partition",
        "offset",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        subtopology_id: str = "",
        partition: int = 0,
        offset: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partition = partition
        self.offset = offset
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("subtopology_id" / s.String, "0+"),
            s.Field("partition" / s.Int32, "0+"),
            s.Field("offset" / s.Int64, "0+"),
        ]


@mypyc_attr(acyclic=True)
class TaskIds(Message):
    """Part of `StreamsGroupHeartbeatRequest`."""

    __slots__ = (
        "subtopology_id",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        subtopology_id: str = "",
        partitions: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions: list[int] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("subtopology_id" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.Int32), "0+"),
        ]


@mypyc_attr(acyclic=True)
class CopartitionGroup(Message):
    """Part of `StreamsGroupHeartbeatRequest`."""

    __slots__ = (
        "source_topics",
        "source_topic_regex",
        "repartition_source_topics",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        source_topics: list[int] = NO_ITEMS,
        source_topic_regex: list[int] = NO_ITEMS,
        repartition_source_topics: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.source_topics: list[int] = [] if source_topics is NO_ITEMS else source_topics
        self.source_topic_regex: list[int] = [] if source_topic_regex is NO_ITEMS else source_topic_regex
        self.repartition_source_topics: list[int] = (
            [] if repartition_source_topics is NO_ITEMS else repartition_source_topics
        )
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("source_topics" / s.ArrayOf(s.Int16), "0+"),
            s.Field("source_topic_regex" / s.ArrayOf(s.Int16), "0+"),
            s.Field("repartition_source_topics" / s.ArrayOf(s.Int16), "0+"),
        ]


@mypyc_attr(acyclic=True)
class Subtopology(Message):
    """Part of `StreamsGroupHeartbeatRequest`."""

    __slots__ = (
        "subtopology_id",
        "source_topics",
        "source_topic_regex",
        "state_changelog_topics",
        "repartition_sink_topics",
        "repartition_source_topics",
        "copartition_groups",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        subtopology_id: str = "",
        source_topics: list[str] = NO_ITEMS,
        source_topic_regex: list[str] = NO_ITEMS,
        state_changelog_topics: list[TopicInfo] = NO_ITEMS,
        repartition_sink_topics: list[str] = NO_ITEMS,
        repartition_source_topics: list[TopicInfo] = NO_ITEMS,
        copartition_groups: list[CopartitionGroup] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics: list[str] = [] if source_topics is NO_ITEMS else source_topics
        self.source_topic_regex: list[str] = [] if source_topic_regex is NO_ITEMS else source_topic_regex
        self.state_changelog_topics: list[TopicInfo] = (
            [] if state_changelog_topics is NO_ITEMS else state_changelog_topics
        )
        self.repartition_sink_topics: list[str] = [] if repartition_sink_topics is NO_ITEMS else repartition_sink_topics
        self.repartition_source_topics: list[TopicInfo] = (
            [] if repartition_source_topics is NO_ITEMS else repartition_source_topics
        )
        self.copartition_groups: list[CopartitionGroup] = [] if copartition_groups is NO_ITEMS else copartition_groups
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("subtopology_id" / s.String, "0+"),
            s.Field("source_topics" / s.ArrayOf(s.String), "0+"),
            s.Field("source_topic_regex" / s.ArrayOf(s.String), "0+"),
            s.Field("state_changelog_topics" / s.ArrayOf(s.StructOf(TopicInfo)), "0+"),
            s.Field("repartition_sink_topics" / s.ArrayOf(s.String), "0+"),
            s.Field("repartition_source_topics" / s.ArrayOf(s.StructOf(TopicInfo)), "0+"),
            s.Field("copartition_groups" / s.ArrayOf(s.StructOf(CopartitionGroup)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class Topology(Message):
    """Part of `StreamsGroupHeartbeatRequest`."""

    __slots__ = (
        "epoch",
        "subtopologies",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: list[Subtopology] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.epoch = epoch
        self.subtopologies: list[Subtopology] = [] if subtopologies is NO_ITEMS else subtopologies
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("epoch" / s.Int32, "0+"),
            s.Field("subtopologies" / s.ArrayOf(s.StructOf(Subtopology)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class StreamsGroupHeartbeatRequest(ApiMessage):
    """API key 88, versions 0 to 1, flexible from 0."""

    __slots__ = (
        "group_id",
        "member_id",
        "member_epoch",
        "endpoint_information_epoch",
        "instance_id",
        "rack_id",
        "rebalance_timeout_ms",
        "topology",
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "process_id",
        "user_endpoint",
        "client_tags",
        "task_offsets",
        "task_end_offsets",
        "shutdown_application",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 88
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        endpoint_information_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        topology: Topology | None = None,
        active_tasks: list[TaskIds] | None = None,
        standby_tasks: list[TaskIds] | None = None,
        warmup_tasks: list[TaskIds] | None = None,
        process_id: str | None = None,
        user_endpoint: Endpoint | None = None,
        client_tags: list[KeyValue] | None = None,
        task_offsets: list[TaskOffset] | None = None,
        task_end_offsets: list[TaskOffset] | None = None,
        shutdown_application: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.endpoint_information_epoch = endpoint_information_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology = topology
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = client_tags
        self.task_offsets = task_offsets
        self.task_end_offsets = task_end_offsets
        self.shutdown_application = shutdown_application
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0+"),
            s.Field("member_id" / s.String, "0+"),
            s.Field("member_epoch" / s.Int32, "0+"),
            s.Field("endpoint_information_epoch" / s.Int32, "0+"),
            s.Field("instance_id" / s.String, "0+", nullable="0+", default=None),
            s.Field("rack_id" / s.String, "0+", nullable="0+", default=None),
            s.Field("rebalance_timeout_ms" / s.Int32, "0+", default=-1),
            s.Field("topology" / s.StructOf(Topology), "0+", nullable="0+", default=None),
            s.Field("active_tasks" / s.ArrayOf(s.StructOf(TaskIds)), "0+", nullable="0+", default=None),
            s.Field("standby_tasks" / s.ArrayOf(s.StructOf(TaskIds)), "0+", nullable="0+", default=None),
            s.Field("warmup_tasks" / s.ArrayOf(s.StructOf(TaskIds)), "0+", nullable="0+", default=None),
            s.Field("process_id" / s.String, "0+", nullable="0+", default=None),
            s.Field("user_endpoint" / s.StructOf(Endpoint), "0+", nullable="0+", default=None),
            s.Field("client_tags" / s.ArrayOf(s.StructOf(KeyValue)), "0+", nullable="0+", default=None),
            s.Field("task_offsets" / s.ArrayOf(s.StructOf(TaskOffset)), "0+", nullable="0+", default=None),
            s.Field("task_end_offsets" / s.ArrayOf(s.StructOf(TaskOffset)), "0+", nullable="0+", default=None),
            s.Field("shutdown_application" / s.Boolean, "0+"),
        ]


@mypyc_attr(acyclic=True)
class Status(Message):
    """Part of `StreamsGroupHeartbeatResponse`."""

    __slots__ = (
        "status_code",
        "status_detail",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        status_code: int = 0,
        status_detail: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.status_code = status_code
        self.status_detail = status_detail
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("status_code" / s.Int8, "0+"),
            s.Field("status_detail" / s.String, "0+"),
        ]


@mypyc_attr(acyclic=True)
class TopicPartition(Message):
    """Part of `StreamsGroupHeartbeatResponse`."""

    __slots__ = (
        "topic",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic: str = "",
        partitions: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic = topic
        self.partitions: list[int] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.Int32), "0+"),
        ]


@mypyc_attr(acyclic=True)
class ResponseTaskIds(Message):
    """Part of `StreamsGroupHeartbeatResponse`."""

    __slots__ = (
        "subtopology_id",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        subtopology_id: str = "",
        partitions: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions: list[int] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("subtopology_id" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.Int32), "0+"),
        ]


@mypyc_attr(acyclic=True)
class ResponseEndpoint(Message):
    """Part of `StreamsGroupHeartbeatResponse`."""

    __slots__ = (
        "host",
        "port",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        host: str = "",
        port: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.host = host
        self.port = port
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("host" / s.String, "0+"),
            s.Field("port" / s.UInt16, "0+"),
        ]


@mypyc_attr(acyclic=True)
class EndpointToPartitions(Message):
    """Part of `StreamsGroupHeartbeatResponse`."""

    __slots__ = (
        "user_endpoint",
        "active_partitions",
        "standby_partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        user_endpoint: ResponseEndpoint | None = None,
        active_partitions: list[TopicPartition] = NO_ITEMS,
        standby_partitions: list[TopicPartition] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.user_endpoint = ResponseEndpoint() if user_endpoint is None else user_endpoint
        self.active_partitions: list[TopicPartition] = [] if active_partitions is NO_ITEMS else active_partitions
        self.standby_partitions: list[TopicPartition] = [] if standby_partitions is NO_ITEMS else standby_partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("user_endpoint" / s.StructOf(ResponseEndpoint), "0+"),
            s.Field("active_partitions" / s.ArrayOf(s.StructOf(TopicPartition)), "0+"),
            s.Field("standby_partitions" / s.ArrayOf(s.StructOf(TopicPartition)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class StreamsGroupHeartbeatResponse(ApiMessage):
    """API key 88, versions 0 to 1, flexible from 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "member_id",
        "member_epoch",
        "heartbeat_interval_ms",
        "acceptable_recovery_lag_legacy",
        "task_offset_interval_ms",
        "acceptable_recovery_lag",
        "status",
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "topology_description_required",
        "endpoint_information_epoch",
        "partitions_by_user_endpoint",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 88
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str = "",
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        acceptable_recovery_lag_legacy: int = 0,
        task_offset_interval_ms: int = 0,
        acceptable_recovery_lag: int = -1,
        status: list[Status] | None = NO_ITEMS,
        active_tasks: list[ResponseTaskIds] | None = None,
        standby_tasks: list[ResponseTaskIds] | None = None,
        warmup_tasks: list[ResponseTaskIds] | None = None,
        topology_description_required: bool = False,
        endpoint_information_epoch: int = 0,
        partitions_by_user_endpoint: list[EndpointToPartitions] | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.acceptable_recovery_lag_legacy = acceptable_recovery_lag_legacy
        self.task_offset_interval_ms = task_offset_interval_ms
        self.acceptable_recovery_lag = acceptable_recovery_lag
        self.status: list[Status] | None = [] if status is NO_ITEMS else status
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.topology_description_required = topology_description_required
        self.endpoint_information_epoch = endpoint_information_epoch
        self.partitions_by_user_endpoint = partitions_by_user_endpoint
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+", default=None),
            s.Field("member_id" / s.String, "0+"),
            s.Field("member_epoch" / s.Int32, "0+"),
            s.Field("heartbeat_interval_ms" / s.Int32, "0+"),
            s.Field("acceptable_recovery_lag_legacy" / s.Int32, "0"),
            s.Field("task_offset_interval_ms" / s.Int32, "0+"),
            s.Field("acceptable_recovery_lag" / s.Int64, "1+", default=-1, ignorable=True),
            s.Field("status" / s.ArrayOf(s.StructOf(Status)), "0+", nullable="0+"),
            s.Field("active_tasks" / s.ArrayOf(s.StructOf(ResponseTaskIds)), "0+", nullable="0+", default=None),
            s.Field("standby_tasks" / s.ArrayOf(s.StructOf(ResponseTaskIds)), "0+", nullable="0+", default=None),
            s.Field("warmup_tasks" / s.ArrayOf(s.StructOf(ResponseTaskIds)), "0+", nullable="0+", default=None),
            s.Field("topology_description_required" / s.Boolean, "1+"),
            s.Field("endpoint_information_epoch" / s.Int32, "0+"),
            s.Field(
                "partitions_by_user_endpoint" / s.ArrayOf(s.StructOf(EndpointToPartitions)),
                "0+",
                nullable="0+",
                default=None,
            ),
        ]
