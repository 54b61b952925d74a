"""A consumer group as its log has it (members, epochs, target assignment), its timers, and the step that changes it.

Only replay changes the group. A member may commit with an older epoch for partitions that it has had since then
(KIP-1251); a fetch has to name the present epoch. Members of the classic protocol get errors about generations instead.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import ClassVar

from odradek.broker.coordinator.group.assignment import MemberOrder, timeline_order
from odradek.broker.coordinator.group.commands import CommitOffsets, GroupType, TxnOffsetCommit, Visible
from odradek.broker.coordinator.group.consumer.commands import FenceMember
from odradek.broker.coordinator.group.consumer.member import Epochs, Member, say_the_same
from odradek.broker.coordinator.group.consumer.records import group_tombstones
from odradek.broker.coordinator.group.consumer.regexes import ResolvedRegex
from odradek.broker.coordinator.group.epoch_group import (
    EMPTY,
    FIRST_EPOCH,
    EpochGroup,
    known_member,
)
from odradek.broker.coordinator.group.kinds import GroupChanged
from odradek.broker.coordinator.group.target import Subscriptions, TargetAssignment, count_down, count_up
from odradek.broker.coordinator.group.topics import StoredTopics
from odradek.broker.runtime.machine import Cancel, Effect, NewRecord, Outcome, R, Schedule, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.native import mypyc_attr
from odradek.protocol.primitives import ZERO_UUID
from odradek.protocol.text_cache import text_cache


def session_key(group_id: str, member_id: str) -> Hashable:
    """The key of its session timer, which restarts with each heartbeat."""
    return ("consumer session", group_id, member_id)


@text_cache(1 << 12)
def session(group_id: str, member_id: str, timeout_ms: int) -> Schedule:
    """The effect that starts it. Every heartbeat has this effect, so it is one shared object."""
    return Schedule(session_key(group_id, member_id), timeout_ms, FenceMember(group_id, member_id))


def rebalance_key(group_id: str, member_id: str) -> Hashable:
    """The key of the timer for revoking partitions."""
    return ("consumer rebalance", group_id, member_id)


def join_key(group_id: str, member_id: str) -> Hashable:
    """The key of the timer of a classic member that has to join again."""
    return ("consumer join", group_id, member_id)


def sync_key(group_id: str, member_id: str) -> Hashable:
    """The key of the timer for a classic member that has joined and must sync."""
    return ("consumer sync", group_id, member_id)


def member_timers(group_id: str, member_id: str) -> tuple[Hashable, ...]:
    """All of them."""
    return (
        session_key(group_id, member_id),
        rebalance_key(group_id, member_id),
        join_key(group_id, member_id),
        sync_key(group_id, member_id),
    )


CONSUMER_PROTOCOL = "consumer"


@mypyc_attr(allow_interpreted_subclasses=True)
class ConsumerGroup(EpochGroup):
    """See `kinds.Group`. Owner: the consumer kind.

    Everything here comes from records, except the soft state: until when topics need not be looked at, which version of
    them the patterns were resolved with last (``checked_topics_version``), whether that is under way (``resolving``),
    and ``asked_to_join``: classic members that were told to join again.

    ``holders``: by topic id and partition, how many members have it, or have to give it up and have not yet. Never more
    than one while records come one by one; a compacted log may show a member with what it had before, beside the one
    that has it now.
    """

    group_type: ClassVar[GroupType] = GroupType.CONSUMER
    protocol_type: ClassVar[str] = CONSUMER_PROTOCOL

    def __init__(self, group_id: str, first_epoch: int = FIRST_EPOCH) -> None:
        super().__init__(group_id, first_epoch)
        self.members: dict[str, Member] = {}
        self.order = MemberOrder()
        self.target = TargetAssignment()
        self.subscriptions = Subscriptions()
        self.regexes: dict[str, ResolvedRegex] = {}
        self.members_by_regex: dict[str, int] = {}
        self.members_by_assignor: dict[str, int] = {}
        self.classic_members = 0
        self.classic_protocols: dict[str, int] = {}
        self.stored_topics: StoredTopics | None = None
        self.holders: dict[bytes, dict[int, int]] = {}
        self._checked_until_ms = 0
        self._checked_in_epoch = 0
        self.checked_topics_version = -1
        self.resolving = False
        self.asked_to_join: set[str] = set()

    # -- Group

    def _by_id(self) -> Mapping[str, Member]:
        return self.members

    def _compute_state(self) -> str:
        return self._progress() if self.members else EMPTY

    def is_subscribed_to(self, topic: str) -> bool:
        """See `Group`."""
        return topic in self.subscriptions

    def _is_classic(self, member: Member) -> bool:
        return member.classic is not None

    def _check_age(self, member: Member, command: CommitOffsets | TxnOffsetCommit) -> None:
        """Raise unless the member has had every partition of the commit since the epoch in it."""
        epoch = command.generation_id
        code = ErrorCode.STALE_MEMBER_EPOCH if member.classic is None else ErrorCode.ILLEGAL_GENERATION
        if epoch > member.epoch:
            raise KafkaError(code, f"epoch {epoch} is newer than the current member epoch {member.epoch}")
        for offset in command.offsets:
            given = None
            if offset.topic_id != ZERO_UUID:
                given = member.assigned.get(offset.topic_id, {}).get(offset.partition)
                if given is None:
                    given = member.revoking.get(offset.topic_id, {}).get(offset.partition)
            if given is None or epoch < given:
                raise KafkaError(code, f"{offset.topic}-{offset.partition} was not the member's in epoch {epoch}")

    def tombstones(self) -> list[NewRecord]:
        """See `Group`."""
        return group_tombstones(self.group_id, self.members, self.regexes)

    def on_removed(self) -> Sequence[Effect]:
        """See `Group`."""
        timers = [Cancel(key) for member_id in self.members for key in member_timers(self.group_id, member_id)]
        return [*timers, GroupChanged(self.group_id)]

    # -- reading

    def member(self, member_id: str | None) -> Member:
        """The member with that id; raises UNKNOWN_MEMBER_ID without one."""
        return known_member(self.group_id, self.members, member_id)

    def static_member(self, instance_id: str | None) -> Member | None:
        """The member with an instance id; None without one."""
        return None if instance_id is None else self.members.get(self.static_ids.get(instance_id, ""))

    def is_held(self, topic_id: bytes, partition: int) -> bool:
        """Whether any member has the partition, also one that has not revoked it yet."""
        return partition in self.holders.get(topic_id, ())

    def topics_of(self, member: Member) -> tuple[str, ...]:
        """The topic names that a member subscribes to, with the matches of its pattern."""
        resolved = self.regexes.get(member.regex) if member.regex else None
        if resolved is None:
            return member.topics
        return (*member.topics, *sorted(resolved.topics.difference(member.topics)))

    @property
    def is_homogeneous(self) -> bool:
        """Whether all members subscribe to the same topics."""
        if not self.members_by_regex:
            return self.subscriptions.all_name_the_same(len(self.members))
        alike = next(iter(self.members_by_regex.values())) == len(self.members)
        return alike and self.subscriptions.all_match_one_regex()

    def must_check_topics(self, now_ms: int) -> bool:
        """Whether the topics must be checked because they, or the coordinator, may have changed."""
        return now_ms >= self._checked_until_ms or self.epoch < self._checked_in_epoch

    def rests(self, member: Member, now_ms: int) -> bool:
        """Whether nothing can follow from a heartbeat of a member that has not changed."""
        return (
            self.epoch <= self.assignment_epoch
            and member.is_reconciled_to(self.assignment_epoch)
            and not self.members_by_regex
            and not self.must_check_topics(now_ms)
        )

    def waits_for_others(self, member: Member) -> bool:
        """Whether a member must wait because other members still have partitions of its target."""
        return any(
            partition not in member.assigned.get(topic_id, ()) and self.is_held(topic_id, partition)
            for topic_id, partitions in self.target.of(member.member_id).items()
            for partition in partitions
        )

    # -- changing, from records

    def set_epoch(self, epoch: int, metadata_hash: int) -> None:
        """Set the group's epoch."""
        self.epoch = epoch
        self.metadata_hash = metadata_hash
        self._state = None

    def put_member(self, member: Member) -> None:
        """Add or replace a member."""
        before = self.members.get(member.member_id)
        self.members[member.member_id] = member
        if before is None:
            self.order.add(member.member_id)
            self._count(member, count_up, 1)
            self._move({}, member.assigned)
            self._move({}, member.revoking)
        else:
            if not say_the_same(before, member):
                self._count(before, count_down, -1)
                self._count(member, count_up, 1)
            self._move(before.assigned, member.assigned)
            self._move(before.revoking, member.revoking)
        if len(self.members) >= self.peak:
            self.peak = len(self.members) + 1
        self.note_static(member)
        self._state = None

    def remove_member(self, member_id: str) -> None:
        """Remove a member."""
        before = self.members.pop(member_id, None)
        if before is not None:
            self.order.remove(member_id)
            self._count(before, count_down, -1)
            self._move(before.assigned, {})
            self._move(before.revoking, {})
        self.forget_static(before)
        self.asked_to_join.discard(member_id)
        self._state = None

    def in_map_order(self) -> list[Member]:
        """The members as Kafka walks them."""
        return [self.members[member_id] for member_id in timeline_order(list(self.members), self.peak)]

    def set_regex(self, regex: str, resolved: ResolvedRegex | None) -> None:
        """Set a resolved pattern; None: no member uses it any more."""
        before = self.regexes.pop(regex, None)
        if before is not None:
            count_down(self.subscriptions.by_regex, before.topics)
        if resolved is not None:
            self.regexes[regex] = resolved
            count_up(self.subscriptions.by_regex, resolved.topics)

    # -- soft state

    def topics_checked(self, until_ms: int, epoch: int) -> None:
        """Note that the topics were checked, for a group in that epoch."""
        self._checked_until_ms = until_ms
        self._checked_in_epoch = epoch

    def check_topics_again(self) -> None:
        """Have the topics checked again: one that the group subscribes to has changed."""
        self._checked_until_ms = 0

    # -- inside

    def _count(self, member: Member, count: Callable[[dict[str, int], Iterable[str]], None], step: int) -> None:
        """Add a member's subscription to the group's counts, or subtract it."""
        count(self.subscriptions.by_name, member.topics)
        if member.regex:
            count(self.members_by_regex, (member.regex,))
        if member.server_assignor is not None:
            count(self.members_by_assignor, (member.server_assignor,))
        if member.classic is not None:
            self.classic_members += step
            count(self.classic_protocols, (name for name, _ in member.classic.protocols))

    def _move(self, before: Epochs, after: Epochs) -> None:
        """Note that a member has other partitions than before."""
        if before == after:
            return
        for topic_id, partitions in before.items():
            holders = self.holders.get(topic_id, {})
            count_down(holders, partitions)
            if not holders:
                self.holders.pop(topic_id, None)
        for topic_id, partitions in after.items():
            count_up(self.holders.setdefault(topic_id, {}), partitions)


