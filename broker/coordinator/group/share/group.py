"""A share group: its commands, its members and initialised share partitions, their records, and the group itself.

Only replay changes what the log says. Soft state says when to look at the topics again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from odradek.broker.coordinator.group.assignment import (
    NOTHING,
    MemberOrder,
    Partitions,
    TargetAssignment,
    count_down,
    count_up,
    stored_order,
)
from odradek.broker.coordinator.group.epoch_group import (
    EMPTY,
    FIRST_EPOCH,
    LEAVING,
    STABLE,
    EpochGroup,
    MemberHeartbeat,
    Step,
    replay_target_epoch,
    replays_of,
)
from odradek.broker.coordinator.group.groups import ExpiryBasis, GroupCommand, GroupType
from odradek.broker.coordinator.group.records import EpochRecords, encode_key, new_record
from odradek.broker.runtime.machine import Effect, NewRecord
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.share_group_heartbeat import ShareGroupHeartbeatResponse
from odradek.protocol.generated.stored import share_group_current_member_assignment as current
from odradek.protocol.generated.stored import share_group_state_partition_metadata as states
from odradek.protocol.generated.stored import share_group_target_assignment_member as target
from odradek.protocol.generated.stored.share_group_member_metadata import (
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
)
from odradek.protocol.generated.stored.share_group_metadata import ShareGroupMetadataKey, ShareGroupMetadataValue
from odradek.protocol.generated.stored.share_group_target_assignment_metadata import (
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)
from odradek.protocol.java_maps import hash_of_number, java_order
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.broker.coordinator.group.groups import CommitOffsets, TxnOffsetCommit


Places = Mapping[bytes, Collection[int]]
"""Partitions by topic id."""


@mypyc_attr(allow_interpreted_subclasses=True)
class ShareGroupCommand(GroupCommand):
    """An order about one share group."""

    home: ClassVar[GroupType | None] = GroupType.SHARE


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class ShareGroupHeartbeat(MemberHeartbeat):
    """See `MemberHeartbeat`."""

    home: ClassVar[GroupType | None] = GroupType.SHARE
    __slots__ = ()
    reply: ShareGroupHeartbeatResponse


@mypyc_attr(allow_interpreted_subclasses=True)
class StatesInitialized(ShareGroupCommand):
    """The share coordinator stores these share partitions now: they can be assigned. ``failed``: it does not."""

    reply: None

    def __init__(self, group_id: str, places: Places, *, failed: bool = False) -> None:
        super().__init__(group_id)
        self.places = places
        self.failed = failed


@mypyc_attr(allow_interpreted_subclasses=True)
class AlterShareOffsets(ShareGroupCommand):
    """Reset share partitions to the offsets given by topic id and partition, which exist.

    The reply is the new state epoch. The share coordinator still has to be notified.
    """

    reply: int

    def __init__(self, group_id: str, offsets: Mapping[bytes, Mapping[int, int]]) -> None:
        super().__init__(group_id)
        self.offsets = offsets


@mypyc_attr(allow_interpreted_subclasses=True)
class BeginDeleteOffsets(ShareGroupCommand):
    """Note that topics, given by name, are about to be forgotten.

    The reply has the share partitions to delete, and the topics that are unknown to the group.
    """

    reply: tuple[dict[bytes, list[int]], list[str]]

    def __init__(self, group_id: str, topics: Sequence[str]) -> None:
        super().__init__(group_id)
        self.topics = topics


@mypyc_attr(allow_interpreted_subclasses=True)
class EndDeleteOffsets(ShareGroupCommand):
    """The share coordinator has forgotten these topics."""

    reply: None

    def __init__(self, group_id: str, topic_ids: Collection[bytes]) -> None:
        super().__init__(group_id)
        self.topic_ids = topic_ids


@mypyc_attr(allow_interpreted_subclasses=True)
class ForgetDeletedTopics(ShareGroupCommand):
    """Topics were deleted: delete what the group has stored about them."""

    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class EndDeleteGroup(ShareGroupCommand):
    """The share coordinator has forgotten the group: delete it."""

    reply: None


@mypyc_attr(allow_interpreted_subclasses=True)
class InitializeStates(Effect):
    """Tell the share coordinator to store share partitions; `StatesInitialized` has the result.

    `grown`: the topics of which it stores partitions already.
    """

    def __init__(self, group_id: str, state_epoch: int, places: Places, grown: Set[bytes]) -> None:
        self.group_id = group_id
        self.state_epoch = state_epoch
        self.places = places
        self.grown = grown


@mypyc_attr(allow_interpreted_subclasses=True)
class DeleteStates(Effect):
    """Let the share coordinator delete the states of share partitions, then delete the group.

    If the share coordinator raises a `KafkaError`, that is the answer and the group stays.
    """

    def __init__(self, group_id: str, places: Places) -> None:
        self.group_id = group_id
        self.places = places


class ShareMember(NamedTuple):
    """A member as stored. ``topics``: names it subscribes to, each once; ``assigned``: its partitions."""

    member_id: str
    epoch: int = 0
    previous_epoch: int = -1
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    assigned: Partitions = NOTHING

    def is_reconciled_to(self, target_epoch: int) -> bool:
        return self.epoch == target_epoch


class TopicStates(NamedTuple):
    """Partitions of one topic that the share coordinator stores, or begins to."""

    name: str
    partitions: frozenset[int]


def joined(one: Mapping[bytes, TopicStates], other: Mapping[bytes, TopicStates]) -> dict[bytes, TopicStates]:
    """The partitions of both; the names of the second count."""
    result = dict(one)
    for topic_id, row in other.items():
        known = result.get(topic_id)
        result[topic_id] = row if known is None else TopicStates(row.name, known.partitions | row.partitions)
    return result


def member_record(group_id: str, member: ShareMember) -> NewRecord:
    """The record of a member: its identity and subscription."""
    value = ShareGroupMemberMetadataValue(
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
    )
    return new_record(RECORDS.member.of(group_id, member.member_id), value)


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> NewRecord:
    """The group's epoch, and the hash of the topics from which it was decided."""
    value = ShareGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)
    return new_record(encode_key(ShareGroupMetadataKey(group_id)), value)


