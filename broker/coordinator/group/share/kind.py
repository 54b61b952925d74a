"""The requests of share groups, the replay of their records, and what they have the share coordinator do.

A member gets its new assignment at once and gives nothing up first: partitions are shared anyway. A partition is
assigned when the share coordinator stores its state, so the first heartbeat of a group has that begun, and a later one
gets the partitions. Each change of what is stored goes in two steps, so that nothing is forgotten when a coordinator
fails in between: a record says what is about to happen, then the share coordinator does it, then a record says that it
is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, ClassVar

from odradek.broker.coordinator.group.assignment import Partitions, same_partitions
from odradek.broker.coordinator.group.epoch_group import JOINING, EpochKind
from odradek.broker.coordinator.group.groups import (
    DeleteGroup,
    FenceMember,
    Group,
    GroupType,
    KindContext,
    MetadataChanged,
)
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.settings import ShareConfigs
from odradek.broker.coordinator.group.share.assignor import assign, group_spec
from odradek.broker.coordinator.group.share.group import (
    RECORDS,
    REPLAYS,
    AlterShareOffsets,
    BeginDeleteOffsets,
    DeleteStates,
    EndDeleteGroup,
    EndDeleteOffsets,
    ForgetDeletedTopics,
    InitializeStates,
    Places,
    ShareGroup,
    ShareGroupHeartbeat,
    ShareMember,
    ShareStep,
    StatesInitialized,
    TopicStates,
    current_record,
    epoch_record,
    joined,
    member_record,
    states_record,
    target_record,
)
from odradek.broker.coordinator.group.topics import TopicFacts
from odradek.broker.coordinator.share_state.commands import DeleteState, InitializeState
from odradek.broker.coordinator.share_state.machine import UNINITIALIZED
from odradek.broker.coordinator.share_state.service import Persister
from odradek.broker.partitions.share.states import ShareKey
from odradek.broker.runtime.machine import Command, Effect, NewRecord, Outcome, Schedule, make_outcome
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)
from odradek.protocol.generated.stored.share_group_member_metadata import ShareGroupMemberMetadataKey
from odradek.protocol.generated.stored.share_group_metadata import ShareGroupMetadataKey
from odradek.protocol.java_maps import HashTable, hash_of_uuid, slots_to_hold

_UNKNOWN = "<UNKNOWN>"


class ShareKind(EpochKind):
    """Decides on the requests of members and about stored share partitions. See `GroupKind`.

    The group coordinator keeps account of the share partitions that the share coordinator stores for a group.
    """

    group_type: ClassVar[GroupType] = GroupType.SHARE
    step_class: ClassVar[type[Any]] = ShareStep
    member_class: ClassVar[type[Any]] = ShareMember
    has_static_members: ClassVar[bool] = False

    def __init__(self, context: KindContext) -> None:
        self.configs = ShareConfigs(context.configs)
        super().__init__(
            context,
            self.configs,
            ShareGroup,
            ShareGroupHeartbeatResponse,
            RECORDS,
            REPLAYS,
            ShareGroupMetadataKey.RECORD_TYPE,
            (ShareGroupMemberMetadataKey.RECORD_TYPE,),
        )
        self.decisions: Mapping[type[Command[Any]], Callable[[Any, int], Outcome[Any]]] = {
            ShareGroupHeartbeat: self.heartbeat,
            FenceMember: self.fence,
            StatesInitialized: self.initialized,
            AlterShareOffsets: self.alter,
            BeginDeleteOffsets: self.begin_delete,
            EndDeleteOffsets: self.end_delete,
            DeleteGroup: self.begin_delete_group,
            EndDeleteGroup: self.end_delete_group,
            ForgetDeletedTopics: self.forget_topics,
        }

    def on_metadata_changed(self, change: MetadataChanged, now_ms: int) -> Sequence[Effect]:
        """See `GroupKind`. States of topics that are gone are forgotten."""
        super().on_metadata_changed(change, now_ms)
        effects: list[Effect] = []
        for group_id in sorted(self._ids):
            group: ShareGroup | None = self._live(group_id)
            if group is not None and any(group.names(topic) for topic in change.topics):
                effects.append(Schedule(("share topics", group_id), 0, ForgetDeletedTopics(group_id)))
        return effects

    # -- heartbeats

    def _is_unchanged(self, group: ShareGroup, member: ShareMember, command: ShareGroupHeartbeat, now_ms: int) -> bool:
        request: ShareGroupHeartbeatRequest = command.request
        return (
            request.subscribed_topic_names is None
            and request.rack_id is None
            and member.client_id == command.sender.client_id
            and member.client_host == command.sender.host
            and group.rests(member)
        )

    def _take_over(self, group: Group, epoch: int, now_ms: int) -> ShareStep:
        """See `EpochKind`. A share group takes nobody's place."""
        raise self.other_kind(group.group_id)

    def check_epoch(self, member: ShareMember, epoch: int, owned: None) -> None:
        """A member may repeat its previous epoch whatever it has: it gives nothing up."""
        if epoch in (JOINING, member.epoch, member.previous_epoch):
            return
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

    def _advance(
        self, step: ShareStep, command: ShareGroupHeartbeat, before: ShareMember
    ) -> ShareGroupHeartbeatResponse:
        group = step.group
        request: ShareGroupHeartbeatRequest = command.request
        member = _updated(before, command)
        if member != before or before.member_id not in group.members:
            step.records.append(member_record(group.group_id, member))
        epoch = self._decide_epoch(step, before, member)
        target_epoch, target = self._decide_target(step, member, epoch)
        member = self._reconciled(step, member, target_epoch, target, bumped=epoch > group.epoch)
        self._begin_states(step, epoch)
        group.complete = not step.records and group.assignment_epoch >= group.epoch
        names_topics = request.subscribed_topic_names is not None
        response: ShareGroupHeartbeatResponse = self._response(group, member)
        if request.member_epoch == JOINING or names_topics or member.assigned != before.assigned:
            rows = [TopicPartitions(topic_id, list(indexes)) for topic_id, indexes in member.assigned.items()]
            response.assignment = Assignment(rows)
        return response

    def _decide_epoch(self, step: ShareStep, before: ShareMember, member: ShareMember) -> int:
        """The group's epoch, which may be the next one."""
        group = step.group
        bump = member.topics != before.topics
        if group.assignment_epoch >= group.epoch:
            bump = bump or group.has_unassigned
        if not bump and not group.refresh_due:
            return group.epoch
        step.names = group.topics_with(member, without=member.member_id)
        hashed = self._topics.hash_of(step.names)
        bump = bump or hashed != group.metadata_hash
        group.refresh_due = False
        if not bump:
            return group.epoch
        step.records.append(epoch_record(group.group_id, group.epoch + 1, hashed))
        return group.epoch + 1

    def _decide_target(self, step: ShareStep, member: ShareMember, epoch: int) -> tuple[int, Partitions]:
        """The epoch of the target assignment, and the member's part of it."""
        group = step.group
        may_assign = self.configs.may_assign(group.group_id, group.assignment_timestamp, step.now_ms)
        if group.assignment_epoch >= epoch or not may_assign:
            return group.assignment_epoch, group.target.of(member.member_id)
        members = group.in_order(member, counts_newcomers=self.configs.release.counts_newcomers)
        spec = group_spec(members, group.target, self._topics)
        assignable = {topic_id: row.partitions for topic_id, row in group.initialized.items()}
        target = assign(spec, assignable)
        present = group.target.by_member
        for member_id in members:
            if member_id not in present or not same_partitions(target[member_id], present[member_id]):
                step.records.append(target_record(group.group_id, member_id, target[member_id]))
        step.records.append(RECORDS.target_epoch(group.group_id, epoch, step.now_ms))
        return epoch, target[member.member_id]

    def _reconciled(
        self, step: ShareStep, member: ShareMember, target_epoch: int, target: Partitions, *, bumped: bool
    ) -> ShareMember:
        if not bumped and member.epoch == target_epoch:
            return member
        ids = {facts.topic_id for facts in self._topic_ids(member.topics).values()}
        fresh = member._replace(assigned=_only(target, ids))
        if member.epoch != target_epoch:
            fresh = fresh._replace(epoch=target_epoch, previous_epoch=member.epoch)
        if fresh != member:
            step.records.append(current_record(step.group.group_id, fresh))
        return fresh

    def _begin_states(self, step: ShareStep, epoch: int) -> None:
        """Have the share coordinator store the partitions of subscribed topics that it does not store yet."""
        group = step.group
        wanted: dict[bytes, TopicStates] = {}
        for name, facts in self._topic_ids(step.names).items():
            stored = group.initialized.get(facts.topic_id)
            known = frozenset() if stored is None else stored.partitions
            if len(known) < facts.partitions:
                wanted[facts.topic_id] = TopicStates(name, frozenset(range(facts.partitions)) - known)
        if not wanted:
            return
        wanted = {topic_id: wanted[topic_id] for topic_id in HashTable(hash_of_uuid, wanted)}
        deleting = {topic_id: name for topic_id, name in group.deleting.items() if topic_id not in wanted}
        initializing = joined(group.initializing, wanted)
        step.records.append(states_record(group.group_id, initializing, group.initialized, deleting))
        places = {topic_id: sorted(row.partitions) for topic_id, row in wanted.items()}
        grown = {topic_id for topic_id in places if topic_id in group.initialized or topic_id in group.initializing}
        step.effects.append(InitializeStates(group.group_id, epoch, places, grown))

    def _topic_ids(self, names: Iterable[str]) -> dict[str, TopicFacts]:
        found = {name: self._topics.named(name) for name in names}
        return {name: facts for name, facts in found.items() if facts is not None}

    def _next_epoch_without(self, group: ShareGroup, members: Sequence[ShareMember]) -> Sequence[NewRecord]:
        hashed = self._topics.hash_of(group.topics_with(None, without=members[0].member_id))
        return [epoch_record(group.group_id, group.epoch + 1, hashed)]

    # -- stored share partitions

    def initialized(self, command: StatesInitialized, now_ms: int) -> Outcome[None]:
        """Note the result of `InitializeStates`."""
        group = self._groups.find(command.group_id, ShareGroup)
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
        group = self._groups.get(command.group_id) or self._new_group(command.group_id)
        if not isinstance(group, ShareGroup):
            raise self.other_kind(command.group_id)
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
        group: ShareGroup = self._existing(command.group_id)
        group.check_delete()
        if not group.has_states:
            return make_outcome(reply=({}, []))
        initialized, deleting = dict(group.initialized), dict(group.deleting)
        places: dict[bytes, list[int]] = {}
        unknown: list[str] = []
        for name in command.topics:
            facts = self._topics.named(name)
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
        group = self._groups.find(command.group_id, ShareGroup)
        if group is None or not group.has_states:
            return make_outcome()
        left = {topic_id: name for topic_id, name in group.deleting.items() if topic_id not in command.topic_ids}
        return make_outcome([self._record(group, group.initializing, group.initialized, left)])

    def begin_delete_group(self, command: DeleteGroup, now_ms: int) -> Outcome[None]:
        """Begin to delete a group: its stored states are deleted first."""
        group: ShareGroup = self._existing(command.group_id)
        group.check_delete()
        if not group.has_states:
            return self._deleted(group)
        gone = joined(group.initialized, group.initializing)
        for topic_id in group.deleting:
            facts = self._topics.by_id(topic_id)
            if facts is not None:
                again = {topic_id: TopicStates(facts.name, frozenset(range(facts.partitions)))}
                gone = joined(gone, again)
        record = states_record(group.group_id, {}, {}, {topic_id: row.name for topic_id, row in gone.items()})
        places = {topic_id: sorted(row.partitions) for topic_id, row in gone.items()}
        return make_outcome([record], effects=[DeleteStates(group.group_id, places)])

    def end_delete_group(self, command: EndDeleteGroup, now_ms: int) -> Outcome[None]:
        """Delete a group whose states are deleted."""
        group = self._groups.find(command.group_id, ShareGroup)
        return make_outcome() if group is None else self._deleted(group)

    def forget_topics(self, command: ForgetDeletedTopics, now_ms: int) -> Outcome[None]:
        """Forget deleted topics. The share coordinator hears of them by itself."""
        group = self._groups.find(command.group_id, ShareGroup)
        if group is None:
            return make_outcome()
        known = {*group.initializing, *group.initialized, *group.deleting}
        gone = {topic_id for topic_id in known if self._topics.by_id(topic_id) is None}
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
        facts = self._topics.by_id(topic_id)
        return _UNKNOWN if facts is None else facts.name


