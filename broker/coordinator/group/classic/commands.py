"""What a classic group can be told to do. Replies are the answers' contents; errors come as `KafkaError`."""

from __future__ import annotations

from collections.abc import Sequence

from odradek.broker.coordinator.group.commands import GroupCommand
from odradek.broker.coordinator.group.group_type import GroupType
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.join_group import JoinGroupResponse
from odradek.protocol.messages.sync_group import SyncGroupResponse

Protocols = tuple[tuple[str, bytes], ...]
"""The protocols (assignors) of a member in order of preference: name, and metadata (a consumer's subscription)."""


class JoinGroup(GroupCommand[JoinGroupResponse]):
    """Join, or join again. Parked until the join phase ends. ``host`` is the client's address."""

    home = GroupType.CLASSIC
    __slots__ = (
        "api_version",
        "client_id",
        "group_id",
        "host",
        "instance_id",
        "member_id",
        "protocol_type",
        "protocols",
        "rebalance_timeout_ms",
        "session_timeout_ms",
    )

    def __init__(
        self,
        group_id: str,
        member_id: str,
        *,
        instance_id: str | None = None,
        client_id: str = "",
        host: str = "",
        protocol_type: str = "consumer",
        protocols: Protocols = (),
        session_timeout_ms: int = 45_000,
        rebalance_timeout_ms: int = 300_000,
        api_version: int = 9,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.instance_id = instance_id
        self.client_id = client_id
        self.host = host
        self.protocol_type = protocol_type
        self.protocols = protocols
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.api_version = api_version


class SyncGroup(GroupCommand[SyncGroupResponse]):
    """Bring (leader) and fetch the assignment. Parked until the leader has brought it."""

    home = GroupType.CLASSIC
    __slots__ = (
        "assignments",
        "generation_id",
        "group_id",
        "instance_id",
        "member_id",
        "protocol_name",
        "protocol_type",
    )

    def __init__(
        self,
        group_id: str,
        member_id: str,
        generation_id: int,
        *,
        instance_id: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignments: dict[str, bytes] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.generation_id = generation_id
        self.instance_id = instance_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignments = assignments or {}


class Heartbeat(GroupCommand[ErrorCode]):
    """A member lives. The reply is NONE or REBALANCE_IN_PROGRESS."""

    home = GroupType.CLASSIC
    __slots__ = ("generation_id", "group_id", "instance_id", "member_id")

    def __init__(self, group_id: str, member_id: str, generation_id: int, instance_id: str | None = None) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.generation_id = generation_id
        self.instance_id = instance_id


class LeaveGroup(GroupCommand[list[ErrorCode]]):
    """Members leave, or are removed: (member id or "", instance id or None) each. The reply has a code for each."""

    home = GroupType.CLASSIC
    __slots__ = ("group_id", "members")

    def __init__(self, group_id: str, members: Sequence[tuple[str, str | None]]) -> None:
        self.group_id = group_id
        self.members = members


# -- what only the coordinator tells itself


class ExpireMember(GroupCommand[None]):
    """The session of a member, or the time that an id given out is kept for, is over."""

    home = GroupType.CLASSIC
    __slots__ = ("group_id", "member_id")

    def __init__(self, group_id: str, member_id: str) -> None:
        self.group_id = group_id
        self.member_id = member_id


class CompleteJoin(GroupCommand[None]):
    """The time to join is over."""

    home = GroupType.CLASSIC
    __slots__ = ("group_id",)

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id


class CompleteJoinIfAll(GroupCommand[None]):
    """Everybody had joined a moment ago: end the join phase if that is still so."""

    home = GroupType.CLASSIC
    __slots__ = ("group_id",)

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id


class ExtendJoin(GroupCommand[None]):
    """The initial delay of an empty group's rebalance is over: go on if somebody has joined meanwhile (KIP-134)."""

    home = GroupType.CLASSIC
    __slots__ = ("delay_ms", "group_id", "remaining_ms")

    def __init__(self, group_id: str, delay_ms: int, remaining_ms: int) -> None:
        self.group_id = group_id
        self.delay_ms = delay_ms
        self.remaining_ms = remaining_ms


class ExpireSync(GroupCommand[None]):
    """The time to sync is over for a generation."""

    home = GroupType.CLASSIC
    __slots__ = ("generation_id", "group_id")

    def __init__(self, group_id: str, generation_id: int) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
