"""ListGroups (API key 16). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ListGroupsRequest(ApiMessage):
    """API key 16, versions 0 to 5, flexible from 3."""

    __slots__ = (
        "states_filter",
        "types_filter",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        states_filter: list[str] = NO_ITEMS,
        types_filter: list[str] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.states_filter: list[str] = [] if states_filter is NO_ITEMS else states_filter
        self.types_filter: list[str] = [] if types_filter is NO_ITEMS else types_filter
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("states_filter" / s.ArrayOf(s.String), "4+"),
            s.Field("types_filter" / s.ArrayOf(s.String), "5+"),
        ]


@mypyc_attr(acyclic=True)
class ListedGroup(Message):
    """Part of `ListGroupsResponse`."""

    __slots__ = (
        "group_id",
        "protocol_type",
        "group_state",
        "group_type",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        group_id: str = "",
        protocol_type: str = "",
        group_state: str = "",
        group_type: str = "",
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.protocol_type = protocol_type
        self.group_state = group_state
        self.group_type = group_type
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0+"),
            s.Field("protocol_type" / s.String, "0+"),
            s.Field("group_state" / s.String, "4+", ignorable=True),
            s.Field("group_type" / s.String, "5+", ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class ListGroupsResponse(ApiMessage):
    """API key 16, versions 0 to 5, flexible from 3."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "groups",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        groups: list[ListedGroup] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.groups: list[ListedGroup] = [] if groups is NO_ITEMS else groups
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "1+", ignorable=True),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("groups" / s.ArrayOf(s.StructOf(ListedGroup)), "0+"),
        ]
