"""A consumer group: its commands, its members, its records, its state, and the replay of the records.

Members are values: a decision makes a new one from the old. Only replay changes the group. A member may commit with an
older epoch for partitions that it has had since then (KIP-1251); a fetch has to name the present epoch. Members of the
classic protocol get errors about generations instead.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, ClassVar, Final, NamedTuple

from odradek.broker.coordinator.group.assignment import (
    MemberOrder,
    Partitions,
    Subscriptions,
    TargetAssignment,
    count_down,
    count_up,
    order_once_stored,
    stored_order,
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
from odradek.broker.coordinator.group.groups import CommitOffsets, GroupCommand, GroupType, Visible
from odradek.broker.coordinator.group.records import (
    EpochRecords,
    encode_key,
    encode_value,
    key_of_group,
    known_key,
    new_record,
    record_type_of,
    record_with_value,
    value_of,
)
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
    ClassicMemberMetadata,
    ClassicProtocol,
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
    TopicMetadata,
)
from odradek.protocol.generated.stored.consumer_group_regular_expression import (
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
)
from odradek.protocol.generated.stored.consumer_group_target_assignment_member import (
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from odradek.protocol.generated.stored.consumer_group_target_assignment_metadata import (
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from odradek.protocol.native import mypyc_attr
from odradek.protocol.primitives import ZERO_UUID
from odradek.protocol.text_cache import text_cache


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
    reply: None

    def __init__(self, group_id: str, regexes: Sequence[str], visible: Visible | None = None) -> None:
        self.group_id = group_id
        self.regexes = regexes
        self.visible = visible


Epochs = dict[bytes, dict[int, int]]
"""Partitions by topic id, each with the member epoch in which the member got it."""
NOTHING: Final[Epochs] = {}
"""Never changed, like every part of a member."""


class MemberState(IntEnum):
    """The states of a member's reconciliation, numbered as stored."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127


STABLE: Final = MemberState.STABLE
UNREVOKED_PARTITIONS: Final = MemberState.UNREVOKED_PARTITIONS
UNRELEASED_PARTITIONS: Final = MemberState.UNRELEASED_PARTITIONS
"""The same states, without a look into the class of an `Enum` for each, which takes as long as ten small calls."""


class ClassicMember(NamedTuple):
    """The JoinGroup of a member that speaks the classic protocol."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]


class MemberMetadata(NamedTuple):
    """Who a member is and what it subscribes to, as it has told.

    ``topics``: names, sorted. ``regex``: "" for none. ``rebalance_timeout_ms``: -1 if it has sent none. ``classic``:
    None for a member of the consumer protocol.
    """

    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: tuple[str, ...] = ()
    regex: str | None = ""
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = None
    classic: ClassicMember | None = None


NO_METADATA: Final = MemberMetadata()


@mypyc_attr(allow_interpreted_subclasses=True, acyclic=True)
class Member:
    """One member, an immutable value.

    ``assigned``: the partitions that it owns or has just been given; ``revoking``: those that it must revoke and has
    not yet.
    """

    def __init__(
        self,
        member_id: str,
        metadata: MemberMetadata = NO_METADATA,
        epoch: int = 0,
        previous_epoch: int = -1,
        state: MemberState = STABLE,
        assigned: Epochs = NOTHING,
        revoking: Epochs = NOTHING,
    ) -> None:
        self.member_id = member_id
        self.metadata = metadata
        self.epoch = epoch
        self.previous_epoch = previous_epoch
        self.state = state
        self.assigned = assigned
        self.revoking = revoking

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Member)
            and self.member_id == other.member_id
            and self.metadata == other.metadata
            and self.epoch == other.epoch
            and self.previous_epoch == other.previous_epoch
            and self.state is other.state
            and self.assigned == other.assigned
            and self.revoking == other.revoking
        )

    def __repr__(self) -> str:
        return f"Member({self.member_id!r}, epoch={self.epoch}, {self.state!r}, {self.assigned!r}, {self.revoking!r})"

    def is_reconciled_to(self, target_epoch: int) -> bool:
        """Whether it has arrived at the target assignment of that epoch."""
        return self.state is STABLE and self.epoch == target_epoch

    def with_metadata(self, metadata: MemberMetadata) -> Member:
        """The same with other metadata."""
        return Member(
            self.member_id, metadata, self.epoch, self.previous_epoch, self.state, self.assigned, self.revoking
        )

    def in_epoch(self, epoch: int, state: MemberState, assigned: Epochs, revoking: Epochs) -> Member:
        """The member after a step of its reconciliation."""
        return Member(self.member_id, self.metadata, epoch, self.epoch, state, assigned, revoking)


def sorted_names(topics: Iterable[str]) -> tuple[str, ...]:
    """The names that a member subscribes to, each once: members with the same subscription share the object."""
    return _shared(tuple(sorted(set(topics))))


@text_cache(1 << 10)
def _shared(names: tuple[str, ...]) -> tuple[str, ...]:
    return names


def without_epochs(epochs: Epochs) -> Partitions:
    """The partitions alone."""
    return {topic_id: tuple(partitions) for topic_id, partitions in epochs.items()}


def with_epoch(partitions: Partitions, epoch: int) -> Epochs:
    """Partitions that were all given in one epoch."""
    return {topic_id: dict.fromkeys(indexes, epoch) for topic_id, indexes in partitions.items()}


class ResolvedRegex(NamedTuple):
    """The topics that a pattern matched when topics had that ``version``, at that time (milliseconds)."""

    topics: frozenset[str]
    version: int
    timestamp: int


NO_TOPICS = ResolvedRegex(frozenset(), 0, 0)
"""The topics of a pattern that is not resolved yet."""


def member_record(group_id: str, member: Member) -> NewRecord:
    """The record of a member's metadata."""
    metadata = member.metadata
    return record_with_value(RECORDS.member.of(group_id, member.member_id), _stored_metadata(metadata), metadata)


