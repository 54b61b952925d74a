"""FindCoordinator (API key 10). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class FindCoordinatorRequest(ApiMessage):
    """API key 10, versions 0 to 6, flexible from 3."""

    __slots__ = (
        "key",
        "key_type",
        "coordinator_keys",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        key: str = "",
        key_type: int = 0,
        coordinator_keys: list[str] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.key = key
        self.key_type = key_type
        self.coordinator_keys: list[str] = [] if coordinator_keys is NO_ITEMS else coordinator_keys
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("key" / s.String, "0-3"),
            s.Field("key_type" / s.Int8, "1+"),
            s.Field("coordinator_keys" / s.ArrayOf(s.String), "4+"),
        ]


@mypyc_attr(acyclic=True)
class Coordinator(Message):
    """Part of `FindCoordinatorResponse`."""

    __slots__ = (
        "key",
        "node_id",
        "host",
        "port",
        "error_code",
        "error_message",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        key: str = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.key = key
        self.node_id = node_id
        self.host = host
        self.port = port
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("key" / s.String, "4+"),
            s.Field("node_id" / s.Int32, "4+"),
            s.Field("host" / s.String, "4+"),
            s.Field("port" / s.Int32, "4+"),
            s.Field("error_code" / s.Int16, "4+"),
            s.Field("error_message" / s.String, "4+", nullable="4+", ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class FindCoordinatorResponse(ApiMessage):
    """API key 10, versions 0 to 6, flexible from 3."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "node_id",
        "host",
        "port",
        "coordinators",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        coordinators: list[Coordinator] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.node_id = node_id
        self.host = host
        self.port = port
        self.coordinators: list[Coordinator] = [] if coordinators is NO_ITEMS else coordinators
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "1+", ignorable=True),
            s.Field("error_code" / s.Int16, "0-3"),
            s.Field("error_message" / s.String, "1-3", nullable="1-3", ignorable=True),
            s.Field("node_id" / s.Int32, "0-3"),
            s.Field("host" / s.String, "0-3"),
            s.Field("port" / s.Int32, "0-3"),
            s.Field("coordinators" / s.ArrayOf(s.StructOf(Coordinator)), "4+"),
        ]
