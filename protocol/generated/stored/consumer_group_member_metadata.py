"""ConsumerGroupMemberMetadata. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NEW_STRUCT, NO_ITEMS, CoordinatorRecord, Message, NewStruct, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ConsumerGroupMemberMetadataKey(CoordinatorRecord):
    """Version 0, never flexible."""

    __slots__ = (
        "group_id",
        "member_id",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 5
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
class ClassicProtocol(Message):
    """Part of `ConsumerGroupMemberMetadataValue`."""

    __slots__ = (
        "name",
        "metadata",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        name: str = "",
        metadata: bytes = b"",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.name = name
        self.metadata = metadata
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("name" / s.String, "0+"),
            s.Field("metadata" / s.Bytes, "0+"),
        ]


@mypyc_attr(acyclic=True)
class ClassicMemberMetadata(Message):
    """Part of `ConsumerGroupMemberMetadataValue`."""

    __slots__ = (
        "session_timeout_ms",
        "supported_protocols",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        session_timeout_ms: int = 0,
        supported_protocols: list[ClassicProtocol] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.session_timeout_ms = session_timeout_ms
        self.supported_protocols: list[ClassicProtocol] = [] if supported_protocols is NO_ITEMS else supported_protocols
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("session_timeout_ms" / s.Int32, "0+"),
            s.Field("supported_protocols" / s.ArrayOf(s.StructOf(ClassicProtocol)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class ConsumerGroupMemberMetadataValue(CoordinatorRecord):
    """Version 0, flexible from 0."""

    __slots__ = (
        "instance_id",
        "rack_id",
        "client_id",
        "client_host",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "rebalance_timeout_ms",
        "server_assignor",
        "classic_member_metadata",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 5
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = NO_ITEMS,
        subscribed_topic_regex: str | None = "",
        rebalance_timeout_ms: int = -1,
        server_assignor: str | None = "",
        classic_member_metadata: ClassicMemberMetadata | NewStruct | None = NEW_STRUCT,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names: list[str] = [] if subscribed_topic_names is NO_ITEMS else subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.server_assignor = server_assignor
        self.classic_member_metadata: ClassicMemberMetadata | None = (
            ClassicMemberMetadata() if isinstance(classic_member_metadata, NewStruct) else classic_member_metadata
        )
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("instance_id" / s.String, "0+", nullable="0+"),
            s.Field("rack_id" / s.String, "0+", nullable="0+"),
            s.Field("client_id" / s.String, "0+"),
            s.Field("client_host" / s.String, "0+"),
            s.Field("subscribed_topic_names" / s.ArrayOf(s.String), "0+"),
            s.Field("subscribed_topic_regex" / s.String, "0+", nullable="0+"),
            s.Field("rebalance_timeout_ms" / s.Int32, "0+", default=-1),
            s.Field("server_assignor" / s.String, "0+", nullable="0+"),
            s.Field(
                "classic_member_metadata" / s.StructOf(ClassicMemberMetadata), "0+", nullable="0+", tag=0, tagged="0+"
            ),
        ]