class Step:
    """``group`` is read only: the group itself, or for one that comes into being the group that ``records`` will make.

    ``later``: changes of soft state, made once the records are stored; they get the group that then lives.
    ``visible``: which of some topics the client may see that asks; None for all.
    """

    __slots__ = ("effects", "group", "later", "now_ms", "records", "visible")

    def __init__(
        self,
        group: ConsumerGroup,
        now_ms: int,
        records: Sequence[NewRecord] = (),
        *,
        visible: Visible | None = None,
    ) -> None:
        self.group = group
        self.now_ms = now_ms
        self.records: list[NewRecord] = list(records)
        self.effects: list[Effect] = []
        self.later: list[Callable[[ConsumerGroup], None]] = []
        self.visible = visible

    def outcome(self, reply: R, live: Callable[[], ConsumerGroup | None]) -> Outcome[R]:
        """The outcome; ``live`` finds the group once the records are replayed."""
        if self.records:
            self.effects.append(GroupChanged(self.group.group_id))
        if not self.later:
            return make_outcome(self.records, reply=reply, effects=self.effects)

        def settle() -> Sequence[Effect]:
            group = live()
            if group is not None:
                for change in self.later:
                    change(group)
            return ()

        return make_outcome(self.records, reply=reply, effects=self.effects, then=settle)