@text_cache(1 << 8)
def _stored_metadata(metadata: MemberMetadata) -> bytes:
    """The value of that record. Most members of a group have the same."""
    classic = None
    if metadata.classic is not None:
        protocols = [ClassicProtocol(name, offered) for name, offered in metadata.classic.protocols]
        classic = ClassicMemberMetadata(metadata.classic.session_timeout_ms, protocols)
    return encode_value(
        ConsumerGroupMemberMetadataValue(
            instance_id=metadata.instance_id,
            rack_id=metadata.rack_id,
            client_id=metadata.client_id,
            client_host=metadata.client_host,
            subscribed_topic_names=list(metadata.topics),
            subscribed_topic_regex=metadata.regex,
            rebalance_timeout_ms=metadata.rebalance_timeout_ms,
            server_assignor=metadata.server_assignor,
            classic_member_metadata=classic,
        )
    )


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> NewRecord:
    """The group's epoch."""
    decoded = ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)
    return record_with_value(key_of_group(ConsumerGroupMetadataKey, group_id), encode_value(decoded), decoded)


def target_record(group_id: str, member_id: str, partitions: Partitions) -> NewRecord:
    """The target of one member."""
    rows = [TopicPartition(topic_id, list(indexes)) for topic_id, indexes in partitions.items()]
    value = encode_value(ConsumerGroupTargetAssignmentMemberValue(rows))
    return record_with_value(RECORDS.target.of(group_id, member_id), value, order_once_stored(partitions))


def current_record(group_id: str, member: Member) -> NewRecord:
    """The record of a member's reconciliation."""
    assigned, revoking = _in_order(member.assigned), _in_order(member.revoking)
    if assigned is not member.assigned or revoking is not member.revoking:
        member = Member(
            member.member_id, member.metadata, member.epoch, member.previous_epoch, member.state, assigned, revoking
        )
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=member.state,
        assigned_partitions=_rows(assigned),
        partitions_pending_revocation=_rows(revoking),
    )
    return record_with_value(RECORDS.current.of(group_id, member.member_id), encode_value(value), member)


def regex_record(group_id: str, regex: str, resolved: ResolvedRegex) -> NewRecord:
    """The topics that a pattern matches."""
    topics = sorted(resolved.topics)
    value = ConsumerGroupRegularExpressionValue(topics=topics, version=resolved.version, timestamp=resolved.timestamp)
    return new_record(encode_key(ConsumerGroupRegularExpressionKey(group_id, regex)), value)


def regex_tombstone(group_id: str, regex: str) -> NewRecord:
    """The record that deletes a pattern which no member uses."""
    return NewRecord(encode_key(ConsumerGroupRegularExpressionKey(group_id, regex)))


