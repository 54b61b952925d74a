"""The commands of classic groups, with the replies to JoinGroup and SyncGroup.

Refused commands raise `KafkaError`; JoinReply and SyncReply contain their errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from odradek.broker.coordinator.group.commands import GroupCommand, GroupType, MemberCommand, Visible
from odradek.protocol.errors import ErrorCode
from odradek.protocol.native import mypyc_attr


class JoinedMember(NamedTuple):
    """A member as the leader gets it."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


class JoinReply(NamedTuple):
    """A generation as one of its members gets it, or an error with a member id.

    `members` has all members for the leader, and is empty for others. With `skip_assignment` the leader need not
    assign.
    """

    error_code: ErrorCode = ErrorCode.NONE
    member_id: str = ""
    generation_id: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = ""
    members: tuple[JoinedMember, ...] = ()
    skip_assignment: bool = False


class SyncReply(NamedTuple):
    """The assignment of one member, or an error."""

    error_code: ErrorCode = ErrorCode.NONE
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


def join_refused(member_id: str, error: ErrorCode) -> JoinReply:
    """The reply to a refused JoinGroup; `member_id` is "" where Kafka does not repeat it."""
    return JoinReply(error, member_id)


def sync_refused(error: ErrorCode) -> SyncReply:
    """The reply to a refused SyncGroup."""
    return SyncReply(error)


Protocols = tuple[tuple[str, bytes], ...]
"""The protocols (assignors) of a member in order of preference: name, and metadata (a consumer's subscription)."""


@mypyc_attr(allow_interpreted_subclasses=True)
class JoinGroup(GroupCommand):
    """Join, or join again. Parked until the join phase ends. `host` is the client's address.

    `visible`: which of some topics the client may see, None for all; a group of the consumer protocol asks.
    """

    home: ClassVar[GroupType | None] = GroupType.CLASSIC
    __slots__ = (
        "api_version",
        "client_id",
        "host",
        "instance_id",
        "member_id",
        "protocol_type",
        "protocols",
        "rebalance_timeout_ms",
        "session_timeout_ms",
        "visible",
    )
    reply: JoinReply

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
        visible: Visible | None = None,
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
        self.visible = visible


@mypyc_attr(allow_interpreted_subclasses=True)
class SyncGroup(GroupCommand):
    """Bring (leader) and fetch the assignment. Parked until the leader has brought it."""

    home: ClassVar[GroupType | None] = GroupType.CLASSIC
    __slots__ = (
        "assignments",
        "generation_id",
        "instance_id",
        "member_id",
        "protocol_name",
        "protocol_type",
    )
    reply: SyncReply

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


@mypyc_attr(allow_interpreted_subclasses=True)
class Heartbeat(GroupCommand):
    """A member's sign of life. The reply is NONE or REBALANCE_IN_PROGRESS."""

    home: ClassVar[GroupType | None] = GroupType.CLASSIC
    __slots__ = ("generation_id", "instance_id", "member_id")
    reply: ErrorCode

    def __init__(self, group_id: str, member_id: str, generation_id: int, instance_id: str | None = None) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.generation_id = generation_id
        self.instance_id = instance_id


@mypyc_attr(allow_interpreted_subclasses=True)
class LeaveGroup(GroupCommand):
    """Members leave, or are removed: (member id or "", instance id or None) each. The reply has a code for each."""

    home: ClassVar[GroupType | None] = GroupType.CLASSIC
    __slots__ = ("members",)
    reply: list[ErrorCode]

    def __init__(self, group_id: str, members: Sequence[tuple[str, str | None]]) -> None:
        self.group_id = group_id
        self.members = members


# -- commands that only the coordinator gives


@mypyc_attr(allow_interpreted_subclasses=True)
class ExpireMember(MemberCommand):
    """The session of a member is over, or the time for which a new member id is kept."""

    home: ClassVar[GroupType | None] = GroupType.CLASSIC
    __slots__ = ()
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class EndJoinPhase(GroupCommand):
    """The time to join is over: see `join_phase`."""

    home: ClassVar[GroupType | None] = GroupType.CLASSIC
    __slots__ = ()
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class EndJoinPhaseIfAll(GroupCommand):
    """End the join phase if all members have joined, as they had a moment ago."""

    home: ClassVar[GroupType | None] = GroupType.CLASSIC
    __slots__ = ()
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class ExpireSync(GroupCommand):
    """The time to sync is over for a generation."""

    home: ClassVar[GroupType | None] = GroupType.CLASSIC
    __slots__ = ("generation_id",)
    reply: None

    def __init__(self, group_id: str, generation_id: int) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
