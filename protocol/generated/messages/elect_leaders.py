"""ElectLeaders (API key 43). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class TopicPartitions(Message):
    """Part of `ElectLeadersRequest`."""

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
class ElectLeadersRequest(ApiMessage):
    """API key 43, versions 0 to 2, flexible from 2."""

    __slots__ = (
        "election_type",
        "topic_partitions",
        "timeout_ms",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 43
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        election_type: int = 0,
        topic_partitions: list[TopicPartitions] | None = NO_ITEMS,
        timeout_ms: int = 60000,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.election_type = election_type
        self.topic_partitions: list[TopicPartitions] | None = [] if topic_partitions is NO_ITEMS else topic_partitions
        self.timeout_ms = timeout_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("election_type" / s.Int8, "1+"),
            s.Field("topic_partitions" / s.ArrayOf(s.StructOf(TopicPartitions)), "0+", nullable="0+"),
            s.Field("timeout_ms" / s.Int32, "0+", default=60000),
        ]


@mypyc_attr(acyclic=True)
class PartitionResult(Message):
    """Part of `ElectLeadersResponse`."""

    __slots__ = (
        "partition_id",
        "error_code",
        "error_message",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_id: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_id = partition_id
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_id" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class ReplicaElectionResult(Message):
    """Part of `ElectLeadersResponse`."""

    __slots__ = (
        "topic",
        "partition_result",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic: str = "",
        partition_result: list[PartitionResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic = topic
        self.partition_result: list[PartitionResult] = [] if partition_result is NO_ITEMS else partition_result
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic" / s.String, "0+"),
            s.Field("partition_result" / s.ArrayOf(s.StructOf(PartitionResult)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class ElectLeadersResponse(ApiMessage):
    """API key 43, versions 0 to 2, flexible from 2."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "replica_election_results",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 43
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        replica_election_results: list[ReplicaElectionResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.replica_election_results: list[ReplicaElectionResult] = (
            [] if replica_election_results is NO_ITEMS else replica_election_results
        )
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("error_code" / s.Int16, "1+"),
            s.Field("replica_election_results" / s.ArrayOf(s.StructOf(ReplicaElectionResult)), "0+"),
        ]
