"""A consumer group as its log has it: members, epochs, target assignment. Changed by replay only."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from odradek.broker.coordinator.group.commands import CommitOffsets, TxnOffsetCommit
from odradek.broker.coordinator.group.consumer import commits
from odradek.broker.coordinator.group.consumer.member import Epochs, Member
from odradek.broker.coordinator.group.consumer.records import group_tombstones
from odradek.broker.coordinator.group.consumer.regexes import ResolvedRegex
from odradek.broker.coordinator.group.consumer.timers import member_timers
from odradek.broker.coordinator.group.group_type import GroupType
from odradek.broker.coordinator.group.kinds import ExpiryBasis, GroupChanged
from odradek.broker.coordinator.group.subscriptions import Subscriptions, count_down, count_up
from odradek.broker.coordinator.group.target import TargetAssignment
from odradek.broker.runtime.machine import Cancel, Effect, NewRecord
from odradek.protocol.errors import ErrorCode, KafkaError

EMPTY, ASSIGNING, RECONCILING, STABLE = "Empty", "Assigning", "Reconciling", "Stable"

CONSUMER_PROTOCOL = "consumer"
_FIRST_EPOCH = 1


class ConsumerGroup:
    """See `kinds.Group`. Owner: the consumer kind.

    Everything here comes from records, except the soft state: until when topics need not be looked at, which version of
    them the patterns were resolved with last (``checked_topics_version``), whether that is under way (``resolving``),
    and ``asked_to_join``: classic members that were told to join again.

    ``_holders`` counts the members that have a partition. Never more than one while records come one by one; a
    compacted log may show a member with what it had before, beside the one that has it now.
    """

    group_type = GroupType.CONSUMER
    expires = True
    protocol_type = CONSUMER_PROTOCOL

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = _FIRST_EPOCH
        self.metadata_hash = 0
        self.assignment_epoch = _FIRST_EPOCH
        self.assignment_timestamp = 0
        self.members: dict[str, Member] = {}
        self.static_ids: dict[str, str] = {}
        self.target = TargetAssignment()
        self.subscriptions = Subscriptions()
        self.regexes: dict[str, ResolvedRegex] = {}
        self.members_by_regex: dict[str, int] = {}
        self.members_by_assignor: dict[str, int] = {}
        self.classic_members = 0
        self.classic_protocols: dict[str, int] = {}
        self.has_partition_metadata = False
        self.peak = 1
        self._holders: dict[bytes, dict[int, int]] = {}
        self._state: str | None = None
        self._checked_until_ms = 0
        self._checked_in_epoch = 0
        self.checked_topics_version = -1
        self.resolving = False
        self.asked_to_join: set[str] = set()

    def __repr__(self) -> str:
        return f"ConsumerGroup({self.group_id!r}, {self.state_name}, epoch {self.epoch}, {list(self.members)})"

    # -- Group

    @property
    def state_name(self) -> str:
        """See `Group`."""
        if self._state is None:
            self._state = self._compute_state()
        return self._state

    def _compute_state(self) -> str:
        if not self.members:
            return EMPTY
        if self.epoch > self.assignment_epoch:
            return ASSIGNING
        arrived = all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values())
        return STABLE if arrived else RECONCILING

    @property
    def is_empty(self) -> bool:
        """See `Group`."""
        return not self.members

    def is_in_state(self, names: Collection[str]) -> bool:
        """See `Group`."""
        return self.state_name.lower() in names

    def is_subscribed_to(self, topic: str) -> bool:
        """See `Group`."""
        return topic in self.subscriptions

    def check_commit(self, command: CommitOffsets) -> Sequence[Effect]:
        """See `Group`. A commit is no heartbeat here."""
        commits.check_commit(self.members, command)
        return ()

    def check_transactional_commit(self, command: TxnOffsetCommit) -> None:
        """See `Group`."""
        commits.check_transactional_commit(self.members, command)

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """See `Group`."""
        commits.check_fetch(self.group_id, self.members, member_id, member_epoch)

    def check_delete_offsets(self) -> None:
        """See `Group`: each topic is checked by itself."""

    def check_delete(self) -> None:
        """See `Group`."""
        if self.members:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP)

    def expiry_basis(self) -> ExpiryBasis | None:
        """See `Group`: the commit itself."""
        return lambda offset: offset.commit_timestamp

    def tombstones(self) -> list[NewRecord]:
        """See `Group`."""
        return group_tombstones(self.group_id, self.members, self.regexes)

    def on_removed(self) -> Sequence[Effect]:
        """See `Group`."""
        timers = [Cancel(key) for member_id in self.members for key in member_timers(self.group_id, member_id)]
        return [*timers, GroupChanged(self.group_id)]

    # -- reading

    def member(self, member_id: str) -> Member:
        """The member of that id; UNKNOWN_MEMBER_ID if there is none."""
        member = self.members.get(member_id)
        if member is None:
            text = f"Member {member_id} is not a member of group {self.group_id}."
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, text)
        return member

    def static_member(self, instance_id: str | None) -> Member | None:
        """The member that has an instance id, None if nobody has."""
        return None if instance_id is None else self.members.get(self.static_ids.get(instance_id, ""))

    def is_held(self, topic_id: bytes, partition: int) -> bool:
        """Whether any member still has the partition, or has to give it up and has not yet."""
        return partition in self._holders.get(topic_id, ())

    def topics_of(self, member: Member) -> tuple[str, ...]:
        """The names that a member subscribes to, with those that its pattern has matched."""
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
        """Whether topics have to be looked at because they, or the coordinator, may have changed."""
        return now_ms >= self._checked_until_ms or self.epoch < self._checked_in_epoch

    def waits_for_others(self, member: Member) -> bool:
        """Whether a member cannot get on because partitions of its target are still held by others."""
        return any(
            partition not in member.assigned.get(topic_id, ()) and self.is_held(topic_id, partition)
            for topic_id, partitions in self.target.of(member.member_id).items()
            for partition in partitions
        )

    # -- changing, from records

    def set_epoch(self, epoch: int, metadata_hash: int) -> None:
        """The group has got a new epoch."""
        self.epoch = epoch
        self.metadata_hash = metadata_hash
        self._state = None

    def set_assignment(self, epoch: int, timestamp: int) -> None:
        """A target assignment is complete."""
        self.assignment_epoch = epoch
        self.assignment_timestamp = timestamp
        self._state = None

    def put_member(self, member: Member) -> None:
        """A member is new or has changed."""
        before = self.members.get(member.member_id)
        self._uncount(before)
        self.members[member.member_id] = member
        self.peak = max(self.peak, len(self.members) + 1)
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = member.member_id
        self._count(member)
        self._state = None

    def remove_member(self, member_id: str) -> None:
        """A member is gone."""
        before = self.members.pop(member_id, None)
        self._uncount(before)
        instance_id = None if before is None else before.instance_id
        if instance_id is not None and self.static_ids.get(instance_id) == member_id:
            del self.static_ids[instance_id]
        self.asked_to_join.discard(member_id)
        self._state = None

    def set_regex(self, regex: str, resolved: ResolvedRegex | None) -> None:
        """A pattern has been resolved, or nobody uses it any more."""
        before = self.regexes.pop(regex, None)
        if before is not None:
            count_down(self.subscriptions.by_regex, before.topics)
        if resolved is not None:
            self.regexes[regex] = resolved
            count_up(self.subscriptions.by_regex, resolved.topics)

    # -- soft state

    def topics_checked(self, until_ms: int, epoch: int) -> None:
        """Topics have been looked at, for a group that was then in that epoch."""
        self._checked_until_ms = until_ms
        self._checked_in_epoch = epoch

    def check_topics_again(self) -> None:
        """A topic that the group subscribes to has changed."""
        self._checked_until_ms = 0

    # -- inside

    def _count(self, member: Member) -> None:
        count_up(self.subscriptions.by_name, member.topics)
        if member.regex:
            count_up(self.members_by_regex, (member.regex,))
        if member.server_assignor is not None:
            count_up(self.members_by_assignor, (member.server_assignor,))
        if member.classic is not None:
            self.classic_members += 1
            count_up(self.classic_protocols, (name for name, _ in member.classic.protocols))
        for epochs in (member.assigned, member.revoking):
            self._hold(epochs)

    def _uncount(self, member: Member | None) -> None:
        if member is None:
            return
        count_down(self.subscriptions.by_name, member.topics)
        if member.regex:
            count_down(self.members_by_regex, (member.regex,))
        if member.server_assignor is not None:
            count_down(self.members_by_assignor, (member.server_assignor,))
        if member.classic is not None:
            self.classic_members -= 1
            count_down(self.classic_protocols, (name for name, _ in member.classic.protocols))
        for epochs in (member.assigned, member.revoking):
            self._release(epochs)

    def _hold(self, epochs: Epochs) -> None:
        for topic_id, partitions in epochs.items():
            count_up(self._holders.setdefault(topic_id, {}), partitions)

    def _release(self, epochs: Epochs) -> None:
        for topic_id, partitions in epochs.items():
            holders = self._holders.get(topic_id, {})
            count_down(holders, partitions)
            if not holders:
                self._holders.pop(topic_id, None)
