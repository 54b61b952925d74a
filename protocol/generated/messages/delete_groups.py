"""DeleteGroups (API key 42). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class DeleteGroupsRequest(ApiMessage):
    """API key 42, versions 0 to 3, flexible from 2."""

    __slots__ = (
        "groups_names",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 42
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        groups_names: list[str] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.groups_names: list[str] = [] if groups_names is NO_ITEMS else groups_names
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("groups_names" / s.ArrayOf(s.String), "0+"),
        ]


@mypyc_attr(acyclic=True)
class DeletableGroupResult(Message):
    """Part of `DeleteGroupsResponse`."""

    __slots__ = (
        "group_id",
        "error_code",
        "error_message",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        group_id: str = "",
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_id" / s.String, "0+"),
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "3+", nullable="3+", default=None, ignorable=True),
        ]


@mypyc_attr(acyclic=True)
class DeleteGroupsResponse(ApiMessage):
    """API key 42, versions 0 to 3, flexible from 2."""

    __slots__ = (
        "throttle_time_ms",
        "results",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 42
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[DeletableGroupResult] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results: list[DeletableGroupResult] = [] if results is NO_ITEMS else results
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("results" / s.ArrayOf(s.StructOf(DeletableGroupResult)), "0+"),
        ]
