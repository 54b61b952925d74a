"""GroupMetadata. Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, CoordinatorRecord, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class GroupMetadataKey(CoordinatorRecord):
    """Version 0, never flexible."""

    __slots__ = (
        "group",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    def __init__(
        self,
        group: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group = group
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group" / s.String, "0"),
        ]


@mypyc_attr(acyclic=True)
class MemberMetadata(Message):
    """Part of `GroupMetadataValue`."""

    __slots__ = (
        "member_id",
        "group_instance_id",
        "client_id",
        "client_host",
        "rebalance_timeout",
        "session_timeout",
        "subscription",
        "assignment",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout: int = -1,
        session_timeout: int = 0,
        subscription: bytes = b"",
        assignment: bytes = b"",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout = rebalance_timeout
        self.session_timeout = session_timeout
        self.subscription = subscription
        self.assignment = assignment
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("member_id" / s.String, "0+"),
            s.Field("group_instance_id" / s.String, "3+", nullable="3+", default=None, ignorable=True),
            s.Field("client_id" / s.String, "0+"),
            s.Field("client_host" / s.String, "0+"),
            s.Field("rebalance_timeout" / s.Int32, "1+", default=-1, ignorable=True),
            s.Field("session_timeout" / s.Int32, "0+"),
            s.Field("subscription" / s.Bytes, "0+"),
            s.Field("assignment" / s.Bytes, "0+"),
        ]


@mypyc_attr(acyclic=True)
class GroupMetadataValue(CoordinatorRecord):
    """Versions 0 to 4, flexible from 4."""

    __slots__ = (
        "protocol_type",
        "generation",
        "protocol",
        "leader",
        "current_state_timestamp",
        "members",
        "unknown_tagged_fields",
    )
    RECORD_TYPE: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    def __init__(
        self,
        protocol_type: str = "",
        generation: int = 0,
        protocol: str | None = "",
        leader: str | None = "",
        current_state_timestamp: int = -1,
        members: list[MemberMetadata] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.protocol_type = protocol_type
        self.generation = generation
        self.protocol = protocol
        self.leader = leader
        self.current_state_timestamp = current_state_timestamp
        self.members: list[MemberMetadata] = [] if members is NO_ITEMS else members
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("protocol_type" / s.String, "0+"),
            s.Field("generation" / s.Int32, "0+"),
            s.Field("protocol" / s.String, "0+", nullable="0+"),
            s.Field("leader" / s.String, "0+", nullable="0+"),
            s.Field("current_state_timestamp" / s.Int64, "2+", default=-1, ignorable=True),
            s.Field("members" / s.ArrayOf(s.StructOf(MemberMetadata)), "0+"),
        ]
