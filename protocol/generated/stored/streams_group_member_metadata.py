"""StreamsGroupMemberMetadata. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, CoordinatorRecord, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class StreamsGroupMemberMetadataKey(CoordinatorRecord):
    """Version 0, never flexible."""

    __slots__ = (
        "group_id",
        "member_id",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0"),
            s.Field("member_id" / s.String, "0"),
        ]


@mypyc_attr(acyclic=True)
class Endpoint(Message):
    """Part of `StreamsGroupMemberMetadataValue`."""

    __slots__ = (
        "host",
        "port",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        host: str = "",
        port: int = 0,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.host = host
        self.port = port
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("host" / s.String, "0+"),
            s.Field("port" / s.UInt16, "0+"),
        ]


@mypyc_attr(acyclic=True)
class KeyValue(Message):
    """Part of `StreamsGroupMemberMetadataValue`."""

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
class StreamsGroupMemberMetadataValue(CoordinatorRecord):
    """Version 0, flexible from 0."""

    __slots__ = (
        "instance_id",
        "rack_id",
        "client_id",
        "client_host",
        "rebalance_timeout_ms",
        "topology_epoch",
        "process_id",
        "user_endpoint",
        "client_tags",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout_ms: int = -1,
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: list[KeyValue] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags: list[KeyValue] = [] if client_tags is NO_ITEMS else client_tags
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("instance_id" / s.String, "0+", nullable="0+"),
            s.Field("rack_id" / s.String, "0+", nullable="0+"),
            s.Field("client_id" / s.String, "0+"),
            s.Field("client_host" / s.String, "0+"),
            s.Field("rebalance_timeout_ms" / s.Int32, "0+", default=-1),
            s.Field("topology_epoch" / s.Int32, "0+"),
            s.Field("process_id" / s.String, "0+"),
            s.Field("user_endpoint" / s.StructOf(Endpoint), "0+", nullable="0+", default=None),
            s.Field("client_tags" / s.ArrayOf(s.StructOf(KeyValue)), "0+"),
        ]
