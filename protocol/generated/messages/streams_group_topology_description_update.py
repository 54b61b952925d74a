"""StreamsGroupTopologyDescriptionUpdate (API key 93). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class TopologyDescriptionNode(Message):
    """Part of `StreamsGroupTopologyDescriptionUpdateRequest`."""

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
            s.Field("name" / s.String, "0+"),
            s.Field("node_type" / s.Int8, "0+"),
            s.Field("source_topics" / s.ArrayOf(s.String), "0+"),
            s.Field("sink_topic" / s.String, "0+", nullable="0+", default=None),
            s.Field("stores" / s.ArrayOf(s.String), "0+"),
            s.Field("successors" / s.ArrayOf(s.String), "0+"),
        ]


@mypyc_attr(acyclic=True)
class TopologyDescriptionSubtopology(Message):
    """Part of `StreamsGroupTopologyDescriptionUpdateRequest`."""

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
            s.Field("subtopology_id" / s.String, "0+"),
            s.Field("nodes" / s.ArrayOf(s.StructOf(TopologyDescriptionNode)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class TopologyDescriptionGlobalStore(Message):
    """Part of `StreamsGroupTopologyDescriptionUpdateRequest`."""

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
            s.Field("source" / s.StructOf(TopologyDescriptionNode), "0+"),
            s.Field("processor" / s.StructOf(TopologyDescriptionNode), "0+"),
        ]


@mypyc_attr(acyclic=True)
class TopologyDescription(Message):
    """Part of `StreamsGroupTopologyDescriptionUpdateRequest`."""

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
            s.Field("subtopologies" / s.ArrayOf(s.StructOf(TopologyDescriptionSubtopology)), "0+"),
            s.Field("global_stores" / s.ArrayOf(s.StructOf(TopologyDescriptionGlobalStore)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class StreamsGroupTopologyDescriptionUpdateRequest(ApiMessage):
    """API key 93, version 0, flexible from 0."""

    __slots__ = (
        "group_id",
        "member_id",
        "topology_epoch",
        "topology_description",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 93
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        topology_epoch: int = 0,
        topology_description: TopologyDescription | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.topology_epoch = topology_epoch
        self.topology_description = TopologyDescription() if topology_description is None else topology_description
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0+"),
            s.Field("member_id" / s.String, "0+"),
            s.Field("topology_epoch" / s.Int32, "0+"),
            s.Field("topology_description" / s.StructOf(TopologyDescription), "0+"),
        ]


@mypyc_attr(acyclic=True)
class StreamsGroupTopologyDescriptionUpdateResponse(ApiMessage):
    """API key 93, version 0, flexible from 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 93
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+", default=None),
        ]
