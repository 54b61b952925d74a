"""The group types, and the commands that groups of every type understand. Commands of one type are beside its group.

The command of a request has the wire's message and who sent it; its reply is the wire's response. Errors are raised as
`KafkaError`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from enum import Enum
from typing import ClassVar, NamedTuple, final

from odradek.protocol.errors import ErrorCode
from odradek.protocol.native import mypyc_attr


class GroupType(Enum):
    """Kafka's group types, by the names that ListGroups shows. A group has one type at a time."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


Visible = Callable[[Iterable[str]], frozenset[str]]
"""Returns those of some topics that a client may see."""
Forbidden = Callable[[Sequence[str]], Sequence[str]]
"""Returns those of some topics that a client may not create."""


@final
@mypyc_attr(acyclic=True)
class Sender:
    """The client of a request. `host`: its address, as Kafka shows it.

    `visible`: which of some topics it may see; `forbidden`: which it may not create. None without an authorizer.
    """

    __slots__ = ("api_version", "client_id", "forbidden", "host", "visible")

    def __init__(
        self,
        client_id: str,
        host: str,
        api_version: int,
        visible: Visible | None = None,
        forbidden: Forbidden | None = None,
    ) -> None:
        self.client_id = client_id
        self.host = host
        self.api_version = api_version
        self.visible = visible
        self.forbidden = forbidden


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class GroupCommand:
    """An order about one group. Subclasses declare a `reply`.

    `home`: the kind that decides unless the group's own kind does (see `groups`); None: the machine itself.
    `why_members_go`: the reason that the broker's log gives for members that the command removes.
    """

    __slots__ = ("group_id",)
    home: ClassVar[GroupType | None] = None
    why_members_go: ClassVar[str] = "leaves"

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class MemberCommand(GroupCommand):
    """An order about one member of a group."""

    __slots__ = ("member_id",)

    def __init__(self, group_id: str, member_id: str) -> None:
        self.group_id = group_id
        self.member_id = member_id


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class FenceMember(MemberCommand):
    """The session of a member is over, or it has not joined or synced in time."""

    why_members_go: ClassVar[str] = "was not heard of in time"
    __slots__ = ()
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class ExpireRevocation(MemberCommand):
    """The time to revoke partitions or tasks is over for a member that was in ``member_epoch`` at its beginning."""

    why_members_go: ClassVar[str] = "did not give up its partitions in time"
    __slots__ = ("member_epoch",)
    reply: None

    def __init__(self, group_id: str, member_id: str, member_epoch: int) -> None:
        super().__init__(group_id, member_id)
        self.member_epoch = member_epoch


class OffsetToCommit(NamedTuple):
    """One offset of a commit."""

    topic: str
    topic_id: bytes
    partition: int
    offset: int
    leader_epoch: int
    metadata: str | None


class CommittedOffset(NamedTuple):
    """A committed offset as stored.

    Times in milliseconds, -1 for none. `record_offset`: its record's offset in the log.
    """

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp: int
    expire_timestamp: int
    topic_id: bytes
    record_offset: int


@mypyc_attr(allow_interpreted_subclasses=True)
class CommitOffsets(GroupCommand):
    """Store offsets of a member, or of a consumer outside of any membership (generation -1, no member id).

    `retention_ms`: until they expire, -1 for the broker's rule. The reply has a code for each offset.
    """

    __slots__ = ("api_version", "generation_id", "instance_id", "member_id", "offsets", "retention_ms")
    reply: list[ErrorCode]

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


@mypyc_attr(allow_interpreted_subclasses=True)
class TxnOffsetCommit(GroupCommand):
    """Store offsets that become visible when the producer's transaction commits (KIP-98; checks of KIP-447).

    The producer's right to do so has been verified before. The reply has a code for each offset. Before version 6 a
    missing group and a stale epoch are both ILLEGAL_GENERATION (KIP-1319).
    """

    __slots__ = ("api_version", "generation_id", "instance_id", "member_id", "offsets", "producer_epoch", "producer_id")
    reply: list[ErrorCode]

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
        api_version: int = 5,
    ) -> None:
        self.api_version = api_version
        self.group_id = group_id
        self.offsets = offsets
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.member_id = member_id
        self.generation_id = generation_id
        self.instance_id = instance_id


@mypyc_attr(allow_interpreted_subclasses=True)
class DeleteOffsets(GroupCommand):
    """Delete committed offsets of (topic, partition) pairs. The reply has a code for each."""

    __slots__ = ("places",)
    reply: list[ErrorCode]

    def __init__(self, group_id: str, places: Sequence[tuple[str, int]]) -> None:
        self.group_id = group_id
        self.places = places


@mypyc_attr(allow_interpreted_subclasses=True)
class DeleteGroup(GroupCommand):
    """Delete a group without members, and its offsets."""

    __slots__ = ()
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class ExpireOffsets:
    """Look for offsets and groups that have expired."""

    __slots__ = ()
    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class ForgetPartitions:
    """Drop the offsets of (topic, partition) pairs that were deleted, in all groups."""

    __slots__ = ("places",)
    reply: None

    def __init__(self, places: Collection[tuple[str, int]]) -> None:
        self.places = places


@mypyc_attr(allow_interpreted_subclasses=True)
class MetadataChanged:
    """Topics were made, deleted, or have got more partitions or other racks: `topics` by name."""

    __slots__ = ("topics",)
    reply: None

    def __init__(self, topics: Collection[str]) -> None:
        self.topics = topics
