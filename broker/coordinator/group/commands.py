"""What the group coordinator can be told to do. Replies are the answers' contents; errors come as `KafkaError`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from odradek.broker.runtime.machine import Command
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.join_group import JoinGroupResponse
from odradek.protocol.messages.sync_group import SyncGroupResponse

Protocols = tuple[tuple[str, bytes], ...]
"""The protocols (assignors) of a member in order of preference: name, and metadata (a consumer's subscription)."""


class JoinGroup(Command[JoinGroupResponse]):
    """Join, or join again. Parked until the join phase ends. ``host`` is the client's address."""

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


class SyncGroup(Command[SyncGroupResponse]):
    """Bring (leader) and fetch the assignment. Parked until the leader has brought it."""

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


class Heartbeat(Command[ErrorCode]):
    """A member lives. The reply is NONE or REBALANCE_IN_PROGRESS."""

    __slots__ = ("generation_id", "group_id", "instance_id", "member_id")

    def __init__(self, group_id: str, member_id: str, generation_id: int, instance_id: str | None = None) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.generation_id = generation_id
        self.instance_id = instance_id


class LeaveGroup(Command[list[ErrorCode]]):
    """Members leave, or are removed: (member id or "", instance id or None) each. The reply has a code for each."""

    __slots__ = ("group_id", "members")

    def __init__(self, group_id: str, members: Sequence[tuple[str, str | None]]) -> None:
        self.group_id = group_id
        self.members = members


class OffsetToCommit(NamedTuple):
    """One offset of a commit."""

    topic: str
    topic_id: bytes
    partition: int
    offset: int
    leader_epoch: int
    metadata: str | None


class CommitOffsets(Command[list[ErrorCode]]):
    """Store offsets of a member, or of a consumer outside of any membership (generation -1, no member id).

    ``retention_ms``: until they expire, -1 for the broker's rule. The reply has a code for each offset.
    """

    __slots__ = ("api_version", "generation_id", "group_id", "instance_id", "member_id", "offsets", "retention_ms")

    def __init__(
        self,
        group_id: str,
        offsets: Sequence[OffsetToCommit],
        *,
        member_id: str = "",
        generation_id: int = -1,
        instance_id: str | None = None,
        retention_ms: int = -1,
        api_version: int = 10,
    ) -> None:
        self.group_id = group_id
        self.offsets = offsets
        self.member_id = member_id
        self.generation_id = generation_id
        self.instance_id = instance_id
        self.retention_ms = retention_ms
        self.api_version = api_version


class TxnOffsetCommit(Command[list[ErrorCode]]):
    """Store offsets that become visible when the producer's transaction commits (KIP-98; checks of KIP-447).

    The producer's right to do so has been verified before. The reply has a code for each offset.
    """

    __slots__ = ("generation_id", "group_id", "instance_id", "member_id", "offsets", "producer_epoch", "producer_id")

    def __init__(
        self,
        group_id: str,
        offsets: Sequence[OffsetToCommit],
        *,
        producer_id: int,
        producer_epoch: int,
        member_id: str = "",
        generation_id: int = -1,
        instance_id: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.offsets = offsets
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.member_id = member_id
        self.generation_id = generation_id
        self.instance_id = instance_id


class DeleteOffsets(Command[list[ErrorCode]]):
    """Delete committed offsets of (topic, partition) pairs. The reply has a code for each."""

    __slots__ = ("group_id", "places")

    def __init__(self, group_id: str, places: Sequence[tuple[str, int]]) -> None:
        self.group_id = group_id
        self.places = places


class DeleteGroup(Command[None]):
    """Delete a group without members, and its offsets."""

    __slots__ = ("group_id",)

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id


# -- what only the coordinator tells itself


class ExpireMember(Command[None]):
    """The session of a member, or the time that an id given out is kept for, is over."""

    __slots__ = ("group_id", "member_id")

    def __init__(self, group_id: str, member_id: str) -> None:
        self.group_id = group_id
        self.member_id = member_id


class CompleteJoin(Command[None]):
    """The time to join is over."""

    __slots__ = ("group_id",)

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id


class CompleteJoinIfAll(Command[None]):
    """Everybody had joined a moment ago: end the join phase if that is still so."""

    __slots__ = ("group_id",)

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id


class ExtendJoin(Command[None]):
    """The initial delay of an empty group's rebalance is over: go on if somebody has joined meanwhile (KIP-134)."""

    __slots__ = ("delay_ms", "group_id", "remaining_ms")

    def __init__(self, group_id: str, delay_ms: int, remaining_ms: int) -> None:
        self.group_id = group_id
        self.delay_ms = delay_ms
        self.remaining_ms = remaining_ms


class ExpireSync(Command[None]):
    """The time to sync is over for a generation."""

    __slots__ = ("generation_id", "group_id")

    def __init__(self, group_id: str, generation_id: int) -> None:
        self.group_id = group_id
        self.generation_id = generation_id


class ExpireOffsets(Command[None]):
    """Look for offsets and groups that have expired."""

    __slots__ = ()


class ForgetPartitions(Command[None]):
    """These (topic, partition) pairs exist no more: drop the offsets that any group has of them."""

    __slots__ = ("places",)

    def __init__(self, places: Collection[tuple[str, int]]) -> None:
        self.places = places


AnyCommand = Command[Any]
