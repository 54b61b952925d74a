"""A share group while it lives: what the log says of it, changed by replay only, and when to look at topics again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Set
from typing import TYPE_CHECKING, ClassVar

from odradek.broker.coordinator.group.assignment import Partitions
from odradek.broker.coordinator.group.group_type import GroupType
from odradek.broker.coordinator.group.kinds import ExpiryBasis, GroupChanged
from odradek.broker.coordinator.group.member_order import MemberOrder
from odradek.broker.coordinator.group.share.members import ShareMember, TopicStates
from odradek.broker.coordinator.group.share.records import group_tombstones
from odradek.broker.coordinator.group.subscriptions import count_down, count_up
from odradek.broker.coordinator.group.target import TargetAssignment
from odradek.broker.runtime.machine import Cancel, Effect, NewRecord
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.coordinator.group.commands import CommitOffsets, TxnOffsetCommit


class ShareGroup:
    """See `kinds.Group`. Invariants: ``subscribed`` counts the members by topic name.

    Soft: ``refresh_due``, a heartbeat looks at the topics again, as they may have changed; ``complete``, the last
    heartbeat found every partition stored that shall be, and the target assignment up to date.
    """

    group_type: ClassVar[GroupType] = GroupType.SHARE
    expires: ClassVar[bool] = False
    protocol_type: ClassVar[str] = "share"

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = 1
        self.metadata_hash = 0
        self.members: dict[str, ShareMember] = {}
        self._order = MemberOrder()
        self._peak = 1
        self.subscribed: dict[str, int] = {}
        self.target = TargetAssignment()
        self._shares: dict[bytes, dict[int, int]] = {}  # how many members are to have each partition
        self.assignment_epoch = 1
        self.assigned_ms = 0
        self.has_states = False
        self.initializing: dict[bytes, TopicStates] = {}
        self.initialized: dict[bytes, TopicStates] = {}
        self.deleting: dict[bytes, str] = {}
        self.refresh_due = True
        self.complete = False

    # -- Group

    @property
    def state_name(self) -> str:
        """See `Group`."""
        return "Stable" if self.members else "Empty"

    @property
    def is_empty(self) -> bool:
        """See `Group`."""
        return not self.members

    def is_in_state(self, names: Collection[str]) -> bool:
        """See `Group`."""
        return self.state_name.lower() in names

    def is_subscribed_to(self, topic: str) -> bool:
        """See `Group`."""
        return topic in self.subscribed

    def check_commit(self, command: CommitOffsets) -> Sequence[Effect]:
        """See `Group`: share groups have no committed offsets."""
        raise self._no_offsets()

    def check_transactional_commit(self, command: TxnOffsetCommit) -> None:
        """See `Group`."""
        raise self._no_offsets()

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """See `Group`: whoever asks is told that there are none."""

    def check_delete_offsets(self) -> None:
        """See `Group`."""
        raise self._no_offsets()

    def check_delete(self) -> None:
        """See `Group`."""
        if self.members:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP, "The group is not empty.")

    def expiry_basis(self) -> ExpiryBasis | None:
        """See `Group`."""
        return None

    def tombstones(self) -> list[NewRecord]:
        """See `Group`."""
        return group_tombstones(self.group_id, list(self.members))

    def on_removed(self) -> Sequence[Effect]:
        """See `Group`."""
        timers = [Cancel(session_key(self.group_id, member_id)) for member_id in self.members]
        return [*timers, GroupChanged(self.group_id)]

    def _no_offsets(self) -> KafkaError:
        return KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {self.group_id} is not a consumer group.")

    # -- reading

    def rests(self, member: ShareMember) -> bool:
        """Whether nothing can follow from a heartbeat of a member that has not changed."""
        return self.complete and member.epoch == self.assignment_epoch

    def member(self, member_id: str) -> ShareMember:
        """The member of that id; UNKNOWN_MEMBER_ID if there is none."""
        member = self.members.get(member_id)
        if member is None:
            text = f"Member {member_id} is not a member of group {self.group_id}."
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, text)
        return member

    def names(self, topic: str) -> bool:
        """Whether anything is stored, or is about to be, of a topic of that name."""
        rows = (*self.initializing.values(), *self.initialized.values())
        return any(row.name == topic for row in rows) or topic in self.deleting.values()

    def topics_with(self, member: ShareMember | None, without: str) -> dict[str, int]:
        """How many members subscribe to each topic, with ``member`` in place of the one of id ``without``."""
        counts = dict(self.subscribed)
        before = self.members.get(without)
        _count(counts, () if before is None else before.topics, -1)
        _count(counts, () if member is None else member.topics, 1)
        return counts

    def in_order(self, member: ShareMember) -> dict[str, ShareMember]:
        """The members by id, ``member`` among them as it is now, in the order in which Kafka walks them."""
        ids = self._order.with_change(self._peak, member.member_id, None)
        return {each: member if each == member.member_id else self.members[each] for each in ids}

    def shared_out(self, topic_id: bytes) -> Set[int]:
        """The partitions of a topic that are in the target of any member."""
        return self._shares.get(topic_id, {}).keys()

    # -- changing, by replay

    def put(self, member: ShareMember) -> None:
        """A member is new or has changed."""
        before = self.members.get(member.member_id)
        if before is None or before.topics != member.topics:
            _count(self.subscribed, () if before is None else before.topics, -1)
            _count(self.subscribed, member.topics, 1)
        if before is None:
            self._order.add(member.member_id)
        self.members[member.member_id] = member
        self._peak = max(self._peak, len(self.members) + 1)

    def set_target(self, member_id: str, partitions: Partitions | None) -> None:
        """A member is to have these partitions; None: its target is gone."""
        for topic_id, indexes in self.target.of(member_id).items():
            shares = self._shares.get(topic_id, {})
            count_down(shares, indexes)
            if not shares:  # a target may have a topic without partitions
                self._shares.pop(topic_id, None)
        if partitions is None:
            self.target.remove(member_id)
            return
        for topic_id, indexes in partitions.items():
            count_up(self._shares.setdefault(topic_id, {}), indexes)
        self.target.set(member_id, partitions)

    def remove(self, member_id: str) -> None:
        """A member is gone."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self._order.remove(member_id)
            _count(self.subscribed, member.topics, -1)


def _count(counts: dict[str, int], topics: Iterable[str], step: int) -> None:
    for topic in topics:
        counts[topic] = counts.get(topic, 0) + step
        if not counts[topic]:
            del counts[topic]


def session_key(group_id: str, member_id: str) -> tuple[str, str, str]:
    """The key of a member's session timer."""
    return ("share session", group_id, member_id)