def target_record(group_id: str, member_id: str, partitions: Partitions) -> NewRecord:
    """The record of a member's target."""
    rows = [target.TopicPartition(topic_id, list(indexes)) for topic_id, indexes in partitions.items()]
    value = target.ShareGroupTargetAssignmentMemberValue(topic_partitions=rows)
    return new_record(RECORDS.target.of(group_id, member_id), value)


def current_record(group_id: str, member: ShareMember) -> NewRecord:
    """The record of a member's present assignment and epochs."""
    rows = [current.TopicPartitions(topic_id, list(indexes)) for topic_id, indexes in member.assigned.items()]
    value = current.ShareGroupCurrentMemberAssignmentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=0,
        assigned_partitions=rows,
    )
    return new_record(RECORDS.current.of(group_id, member.member_id), value)


def states_record(
    group_id: str,
    initializing: Mapping[bytes, TopicStates],
    initialized: Mapping[bytes, TopicStates],
    deleting: Mapping[bytes, str],
) -> NewRecord:
    """The record of the share partitions that the share coordinator stores, begins to store or ceases to store."""
    value = states.ShareGroupStatePartitionMetadataValue(
        initializing_topics=_topic_rows(initializing),
        initialized_topics=_topic_rows(initialized),
        deleting_topics=[states.TopicInfo(topic_id, name) for topic_id, name in deleting.items()],
    )
    return new_record(encode_key(states.ShareGroupStatePartitionMetadataKey(group_id)), value)


def group_tombstones(group_id: str, members: Iterable[str]) -> list[NewRecord]:
    """The records that delete a group, with its members if any."""
    return [
        *RECORDS.tombstones(group_id, members),
        NewRecord(encode_key(states.ShareGroupStatePartitionMetadataKey(group_id))),
        NewRecord(encode_key(ShareGroupMetadataKey(group_id))),
    ]


RECORDS: Final = EpochRecords(
    current.ShareGroupCurrentMemberAssignmentKey,
    target.ShareGroupTargetAssignmentMemberKey,
    ShareGroupMemberMetadataKey,
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)


def _topic_rows(topics: Mapping[bytes, TopicStates]) -> list[states.TopicPartitionsInfo]:
    return [
        states.TopicPartitionsInfo(topic_id, row.name, _in_set_order(row.partitions))
        for topic_id, row in topics.items()
    ]


