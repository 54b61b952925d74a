"""ShareGroupDescribe (API key 77). Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NO_ITEMS, ZERO_UUID, ApiMessage, Message, UnknownTaggedFields
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration


@mypyc_attr(acyclic=True)
class ShareGroupDescribeRequest(ApiMessage):
    """API key 77, version 1, flexible from 0."""

    __slots__ = (
        "group_ids",
        "include_authorized_operations",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 77
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        group_ids: list[str] = NO_ITEMS,
        include_authorized_operations: bool = False,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.group_ids: list[str] = [] if group_ids is NO_ITEMS else group_ids
        self.include_authorized_operations = include_authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("group_ids" / s.ArrayOf(s.String), "0+"),
            s.Field("include_authorized_operations" / s.Boolean, "0+"),
        ]


@mypyc_attr(acyclic=True)
class TopicPartitions(Message):
    """Part of `ShareGroupDescribeResponse`."""

    __slots__ = (
        "topic_id",
        "topic_name",
        "partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        partitions: list[int] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions: list[int] = [] if partitions is NO_ITEMS else partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_id" / s.Uuid, "0+"),
            s.Field("topic_name" / s.String, "0+"),
            s.Field("partitions" / s.ArrayOf(s.Int32), "0+"),
        ]


@mypyc_attr(acyclic=True)
class Assignment(Message):
    """Part of `ShareGroupDescribeResponse`."""

    __slots__ = (
        "topic_partitions",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        topic_partitions: list[TopicPartitions] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.topic_partitions: list[TopicPartitions] = [] if topic_partitions is NO_ITEMS else topic_partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("topic_partitions" / s.ArrayOf(s.StructOf(TopicPartitions)), "0+"),
        ]


@mypyc_attr(acyclic=True)
class Member(Message):
    """Part of `ShareGroupDescribeResponse`."""

    __slots__ = (
        "member_id",
        "rack_id",
        "member_epoch",
        "client_id",
        "client_host",
        "subscribed_topic_names",
        "assignment",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        member_id: str = "",
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = NO_ITEMS,
        assignment: Assignment | None = None,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.rack_id = rack_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names: list[str] = [] if subscribed_topic_names is NO_ITEMS else subscribed_topic_names
        self.assignment = Assignment() if assignment is None else assignment
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("member_id" / s.String, "0+"),
            s.Field("rack_id" / s.String, "0+", nullable="0+", default=None),
            s.Field("member_epoch" / s.Int32, "0+"),
            s.Field("client_id" / s.String, "0+"),
            s.Field("client_host" / s.String, "0+"),
            s.Field("subscribed_topic_names" / s.ArrayOf(s.String), "0+"),
            s.Field("assignment" / s.StructOf(Assignment), "0+"),
        ]


@mypyc_attr(acyclic=True)
class DescribedGroup(Message):
    """Part of `ShareGroupDescribeResponse`."""

    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "group_epoch",
        "assignment_epoch",
        "assignor_name",
        "members",
        "authorized_operations",
        "unknown_tagged_fields",
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        assignor_name: str = "",
        members: list[Member] = NO_ITEMS,
        authorized_operations: int = -2147483648,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.assignor_name = assignor_name
        self.members: list[Member] = [] if members is NO_ITEMS else members
        self.authorized_operations = authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("error_code" / s.Int16, "0+"),
            s.Field("error_message" / s.String, "0+", nullable="0+", default=None),
            s.Field("group_id" / s.String, "0+"),
            s.Field("group_state" / s.String, "0+"),
            s.Field("group_epoch" / s.Int32, "0+"),
            s.Field("assignment_epoch" / s.Int32, "0+"),
            s.Field("assignor_name" / s.String, "0+"),
            s.Field("members" / s.ArrayOf(s.StructOf(Member)), "0+"),
            s.Field("authorized_operations" / s.Int32, "0+", default=-2147483648),
        ]


@mypyc_attr(acyclic=True)
class ShareGroupDescribeResponse(ApiMessage):
    """API key 77, version 1, flexible from 0."""

    __slots__ = (
        "throttle_time_ms",
        "groups",
        "unknown_tagged_fields",
    )
    API_KEY: ClassVar[int] = 77
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = NO_ITEMS,
        unknown_tagged_fields: UnknownTaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups: list[DescribedGroup] = [] if groups is NO_ITEMS else groups
        self.unknown_tagged_fields = unknown_tagged_fields

    @staticmethod
    def declare() -> Declaration:
        from odradek.protocol import schema as s

        return [
            s.Field("throttle_time_ms" / s.Int32, "0+"),
            s.Field("groups" / s.ArrayOf(s.StructOf(DescribedGroup)), "0+"),
        ]
