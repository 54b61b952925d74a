"""The requests of share groups, the replay of their records, and what they have the share coordinator do.

A member gets its new assignment at once and gives nothing up first: partitions are shared anyway. A partition is
assigned when the share coordinator stores its state, so the first heartbeat of a group has that begun, and a later one
gets the partitions. Each change of what is stored goes in two steps, so that nothing is forgotten when a coordinator
fails in between: a record says what is about to happen, then the share coordinator does it, then a record says that it
is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import Any, ClassVar

from odradek.broker.coordinator.group.assignment import Partitions, same_partitions, stored_order
from odradek.broker.coordinator.group.commands import DeleteGroup, GroupType, MetadataChanged
from odradek.broker.coordinator.group.groups import GroupChanged, KindContext, group_error
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.records import decode_key, value_of
from odradek.broker.coordinator.group.settings import GroupConfigs
from odradek.broker.coordinator.group.share.assignor import assign, group_spec
from odradek.broker.coordinator.group.share.group import (
    JOIN,
    LEAVE,
    AlterShareOffsets,
    BeginDeleteOffsets,
    DeleteStates,
    EndDeleteGroup,
    EndDeleteOffsets,
    ExpireShareMember,
    ForgetDeletedTopics,
    HeartbeatReply,
    InitializeStates,
    Places,
    ShareGroup,
    ShareGroupHeartbeat,
    ShareMember,
    StatesInitialized,
    TopicStates,
    current_record,
    epoch_record,
    group_or_new,
    joined,
    member_record,
    member_tombstones,
    new_group,
    session_key,
    states_record,
    target_epoch_record,
    target_record,
    topic_states,
)
from odradek.broker.coordinator.group.topics import TopicFacts, TopicSource, group_hash, hash_of_topic
from odradek.broker.coordinator.share_state.commands import DeleteState, InitializeState
from odradek.broker.coordinator.share_state.persister import Persister
from odradek.broker.coordinator.share_state.stored_states import UNINITIALIZED
from odradek.broker.partitions.share.states import ShareKey
from odradek.broker.runtime.machine import (
    Cancel,
    Command,
    Effect,
    LogRecord,
    NewRecord,
    Outcome,
    Schedule,
    make_outcome,
)
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.stored import share_group_current_member_assignment as current
from odradek.protocol.generated.stored import share_group_member_metadata as member_metadata
from odradek.protocol.generated.stored import share_group_metadata as metadata
from odradek.protocol.generated.stored import share_group_state_partition_metadata as states
from odradek.protocol.generated.stored import share_group_target_assignment_member as target
from odradek.protocol.generated.stored import share_group_target_assignment_metadata as target_metadata
from odradek.protocol.java_hash_table import HashTable, slots_to_hold
from odradek.protocol.java_maps import hash_of_uuid
from odradek.protocol.message import CoordinatorRecord

FindGroup = Callable[[str], ShareGroup]


class Heartbeats:
    """Decides on heartbeats, and on members without any. Owner: `ShareKind`."""

    def __init__(self, context: KindContext, existing: FindGroup) -> None:
        self._context = context
        self._existing = existing

    def heartbeat(self, command: ShareGroupHeartbeat, now_ms: int) -> Outcome[HeartbeatReply]:
        """A member joins, sends a heartbeat or leaves."""
        resting = self._resting(command)
        if resting is not None:
            return self._still(command.group_id, resting)
        if command.member_epoch == LEAVE:
            return self._leave(command)
        group = self._group_for(command)
        member = self._member_for(group, command)
        work = _Heartbeat(self._context, group, member, command, now_ms)
        return work.outcome()

    def _resting(self, command: ShareGroupHeartbeat) -> ShareMember | None:
        """The member, if its heartbeat says nothing new and it has its whole assignment, as with most heartbeats.

        A fast path: `heartbeat` would give the same result.
        """
        group = self._context.groups.get(command.group_id)
        if not isinstance(group, ShareGroup):
            return None
        member = group.members.get(command.member_id)
        if (
            member is None
            or member.epoch != command.member_epoch
            or command.topics is not None
            or command.rack_id is not None
            or member.client_id != command.client_id
            or member.client_host != command.client_host
            or not group.rests(member)
        ):
            return None
        return member

    def _still(self, group_id: str, member: ShareMember) -> Outcome[HeartbeatReply]:
        configs = self._context.configs
        reply = HeartbeatReply(member.epoch, configs.group(group_id, "share.heartbeat.interval.ms"), None)
        return make_outcome(reply=reply, effects=(session(configs, group_id, member.member_id),))

    def expire(self, command: ExpireShareMember, now_ms: int) -> Outcome[None]:
        """Remove a member that has been silent for too long."""
        group = self._context.groups.find(command.group_id, ShareGroup)
        if group is None or command.member_id not in group.members:
            return make_outcome()
        return make_outcome(self._without(group, command.member_id), effects=[GroupChanged(group.group_id)])

    def _leave(self, command: ShareGroupHeartbeat) -> Outcome[HeartbeatReply]:
        group = self._existing(command.group_id)
        group.member(command.member_id)
        effects = [Cancel(session_key(group.group_id, command.member_id)), GroupChanged(group.group_id)]
        records = self._without(group, command.member_id)
        return make_outcome(records, reply=HeartbeatReply(LEAVE, 0, None), effects=effects)

    def _without(self, group: ShareGroup, member_id: str) -> list[NewRecord]:
        topics = group.topics_with(None, without=member_id)
        hashed = metadata_hash(self._context.topics, topics)
        records = [
            *member_tombstones(group.group_id, member_id),
            epoch_record(group.group_id, group.epoch + 1, hashed),
        ]
        if len(group.members) == 1 and self._context.configs.release.assigns_empty_groups:
            records.append(target_epoch_record(group.group_id, group.epoch + 1, 0))
        return records

    def _group_for(self, command: ShareGroupHeartbeat) -> ShareGroup:
        if command.member_epoch != JOIN and self._context.groups.get(command.group_id) is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Share group {command.group_id} not found.")
        group = group_or_new(self._context, command.group_id)
        limit = self._context.configs.broker("group.share.max.size")
        if len(group.members) >= limit and command.member_id not in group.members:
            text = f"The share group has reached its maximum capacity of {limit} members."
            raise KafkaError(ErrorCode.GROUP_MAX_SIZE_REACHED, text)
        return group

    def _member_for(self, group: ShareGroup, command: ShareGroupHeartbeat) -> ShareMember:
        epoch = command.member_epoch
        if epoch == JOIN:
            return group.members.get(command.member_id) or ShareMember(command.member_id)
        member = group.member(command.member_id)
        if epoch in (member.epoch, member.previous_epoch):
            return member
        word = "greater" if epoch > member.epoch else "smaller"
        text = (
            f"The share group member has a {word} member epoch ({epoch}) than the one known by the group coordinator "
            f"({member.epoch})"
        )
        if epoch < member.epoch:
            text += f", and it does not match the previous member epoch ({member.previous_epoch})"
        raise KafkaError(
            ErrorCode.FENCED_MEMBER_EPOCH, f"{text}. The member must abandon all its partitions and rejoin."
        )


class _Heartbeat:
    """One heartbeat at work."""

    def __init__(
        self, context: KindContext, group: ShareGroup, member: ShareMember, command: ShareGroupHeartbeat, now_ms: int
    ) -> None:
        self._topics = context.topics
        self._configs = context.configs
        self._group = group
        self._before = member
        self._command = command
        self._now_ms = now_ms
        self._records: list[NewRecord] = []
        self._names = dict(group.subscribed)

    def outcome(self) -> Outcome[HeartbeatReply]:
        group, command, before = self._group, self._command, self._before
        member = self._updated()
        epoch, bumped = self._decide_epoch(member)
        target_epoch, target = self._decide_target(member, epoch)
        member = self._reconciled(member, target_epoch, target, bumped)
        effects: list[Effect] = [session(self._configs, group.group_id, member.member_id)]
        if self._records:
            effects.append(GroupChanged(group.group_id))
        effects += self._begin_states(epoch)
        group.complete = not self._records and group.assignment_epoch >= group.epoch
        told = command.member_epoch == JOIN or command.topics is not None or member.assigned != before.assigned
        interval = self._configs.group(group.group_id, "share.heartbeat.interval.ms")
        reply = HeartbeatReply(member.epoch, interval, member.assigned if told else None)
        return make_outcome(self._records, reply=reply, effects=effects)

    def _updated(self) -> ShareMember:
        command, before = self._command, self._before
        member = before._replace(
            rack_id=before.rack_id if command.rack_id is None else command.rack_id,
            client_id=command.client_id,
            client_host=command.client_host,
            topics=before.topics if command.topics is None else frozenset(command.topics),
        )
        if member != before or before.member_id not in self._group.members:
            self._records.append(member_record(self._group.group_id, member))
        return member

    def _decide_epoch(self, member: ShareMember) -> tuple[int, bool]:
        """The group's epoch, and whether it is a new one."""
        group = self._group
        bump = member.topics != self._before.topics
        if group.assignment_epoch >= group.epoch:
            bump = bump or self._has_unassigned()
        if not bump and not group.refresh_due:
            return group.epoch, False
        self._names = group.topics_with(member, without=member.member_id)
        hashed = metadata_hash(self._topics, self._names)
        bump = bump or hashed != group.metadata_hash
        group.refresh_due = False
        if not bump:
            return group.epoch, False
        self._records.append(epoch_record(group.group_id, group.epoch + 1, hashed))
        return group.epoch + 1, True

    def _has_unassigned(self) -> bool:
        """Whether a subscribed topic has partitions that could be assigned and are not, or the other way round."""
        group = self._group
        if not group.members or not group.subscribed:
            return False
        return any(
            row.name in group.subscribed and group.shared_out(topic_id) != row.partitions
            for topic_id, row in group.initialized.items()
        )

    def _decide_target(self, member: ShareMember, epoch: int) -> tuple[int, Partitions]:
        """The epoch of the target assignment, and the member's part of it."""
        group = self._group
        if group.assignment_epoch >= epoch or not self._may_assign():
            return group.assignment_epoch, group.target.of(member.member_id)
        members = group.in_order(member, counts_newcomers=self._configs.release.counts_newcomers)
        spec = group_spec(members, group.target, self._topics)
        assignable = {topic_id: row.partitions for topic_id, row in group.initialized.items()}
        target = assign(spec, assignable)
        before = group.target.by_member
        for member_id in members:
            if member_id not in before or not same_partitions(target[member_id], before[member_id]):
                self._records.append(target_record(group.group_id, member_id, target[member_id]))
        self._records.append(target_epoch_record(group.group_id, epoch, self._now_ms))
        return epoch, target[member.member_id]

    def _may_assign(self) -> bool:
        """Whether the time between two assignments has passed (``share.assignment.interval.ms``)."""
        interval = self._configs.group(self._group.group_id, "share.assignment.interval.ms")
        last_ms = self._group.assignment_timestamp
        return interval == 0 or last_ms == 0 or self._now_ms - last_ms >= interval

    def _reconciled(self, member: ShareMember, target_epoch: int, target: Partitions, bumped: bool) -> ShareMember:
        if not bumped and member.epoch == target_epoch:
            return member
        ids = {facts.topic_id for facts in self._topic_ids(member.topics).values()}
        fresh = member._replace(assigned=_only(target, ids))
        if member.epoch != target_epoch:
            fresh = fresh._replace(epoch=target_epoch, previous_epoch=member.epoch)
        if fresh != member:
            self._records.append(current_record(self._group.group_id, fresh))
        return fresh

    def _begin_states(self, epoch: int) -> list[Effect]:
        """Have the share coordinator store the partitions of subscribed topics that it does not store yet."""
        group = self._group
        wanted: dict[bytes, TopicStates] = {}
        for name, facts in self._topic_ids(self._names).items():
            stored = group.initialized.get(facts.topic_id)
            known = frozenset() if stored is None else stored.partitions
            if len(known) < facts.partitions:
                wanted[facts.topic_id] = TopicStates(name, frozenset(range(facts.partitions)) - known)
        if not wanted:
            return []
        wanted = {topic_id: wanted[topic_id] for topic_id in HashTable(hash_of_uuid, wanted)}
        deleting = {topic_id: name for topic_id, name in group.deleting.items() if topic_id not in wanted}
        initializing = joined(group.initializing, wanted)
        self._records.append(states_record(group.group_id, initializing, group.initialized, deleting))
        places = {topic_id: sorted(row.partitions) for topic_id, row in wanted.items()}
        grown = {topic_id for topic_id in places if topic_id in group.initialized or topic_id in group.initializing}
        return [InitializeStates(group.group_id, epoch, places, grown)]

    def _topic_ids(self, names: Iterable[str]) -> dict[str, TopicFacts]:
        found = {name: self._topics.named(name) for name in names}
        return {name: facts for name, facts in found.items() if facts is not None}


