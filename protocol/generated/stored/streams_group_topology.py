"""StreamsGroupTopology. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, CoordinatorRecord, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class StreamsGroupTopologyKey(CoordinatorRecord):
    """Version 0, never flexible."""

    __slots__ = (
        "group_id",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        group_id: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0"),
        ]


@mypyc_attr(acyclic=True)
class TopicConfig(Message):
    """Part of `StreamsGroupTopologyValue`."""

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
    """Part of `StreamsGroupTopologyValue`."""

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
        topic_configs: list[TopicConfig] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs: list[TopicConfig] = [] if topic_configs is NO_ITEMS else topic_configs
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("partitions" / s.Int32, "0+"),
            s.Field("replication_factor" / s.Int16, "0+"),
            s.Field("topic_configs" / s.ArrayOf(s.StructOf(TopicConfig)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class CopartitionGroup(Message):
    """Part of `StreamsGroupTopologyValue`."""

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
    """Part of `StreamsGroupTopologyValue`."""

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
class StreamsGroupTopologyValue(CoordinatorRecord):
    """Version 0, flexible from 0."""

    __slots__ = (
        "epoch",
        "subtopologies",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

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