def _in_set_order(partitions: Set[int]) -> list[int]:
    """As Java's hash set has them: in rising order if none is left out below the last one."""
    ordered = sorted(partitions, key=abs)
    is_dense = not ordered or (ordered[-1] < len(ordered) and min(ordered) >= 0)
    return ordered if is_dense else java_order(ordered, hash_of_number)


def topic_states(rows: Iterable[states.TopicPartitionsInfo]) -> dict[bytes, TopicStates]:
    """The rows of a stored record by topic id."""
    return {row.topic_id: TopicStates(row.topic_name, frozenset(row.partitions)) for row in rows}


class ShareGroup(EpochGroup):
    """See `Group`. Invariants: ``subscribed`` counts the members by topic name.

    Soft: ``refresh_due``, a heartbeat looks at the topics again, as they may have changed; ``complete``, the last
    heartbeat found every partition stored that shall be, and the target assignment up to date.
    """

    group_type: ClassVar[GroupType] = GroupType.SHARE
    expires: ClassVar[bool] = False
    protocol_type: ClassVar[str] = "share"

    def __init__(self, group_id: str, first_epoch: int = FIRST_EPOCH) -> None:
        super().__init__(group_id, first_epoch)
        self.members: dict[str, ShareMember] = {}
        self._order = MemberOrder()
        self.subscribed: dict[str, int] = {}
        self.target = TargetAssignment()
        self._shares: dict[bytes, dict[int, int]] = {}  # how many members are to have each partition
        self.has_states = False
        self.initializing: dict[bytes, TopicStates] = {}
        self.initialized: dict[bytes, TopicStates] = {}
        self.deleting: dict[bytes, str] = {}
        self.refresh_due = True
        self.complete = False

    # -- Group

    def _compute_state(self) -> str:
        return STABLE if self.members else EMPTY

    def is_subscribed_to(self, topic: str) -> bool:
        return topic in self.subscribed

    def check_commit(self, command: CommitOffsets) -> Sequence[Effect]:
        """See `Group`: share groups have no committed offsets."""
        raise self._no_offsets()

    def check_transactional_commit(self, command: TxnOffsetCommit) -> None:
        raise self._no_offsets()

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """See `Group`: a fetch finds no offsets."""

    def _check_age(self, member: ShareMember, command: CommitOffsets) -> None:
        raise self._no_offsets()

    def check_delete_offsets(self) -> None:
        raise self._no_offsets()

    def check_delete(self) -> None:
        if self.members:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP, "The group is not empty.")

    def expiry_basis(self) -> ExpiryBasis | None:
        return None

    def tombstones(self) -> list[NewRecord]:
        return group_tombstones(self.group_id, self.members)

    def _no_offsets(self) -> KafkaError:
        return KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {self.group_id} is not a consumer group.")

    # -- reading

    def topics(self) -> Iterable[str]:
        return self.subscribed

    def check_topics_again(self) -> None:
        self.refresh_due = True
        self.complete = False

    def rests(self, member: ShareMember) -> bool:
        """Whether nothing can follow from a heartbeat of a member that has not changed."""
        return self.complete and member.is_reconciled_to(self.assignment_epoch)

    @property
    def has_unassigned(self) -> bool:
        """Whether a subscribed topic has partitions that could be assigned and are not, or the other way round."""
        if not self.members:
            return False
        return any(
            row.name in self.subscribed and self.shared_out(topic_id) != row.partitions
            for topic_id, row in self.initialized.items()
        )

    def names(self, topic: str) -> bool:
        """Whether a topic of that name has stored states, or is about to."""
        rows = (*self.initializing.values(), *self.initialized.values())
        return any(row.name == topic for row in rows) or topic in self.deleting.values()

    def topics_with(self, member: ShareMember | None, without: str) -> dict[str, int]:
        """How many members subscribe to each topic, with ``member`` in place of the one with id ``without``."""
        counts = dict(self.subscribed)
        before = self.members.get(without)
        count_down(counts, () if before is None else before.topics)
        count_up(counts, () if member is None else member.topics)
        return counts

    def in_order(self, member: ShareMember, *, counts_newcomers: bool) -> dict[str, ShareMember]:
        """The members by id, ``member`` among them as it is now, in the order in which Kafka walks them.

        ``counts_newcomers``: see `Release`.
        """
        ids = self._order.with_change(self.peak, member.member_id, None, as_member=counts_newcomers)
        return {each: member if each == member.member_id else self.members[each] for each in ids}

    def shared_out(self, topic_id: bytes) -> Set[int]:
        """The partitions of a topic that are in the target of any member."""
        return self._shares.get(topic_id, {}).keys()

    # -- changing, by replay

    def note_change(self) -> None:
        super().note_change()
        self.complete = False

    def put(self, member: ShareMember) -> None:
        """Add or replace a member."""
        before = self.members.get(member.member_id)
        if before is None or before.topics != member.topics:
            count_down(self.subscribed, () if before is None else before.topics)
            count_up(self.subscribed, member.topics)
        if before is None:
            self._order.add(member.member_id)
        self.members[member.member_id] = member
        self.peak = max(self.peak, len(self.members) + 1)
        self._state = None

    def set_target(self, member_id: str, partitions: Partitions | None) -> None:
        """Set a member's target; None removes it."""
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
        """Remove a member."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self._order.remove(member_id)
            count_down(self.subscribed, member.topics)
        self._state = None


class ShareStep(Step):
    """``names``: of the topics that the members subscribe to, and how many of them."""

    __slots__ = ("group", "names")

    def __init__(self, group: ShareGroup, now_ms: int, records: Sequence[NewRecord] = ()) -> None:
        super().__init__(group, now_ms, records)
        self.group = group
        self.names = group.subscribed


def _replay_epoch(group: ShareGroup, key: Any, value: ShareGroupMetadataValue) -> None:
    group.epoch, group.metadata_hash = value.epoch, value.metadata_hash


def _replay_member(group: ShareGroup, key: Any, value: ShareGroupMemberMetadataValue | None) -> None:
    if value is None:
        group.remove(key.member_id)
        return
    member = group.members.get(key.member_id) or ShareMember(key.member_id)
    group.put(
        member._replace(
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            topics=frozenset(value.subscribed_topic_names),
        )
    )


def _replay_target(group: ShareGroup, key: Any, value: target.ShareGroupTargetAssignmentMemberValue | None) -> None:
    by_topic = None if value is None else {row.topic_id: row.partitions for row in value.topic_partitions}
    group.set_target(key.member_id, None if by_topic is None else stored_order(by_topic))


def _replay_current(group: ShareGroup, key: Any, value: current.ShareGroupCurrentMemberAssignmentValue | None) -> None:
    member = group.members.get(key.member_id)
    if value is None:
        if member is not None:
            group.put(member._replace(epoch=LEAVING, previous_epoch=LEAVING, assigned={}))
        return
    by_topic = {row.topic_id: row.partitions for row in value.assigned_partitions}
    group.put(
        (member or ShareMember(key.member_id))._replace(
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            assigned=stored_order(by_topic),
        )
    )


def _replay_states(group: ShareGroup, key: Any, value: states.ShareGroupStatePartitionMetadataValue | None) -> None:
    group.has_states = value is not None
    group.initializing = {} if value is None else topic_states(value.initializing_topics)
    group.initialized = {} if value is None else topic_states(value.initialized_topics)
    group.deleting = {} if value is None else {row.topic_id: row.topic_name for row in value.deleting_topics}


REPLAYS = replays_of(
    (ShareGroupMetadataKey, ShareGroupMetadataValue, _replay_epoch),
    (ShareGroupMemberMetadataKey, ShareGroupMemberMetadataValue, _replay_member),
    (ShareGroupTargetAssignmentMetadataKey, ShareGroupTargetAssignmentMetadataValue, replay_target_epoch),
    (target.ShareGroupTargetAssignmentMemberKey, target.ShareGroupTargetAssignmentMemberValue, _replay_target),
    (current.ShareGroupCurrentMemberAssignmentKey, current.ShareGroupCurrentMemberAssignmentValue, _replay_current),
    (states.ShareGroupStatePartitionMetadataKey, states.ShareGroupStatePartitionMetadataValue, _replay_states),
)
