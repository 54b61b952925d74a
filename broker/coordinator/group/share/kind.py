"""Share groups as one kind of groups: replaying their records, and what concerns the share coordinator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from odradek.broker.coordinator.group.assignment import stored_order
from odradek.broker.coordinator.group.commands import DeleteGroup, GroupType, MetadataChanged
from odradek.broker.coordinator.group.kinds import GroupChanged, KindContext, group_error
from odradek.broker.coordinator.group.records import decode_key, value_of
from odradek.broker.coordinator.group.share import commands as c
from odradek.broker.coordinator.group.share.group import LEAVE, ShareGroup, ShareMember, new_group, topic_states
from odradek.broker.coordinator.group.share.heartbeat import Heartbeats, session
from odradek.broker.coordinator.group.share.offsets import ShareOffsets
from odradek.broker.runtime.machine import Command, Effect, LogRecord, Outcome, Schedule
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.stored import share_group_current_member_assignment as current
from odradek.protocol.generated.stored import share_group_member_metadata as member_metadata
from odradek.protocol.generated.stored import share_group_metadata as metadata
from odradek.protocol.generated.stored import share_group_state_partition_metadata as states
from odradek.protocol.generated.stored import share_group_target_assignment_member as target
from odradek.protocol.generated.stored import share_group_target_assignment_metadata as target_metadata
from odradek.protocol.message import CoordinatorRecord

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
            c.ShareGroupHeartbeat: heartbeats.heartbeat,
            c.ExpireShareMember: heartbeats.expire,
            c.StatesInitialized: offsets.initialized,
            c.AlterShareOffsets: offsets.alter,
            c.BeginDeleteOffsets: offsets.begin_delete,
            c.EndDeleteOffsets: offsets.end_delete,
            DeleteGroup: offsets.begin_delete_group,
            c.EndDeleteGroup: offsets.end_delete_group,
            c.ForgetDeletedTopics: offsets.forget_topics,
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
                effects.append(Schedule(key, 0, c.ForgetDeletedTopics(group.group_id)))
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
