"""DeleteTopics (API key 20). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class DeleteTopicState(Message):
    """Part of `DeleteTopicsRequest`."""

    __slots__ = (
        "name",
        "topic_id",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str | None = None,
        topic_id: bytes = ZERO_UUID,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "6+", nullable="6+", default=None),
            s.Field("topic_id" / s.Uuid, "6+"),
        ]


@mypyc_attr(acyclic=True)
class DeleteTopicsRequest(ApiMessage):
    """API key 20, versions 0 to 6, flexible from 4."""

    __slots__ = (
        "topics",
        "topic_names",
        "timeout_ms",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        topics: list[DeleteTopicState] = NO_ITEMS,
        topic_names: list[str] = NO_ITEMS,
        timeout_ms: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topics: list[DeleteTopicState] = [] if topics is NO_ITEMS else topics
        self.topic_names: list[str] = [] if topic_names is NO_ITEMS else topic_names
        self.timeout_ms = timeout_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topics" / s.ArrayOf(s.StructOf(DeleteTopicState)), "6+"),
            s.Field("topic_names" / s.ArrayOf(s.String), "0-5", ignorable=True),
            s.Field("timeout_ms" / s.Int32, "0+"),
        ]


@mypyc_attr(acyclic=True)
class DeletableTopicResult(Message):
    """Part of `DeleteTopicsResponse`."""

    __slots__ = (
        "name",
        "topic_id",
        "error_code",
        "error_message",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+", nullable="6+"),
            s.Field("topic_id" / s.Uuid, "6+", ignorable=True),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "5+", nullable="5+", default=None, ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class DeleteTopicsResponse(ApiMessage):
    """API key 20, versions 0 to 6, flexible from 4."""

    __slots__ = (
        "throttle_time_ms",
        "responses",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: list[DeletableTopicResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses: list[DeletableTopicResult] = [] if responses is NO_ITEMS else responses
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "1+", ignorable=True),
            s.Field("responses" / s.ArrayOf(s.StructOf(DeletableTopicResult)), "0+"),
        ]
