"""AlterReplicaLogDirs (API key 34). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class AlterReplicaLogDirTopic(Message):
    """Part of `AlterReplicaLogDirsRequest`."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions: list[int] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.Int32), "0+"),
        ]


@mypyc_attr(acyclic=True)
class AlterReplicaLogDir(Message):
    """Part of `AlterReplicaLogDirsRequest`."""

    __slots__ = (
        "path",
        "topics",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        path: str = "",
        topics: list[AlterReplicaLogDirTopic] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.path = path
        self.topics: list[AlterReplicaLogDirTopic] = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("path" / s.String, "0+"),
            s.Field("topics" / s.ArrayOf(s.StructOf(AlterReplicaLogDirTopic)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class AlterReplicaLogDirsRequest(ApiMessage):
    """API key 34, versions 0 to 2, flexible from 2."""

    __slots__ = (
        "dirs",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 34
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        dirs: list[AlterReplicaLogDir] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.dirs: list[AlterReplicaLogDir] = [] if dirs is NO_ITEMS else dirs
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("dirs" / s.ArrayOf(s.StructOf(AlterReplicaLogDir)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class AlterReplicaLogDirPartitionResult(Message):
    """Part of `AlterReplicaLogDirsResponse`."""

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
class AlterReplicaLogDirTopicResult(Message):
    """Part of `AlterReplicaLogDirsResponse`."""

    __slots__ = (
        "topic_name",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_name: str = "",
        partitions: list[AlterReplicaLogDirPartitionResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions: list[AlterReplicaLogDirPartitionResult] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_name" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.StructOf(AlterReplicaLogDirPartitionResult)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class AlterReplicaLogDirsResponse(ApiMessage):
    """API key 34, versions 0 to 2, flexible from 2."""

    __slots__ = (
        "throttle_time_ms",
        "results",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 34
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[AlterReplicaLogDirTopicResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results: list[AlterReplicaLogDirTopicResult] = [] if results is NO_ITEMS else results
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("results" / s.ArrayOf(s.StructOf(AlterReplicaLogDirTopicResult)), "0+"),
        ]
