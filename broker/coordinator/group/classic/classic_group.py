"""A live group of the classic protocol: its state, its join phase, and the operations that it permits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from enum import Enum
from typing import ClassVar

from odradek.broker.coordinator.group.classic.commands import JoinedMember, JoinReply, Protocols
from odradek.broker.coordinator.group.classic.records import StoredGroup, encode_group_key
from odradek.broker.coordinator.group.classic.roster import Member, Roster, session_key
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
from odradek.broker.coordinator.group.commands import CommitOffsets, GroupType, TxnOffsetCommit
from odradek.broker.coordinator.group.groups import Group
from odradek.broker.coordinator.group.kinds import ExpiryBasis, GroupChanged
from odradek.broker.coordinator.group.stored_offsets import CommittedOffset
from odradek.broker.runtime.machine import Cancel, Effect, NewRecord, Schedule
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.native import mypyc_attr


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

    __slots__ = ("delay_ms", "remaining_ms", "somebody_came", "stage")

    def __init__(self, stage: JoinStage, delay_ms: int = 0, remaining_ms: int = 0) -> None:
        self.stage = stage
        self.delay_ms = delay_ms
        self.remaining_ms = remaining_ms
        self.somebody_came = False


CONSUMER = "consumer"
"""The protocol type of consumers: the coordinator may look into their subscriptions."""


@mypyc_attr(allow_interpreted_subclasses=True)
class ClassicGroup(Roster):
    """See `Group`. Owner: the classic kind, which changes it; this class keeps its parts consistent.

    The present generation (its number, protocol, leader and assignments) is what the log says while the group is stable
    or empty: `take_stored` takes it from the record, live and after a load. Soft state (a rebalance, waiting members,
    ids given out) is lost with the coordinator; clients begin again, as with Kafka.
    """

    group_type: ClassVar[GroupType] = GroupType.CLASSIC
    expires: ClassVar[bool] = True
    is_described: ClassVar[bool] = False

    __slots__ = (
        "generation",
        "join_phase",
        "protocol",
        "protocol_type",
        "rules",
        "state",
        "state_timestamp",
        "subscribed_topics",
    )

    def __init__(self, group_id: str, now_ms: int) -> None:
        super().__init__(group_id)
        self.state = EMPTY
        self.rules = RULES[EMPTY]
        self.state_timestamp = now_ms
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.join_phase: JoinPhase | None = None
        self.subscribed_topics: frozenset[str] | None = None

    @classmethod
    def from_stored(cls, group_id: str, stored: StoredGroup) -> ClassicGroup:
        """A group right after its coordinator has loaded."""
        group = cls(group_id, stored.state_timestamp)
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
        """See `Group`: any client may read."""

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
        """See `Group`."""
        return [NewRecord(encode_group_key(self.group_id))]

    def on_removed(self) -> Sequence[Effect]:
        """See `Group`."""
        timers = [Cancel(session_key(self.group_id, member_id)) for member_id in self.pending_join]
        return [*timers, GroupChanged(self.group_id)]

    # -- state

    def transition_to(self, state: GroupState, now_ms: int) -> None:
        """Enter a state; a transition that the table does not have is a bug."""
        if state not in self.rules.next:
            raise RuntimeError(f"group {self.group_id!r}: {self.state.value} cannot become {state.value}")
        self._enter(state)
        self.state_timestamp = now_ms

    def take_stored(self, stored: StoredGroup) -> None:
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

    def to_stored(self) -> StoredGroup:
        """This generation as a record has it."""
        protocol = self.protocol
        members = tuple(member.to_stored(protocol) for member in self.members.values())
        return StoredGroup(
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

    def join_reply(self, member_id: str) -> JoinReply:
        """The JoinGroup reply for a member of the present generation. The leader's contains all members."""
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
        """All members, as the leader gets them."""
        protocol = self.protocol or ""
        return tuple(JoinedMember(m.member_id, m.instance_id, m.metadata(protocol)) for m in self.in_map_order())


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
