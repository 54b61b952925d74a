"""The commands of consumer groups, and the reply to a heartbeat. Errors are raised as `KafkaError`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, final

from odradek.broker.coordinator.group.assignment import Partitions
from odradek.broker.coordinator.group.commands import (
    GroupCommand,
    GroupType,
    MemberCommand,
    MemberInEpochCommand,
    Visible,
)
from odradek.protocol.native import mypyc_attr


@final
@mypyc_attr(acyclic=True)
class HeartbeatReply:
    """The reply to a heartbeat. ``assignment``: None if it has not changed."""

    __slots__ = ("assignment", "heartbeat_interval_ms", "member_epoch", "member_id")

    def __init__(
        self,
        member_id: str,
        member_epoch: int,
        heartbeat_interval_ms: int = 0,
        assignment: Partitions | None = None,
    ) -> None:
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.assignment = assignment


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class ConsumerGroupHeartbeat(GroupCommand):
    """A member joins (epoch 0), gives a sign of life, reports its partitions, or leaves (epoch -1, static members for a
    while: -2).

    None, and -1 for the rebalance timeout, stand for "unchanged". ``host``: the client's address. ``visible``: which
    of some topics the client may see, None for all; its patterns match no others.
    """

    home: ClassVar[GroupType | None] = GroupType.CONSUMER
    __slots__ = (
        "api_version",
        "client_id",
        "host",
        "instance_id",
        "member_epoch",
        "member_id",
        "owned",
        "rack_id",
        "rebalance_timeout_ms",
        "regex",
        "server_assignor",
        "topics",
        "visible",
    )
    reply: HeartbeatReply

    def __init__(
        self,
        group_id: str,
        member_id: str,
        member_epoch: int,
        *,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        topics: Sequence[str] | None = None,
        regex: str | None = None,
        server_assignor: str | None = None,
        owned: Mapping[bytes, Sequence[int]] | None = None,
        client_id: str = "",
        host: str = "",
        api_version: int = 1,
        visible: Visible | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topics = topics
        self.regex = regex
        self.server_assignor = server_assignor
        self.owned = owned
        self.client_id = client_id
        self.host = host
        self.api_version = api_version
        self.visible = visible

    @property
    def says_nothing(self) -> bool:
        """Whether it has nothing about the member except the instance id and the partitions that it owns."""
        return (
            self.topics is None
            and self.regex is None
            and self.rack_id is None
            and self.server_assignor is None
            and self.rebalance_timeout_ms == -1
        )

    @property
    def is_full(self) -> bool:
        """Whether it has all fields, as from a member that is unsure whether the coordinator knows them."""
        tells_topics = self.topics is not None or self.regex is not None
        return self.rebalance_timeout_ms != -1 and tells_topics and self.owned is not None


# -- commands that only the coordinator gives


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class FenceMember(MemberCommand):
    """The session of a member is over, or a classic member has not joined or synced in time."""

    home: ClassVar[GroupType | None] = GroupType.CONSUMER
    why_members_go: ClassVar[str] = "was not heard of in time"
    __slots__ = ()
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class ExpireRevocation(MemberInEpochCommand):
    """The time to revoke partitions is over for a member that was in ``member_epoch`` at its beginning."""

    home: ClassVar[GroupType | None] = GroupType.CONSUMER
    why_members_go: ClassVar[str] = "did not give up its partitions in time"
    __slots__ = ()
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class ResolveRegexes(GroupCommand):
    """Match the group's patterns against the existing topics that the client may see whose request caused it."""

    home: ClassVar[GroupType | None] = GroupType.CONSUMER
    __slots__ = ("regexes", "visible")
    reply: None

    def __init__(self, group_id: str, regexes: Sequence[str], visible: Visible | None = None) -> None:
        self.group_id = group_id
        self.regexes = regexes
        self.visible = visible
