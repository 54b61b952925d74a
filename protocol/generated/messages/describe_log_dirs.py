"""DescribeLogDirs (API key 35). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class DescribableLogDirTopic(Message):
    """Part of `DescribeLogDirsRequest`."""

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
class DescribeLogDirsRequest(ApiMessage):
    """API key 35, versions 0 to 5, flexible from 2."""

    __slots__ = (
        "topics",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 35
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        topics: list[DescribableLogDirTopic] | None = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topics: list[DescribableLogDirTopic] | None = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topics" / s.ArrayOf(s.StructOf(DescribableLogDirTopic)), "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeLogDirsPartition(Message):
    """Part of `DescribeLogDirsResponse`."""

    __slots__ = (
        "partition_index",
        "partition_size",
        "offset_lag",
        "is_future_key",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        partition_size: int = 0,
        offset_lag: int = 0,
        is_future_key: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.partition_size = partition_size
        self.offset_lag = offset_lag
        self.is_future_key = is_future_key
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("partition_size" / s.Int64, "0+"),
            s.Field("offset_lag" / s.Int64, "0+"),
            s.Field("is_future_key" / s.Boolean, "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeLogDirsTopic(Message):
    """Part of `DescribeLogDirsResponse`."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[DescribeLogDirsPartition] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions: list[DescribeLogDirsPartition] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.StructOf(DescribeLogDirsPartition)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribeLogDirsResult(Message):
    """Part of `DescribeLogDirsResponse`."""

    __slots__ = (
        "error_code",
        "log_dir",
        "topics",
        "total_bytes",
        "usable_bytes",
        "is_cordoned",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        error_code: int = 0,
        log_dir: str = "",
        topics: list[DescribeLogDirsTopic] = NO_ITEMS,
        total_bytes: int = -1,
        usable_bytes: int = -1,
        is_cordoned: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.log_dir = log_dir
        self.topics: list[DescribeLogDirsTopic] = [] if topics is NO_ITEMS else topics
        self.total_bytes = total_bytes
        self.usable_bytes = usable_bytes
        self.is_cordoned = is_cordoned
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("log_dir" / s.String, "0+"),
            s.Field("topics" / s.ArrayOf(s.StructOf(DescribeLogDirsTopic)), "0+"),
            s.Field("total_bytes" / s.Int64, "4+", default=-1, ignorable=True),
            s.Field("usable_bytes" / s.Int64, "4+", default=-1, ignorable=True),
            s.Field("is_cordoned" / s.Boolean, "5+", ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class DescribeLogDirsResponse(ApiMessage):
    """API key 35, versions 0 to 5, flexible from 2."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "results",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 35
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results: list[DescribeLogDirsResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results: list[DescribeLogDirsResult] = [] if results is NO_ITEMS else results
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "3+", ignorable=True),
            s.Field("results" / s.ArrayOf(s.StructOf(DescribeLogDirsResult)), "0+"),
        ]