def _only(partitions: Partitions, topic_ids: Set[bytes]) -> Partitions:
    """The partitions of these topics. If any are left out, the rest is in the order of `new HashMap<>(map)`."""
    if partitions.keys() <= topic_ids:
        return partitions
    copied = HashTable(hash_of_uuid, partitions, slots_to_hold(len(partitions)))
    return {topic_id: partitions[topic_id] for topic_id in copied if topic_id in topic_ids}


def session(configs: GroupConfigs, group_id: str, member_id: str) -> Schedule:
    """The effect that restarts the member's session."""
    timeout_ms = configs.group(group_id, "share.session.timeout.ms")
    return Schedule(session_key(group_id, member_id), timeout_ms, ExpireShareMember(group_id, member_id))


def metadata_hash(topics: TopicSource, names: Iterable[str]) -> int:
    """The hash of the topics that members subscribe to, as they are now."""
    hashes: dict[str, int] = {}
    for name in names:
        facts = topics.named(name)
        if facts is not None:
            hashes[name] = hash_of_topic(facts)
    return group_hash(hashes)


_UNKNOWN = "<UNKNOWN>"


class ShareOffsets:
    """Decides on the stored share partitions of groups. Owner: `ShareKind`."""

    def __init__(self, context: KindContext, existing: Callable[[str], ShareGroup]) -> None:
        self._context = context
        self._existing = existing

    def initialized(self, command: StatesInitialized, now_ms: int) -> Outcome[None]:
        """Note the result of `InitializeStates`."""
        group = self._context.groups.find(command.group_id, ShareGroup)
        if group is None or not command.places:
            return make_outcome()
        still: dict[bytes, TopicStates] = {}
        for topic_id, row in group.initializing.items():
            left = row.partitions - frozenset(command.places.get(topic_id, ()))
            if left or topic_id not in command.places:
                still[topic_id] = TopicStates(row.name, left)
        done = group.initialized
        if not command.failed:
            rows = {
                topic_id: TopicStates(self._name_of(topic_id), frozenset(indexes))
                for topic_id, indexes in command.places.items()
            }
            done = joined(done, rows)
        elif not group.initializing:
            return make_outcome()
        return make_outcome([self._record(group, still, done, group.deleting)])

    def alter(self, command: AlterShareOffsets, now_ms: int) -> Outcome[int]:
        """Reset share partitions. If no member has joined the group yet, this creates it."""
        group = group_or_new(self._context, command.group_id)
        group.check_delete()
        if not command.offsets:
            return make_outcome(reply=group.epoch)
        wanted = {
            topic_id: TopicStates(self._name_of(topic_id), frozenset(offsets))
            for topic_id, offsets in command.offsets.items()
        }
        deleting = {topic_id: name for topic_id, name in group.deleting.items() if topic_id not in wanted}
        record = self._record(group, joined(group.initializing, wanted), group.initialized, deleting)
        return make_outcome([record], reply=group.epoch)

    def begin_delete(
        self, command: BeginDeleteOffsets, now_ms: int
    ) -> Outcome[tuple[dict[bytes, list[int]], list[str]]]:
        """Note the topics whose states are about to be deleted."""
        group = self._existing(command.group_id)
        group.check_delete()
        if not group.has_states:
            return make_outcome(reply=({}, []))
        initialized, deleting = dict(group.initialized), dict(group.deleting)
        places: dict[bytes, list[int]] = {}
        unknown: list[str] = []
        for name in command.topics:
            facts = self._context.topics.named(name)
            if facts is None:
                unknown.append(name)
                continue
            row = initialized.pop(facts.topic_id, None)
            if row is not None:
                places[facts.topic_id] = sorted(row.partitions)
                deleting[facts.topic_id] = name
            elif facts.topic_id in deleting:
                places[facts.topic_id] = list(range(facts.partitions))
            else:
                unknown.append(name)
        return make_outcome([self._record(group, group.initializing, initialized, deleting)], reply=(places, unknown))

    def end_delete(self, command: EndDeleteOffsets, now_ms: int) -> Outcome[None]:
        """Forget topics whose states the share coordinator has deleted."""
        group = self._context.groups.find(command.group_id, ShareGroup)
        if group is None or not group.has_states:
            return make_outcome()
        left = {topic_id: name for topic_id, name in group.deleting.items() if topic_id not in command.topic_ids}
        return make_outcome([self._record(group, group.initializing, group.initialized, left)])

    def begin_delete_group(self, command: DeleteGroup, now_ms: int) -> Outcome[None]:
        """Begin to delete a group: its stored states are deleted first."""
        group = self._existing(command.group_id)
        group.check_delete()
        if not group.has_states:
            return self._deleted(group)
        gone = joined(group.initialized, group.initializing)
        for topic_id in group.deleting:
            facts = self._context.topics.by_id(topic_id)
            if facts is not None:
                again = {topic_id: TopicStates(facts.name, frozenset(range(facts.partitions)))}
                gone = joined(gone, again)
        record = states_record(group.group_id, {}, {}, {topic_id: row.name for topic_id, row in gone.items()})
        places = {topic_id: sorted(row.partitions) for topic_id, row in gone.items()}
        return make_outcome([record], effects=[DeleteStates(group.group_id, places)])

    def end_delete_group(self, command: EndDeleteGroup, now_ms: int) -> Outcome[None]:
        """Delete a group whose states are deleted."""
        group = self._context.groups.find(command.group_id, ShareGroup)
        return make_outcome() if group is None else self._deleted(group)

    def forget_topics(self, command: ForgetDeletedTopics, now_ms: int) -> Outcome[None]:
        """Forget deleted topics. The share coordinator hears of them by itself."""
        group = self._context.groups.find(command.group_id, ShareGroup)
        if group is None:
            return make_outcome()
        known = {*group.initializing, *group.initialized, *group.deleting}
        gone = {topic_id for topic_id in known if self._context.topics.by_id(topic_id) is None}
        if not gone:
            return make_outcome()
        record = self._record(
            group,
            {topic_id: row for topic_id, row in group.initializing.items() if topic_id not in gone},
            {topic_id: row for topic_id, row in group.initialized.items() if topic_id not in gone},
            {topic_id: name for topic_id, name in group.deleting.items() if topic_id not in gone},
        )
        return make_outcome([record])

    def _deleted(self, group: ShareGroup) -> Outcome[None]:
        effects: list[Effect] = list(group.on_removed())
        return make_outcome(group.tombstones(), effects=effects)

    def _record(
        self,
        group: ShareGroup,
        initializing: dict[bytes, TopicStates],
        initialized: dict[bytes, TopicStates],
        deleting: dict[bytes, str],
    ) -> NewRecord:
        names = {topic_id: self._name_of(topic_id) for topic_id in deleting}
        return states_record(group.group_id, _ordered(initializing), _ordered(initialized), names)

    def _name_of(self, topic_id: bytes) -> str:
        facts = self._context.topics.by_id(topic_id)
        return _UNKNOWN if facts is None else facts.name


