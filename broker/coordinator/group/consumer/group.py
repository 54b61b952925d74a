"""A consumer group: its commands, its state (members, epochs, target assignment), and the replay of its records.

Only replay changes the group. A member may commit with an older epoch for partitions that it has had since then
(KIP-1251); a fetch has to name the present epoch. Members of the classic protocol get errors about generations instead.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from odradek.broker.coordinator.group.assignment import (
    MemberOrder,
    Partitions,
    Subscriptions,
    TargetAssignment,
    count_down,
    count_up,
    stored_order,
)
from odradek.broker.coordinator.group.consumer.records import (
    NOTHING,
    ClassicMember,
    Epochs,
    Member,
    MemberState,
    ResolvedRegex,
    group_tombstones,
    same_identity,
    sorted_names,
    with_progress,
    with_progress_of,
)
from odradek.broker.coordinator.group.epoch_group import (
    FIRST_EPOCH,
    LEAVING,
    EpochGroup,
    MemberHeartbeat,
    Step,
    replay_target_epoch,
    replays_of,
)
from odradek.broker.coordinator.group.groups import (
    CommitOffsets,
    GroupCommand,
    GroupType,
    Visible,
)
from odradek.broker.coordinator.group.records import known_key, record_type_of, value_of
from odradek.broker.coordinator.group.topics import StoredTopics
from odradek.broker.runtime.machine import NewRecord
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from odradek.protocol.generated.stored.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from odradek.protocol.generated.stored.consumer_group_member_metadata import (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
)
from odradek.protocol.generated.stored.consumer_group_metadata import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
)
from odradek.protocol.generated.stored.consumer_group_partition_metadata import (
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
)
from odradek.protocol.generated.stored.consumer_group_regular_expression import (
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
)
from odradek.protocol.generated.stored.consumer_group_target_assignment_member import (
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
)
from odradek.protocol.generated.stored.consumer_group_target_assignment_metadata import (
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from odradek.protocol.native import mypyc_attr
from odradek.protocol.primitives import ZERO_UUID


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class ConsumerGroupHeartbeat(MemberHeartbeat):
    """See `MemberHeartbeat`."""

    home: ClassVar[GroupType | None] = GroupType.CONSUMER
    __slots__ = ()
    reply: ConsumerGroupHeartbeatResponse

    @property
    def owned(self) -> Mapping[bytes, Sequence[int]] | None:
        """The partitions that the member owns by topic id; None if they are unchanged."""
        request: ConsumerGroupHeartbeatRequest = self.request
        rows = request.topic_partitions
        return None if rows is None else {row.topic_id: row.partitions for row in rows}

    @property
    def says_nothing(self) -> bool:
        """Whether it has nothing about the member except the instance id and the partitions that it owns."""
        request: ConsumerGroupHeartbeatRequest = self.request
        return (
            request.subscribed_topic_names is None
            and request.subscribed_topic_regex is None
            and request.rack_id is None
            and request.server_assignor is None
            and request.rebalance_timeout_ms == -1
        )

    @property
    def is_full(self) -> bool:
        """Whether it has all fields, as from a member that is unsure whether the coordinator knows them."""
        request: ConsumerGroupHeartbeatRequest = self.request
        tells_topics = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
        return request.rebalance_timeout_ms != -1 and tells_topics and request.topic_partitions is not None


@mypyc_attr(allow_interpreted_subclasses=True)
class ResolveRegexes(GroupCommand):
    """Match the group's patterns against the existing topics that the client may see whose request caused it."""

    home: ClassVar[GroupType | None] = GroupType.CONSUMER
    __slots__ = ("regexes", "visible")
    reply: None

    def __init__(self, group_id: str, regexes: Sequence[str], visible: Visible | None = None) -> None:
        self.group_id = group_id
        self.regexes = regexes
        self.visible = visible


def join_key(group_id: str, member_id: str) -> Hashable:
    """The key of the timer of a classic member that has to join again."""
    return ("consumer join", group_id, member_id)


def sync_key(group_id: str, member_id: str) -> Hashable:
    """The key of the timer for a classic member that has joined and must sync."""
    return ("consumer sync", group_id, member_id)


CONSUMER_PROTOCOL = "consumer"


