"""ListPartitionReassignments (API key 46). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ListPartitionReassignmentsTopics(Message):
    """Part of `ListPartitionReassignmentsRequest`."""

    __slots__ = (
        "name",
        "partition_indexes",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        partition_indexes: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.partition_indexes: list[int] = [] if partition_indexes is NO_ITEMS else partition_indexes
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("partition_indexes" / s.ArrayOf(s.Int32), "0+"),
        ]


@mypyc_attr(acyclic=True)
class ListPartitionReassignmentsRequest(ApiMessage):
    """API key 46, version 0, flexible from 0."""

    __slots__ = (
        "timeout_ms",
        "topics",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 46
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        timeout_ms: int = 60000,
        topics: list[ListPartitionReassignmentsTopics] | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.timeout_ms = timeout_ms
        self.topics = topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("timeout_ms" / s.Int32, "0+", default=60000),
            s.Field(
                "topics" / s.ArrayOf(s.StructOf(ListPartitionReassignmentsTopics)), "0+", nullable="0+", default=None
            ),
        ]


@mypyc_attr(acyclic=True)
class OngoingPartitionReassignment(Message):
    """Part of `ListPartitionReassignmentsResponse`."""

    __slots__ = (
        "partition_index",
        "replicas",
        "adding_replicas",
        "removing_replicas",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        replicas: list[int] = NO_ITEMS,
        adding_replicas: list[int] = NO_ITEMS,
        removing_replicas: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.replicas: list[int] = [] if replicas is NO_ITEMS else replicas
        self.adding_replicas: list[int] = [] if adding_replicas is NO_ITEMS else adding_replicas
        self.removing_replicas: list[int] = [] if removing_replicas is NO_ITEMS else removing_replicas
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("replicas" / s.ArrayOf(s.Int32), "0+"),
            s.Field("adding_replicas" / s.ArrayOf(s.Int32), "0+"),
            s.Field("removing_replicas" / s.ArrayOf(s.Int32), "0+"),
        ]


@mypyc_attr(acyclic=True)
class OngoingTopicReassignment(Message):
    """Part of `ListPartitionReassignmentsResponse`."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[OngoingPartitionReassignment] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions: list[OngoingPartitionReassignment] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.StructOf(OngoingPartitionReassignment)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class ListPartitionReassignmentsResponse(ApiMessage):
    """API key 46, version 0, flexible from 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "topics",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 46
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[OngoingTopicReassignment] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.topics: list[OngoingTopicReassignment] = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+"),
            s.Field("topics" / s.ArrayOf(s.StructOf(OngoingTopicReassignment)), "0+"),
        ]