def _ordered(rows: dict[bytes, TopicStates]) -> dict[bytes, TopicStates]:
    return {topic_id: rows[topic_id] for topic_id in HashTable(hash_of_uuid, rows)}


Replay = Callable[[Any, Any], None]


class ShareKind:
    """See `GroupKind`."""

    group_type: ClassVar[GroupType] = GroupType.SHARE

    def __init__(self, context: KindContext) -> None:
        self._context = context
        self._groups = context.groups
        heartbeats = Heartbeats(context, self._existing)
        offsets = ShareOffsets(context, self._existing)
        self.decisions: Mapping[type[Command[Any]], Callable[[Any, int], Outcome[Any]]] = {
            ShareGroupHeartbeat: heartbeats.heartbeat,
            ExpireShareMember: heartbeats.expire,
            StatesInitialized: offsets.initialized,
            AlterShareOffsets: offsets.alter,
            BeginDeleteOffsets: offsets.begin_delete,
            EndDeleteOffsets: offsets.end_delete,
            DeleteGroup: offsets.begin_delete_group,
            EndDeleteGroup: offsets.end_delete_group,
            ForgetDeletedTopics: offsets.forget_topics,
        }
        self._replays: dict[int, tuple[type[CoordinatorRecord], type[CoordinatorRecord], Replay]] = {
            kind.RECORD_TYPE: (kind, value, replay)
            for kind, value, replay in (
                (metadata.ShareGroupMetadataKey, metadata.ShareGroupMetadataValue, self._replay_epoch),
                (
                    member_metadata.ShareGroupMemberMetadataKey,
                    member_metadata.ShareGroupMemberMetadataValue,
                    self._replay_member,
                ),
                (
                    target_metadata.ShareGroupTargetAssignmentMetadataKey,
                    target_metadata.ShareGroupTargetAssignmentMetadataValue,
                    self._replay_target_epoch,
                ),
                (
                    target.ShareGroupTargetAssignmentMemberKey,
                    target.ShareGroupTargetAssignmentMemberValue,
                    self._replay_target,
                ),
                (
                    current.ShareGroupCurrentMemberAssignmentKey,
                    current.ShareGroupCurrentMemberAssignmentValue,
                    self._replay_current,
                ),
                (
                    states.ShareGroupStatePartitionMetadataKey,
                    states.ShareGroupStatePartitionMetadataValue,
                    self._replay_states,
                ),
            )
        }

    # -- GroupKind

    def replay(self, record_type: int, record: LogRecord) -> None:
        """See `GroupKind`."""
        known = self._replays.get(record_type)
        if known is None:
            return  # the partition metadata of earlier releases, which Kafka reads past as well
        key_class, value_class, replay = known
        key: Any = decode_key(key_class, record.key)
        if record.value is None and self._groups.find_live(key.group_id, ShareGroup) is None:
            return
        replay(key, value_of(value_class, record))

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """See `GroupKind`."""
        raise KafkaError(group_error(error.code)) from error

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        """See `GroupKind`: members have a whole session to show that they live."""
        effects: list[Effect] = []
        for group in self._groups.all():
            if isinstance(group, ShareGroup):
                effects += [session(self._context.configs, group.group_id, member) for member in group.members]
                effects.append(GroupChanged(group.group_id))
        return effects

    def on_metadata_changed(self, change: MetadataChanged, now_ms: int) -> Sequence[Effect]:
        """See `GroupKind`."""
        effects: list[Effect] = []
        for group in self._groups.all():
            if not isinstance(group, ShareGroup):
                continue
            if any(topic in group.subscribed for topic in change.topics):
                group.refresh_due = True
                group.complete = False
            if any(group.names(topic) for topic in change.topics):
                key = ("share topics", group.group_id)
                effects.append(Schedule(key, 0, ForgetDeletedTopics(group.group_id)))
        return effects

    def snapshot(self) -> None:
        """See `GroupKind`: its groups are all that it knows."""

    def restore(self, snapshot: None) -> None:
        """See `GroupKind`."""

    # -- inside

    def _existing(self, group_id: str) -> ShareGroup:
        group = self._groups.existing(group_id)
        if not isinstance(group, ShareGroup):
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")
        return group

    def _group(self, key: Any) -> ShareGroup:
        """The group that a record is about, which is about to change."""
        group = self._groups.for_replay(key.group_id, ShareGroup, partial(new_group, self._context))
        group.complete = False
        return group

    def _replay_epoch(self, key: Any, value: Any) -> None:
        if value is None:
            self._groups.remove(key.group_id, ShareGroup)
            return
        group = self._group(key)
        group.epoch, group.metadata_hash = value.epoch, value.metadata_hash

    def _replay_member(self, key: Any, value: Any) -> None:
        group = self._group(key)
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

    def _replay_target_epoch(self, key: Any, value: Any) -> None:
        group = self._group(key)
        if value is None:
            group.set_assignment(-1, 0)
        else:
            group.set_assignment(value.assignment_epoch, value.assignment_timestamp)

    def _replay_target(self, key: Any, value: Any) -> None:
        group = self._group(key)
        if value is None:
            group.set_target(key.member_id, None)
        else:
            by_topic = {row.topic_id: row.partitions for row in value.topic_partitions}
            group.set_target(key.member_id, stored_order(by_topic))

    def _replay_current(self, key: Any, value: Any) -> None:
        group = self._group(key)
        member = group.members.get(key.member_id)
        if value is None:
            if member is not None:
                group.put(member._replace(epoch=LEAVE, previous_epoch=LEAVE, assigned={}))
            return
        by_topic = {row.topic_id: row.partitions for row in value.assigned_partitions}
        group.put(
            (member or ShareMember(key.member_id))._replace(
                epoch=value.member_epoch,
                previous_epoch=value.previous_member_epoch,
                assigned=stored_order(by_topic),
            )
        )

    def _replay_states(self, key: Any, value: Any) -> None:
        group = self._group(key)
        group.has_states = value is not None
        group.initializing = {} if value is None else topic_states(value.initializing_topics)
        group.initialized = {} if value is None else topic_states(value.initialized_topics)
        group.deleting = {} if value is None else {row.topic_id: row.topic_name for row in value.deleting_topics}


