"""A group of the classic protocol: its commands, its record, its members, its state and what it permits.

Refused commands raise `KafkaError`, but the responses to JoinGroup and SyncGroup contain their errors.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from enum import Enum
from typing import ClassVar

from odradek.broker.coordinator.group.classic.states import (
    COMPLETING_REBALANCE,
    DEAD,
    EMPTY,
    PREPARING_REBALANCE,
    RULES,
    STABLE,
    CommitAction,
    DeletionAction,
    GroupState,
)
from odradek.broker.coordinator.group.groups import (
    CommitOffsets,
    CommittedOffset,
    ExpiryBasis,
    FenceMember,
    Group,
    GroupChanged,
    GroupCommand,
    GroupType,
    Sender,
    TxnOffsetCommit,
)
from odradek.broker.coordinator.group.records import decode_key, decode_value, encode_key, encode_value
from odradek.broker.runtime.machine import Cancel, Effect, NewRecord, Schedule
from odradek.protocol.consumer_protocol import subscribed_topics
from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from odradek.protocol.generated.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from odradek.protocol.generated.stored.group_metadata import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from odradek.protocol.java_maps import hash_of_text, java_order
from odradek.protocol.native import mypyc_attr
from odradek.protocol.text_cache import text_cache

GROUP_METADATA_VERSION = 3
_LEAVE_BATCHED_FROM = 3


@text_cache(1 << 12)
def encode_group_key(group_id: str) -> bytes:
    """GroupMetadataKey, behind its record type 2."""
    return encode_key(GroupMetadataKey(group=group_id))


def group_record(group_id: str, group: GroupMetadataValue) -> NewRecord:
    """The record of a generation. A member without a rebalance timeout of its own is read with another one."""
    decoded = None if any(member.rebalance_timeout == -1 for member in group.members) else group
    return NewRecord(encode_group_key(group_id), encode_value(group, GROUP_METADATA_VERSION), decoded)


def decode_group_key(key: bytes) -> str:
    """The group id in a GroupMetadataKey."""
    return decode_key(GroupMetadataKey, key).group


def decode_group_value(value: bytes) -> GroupMetadataValue:
    """GroupMetadataValue of any version; a missing rebalance timeout (version 0) is the session timeout."""
    decoded = decode_value(GroupMetadataValue, value)
    for member in decoded.members:
        member.subscription, member.assignment = bytes(member.subscription), bytes(member.assignment)
        if member.rebalance_timeout == -1:
            member.rebalance_timeout = member.session_timeout
    return decoded


def join_refused(member_id: str, error: ErrorCode) -> JoinGroupResponse:
    """The response to a refused JoinGroup; `member_id` is "" where Kafka does not repeat it."""
    return JoinGroupResponse(error_code=error, protocol_name=None, member_id=member_id)


def sync_refused(error: ErrorCode) -> SyncGroupResponse:
    """The response to a refused SyncGroup."""
    return SyncGroupResponse(error_code=error)


Protocols = tuple[tuple[str, bytes], ...]
"""The protocols (assignors) of a member in order of preference: name, and metadata (a consumer's subscription)."""


@mypyc_attr(allow_interpreted_subclasses=True)
class JoinGroup(GroupCommand):
    """Join, or join again. Parked until the join phase ends."""

    home: ClassVar[GroupType | None] = GroupType.CLASSIC
    __slots__ = ("protocols", "request", "sender")
    reply: JoinGroupResponse

    def __init__(self, request: JoinGroupRequest, sender: Sender) -> None:
        self.group_id = request.group_id
        self.request = request
        self.sender = sender
        self.protocols: Protocols = tuple((p.name, bytes(p.metadata)) for p in request.protocols)

    @property
    def rebalance_timeout_ms(self) -> int:
        """Milliseconds. In version 0 it is the session timeout."""
        request = self.request
        return request.session_timeout_ms if self.sender.api_version == 0 else request.rebalance_timeout_ms


@mypyc_attr(allow_interpreted_subclasses=True)
class SyncGroup(GroupCommand):
    """Bring (leader) and fetch the assignment. Parked until the leader has brought it."""

    home: ClassVar[GroupType | None] = GroupType.CLASSIC
    __slots__ = ("request",)
    reply: SyncGroupResponse

    def __init__(self, request: SyncGroupRequest) -> None:
        self.group_id = request.group_id
        self.request = request


@mypyc_attr(allow_interpreted_subclasses=True)
class Heartbeat(GroupCommand):
    """A member's sign of life. The response has NONE or REBALANCE_IN_PROGRESS."""

    home: ClassVar[GroupType | None] = GroupType.CLASSIC
    __slots__ = ("request",)
    reply: HeartbeatResponse

    def __init__(self, request: HeartbeatRequest) -> None:
        self.group_id = request.group_id
        self.request = request


@mypyc_attr(allow_interpreted_subclasses=True)
class LeaveGroup(GroupCommand):
    """Members leave, or are removed by their instance ids. Before version 3 there is one."""

    home: ClassVar[GroupType | None] = GroupType.CLASSIC
    __slots__ = ("batched", "members")
    reply: LeaveGroupResponse

    def __init__(self, request: LeaveGroupRequest, api_version: int) -> None:
        self.group_id = request.group_id
        self.batched = api_version >= _LEAVE_BATCHED_FROM
        self.members = request.members if self.batched else [MemberIdentity(request.member_id)]

    def response(self, codes: Sequence[ErrorCode]) -> LeaveGroupResponse:
        """The response with the code of each member."""
        if not self.batched:
            return LeaveGroupResponse(error_code=codes[0])
        rows = zip(self.members, codes, strict=True)
        return LeaveGroupResponse(members=[MemberResponse(m.member_id, m.group_instance_id, code) for m, code in rows])


# -- commands that only the coordinator gives


@mypyc_attr(allow_interpreted_subclasses=True)
class EndJoinPhase(GroupCommand):
    """The time to join is over. `if_all`: or the pause after the last member that has come. See `rebalance`."""

    home: ClassVar[GroupType | None] = GroupType.CLASSIC
    reply: None

    def __init__(self, group_id: str, *, if_all: bool = False) -> None:
        self.group_id = group_id
        self.if_all = if_all


@mypyc_attr(allow_interpreted_subclasses=True)
class ExpireSync(GroupCommand):
    """The time to sync is over for a generation."""

    home: ClassVar[GroupType | None] = GroupType.CLASSIC
    reply: None

    def __init__(self, group_id: str, generation_id: int) -> None:
        self.group_id = group_id
        self.generation_id = generation_id


@mypyc_attr(allow_interpreted_subclasses=True)
class Member:
    """A member of a group, with its parked requests.

    `join_ticket` and `sync_ticket`: the tickets of its parked JoinGroup and SyncGroup. `is_new`: it is in no generation
    yet, so it cannot send heartbeats. `assignment`: the stored one.
    """

    def __init__(
        self,
        group_id: str,
        member_id: str,
        instance_id: str | None,
        client_id: str,
        client_host: str,
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
        protocols: Protocols,
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.session_timeout_ms = session_timeout_ms
        self.protocols = protocols
        self.assignment = assignment
        self.is_new = False
        self.join_ticket: int | None = None
        self.sync_ticket: int | None = None
        self.session_key = session_key(group_id, member_id)
        self.expiry = FenceMember(group_id, member_id)

    @classmethod
    def from_stored(cls, group_id: str, protocol: str | None, stored: MemberMetadata) -> Member:
        """The member as the log has it: of its protocols only the group's is known."""
        return cls(
            group_id,
            stored.member_id,
            stored.group_instance_id,
            stored.client_id,
            stored.client_host,
            stored.rebalance_timeout,
            stored.session_timeout,
            ((protocol or "", stored.subscription),),
            stored.assignment,
        )

    def to_stored(self, protocol: str | None) -> MemberMetadata:
        """The member as the record of a generation with this protocol has it."""
        return MemberMetadata(
            self.member_id,
            self.instance_id,
            self.client_id,
            self.client_host,
            self.rebalance_timeout_ms,
            self.session_timeout_ms,
            b"" if protocol is None else self.metadata(protocol),
            self.assignment,
        )

    def renamed(self, group_id: str, member_id: str) -> Member:
        """The same static member under another member id, waiting for nothing."""
        return Member(
            group_id,
            member_id,
            self.instance_id,
            self.client_id,
            self.client_host,
            self.rebalance_timeout_ms,
            self.session_timeout_ms,
            self.protocols,
            self.assignment,
        )

    def metadata(self, protocol: str) -> bytes:
        """The metadata for one of its protocols."""
        for name, metadata in self.protocols:
            if name == protocol:
                return metadata
        raise KeyError(protocol)

    @property
    def keeps_session(self) -> bool:
        """Whether it need not send heartbeats now, because it waits for the others."""
        return not self.is_new and (self.join_ticket is not None or self.sync_ticket is not None)


def session_key(group_id: str, member_id: str) -> tuple[str, str, str]:
    """The key of a member's session timer."""
    return ("session", group_id, member_id)


class JoinStage(Enum):
    """The reasons why a join phase waits."""

    DELAY = "an empty group's first members: others may come within group.initial.rebalance.delay.ms (KIP-134)"
    LAST_CALL = "the delay is over: members that were told their ids may come back with them (KIP-394)"
    OPEN = "all members of the last generation, until the rebalance timeout is over"


@mypyc_attr(allow_interpreted_subclasses=True)
class JoinPhase:
    """A join phase under way. In `JoinStage.DELAY`: `delay_ms` is the present delay, `remaining_ms` what is left of
    the rebalance timeout after it, and `somebody_came` tells whether a member has joined since it began.
    """

    def __init__(self, stage: JoinStage, delay_ms: int = 0, remaining_ms: int = 0) -> None:
        self.stage = stage
        self.delay_ms = delay_ms
        self.remaining_ms = remaining_ms
        self.somebody_came = False


CONSUMER = "consumer"
"""The protocol type of consumers: the coordinator may look into their subscriptions."""


@mypyc_attr(allow_interpreted_subclasses=True)
class ClassicGroup:
    """See `Group`. Owner: the classic kind, which changes it; this class keeps its parts consistent.

    The present generation (its number, protocol, leader and assignments) is what the log says while the group is stable
    or empty: `take_stored` takes it from the record, live and after a load. Soft state (a rebalance, waiting members,
    ids given out) is lost with the coordinator; clients begin again, as with Kafka.

    `members` by id; what is derived from them stays consistent with each change. `static_members`: member ids by
    instance id. `pending_join`: ids that were given out and have not joined yet; `pending_sync`: members that owe a
    SyncGroup. `awaiting_join`: how many members wait for the end of the join phase. `supported`: how many members offer
    each protocol.
    """

    group_type: ClassVar[GroupType] = GroupType.CLASSIC
    expires: ClassVar[bool] = True
    is_described: ClassVar[bool] = False

    def __init__(self, group_id: str, now_ms: int) -> None:
        self.group_id = group_id
        self.leader: str | None = None
        self.members: dict[str, Member] = {}
        self.static_members: dict[str, str] = {}
        self.pending_join: dict[str, None] = {}
        self.pending_sync: set[str] = set()
        self.awaiting_join = 0
        self.supported: dict[str, int] = {}
        self.state = EMPTY
        self.rules = RULES[EMPTY]
        self.state_timestamp = now_ms
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.join_phase: JoinPhase | None = None
        self.subscribed_topics: frozenset[str] | None = None

    @classmethod
    def from_stored(cls, group_id: str, stored: GroupMetadataValue) -> ClassicGroup:
        """A group right after its coordinator has loaded."""
        group = cls(group_id, stored.current_state_timestamp)
        for member in stored.members:
            group.add(Member.from_stored(group_id, stored.protocol, member))
        group.take_stored(stored)
        group.note_subscriptions()
        return group

    def __repr__(self) -> str:
        return (
            f"ClassicGroup({self.group_id!r}, {self.state.value}, generation {self.generation}, {list(self.members)})"
        )

    # -- Group

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def is_empty(self) -> bool:
        return self.state is EMPTY

    def is_in_state(self, names: Collection[str]) -> bool:
        return self.state.value.lower() in names

    def check_commit(self, command: CommitOffsets) -> Sequence[Effect]:
        if command.epoch < 0 and self.state is EMPTY:
            return ()
        member = self.validate_member(command.request.member_id, command.request.group_instance_id)
        if command.epoch != self.generation:
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
        if self.rules.commit is CommitAction.REJOIN:
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)
        return (Schedule(member.session_key, member.session_timeout_ms, member.expiry),)

    def check_transactional_commit(self, command: TxnOffsetCommit) -> None:
        """See `Group`. Older producers name no member; those that do are held to it (KIP-447)."""
        names_nobody = not command.request.member_id and command.request.group_instance_id is None
        if command.epoch < 0 and (names_nobody or self.state is EMPTY):
            return
        self.validate_member(command.request.member_id, command.request.group_instance_id)
        if command.epoch != self.generation:
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION)

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """See `Group`: any client may read."""

    def check_delete_offsets(self) -> None:
        action = self.rules.delete_offsets
        if action is not DeletionAction.DELETE and not self.is_consumer_group:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP)

    def check_delete(self) -> None:
        if self.rules.delete is not DeletionAction.DELETE:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP)

    def expiry_basis(self) -> ExpiryBasis | None:
        """See `Group`: from the commit for a group without generations, otherwise from when its last member left."""
        if self.protocol_type is None:
            return _commit_time
        if self.state is EMPTY:
            emptied = self.state_timestamp
            return _commit_time if emptied < 0 else lambda _: emptied
        if self.is_consumer_group and self.subscribed_topics is not None and self.state is STABLE:
            return _commit_time
        return None

    def tombstones(self) -> list[NewRecord]:
        return [NewRecord(encode_group_key(self.group_id))]

    def on_removed(self) -> Sequence[Effect]:
        timers = [Cancel(session_key(self.group_id, member_id)) for member_id in self.pending_join]
        return [*timers, GroupChanged(self.group_id)]

    # -- members that come and go

    def add(self, member: Member) -> None:
        """Add a member; the first one determines the protocol type and leads."""
        self.members[member.member_id] = member
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id
        if self.leader is None:
            self.leader = member.member_id
        self._count(member, 1)
        if member.join_ticket is not None:
            self.awaiting_join += 1
        self.pending_join.pop(member.member_id, None)

    def remove(self, member_id: str) -> Member | None:
        """Remove a member or an id given out. If it was the leader, the next member leads."""
        self.pending_join.pop(member_id, None)
        self.pending_sync.discard(member_id)
        member = self.members.pop(member_id, None)
        if member is None:
            return None
        self._count(member, -1)
        if member.join_ticket is not None:
            self.awaiting_join -= 1
        if member.instance_id is not None and self.static_members.get(member.instance_id) == member_id:
            del self.static_members[member.instance_id]
        if self.leader == member_id:
            self.leader = next((other.member_id for other in self.in_map_order()), None)
        return member

    def update(self, member: Member, protocols: Protocols, session_timeout_ms: int, rebalance_timeout_ms: int) -> None:
        """Update a member that joins again, perhaps with other protocols."""
        self._count(member, -1)
        member.protocols = protocols
        member.session_timeout_ms = session_timeout_ms
        member.rebalance_timeout_ms = rebalance_timeout_ms
        self._count(member, 1)

    def replace_static(self, old: Member, member_id: str) -> Member:
        """Give a static member that comes back under a new member id its old place (KIP-345)."""
        assert old.instance_id is not None
        new = old.renamed(self.group_id, member_id)
        leads = self.leader == old.member_id
        self.members = {
            (member_id if key == old.member_id else key): (new if value is old else value)
            for key, value in self.members.items()
        }
        self.static_members[old.instance_id] = member_id
        if leads:
            self.leader = member_id
        if old.join_ticket is not None:
            self.awaiting_join -= 1
        if old.member_id in self.pending_sync:
            self.pending_sync.discard(old.member_id)
            self.pending_sync.add(member_id)
        return new

    def await_join(self, member: Member, ticket: int) -> int | None:
        """The member waits for the end of the join phase; returns the ticket it waited under before, if any."""
        before = member.join_ticket
        if before is None:
            self.awaiting_join += 1
        member.join_ticket = ticket
        return before

    def stop_awaiting_join(self, member: Member) -> int | None:
        """The member's JoinGroup is about to be answered; returns its ticket."""
        ticket = member.join_ticket
        if ticket is not None:
            member.join_ticket = None
            self.awaiting_join -= 1
        return ticket

    def validate_member(self, member_id: str, instance_id: str | None) -> Member:
        """The member; raises UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID when another one has taken the instance id."""
        if instance_id is not None:
            owner = self.static_members.get(instance_id)
            if owner is None:
                raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
            if owner != member_id:
                raise KafkaError(ErrorCode.FENCED_INSTANCE_ID)
        member = self.members.get(member_id)
        if member is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)
        return member

    @property
    def all_joined(self) -> bool:
        """Whether all members, and all ids given out, wait for the end of the join phase."""
        return not self.pending_join and self.awaiting_join == len(self.members)

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest of its members' rebalance timeouts."""
        return max((m.rebalance_timeout_ms for m in self.members.values()), default=0)

    def elect_joined_leader(self) -> bool:
        """Make sure that the leader has joined; False if no member has."""
        leader = self.members.get(self.leader or "")
        if leader is None:
            return False
        if leader.join_ticket is not None:
            return True
        for member in self.in_map_order():
            if member.join_ticket is not None:
                self.leader = member.member_id
                return True
        return False

    def in_map_order(self) -> list[Member]:
        """The members as Kafka walks them."""
        return [self.members[member_id] for member_id in java_order(self.members, hash_of_text)]

    # -- what the members have in common

    def shares_any(self, protocols: Protocols) -> bool:
        """Whether all members offer one of these protocols."""
        everybody = len(self.members)
        return any(self.supported.get(name, 0) == everybody for name, _ in protocols)

    def select_protocol(self, instead_of: Member | None = None, protocols: Protocols = ()) -> str:
        """The protocol that all members support and most prefer, if `instead_of` had these `protocols`.

        Among equals the one wins that comes first in a Java hash map, as in Kafka.
        """
        offers = [protocols if m is instead_of else m.protocols for m in self.members.values()]
        candidates = set.intersection(*({name for name, _ in offer} for offer in offers))
        votes: dict[str, int] = {}
        for offer in offers:
            choice = next(name for name, _ in offer if name in candidates)
            votes[choice] = votes.get(choice, 0) + 1
        return max(java_order(votes, hash_of_text), key=votes.__getitem__)

    def find_topics(self, protocol: str | None) -> frozenset[str] | None:
        """All topics that the members, consumers, subscribe to with this protocol; None where that cannot be known."""
        if not self.members:
            return frozenset()
        if protocol is None:
            return None
        try:
            return frozenset(t for m in self.members.values() for t in subscribed_topics(m.metadata(protocol)))
        except (ProtocolError, KeyError):
            return None

    def _count(self, member: Member, step: int) -> None:
        for name in {name for name, _ in member.protocols}:
            left = self.supported.get(name, 0) + step
            if left:
                self.supported[name] = left
            else:
                del self.supported[name]

    # -- state

    def transition_to(self, state: GroupState, now_ms: int) -> None:
        """Enter a state; a transition that the table does not have is a bug."""
        if state not in self.rules.next:
            raise RuntimeError(f"group {self.group_id!r}: {self.state.value} cannot become {state.value}")
        self._enter(state)
        self.state_timestamp = now_ms

    def take_stored(self, stored: GroupMetadataValue) -> None:
        """Take the generation of a stored record as the present one, with the assignments of its members."""
        self.generation = stored.generation
        self.protocol_type = stored.protocol_type or None
        self.protocol = stored.protocol
        self.leader = stored.leader
        for member in stored.members:
            live = self.members.get(member.member_id)
            if live is not None:
                live.assignment = member.assignment
        self._enter(STABLE if stored.members else EMPTY)

    def end(self) -> None:
        """End a group that is deleted, or that another kind has taken over."""
        self._enter(DEAD)

    def _enter(self, state: GroupState) -> None:
        self.state = state
        self.rules = RULES.get(state, self.rules)
        if state is not PREPARING_REBALANCE:
            self.join_phase = None

    @property
    def is_consumer_group(self) -> bool:
        """Whether its members are consumers."""
        return self.protocol_type == CONSUMER

    def to_stored(self) -> GroupMetadataValue:
        """This generation as a record has it."""
        protocol = self.protocol
        members = [member.to_stored(protocol) for member in self.members.values()]
        return GroupMetadataValue(
            self.protocol_type or "", self.generation, protocol, self.leader, self.state_timestamp, members
        )

    # -- generations

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Whether a member with these protocols can join: all members must have one of them in common."""
        if self.state is EMPTY:
            return bool(protocol_type) and bool(protocols)
        return protocol_type == self.protocol_type and self.shares_any(protocols)

    def next_generation(self, now_ms: int) -> None:
        """The join phase has ended with the members that are left."""
        self.generation += 1
        self.protocol = self.select_protocol() if self.members else None
        self.transition_to(COMPLETING_REBALANCE if self.members else EMPTY, now_ms)
        self.note_subscriptions()
        self.pending_sync = set(self.members)

    def note_subscriptions(self) -> None:
        """Find the topics that the members of a consumer group subscribe to; None if their subscriptions are
        unreadable.
        """
        self.subscribed_topics = self.find_topics(self.protocol) if self.is_consumer_group else None

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether a member subscribes to the topic; a consumer group whose subscriptions are unreadable might."""
        if self.subscribed_topics is None:
            return self.is_consumer_group
        return topic in self.subscribed_topics

    def join_response(self, member_id: str) -> JoinGroupResponse:
        """The response to JoinGroup for a member of the present generation. The leader's contains all members."""
        protocol = self.protocol or ""
        leads = member_id == self.leader
        return JoinGroupResponse(
            generation_id=self.generation,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol,
            leader=self.leader or "",
            member_id=member_id,
            members=[
                JoinGroupResponseMember(m.member_id, m.instance_id, m.metadata(protocol)) for m in self.in_map_order()
            ]
            if leads
            else [],
        )

    def sync_response(self, assignment: bytes) -> SyncGroupResponse:
        """The response to SyncGroup for a member of the present generation."""
        return SyncGroupResponse(protocol_type=self.protocol_type, protocol_name=self.protocol, assignment=assignment)


def _commit_time(offset: CommittedOffset) -> int:
    return offset.commit_timestamp


def as_known(committed: Group, live: Group) -> Group:
    """A group as clients see it: its members wait for their assignment until that is committed."""
    assert isinstance(committed, ClassicGroup)
    assert isinstance(live, ClassicGroup)
    if live.state is not STABLE or committed.generation == live.generation:
        return live
    waiting = copy(live)
    waiting.state = COMPLETING_REBALANCE
    return waiting
