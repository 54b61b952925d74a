"""A group of the classic protocol while it lives: its members, what they wait for, and where the group stands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from typing import ClassVar

from odradek.broker.coordinator.group.classic.commands import Protocols
from odradek.broker.coordinator.group.classic.join_phase import JoinPhase
from odradek.broker.coordinator.group.classic.member import Member, session_key
from odradek.broker.coordinator.group.classic.records import StoredGroup, encode_group_key
from odradek.broker.coordinator.group.classic.replies import JoinedMember, JoinReply
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
from odradek.broker.coordinator.group.commands import CommitOffsets, TxnOffsetCommit
from odradek.broker.coordinator.group.group import Group
from odradek.broker.coordinator.group.group_type import GroupType
from odradek.broker.coordinator.group.kinds import ExpiryBasis, GroupChanged
from odradek.broker.coordinator.group.offset_records import CommittedOffset
from odradek.broker.runtime.machine import Cancel, Effect, NewRecord, Schedule
from odradek.protocol.consumer_protocol import subscribed_topics
from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError
from odradek.protocol.java_maps import hash_of_text, java_order
from odradek.protocol.native import mypyc_attr

CONSUMER = "consumer"
"""The protocol type of consumers: the coordinator may look into their subscriptions."""


@mypyc_attr(allow_interpreted_subclasses=True)
class ClassicGroup:
    """See `Group`. Owner: the classic kind, which changes it; this class keeps its parts consistent.

    The present generation (its number, protocol, leader and assignments) is what the log says as soon as the group is
    stable or empty: `take_stored` takes it from the record, live and after a load. What is under way (a rebalance,
    waiting members, ids given out) dies with the coordinator, and clients begin again, as they do with Kafka.
    """

    group_type: ClassVar[GroupType] = GroupType.CLASSIC
    expires: ClassVar[bool] = True

    __slots__ = (
        "awaiting_join",
        "generation",
        "group_id",
        "join_phase",
        "leader",
        "members",
        "pending_join",
        "pending_sync",
        "protocol",
        "protocol_type",
        "rules",
        "state",
        "state_timestamp",
        "static_members",
        "subscribed_topics",
        "supported",
    )

    def __init__(self, group_id: str, now_ms: int) -> None:
        self.group_id = group_id
        self.state = EMPTY
        self.rules = RULES[EMPTY]
        self.state_timestamp = now_ms
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members: dict[str, Member] = {}
        self.static_members: dict[str, str] = {}
        self.join_phase: JoinPhase | None = None
        self.pending_join: dict[str, None] = {}
        self.pending_sync: set[str] = set()
        self.awaiting_join = 0
        self.supported: dict[str, int] = {}
        self.subscribed_topics: frozenset[str] | None = None

    @classmethod
    def from_stored(cls, group_id: str, stored: StoredGroup) -> ClassicGroup:
        """The group as it is right after its coordinator has loaded."""
        group = cls(group_id, stored.state_timestamp)
        for member in stored.members:
            group.add(Member.from_stored(group_id, stored.protocol, member))
        group.take_stored(stored)
        group.subscribed_topics = group.compute_subscribed_topics()
        return group

    def __repr__(self) -> str:
        return (
            f"ClassicGroup({self.group_id!r}, {self.state.value}, generation {self.generation}, {list(self.members)})"
        )

    # -- Group

    @property
    def state_name(self) -> str:
        """See `Group`."""
        return self.state.value

    @property
    def is_empty(self) -> bool:
        """See `Group`."""
        return self.state is EMPTY

    def is_in_state(self, names: Collection[str]) -> bool:
        """See `Group`."""
        return self.state.value.lower() in names

    def check_commit(self, command: CommitOffsets) -> Sequence[Effect]:
        """See `Group`."""
        if command.generation_id < 0 and self.state is EMPTY:
            return ()
        member = self.validate_member(command.member_id, command.instance_id)
        if command.generation_id != self.generation:
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
        if self.rules.commit is CommitAction.REJOIN:
            raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)
        return (Schedule(member.session_key, member.session_timeout_ms, member.expiry),)

    def check_transactional_commit(self, command: TxnOffsetCommit) -> None:
        """See `Group`. Older producers name no member; those that do are held to it (KIP-447)."""
        names_nobody = not command.member_id and command.instance_id is None
        if command.generation_id < 0 and (names_nobody or self.state is EMPTY):
            return
        self.validate_member(command.member_id, command.instance_id)
        if command.generation_id != self.generation:
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION)

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """See `Group`: anybody may read."""

    def check_delete_offsets(self) -> None:
        """See `Group`."""
        action = self.rules.delete_offsets
        if action is not DeletionAction.DELETE and not self.is_consumer_group:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP)

    def check_delete(self) -> None:
        """See `Group`."""
        if self.rules.delete is not DeletionAction.DELETE:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP)

    def expiry_basis(self) -> ExpiryBasis | None:
        """See `Group`: the commit where nobody leads the group through generations, else its last member's leave."""
        if self.protocol_type is None:
            return _commit_time
        if self.state is EMPTY:
            emptied = self.state_timestamp
            return _commit_time if emptied < 0 else lambda _: emptied
        if self.is_consumer_group and self.subscribed_topics is not None and self.state is STABLE:
            return _commit_time
        return None

    def tombstones(self) -> list[NewRecord]:
        """See `Group`."""
        return [NewRecord(encode_group_key(self.group_id))]

    def on_removed(self) -> Sequence[Effect]:
        """See `Group`."""
        timers = [Cancel(session_key(self.group_id, member_id)) for member_id in self.pending_join]
        return [*timers, GroupChanged(self.group_id)]

    # -- state

    def transition_to(self, state: GroupState, now_ms: int) -> None:
        """Move on; a move that the table does not have is a bug."""
        if state not in self.rules.next:
            raise RuntimeError(f"group {self.group_id!r}: {self.state.value} cannot become {state.value}")
        self._enter(state)
        self.state_timestamp = now_ms

    def take_stored(self, stored: StoredGroup) -> None:
        """The record of a generation is in the log: it is the present one, and its members have their assignments."""
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
        """The group is deleted, or another kind has taken it over."""
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

    def to_stored(self) -> StoredGroup:
        """This generation as a record has it."""
        protocol = self.protocol
        members = tuple(member.to_stored(protocol) for member in self.members.values())
        return StoredGroup(
            self.protocol_type or "", self.generation, protocol, self.leader, self.state_timestamp, members
        )

    # -- members

    def add(self, member: Member) -> None:
        """A member joins; the first one determines the protocol type and leads."""
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
        """A member, or an id given out, is gone; the next member leads if it was the leader."""
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
            self.leader = next(iter(self.members), None)
        return member

    def update(self, member: Member, protocols: Protocols, session_timeout_ms: int, rebalance_timeout_ms: int) -> None:
        """A member joins again, maybe with other protocols."""
        self._count(member, -1)
        member.protocols = protocols
        member.session_timeout_ms = session_timeout_ms
        member.rebalance_timeout_ms = rebalance_timeout_ms
        self._count(member, 1)

    def replace_static(self, old: Member, member_id: str) -> Member:
        """A static member comes back under a new member id and takes its old place (KIP-345)."""
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
        """Whether everybody who belongs to the group, or was given an id, waits for the end of the join phase."""
        return not self.pending_join and self.awaiting_join == len(self.members)

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest of its members' rebalance timeouts."""
        return max((m.rebalance_timeout_ms for m in self.members.values()), default=0)

    def elect_joined_leader(self) -> bool:
        """Make sure that the leader is one of those who have joined; false if nobody has."""
        leader = self.members.get(self.leader or "")
        if leader is None:
            return False
        if leader.join_ticket is not None:
            return True
        for member in self.members.values():
            if member.join_ticket is not None:
                self.leader = member.member_id
                return True
        return False

    # -- protocols

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Whether somebody with these protocols can join: one of them is common to all members."""
        if self.state is EMPTY:
            return bool(protocol_type) and bool(protocols)
        if protocol_type != self.protocol_type:
            return False
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

    def next_generation(self, now_ms: int) -> None:
        """The join phase has ended with the members that are left."""
        self.generation += 1
        self.protocol = self.select_protocol() if self.members else None
        self.transition_to(COMPLETING_REBALANCE if self.members else EMPTY, now_ms)
        self.subscribed_topics = self.compute_subscribed_topics()
        self.pending_sync = set(self.members)

    def compute_subscribed_topics(self) -> frozenset[str] | None:
        """All topics that the members of a consumer group subscribe to; None where that cannot be known."""
        if self.protocol_type != CONSUMER:
            return None
        if not self.members:
            return frozenset()
        if self.protocol is None:
            return None
        try:
            return frozenset(t for m in self.members.values() for t in subscribed_topics(m.metadata(self.protocol)))
        except (ProtocolError, KeyError):
            return None

    def is_subscribed_to(self, topic: str) -> bool:
        """Whether a member subscribes to the topic; a consumer group whose subscriptions are unreadable might."""
        if self.subscribed_topics is None:
            return self.is_consumer_group
        return topic in self.subscribed_topics

    def join_reply(self, member_id: str) -> JoinReply:
        """What a member of the present generation is told; the leader also gets all members."""
        return JoinReply(
            ErrorCode.NONE,
            member_id,
            self.generation,
            self.protocol_type,
            self.protocol,
            self.leader or "",
            self.joined_members() if member_id == self.leader else (),
        )

    def joined_members(self) -> tuple[JoinedMember, ...]:
        """All members, as the leader is told of them."""
        protocol = self.protocol or ""
        return tuple(JoinedMember(m.member_id, m.instance_id, m.metadata(protocol)) for m in self.members.values())

    def _count(self, member: Member, step: int) -> None:
        for name in {name for name, _ in member.protocols}:
            left = self.supported.get(name, 0) + step
            if left:
                self.supported[name] = left
            else:
                del self.supported[name]


def _commit_time(offset: CommittedOffset) -> int:
    return offset.commit_timestamp


def as_known(committed: Group, live: Group) -> Group:
    """A group as others see it: its members wait for their assignment until that is committed."""
    assert isinstance(committed, ClassicGroup)
    assert isinstance(live, ClassicGroup)
    if live.state is not STABLE or committed.generation == live.generation:
        return live
    waiting = copy(live)
    waiting.state = COMPLETING_REBALANCE
    return waiting