@mypyc_attr(allow_interpreted_subclasses=True)
class ConsumerGroup(EpochGroup):
    """See `Group`. Owner: the consumer kind.

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

    def is_subscribed_to(self, topic: str) -> bool:
        return topic in self.subscriptions

    def _is_classic(self, member: Member) -> bool:
        return member.classic is not None

    def _check_age(self, member: Member, command: CommitOffsets) -> None:
        """Raise unless the member has had every partition of the commit since the epoch in it."""
        epoch = command.epoch
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
        return group_tombstones(self.group_id, self.members, self.regexes)

    # -- reading

    def timers(self, member_id: str) -> Sequence[Hashable]:
        """See `EpochGroup`: those of classic members too."""
        group_id = self.group_id
        return *super().timers(member_id), join_key(group_id, member_id), sync_key(group_id, member_id)

    def topics(self) -> Iterable[str]:
        return self.subscriptions.topics()

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
            if not same_identity(before, member):
                self._count(before, count_down, -1)
                self._count(member, count_up, 1)
            self._move(before.assigned, member.assigned)
            self._move(before.revoking, member.revoking)
        if len(self.members) >= self.peak:
            self.peak = len(self.members) + 1
        self.note_static(before, member)
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


class ConsumerStep(Step):
    """``visible``: which of some topics the client may see that asks; None for all."""

    __slots__ = ("group", "visible")

    def __init__(
        self, group: ConsumerGroup, now_ms: int, records: Sequence[NewRecord] = (), visible: Visible | None = None
    ) -> None:
        super().__init__(group, now_ms, records)
        self.group = group
        self.visible = visible


CHANGE_TOPICS: Final = (ConsumerGroupMemberMetadataKey.RECORD_TYPE, ConsumerGroupRegularExpressionKey.RECORD_TYPE)
"""The record types that may change which topics a group subscribes to."""


def applied(group_id: str, records: Sequence[NewRecord]) -> ConsumerGroup:
    """The group that these records make."""
    group = ConsumerGroup(group_id)
    for record in records:
        known = REPLAYS.get(record_type_of(record.key))
        if known is not None:
            key_class, value_class, change = known
            change(group, known_key(key_class, record.key), value_of(value_class, record))
    return group


def _member(group: ConsumerGroup, key: Any, value: Member | ConsumerGroupMemberMetadataValue | None) -> None:
    member_id: str = key.member_id
    if value is None:
        group.remove_member(member_id)
        return
    member = value if isinstance(value, Member) else _read_member(member_id, value)
    present = group.members.get(member_id)
    group.put_member(member if present is None else with_progress_of(member, present))


def _read_member(member_id: str, value: ConsumerGroupMemberMetadataValue) -> Member:
    """The member without any assignment yet."""
    classic = None
    if value.classic_member_metadata is not None:
        protocols = tuple((p.name, bytes(p.metadata)) for p in value.classic_member_metadata.supported_protocols)
        classic = ClassicMember(value.classic_member_metadata.session_timeout_ms, protocols)
    return Member(
        member_id,
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        topics=sorted_names(value.subscribed_topic_names),
        regex=value.subscribed_topic_regex,
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        server_assignor=value.server_assignor,
        classic=classic,
    )


def _epoch(group: ConsumerGroup, key: Any, value: ConsumerGroupMetadataValue | None) -> None:
    if value is not None:
        group.set_epoch(value.epoch, value.metadata_hash)


def _partition_metadata(group: ConsumerGroup, key: Any, value: ConsumerGroupPartitionMetadataValue | None) -> None:
    group.stored_topics = (
        None if value is None else {row.topic_name: (row.topic_id, row.num_partitions) for row in value.topics}
    )


def _target(
    group: ConsumerGroup, key: Any, value: Partitions | ConsumerGroupTargetAssignmentMemberValue | None
) -> None:
    member_id: str = key.member_id
    if value is None:
        group.target.remove(member_id)
    elif isinstance(value, ConsumerGroupTargetAssignmentMemberValue):
        group.target.set(member_id, stored_order({row.topic_id: row.partitions for row in value.topic_partitions}))
    else:
        group.target.set(member_id, value)


def _current(group: ConsumerGroup, key: Any, value: Member | ConsumerGroupCurrentMemberAssignmentValue | None) -> None:
    member_id: str = key.member_id
    present = group.members.get(member_id)
    if value is None:
        if present is not None:
            group.put_member(with_progress(present, LEAVING, LEAVING, present.state, NOTHING, NOTHING))
        return
    current = value if isinstance(value, Member) else _read_current(member_id, value)
    group.put_member(with_progress_of(present or Member(member_id), current))


def _read_current(member_id: str, value: ConsumerGroupCurrentMemberAssignmentValue) -> Member:
    """A member with the fields of this record only."""
    return Member(
        member_id,
        epoch=value.member_epoch,
        previous_epoch=value.previous_member_epoch,
        state=_STATES.get(value.state, MemberState.UNKNOWN),
        assigned=_epochs(value.assigned_partitions, value.member_epoch),
        revoking=_epochs(value.partitions_pending_revocation, value.member_epoch),
    )


def _epochs(rows: Iterable[TopicPartitions], member_epoch: int) -> Epochs:
    """The epochs of partitions; older brokers stored none, so the member's own epoch takes their place."""
    epochs: Epochs = {}
    for row in rows:
        since = row.assignment_epochs
        if since is None or len(since) != len(row.partitions):
            since = [max(member_epoch, 0)] * len(row.partitions)
        epochs[row.topic_id] = dict(zip(row.partitions, since, strict=True))
    return epochs


def _regex(group: ConsumerGroup, key: Any, value: ConsumerGroupRegularExpressionValue | None) -> None:
    resolved = None if value is None else ResolvedRegex(frozenset(value.topics), value.version, value.timestamp)
    group.set_regex(key.regular_expression, resolved)


_STATES = {int(state): state for state in MemberState}

REPLAYS: Final = replays_of(
    (ConsumerGroupMetadataKey, ConsumerGroupMetadataValue, _epoch),
    (ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue, _partition_metadata),
    (ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue, _member),
    (
        ConsumerGroupTargetAssignmentMetadataKey,
        ConsumerGroupTargetAssignmentMetadataValue,
        replay_target_epoch,
    ),
    (ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue, _target),
    (ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue, _current),
    (ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue, _regex),
)