def partition_metadata_record(group_id: str, topics: StoredTopics) -> NewRecord:
    """The topics of a group, as Kafka 4.0 stores them."""
    rows = [TopicMetadata(topic_id, name, partitions) for name, (topic_id, partitions) in topics.items()]
    return new_record(
        encode_key(ConsumerGroupPartitionMetadataKey(group_id)), ConsumerGroupPartitionMetadataValue(rows)
    )


def partition_metadata_tombstone(group_id: str) -> NewRecord:
    """The record that deletes the partition metadata of Kafka 4.0, which the metadata hash has replaced."""
    return NewRecord(encode_key(ConsumerGroupPartitionMetadataKey(group_id)))


def group_tombstones(group_id: str, member_ids: Iterable[str], regexes: Iterable[str]) -> list[NewRecord]:
    """The records that delete a group with its members."""
    return [
        *RECORDS.tombstones(group_id, member_ids),
        *(regex_tombstone(group_id, regex) for regex in regexes),
        partition_metadata_tombstone(group_id),
        NewRecord(key_of_group(ConsumerGroupMetadataKey, group_id)),
    ]


RECORDS: Final = EpochRecords(
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)


def _in_order(epochs: Epochs) -> Epochs:
    """The same with the partitions of each topic in rising order, as they are stored."""
    for partitions in epochs.values():
        if len(partitions) > 1:
            break
    else:
        return epochs
    return {
        topic_id: partitions if len(partitions) < 2 else dict(sorted(partitions.items()))
        for topic_id, partitions in epochs.items()
    }


def _rows(epochs: Epochs) -> list[TopicPartitions]:
    return [
        TopicPartitions(topic_id, list(partitions), list(partitions.values()))
        for topic_id, partitions in epochs.items()
    ]


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
        return member.metadata.classic is not None

    def _check_age(self, member: Member, command: CommitOffsets) -> None:
        """Raise unless the member has had every partition of the commit since the epoch in it."""
        epoch = command.epoch
        code = ErrorCode.STALE_MEMBER_EPOCH if member.metadata.classic is None else ErrorCode.ILLEGAL_GENERATION
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
        metadata = member.metadata
        resolved = self.regexes.get(metadata.regex) if metadata.regex else None
        if resolved is None:
            return metadata.topics
        return (*metadata.topics, *sorted(resolved.topics.difference(metadata.topics)))

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
            if before.metadata is not member.metadata and before.metadata != member.metadata:
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
        metadata = member.metadata
        count(self.subscriptions.by_name, metadata.topics)
        if metadata.regex:
            count(self.members_by_regex, (metadata.regex,))
        if metadata.server_assignor is not None:
            count(self.members_by_assignor, (metadata.server_assignor,))
        if metadata.classic is not None:
            self.classic_members += step
            count(self.classic_protocols, (name for name, _ in metadata.classic.protocols))

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


def _member(group: ConsumerGroup, key: Any, value: MemberMetadata | ConsumerGroupMemberMetadataValue | None) -> None:
    member_id: str = key.member_id
    if value is None:
        group.remove_member(member_id)
        return
    metadata = value if isinstance(value, MemberMetadata) else _read_metadata(value)
    present = group.members.get(member_id)
    group.put_member(Member(member_id, metadata) if present is None else present.with_metadata(metadata))


def _read_metadata(value: ConsumerGroupMemberMetadataValue) -> MemberMetadata:
    classic = None
    if value.classic_member_metadata is not None:
        protocols = tuple((p.name, bytes(p.metadata)) for p in value.classic_member_metadata.supported_protocols)
        classic = ClassicMember(value.classic_member_metadata.session_timeout_ms, protocols)
    return MemberMetadata(
        value.instance_id,
        value.rack_id,
        value.client_id,
        value.client_host,
        sorted_names(value.subscribed_topic_names),
        value.subscribed_topic_regex,
        value.rebalance_timeout_ms,
        value.server_assignor,
        classic,
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
            group.put_member(Member(member_id, present.metadata, LEAVING, LEAVING, present.state))
        return
    current = value if isinstance(value, Member) else _read_current(member_id, value)
    group.put_member(current.with_metadata(NO_METADATA if present is None else present.metadata))


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
    (ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue, replay_target_epoch),
    (ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue, _target),
    (ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue, _current),
    (ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue, _regex),
)
