"""CreatePartitions (API key 37). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class CreatePartitionsAssignment(Message):
    """Part of `CreatePartitionsRequest`."""

    __slots__ = (
        "broker_ids",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        broker_ids: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.broker_ids: list[int] = [] if broker_ids is NO_ITEMS else broker_ids
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("broker_ids" / s.ArrayOf(s.Int32), "0+"),
        ]


@mypyc_attr(acyclic=True)
class CreatePartitionsTopic(Message):
    """Part of `CreatePartitionsRequest`."""

    __slots__ = (
        "name",
        "count",
        "assignments",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        count: int = 0,
        assignments: list[CreatePartitionsAssignment] | None = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.count = count
        self.assignments: list[CreatePartitionsAssignment] | None = [] if assignments is NO_ITEMS else assignments
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("count" / s.Int32, "0+"),
            s.Field("assignments" / s.ArrayOf(s.StructOf(CreatePartitionsAssignment)), "0+", nullable="0+"),
        ]


@mypyc_attr(acyclic=True)
class CreatePartitionsRequest(ApiMessage):
    """API key 37, versions 0 to 3, flexible from 2."""

    __slots__ = (
        "topics",
        "timeout_ms",
        "validate_only",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 37
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        topics: list[CreatePartitionsTopic] = NO_ITEMS,
        timeout_ms: int = 0,
        validate_only: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topics: list[CreatePartitionsTopic] = [] if topics is NO_ITEMS else topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topics" / s.ArrayOf(s.StructOf(CreatePartitionsTopic)), "0+"),
            s.Field("timeout_ms" / s.Int32, "0+"),
            s.Field("validate_only" / s.Boolean, "0+"),
        ]


@mypyc_attr(acyclic=True)
class CreatePartitionsTopicResult(Message):
    """Part of `CreatePartitionsResponse`."""

    __slots__ = (
        "name",
        "error_code",
        "error_message",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+", default=None),
        ]


@mypyc_attr(acyclic=True)
class CreatePartitionsResponse(ApiMessage):
    """API key 37, versions 0 to 3, flexible from 2."""

    __slots__ = (
        "throttle_time_ms",
        "results",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 37
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[CreatePartitionsTopicResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results: list[CreatePartitionsTopicResult] = [] if results is NO_ITEMS else results
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("results" / s.ArrayOf(s.StructOf(CreatePartitionsTopicResult)), "0+"),
        ]
