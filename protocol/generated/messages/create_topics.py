"""CreateTopics (API key 19). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class CreatableReplicaAssignment(Message):
    """Part of `CreateTopicsRequest`."""

    __slots__ = (
        "partition_index",
        "broker_ids",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        partition_index: int = 0,
        broker_ids: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.broker_ids: list[int] = [] if broker_ids is NO_ITEMS else broker_ids
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("partition_index" / s.Int32, "0+"),
            s.Field("broker_ids" / s.ArrayOf(s.Int32), "0+"),
        ]


@mypyc_attr(acyclic=True)
class CreatableTopicConfig(Message):
    """Part of `CreateTopicsRequest`."""

    __slots__ = (
        "name",
        "value",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.value = value
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("value" / s.String, "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class CreatableTopic(Message):
    """Part of `CreateTopicsRequest`."""

    __slots__ = (
        "name",
        "num_partitions",
        "replication_factor",
        "assignments",
        "configs",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        num_partitions: int = 0,
        replication_factor: int = 0,
        assignments: list[CreatableReplicaAssignment] = NO_ITEMS,
        configs: list[CreatableTopicConfig] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.assignments: list[CreatableReplicaAssignment] = [] if assignments is NO_ITEMS else assignments
        self.configs: list[CreatableTopicConfig] = [] if configs is NO_ITEMS else configs
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("num_partitions" / s.Int32, "0+"),
            s.Field("replication_factor" / s.Int16, "0+"),
            s.Field("assignments" / s.ArrayOf(s.StructOf(CreatableReplicaAssignment)), "0+"),
            s.Field("configs" / s.ArrayOf(s.StructOf(CreatableTopicConfig)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class CreateTopicsRequest(ApiMessage):
    """API key 19, versions 0 to 7, flexible from 5."""

    __slots__ = (
        "topics",
        "timeout_ms",
        "validate_only",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 7
    FLEXIBLE_FROM: ClassVar[int | None] = 5

    def __init__(
        self,
        topics: list[CreatableTopic] = NO_ITEMS,
        timeout_ms: int = 60000,
        validate_only: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topics: list[CreatableTopic] = [] if topics is NO_ITEMS else topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topics" / s.ArrayOf(s.StructOf(CreatableTopic)), "0+"),
            s.Field("timeout_ms" / s.Int32, "0+", default=60000),
            s.Field("validate_only" / s.Boolean, "1+"),
        ]


@mypyc_attr(acyclic=True)
class CreatableTopicConfigs(Message):
    """Part of `CreateTopicsResponse`."""

    __slots__ = (
        "name",
        "value",
        "read_only",
        "config_source",
        "is_sensitive",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "5+"),
            s.Field("value" / s.String, "5+", nullable="5+"),
            s.Field("read_only" / s.Boolean, "5+"),
            s.Field("config_source" / s.Int8, "5+", default=-1, ignorable=True),
            s.Field("is_sensitive" / s.Boolean, "5+"),
        ]


@mypyc_attr(acyclic=True)
class CreatableTopicResult(Message):
    """Part of `CreateTopicsResponse`."""

    __slots__ = (
        "name",
        "topic_id",
        "error_code",
        "error_message",
        "topic_config_error_code",
        "num_partitions",
        "replication_factor",
        "configs",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = "",
        topic_config_error_code: int = 0,
        num_partitions: int = -1,
        replication_factor: int = -1,
        configs: list[CreatableTopicConfigs] | None = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.topic_config_error_code = topic_config_error_code
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.configs: list[CreatableTopicConfigs] | None = [] if configs is NO_ITEMS else configs
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("topic_id" / s.Uuid, "7+", ignorable=True),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "1+", nullable="0+", ignorable=True),
            s.Field("topic_config_error_code" / s.Int16, "5+", tag=0, tagged="5+", ignorable=True),
            s.Field("num_partitions" / s.Int32, "5+", default=-1, ignorable=True),
            s.Field("replication_factor" / s.Int16, "5+", default=-1, ignorable=True),
            s.Field("configs" / s.ArrayOf(s.StructOf(CreatableTopicConfigs)), "5+", nullable="5+", ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class CreateTopicsResponse(ApiMessage):
    """API key 19, versions 0 to 7, flexible from 5."""

    __slots__ = (
        "throttle_time_ms",
        "topics",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 7
    FLEXIBLE_FROM: ClassVar[int | None] = 5

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[CreatableTopicResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[CreatableTopicResult] = [] if topics is NO_ITEMS else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "2+", ignorable=True),
            s.Field("topics" / s.ArrayOf(s.StructOf(CreatableTopicResult)), "0+"),
        ]