def make(context: KindContext) -> ShareKind:
    """The kind for one partition's groups."""
    return ShareKind(context)


Performer = Callable[[Shard[GroupMachine], Any], None]


def performers(states: Callable[[], Persister], start_of_added: Callable[[], int]) -> dict[type[Effect], Performer]:
    """The functions that carry out the effects of share groups.

    `start_of_added`: see `Release.share_start_of_added_partitions`.
    """

    def initialize(shard: Shard[GroupMachine], effect: InitializeStates) -> None:
        failed = False
        try:
            for key in keys_of(effect.group_id, effect.places):
                start = start_of_added() if key.topic_id in effect.grown else UNINITIALIZED
                states().ask_about(InitializeState(key, effect.state_epoch, start))
        except KafkaError:
            failed = True
        shard.submit(StatesInitialized(effect.group_id, effect.places, failed=failed))

    def delete(shard: Shard[GroupMachine], effect: DeleteStates) -> None:
        for key in keys_of(effect.group_id, effect.places):
            states().ask_about(DeleteState(key))
        shard.submit(EndDeleteGroup(effect.group_id))

    return {InitializeStates: initialize, DeleteStates: delete}


def keys_of(group_id: str, places: Places) -> Iterator[ShareKey]:
    """The share partitions of a group at these places."""
    for topic_id, indexes in places.items():
        for index in indexes:
            yield ShareKey(group_id, topic_id, index)
