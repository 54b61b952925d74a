"""What the group coordinator can be told to do for share groups. Errors come as `KafkaError`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from odradek.broker.coordinator.group.assignment import Partitions
from odradek.broker.coordinator.group.commands import GroupCommand
from odradek.broker.coordinator.group.group_type import GroupType
from odradek.broker.runtime.command import R
from odradek.broker.runtime.effects import Effect
from odradek.protocol.errors import ErrorCode

Places = Mapping[bytes, Collection[int]]
"""Partitions by topic id."""


class ShareGroupCommand(GroupCommand[R]):
    """An order about one share group."""

    __slots__ = ("group_id",)
    home = GroupType.SHARE

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id


class HeartbeatReply(NamedTuple):
    """What a member is told; ``assigned`` is None when it has not changed."""

    member_epoch: int
    heartbeat_interval_ms: int
    assigned: Partitions | None


class ShareGroupHeartbeat(ShareGroupCommand[HeartbeatReply]):
    """A member lives: it joins with epoch 0 and leaves with epoch -1.

    ``rack_id`` and ``topics`` are None when they are as before.
    """

    __slots__ = ("client_host", "client_id", "member_epoch", "member_id", "rack_id", "topics")

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


class ExpireShareMember(ShareGroupCommand[None]):
    """The session of a member is over."""

    why_members_go = "was not heard of in time"
    __slots__ = ("member_id",)

    def __init__(self, group_id: str, member_id: str) -> None:
        super().__init__(group_id)
        self.member_id = member_id


class StatesInitialized(ShareGroupCommand[None]):
    """The share coordinator stores these share partitions now: they can be assigned. ``failed``: it does not."""

    __slots__ = ("failed", "places")

    def __init__(self, group_id: str, places: Places, *, failed: bool = False) -> None:
        super().__init__(group_id)
        self.places = places
        self.failed = failed


class AlterShareOffsets(ShareGroupCommand[int]):
    """Begin share partitions anew at the offsets given by topic id and partition, which exist.

    The reply is the state epoch in which they begin; the share coordinator has yet to be told.
    """

    __slots__ = ("offsets",)

    def __init__(self, group_id: str, offsets: Mapping[bytes, Mapping[int, int]]) -> None:
        super().__init__(group_id)
        self.offsets = offsets


class BeginDeleteOffsets(ShareGroupCommand[tuple[dict[bytes, list[int]], list[str]]]):
    """Say that topics, given by name, are about to be forgotten.

    The reply has the share partitions to delete, and the topics that the group knows nothing of.
    """

    __slots__ = ("topics",)

    def __init__(self, group_id: str, topics: Sequence[str]) -> None:
        super().__init__(group_id)
        self.topics = topics


class EndDeleteOffsets(ShareGroupCommand[None]):
    """The share coordinator has forgotten these topics."""

    __slots__ = ("topic_ids",)

    def __init__(self, group_id: str, topic_ids: Collection[bytes]) -> None:
        super().__init__(group_id)
        self.topic_ids = topic_ids


class ForgetDeletedTopics(ShareGroupCommand[None]):
    """Topics were deleted: what the group has stored of them is gone."""

    __slots__ = ()


class EndDeleteGroup(ShareGroupCommand[None]):
    """The share coordinator has forgotten the group: delete it."""

    __slots__ = ()


class InitializeStates(Effect):
    """Tell the share coordinator to store share partitions; `StatesInitialized` says what came of it."""

    __slots__ = ("group_id", "places", "state_epoch")

    def __init__(self, group_id: str, state_epoch: int, places: Places) -> None:
        self.group_id = group_id
        self.state_epoch = state_epoch
        self.places = places


class DeleteStates(Effect):
    """Tell the share coordinator to forget share partitions, then delete the group.

    Performing it raises the share coordinator's `KafkaError`, which is then the answer; the group stays.
    """

    __slots__ = ("group_id", "places")

    def __init__(self, group_id: str, places: Places) -> None:
        self.group_id = group_id
        self.places = places


class TopicRefusal(NamedTuple):
    """Why nothing is deleted of a topic."""

    code: ErrorCode
    text: str
