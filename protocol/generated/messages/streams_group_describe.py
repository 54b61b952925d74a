"""StreamsGroupDescribe (API key 89). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class StreamsGroupDescribeRequest(ApiMessage):
    """API key 89, versions 0 to 1, flexible from 0."""

    __slots__ = (
        "group_ids",
        "include_authorized_operations",
        "include_topology_description",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 89
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        group_ids: list[str] = NO_ITEMS,
        include_authorized_operations: bool = False,
        include_topology_description: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_ids: list[str] = [] if group_ids is NO_ITEMS else group_ids
        self.include_authorized_operations = include_authorized_operations
        self.include_topology_description = include_topology_description
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_ids" / s.ArrayOf(s.String), "0+"),
            s.Field("include_authorized_operations" / s.Boolean, "0+"),
            s.Field("include_topology_description" / s.Boolean, "1+"),
        ]


@mypyc_attr(acyclic=True)
class Endpoint(Message):
    """Part of `StreamsGroupDescribeResponse`."""

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
    """Part of `StreamsGroupDescribeResponse`."""

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
    """Part of `StreamsGroupDescribeResponse`."""

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
class Assignment(Message):
    """Part of `StreamsGroupDescribeResponse`."""

    __slots__ = (
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        active_tasks: list[TaskIds] = NO_ITEMS,
        standby_tasks: list[TaskIds] = NO_ITEMS,
        warmup_tasks: list[TaskIds] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.active_tasks: list[TaskIds] = [] if active_tasks is NO_ITEMS else active_tasks
        self.standby_tasks: list[TaskIds] = [] if standby_tasks is NO_ITEMS else standby_tasks
        self.warmup_tasks: list[TaskIds] = [] if warmup_tasks is NO_ITEMS else warmup_tasks
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("active_tasks" / s.ArrayOf(s.StructOf(TaskIds)), "0+"),
            s.Field("standby_tasks" / s.ArrayOf(s.StructOf(TaskIds)), "0+"),
            s.Field("warmup_tasks" / s.ArrayOf(s.StructOf(TaskIds)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class KeyValue(Message):
    """Part of `StreamsGroupDescribeResponse`."""

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
    """Part of `StreamsGroupDescribeResponse`."""

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
class TopologyDescriptionNode(Message):
    """Part of `StreamsGroupDescribeResponse`."""

    __slots__ = (
        "name",
        "node_type",
        "source_topics",
        "sink_topic",
        "stores",
        "successors",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        node_type: int = 0,
        source_topics: list[str] = NO_ITEMS,
        sink_topic: str | None = None,
        stores: list[str] = NO_ITEMS,
        successors: list[str] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.node_type = node_type
        self.source_topics: list[str] = [] if source_topics is NO_ITEMS else source_topics
        self.sink_topic = sink_topic
        self.stores: list[str] = [] if stores is NO_ITEMS else stores
        self.successors: list[str] = [] if successors is NO_ITEMS else successors
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "1+"),
            s.Field("node_type" / s.Int8, "1+"),
            s.Field("source_topics" / s.ArrayOf(s.String), "1+"),
            s.Field("sink_topic" / s.String, "1+", nullable="1+", default=None),
            s.Field("stores" / s.ArrayOf(s.String), "1+"),
            s.Field("successors" / s.ArrayOf(s.String), "1+"),
        ]


@mypyc_attr(acyclic=True)
class TopologyDescriptionSubtopology(Message):
    """Part of `StreamsGroupDescribeResponse`."""

    __slots__ = (
        "subtopology_id",
        "nodes",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        subtopology_id: str = "",
        nodes: list[TopologyDescriptionNode] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.nodes: list[TopologyDescriptionNode] = [] if nodes is NO_ITEMS else nodes
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("subtopology_id" / s.String, "1+"),
            s.Field("nodes" / s.ArrayOf(s.StructOf(TopologyDescriptionNode)), "1+"),
        ]


@mypyc_attr(acyclic=True)
class TopologyDescriptionGlobalStore(Message):
    """Part of `StreamsGroupDescribeResponse`."""

    __slots__ = (
        "source",
        "processor",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        source: TopologyDescriptionNode | None = None,
        processor: TopologyDescriptionNode | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.source = TopologyDescriptionNode() if source is None else source
        self.processor = TopologyDescriptionNode() if processor is None else processor
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("source" / s.StructOf(TopologyDescriptionNode), "1+"),
            s.Field("processor" / s.StructOf(TopologyDescriptionNode), "1+"),
        ]


@mypyc_attr(acyclic=True)
class TopologyDescription(Message):
    """Part of `StreamsGroupDescribeResponse`."""

    __slots__ = (
        "subtopologies",
        "global_stores",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        subtopologies: list[TopologyDescriptionSubtopology] = NO_ITEMS,
        global_stores: list[TopologyDescriptionGlobalStore] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.subtopologies: list[TopologyDescriptionSubtopology] = [] if subtopologies is NO_ITEMS else subtopologies
        self.global_stores: list[TopologyDescriptionGlobalStore] = [] if global_stores is NO_ITEMS else global_stores
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("subtopologies" / s.ArrayOf(s.StructOf(TopologyDescriptionSubtopology)), "1+"),
            s.Field("global_stores" / s.ArrayOf(s.StructOf(TopologyDescriptionGlobalStore)), "1+"),
        ]


@mypyc_attr(acyclic=True)
class Subtopology(Message):
    """Part of `StreamsGroupDescribeResponse`."""

    __slots__ = (
        "subtopology_id",
        "source_topics",
        "repartition_sink_topics",
        "state_changelog_topics",
        "repartition_source_topics",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        subtopology_id: str = "",
        source_topics: list[str] = NO_ITEMS,
        repartition_sink_topics: list[str] = NO_ITEMS,
        state_changelog_topics: list[TopicInfo] = NO_ITEMS,
        repartition_source_topics: list[TopicInfo] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics: list[str] = [] if source_topics is NO_ITEMS else source_topics
        self.repartition_sink_topics: list[str] = [] if repartition_sink_topics is NO_ITEMS else repartition_sink_topics
        self.state_changelog_topics: list[TopicInfo] = (
            [] if state_changelog_topics is NO_ITEMS else state_changelog_topics
        )
        self.repartition_source_topics: list[TopicInfo] = (
            [] if repartition_source_topics is NO_ITEMS else repartition_source_topics
        )
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("subtopology_id" / s.String, "0+"),
            s.Field("source_topics" / s.ArrayOf(s.String), "0+"),
            s.Field("repartition_sink_topics" / s.ArrayOf(s.String), "0+"),
            s.Field("state_changelog_topics" / s.ArrayOf(s.StructOf(TopicInfo)), "0+"),
            s.Field("repartition_source_topics" / s.ArrayOf(s.StructOf(TopicInfo)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class Topology(Message):
    """Part of `StreamsGroupDescribeResponse`."""

    __slots__ = (
        "epoch",
        "subtopologies",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: list[Subtopology] | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.epoch = epoch
        self.subtopologies = subtopologies
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("epoch" / s.Int32, "0+"),
            s.Field("subtopologies" / s.ArrayOf(s.StructOf(Subtopology)), "0+", nullable="0+", default=None),
        ]


@mypyc_attr(acyclic=True)
class Member(Message):
    """Part of `StreamsGroupDescribeResponse`."""

    __slots__ = (
        "member_id",
        "member_epoch",
        "instance_id",
        "rack_id",
        "client_id",
        "client_host",
        "topology_epoch",
        "process_id",
        "user_endpoint",
        "client_tags",
        "task_offsets",
        "task_end_offsets",
        "assignment",
        "target_assignment",
        "is_classic",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: list[KeyValue] = NO_ITEMS,
        task_offsets: list[TaskOffset] = NO_ITEMS,
        task_end_offsets: list[TaskOffset] = NO_ITEMS,
        assignment: Assignment | None = None,
        target_assignment: Assignment | None = None,
        is_classic: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags: list[KeyValue] = [] if client_tags is NO_ITEMS else client_tags
        self.task_offsets: list[TaskOffset] = [] if task_offsets is NO_ITEMS else task_offsets
        self.task_end_offsets: list[TaskOffset] = [] if task_end_offsets is NO_ITEMS else task_end_offsets
        self.assignment = Assignment() if assignment is None else assignment
        self.target_assignment = Assignment() if target_assignment is None else target_assignment
        self.is_classic = is_classic
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("member_id" / s.String, "0+"),
            s.Field("member_epoch" / s.Int32, "0+"),
            s.Field("instance_id" / s.String, "0+", nullable="0+", default=None),
            s.Field("rack_id" / s.String, "0+", nullable="0+", default=None),
            s.Field("client_id" / s.String, "0+"),
            s.Field("client_host" / s.String, "0+"),
            s.Field("topology_epoch" / s.Int32, "0+"),
            s.Field("process_id" / s.String, "0+"),
            s.Field("user_endpoint" / s.StructOf(Endpoint), "0+", nullable="0+", default=None),
            s.Field("client_tags" / s.ArrayOf(s.StructOf(KeyValue)), "0+"),
            s.Field("task_offsets" / s.ArrayOf(s.StructOf(TaskOffset)), "0+"),
            s.Field("task_end_offsets" / s.ArrayOf(s.StructOf(TaskOffset)), "0+"),
            s.Field("assignment" / s.StructOf(Assignment), "0+"),
            s.Field("target_assignment" / s.StructOf(Assignment), "0+"),
            s.Field("is_classic" / s.Boolean, "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribedGroup(Message):
    """Part of `StreamsGroupDescribeResponse`."""

    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "group_epoch",
        "assignment_epoch",
        "topology",
        "members",
        "authorized_operations",
        "topology_description",
        "topology_description_status",
        "assignor_name",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        topology: Topology | None = None,
        members: list[Member] = NO_ITEMS,
        authorized_operations: int = -2147483648,
        topology_description: TopologyDescription | None = None,
        topology_description_status: int = 0,
        assignor_name: str | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.topology = topology
        self.members: list[Member] = [] if members is NO_ITEMS else members
        self.authorized_operations = authorized_operations
        self.topology_description = topology_description
        self.topology_description_status = topology_description_status
        self.assignor_name = assignor_name
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+", default=None),
            s.Field("group_id" / s.String, "0+"),
            s.Field("group_state" / s.String, "0+"),
            s.Field("group_epoch" / s.Int32, "0+"),
            s.Field("assignment_epoch" / s.Int32, "0+"),
            s.Field("topology" / s.StructOf(Topology), "0+", nullable="0+", default=None),
            s.Field("members" / s.ArrayOf(s.StructOf(Member)), "0+"),
            s.Field("authorized_operations" / s.Int32, "0+", default=-2147483648),
            s.Field("topology_description" / s.StructOf(TopologyDescription), "1+", nullable="1+", default=None),
            s.Field("topology_description_status" / s.Int8, "1+"),
            s.Field("assignor_name" / s.String, "1+", nullable="1+", default=None, ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class StreamsGroupDescribeResponse(ApiMessage):
    """API key 89, versions 0 to 1, flexible from 0."""

    __slots__ = (
        "throttle_time_ms",
        "groups",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 89
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups: list[DescribedGroup] = [] if groups is NO_ITEMS else groups
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("groups" / s.ArrayOf(s.StructOf(DescribedGroup)), "0+"),
        ]