def _updated(member: ShareMember, command: ShareGroupHeartbeat) -> ShareMember:
    """The member with the fields of the heartbeat; None changes nothing."""
    request: ShareGroupHeartbeatRequest = command.request
    topics = request.subscribed_topic_names
    return member._replace(
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        client_id=command.sender.client_id,
        client_host=command.sender.host,
        topics=member.topics if topics is None else frozenset(topics),
    )


def _only(partitions: Partitions, topic_ids: Set[bytes]) -> Partitions:
    """The partitions of these topics. If any are left out, the rest is in the order of `new HashMap<>(map)`."""
    if partitions.keys() <= topic_ids:
        return partitions
    copied = HashTable(hash_of_uuid, partitions, slots_to_hold(len(partitions)))
    return {topic_id: partitions[topic_id] for topic_id in copied if topic_id in topic_ids}


def _ordered(rows: dict[bytes, TopicStates]) -> dict[bytes, TopicStates]:
    return {topic_id: rows[topic_id] for topic_id in HashTable(hash_of_uuid, rows)}


def make(context: KindContext) -> ShareKind:
    """The kind for one partition's groups."""
    return ShareKind(context)


EffectHandler = Callable[[Shard[GroupMachine], Any], None]


def effect_handlers(
    states: Callable[[], Persister], start_of_added: Callable[[], int]
) -> dict[type[Effect], EffectHandler]:
    """The functions that execute the effects of share groups.

    `start_of_added`: see `Release.share_start_of_added_partitions`.
    """

    def initialize(shard: Any, effect: InitializeStates) -> None:
        failed = False
        try:
            for key in keys_of(effect.group_id, effect.places):
                start = start_of_added() if key.topic_id in effect.grown else UNINITIALIZED
                states().ask_about(InitializeState(key, effect.state_epoch, start))
        except KafkaError:
            failed = True
        shard.post(StatesInitialized(effect.group_id, effect.places, failed=failed))

    def delete(shard: Any, effect: DeleteStates) -> None:
        for key in keys_of(effect.group_id, effect.places):
            states().ask_about(DeleteState(key))
        shard.post(EndDeleteGroup(effect.group_id))

    return {InitializeStates: initialize, DeleteStates: delete}


def keys_of(group_id: str, places: Places) -> Iterator[ShareKey]:
    """The share partitions of a group at these places."""
    for topic_id, indexes in places.items():
        for index in indexes:
            yield ShareKey(group_id, topic_id, index)
