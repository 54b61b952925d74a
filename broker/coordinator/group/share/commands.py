"""The commands of share groups. Errors are raised as `KafkaError`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from typing import ClassVar, NamedTuple

from odradek.broker.coordinator.group.assignment import Partitions
from odradek.broker.coordinator.group.commands import GroupCommand, GroupType
from odradek.broker.runtime.machine import Effect
from odradek.protocol.errors import ErrorCode
from odradek.protocol.native import mypyc_attr

Places = Mapping[bytes, Collection[int]]
"""Partitions by topic id."""


@mypyc_attr(allow_interpreted_subclasses=True)
class ShareGroupCommand(GroupCommand):
    """An order about one share group."""

    __slots__ = ()
    home: ClassVar[GroupType | None] = GroupType.SHARE


class HeartbeatReply(NamedTuple):
    """The reply to a heartbeat; ``assigned`` is None if it has not changed."""

    member_epoch: int
    heartbeat_interval_ms: int
    assigned: Partitions | None


@mypyc_attr(allow_interpreted_subclasses=True)
class ShareGroupHeartbeat(ShareGroupCommand):
    """A heartbeat of a member: it joins with epoch 0 and leaves with epoch -1.

    ``rack_id`` and ``topics`` are None when they are as before.
    """

    __slots__ = ("client_host", "client_id", "member_epoch", "member_id", "rack_id", "topics")
    reply: HeartbeatReply

    def __init__(
        self,
        group_id: str,
        member_id: str,
        member_epoch: int,
        *,
        client_id: str,
        client_host: str,
        rack_id: str | None = None,
        topics: Sequence[str] | None = None,
    ) -> None:
        super().__init__(group_id)
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.rack_id = rack_id
        self.topics = topics


@mypyc_attr(allow_interpreted_subclasses=True)
class ExpireShareMember(ShareGroupCommand):
    """The session of a member is over."""

    why_members_go: ClassVar[str] = "was not heard of in time"
    __slots__ = ("member_id",)
    reply: None

    def __init__(self, group_id: str, member_id: str) -> None:
        super().__init__(group_id)
        self.member_id = member_id


@mypyc_attr(allow_interpreted_subclasses=True)
class StatesInitialized(ShareGroupCommand):
    """The share coordinator stores these share partitions now: they can be assigned. ``failed``: it does not."""

    __slots__ = ("failed", "places")
    reply: None

    def __init__(self, group_id: str, places: Places, *, failed: bool = False) -> None:
        super().__init__(group_id)
        self.places = places
        self.failed = failed


@mypyc_attr(allow_interpreted_subclasses=True)
class AlterShareOffsets(ShareGroupCommand):
    """Reset share partitions to the offsets given by topic id and partition, which exist.

    The reply is the new state epoch. The share coordinator still has to be notified.
    """

    __slots__ = ("offsets",)
    reply: int

    def __init__(self, group_id: str, offsets: Mapping[bytes, Mapping[int, int]]) -> None:
        super().__init__(group_id)
        self.offsets = offsets


@mypyc_attr(allow_interpreted_subclasses=True)
class BeginDeleteOffsets(ShareGroupCommand):
    """Note that topics, given by name, are about to be forgotten.

    The reply has the share partitions to delete, and the topics that are unknown to the group.
    """

    __slots__ = ("topics",)
    reply: tuple[dict[bytes, list[int]], list[str]]

    def __init__(self, group_id: str, topics: Sequence[str]) -> None:
        super().__init__(group_id)
        self.topics = topics


@mypyc_attr(allow_interpreted_subclasses=True)
class EndDeleteOffsets(ShareGroupCommand):
    """The share coordinator has forgotten these topics."""

    __slots__ = ("topic_ids",)
    reply: None

    def __init__(self, group_id: str, topic_ids: Collection[bytes]) -> None:
        super().__init__(group_id)
        self.topic_ids = topic_ids


@mypyc_attr(allow_interpreted_subclasses=True)
class ForgetDeletedTopics(ShareGroupCommand):
    """Topics were deleted: delete what the group has stored about them."""

    __slots__ = ()
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class EndDeleteGroup(ShareGroupCommand):
    """The share coordinator has forgotten the group: delete it."""

    __slots__ = ()
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class InitializeStates(Effect):
    """Tell the share coordinator to store share partitions; `StatesInitialized` has the result.

    `grown`: the topics of which it stores partitions already.
    """

    __slots__ = ("group_id", "grown", "places", "state_epoch")

    def __init__(self, group_id: str, state_epoch: int, places: Places, grown: Set[bytes]) -> None:
        self.group_id = group_id
        self.state_epoch = state_epoch
        self.places = places
        self.grown = grown


@mypyc_attr(allow_interpreted_subclasses=True)
class DeleteStates(Effect):
    """Let the share coordinator delete the states of share partitions, then delete the group.

    If the share coordinator raises a `KafkaError`, that is the answer and the group stays.
    """

    __slots__ = ("group_id", "places")

    def __init__(self, group_id: str, places: Places) -> None:
        self.group_id = group_id
        self.places = places


class TopicRefusal(NamedTuple):
    """The reason why the states of a topic are not deleted."""

    code: ErrorCode
    text: str
