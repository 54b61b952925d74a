"""Applies each record of a streams group to the group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from odradek.broker.coordinator.group.records import known_key, value_of
from odradek.broker.coordinator.group.streams.description import DescriptionEpochs
from odradek.broker.coordinator.group.streams.group import StreamsGroup
from odradek.broker.coordinator.group.streams.member import (
    LEAVING,
    NOTHING_HELD,
    Endpoint,
    Held,
    Member,
    MemberState,
    Target,
)
from odradek.broker.coordinator.group.streams.topology import CopartitionGroup, Subtopology, TopicInfo, Topology
from odradek.broker.runtime.machine import LogRecord, NewRecord
from odradek.protocol.generated.stored import streams_group_current_member_assignment as current
from odradek.protocol.generated.stored import streams_group_member_metadata as metadata
from odradek.protocol.generated.stored import streams_group_metadata as group_metadata
from odradek.protocol.generated.stored import streams_group_target_assignment_member as target
from odradek.protocol.generated.stored import streams_group_target_assignment_metadata as target_epoch
from odradek.protocol.generated.stored import streams_group_topology as stored_topology
from odradek.protocol.message import CoordinatorRecord

_GONE = -1

Apply = Callable[[StreamsGroup, Any, Any], None]


def _epoch(group: StreamsGroup, key: Any, value: group_metadata.StreamsGroupMetadataValue) -> None:
    configs = {row.key: row.value for row in value.last_assignment_configs or ()}
    described = DescriptionEpochs(value.stored_description_topology_epoch, value.failed_description_topology_epoch)
    group.set_epoch(value.epoch, value.metadata_hash, value.validated_topology_epoch, configs, described)


def _member(
    group: StreamsGroup,
    key: metadata.StreamsGroupMemberMetadataKey,
    value: metadata.StreamsGroupMemberMetadataValue | None,
) -> None:
    if value is None:
        group.remove_member(key.member_id)
        return
    endpoint = value.user_endpoint
    present = group.members.get(key.member_id) or Member(key.member_id)
    group.put_member(
        present._replace(
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            topology_epoch=value.topology_epoch,
            process_id=value.process_id,
            endpoint=None if endpoint is None else Endpoint(endpoint.host, endpoint.port),
            client_tags=tuple((tag.key, tag.value) for tag in value.client_tags),
        )
    )


def _topology(group: StreamsGroup, key: Any, value: stored_topology.StreamsGroupTopologyValue | None) -> None:
    if value is None:
        group.set_topology(None)
        return
    rows = (_subtopology(each) for each in value.subtopologies)
    group.set_topology(Topology(value.epoch, {each.subtopology_id: each for each in rows}))


def _subtopology(each: stored_topology.Subtopology) -> Subtopology:
    return Subtopology(
        each.subtopology_id,
        tuple(each.source_topics),
        tuple(each.source_topic_regex),
        tuple(_topic(topic) for topic in each.state_changelog_topics),
        tuple(each.repartition_sink_topics),
        tuple(_topic(topic) for topic in each.repartition_source_topics),
        tuple(
            CopartitionGroup(
                tuple(topics.source_topics), tuple(topics.source_topic_regex), tuple(topics.repartition_source_topics)
            )
            for topics in each.copartition_groups
        ),
    )


def _topic(topic: stored_topology.TopicInfo) -> TopicInfo:
    configs = tuple((row.key, row.value) for row in topic.topic_configs)
    return TopicInfo(topic.name, topic.partitions, topic.replication_factor, configs)


def _target(
    group: StreamsGroup,
    key: target.StreamsGroupTargetAssignmentMemberKey,
    value: target.StreamsGroupTargetAssignmentMemberValue | None,
) -> None:
    if value is None:
        group.targets.pop(key.member_id, None)
        return
    group.targets[key.member_id] = Target(
        _tasks(value.active_tasks), _tasks(value.standby_tasks), _tasks(value.warmup_tasks)
    )


def _target_epoch(
    group: StreamsGroup, key: Any, value: target_epoch.StreamsGroupTargetAssignmentMetadataValue | None
) -> None:
    if value is None:
        group.set_assignment(_GONE, 0)
    else:
        group.set_assignment(value.assignment_epoch, value.assignment_timestamp)


def _current(
    group: StreamsGroup,
    key: current.StreamsGroupCurrentMemberAssignmentKey,
    value: current.StreamsGroupCurrentMemberAssignmentValue | None,
) -> None:
    present = group.members.get(key.member_id)
    if value is not None:
        group.put_member(_with_current(present or Member(key.member_id), value))
    elif present is not None:
        left = present._replace(epoch=LEAVING, previous_epoch=LEAVING, assigned=NOTHING_HELD, revoking=NOTHING_HELD)
        group.put_member(left)


def _with_current(member: Member, value: current.StreamsGroupCurrentMemberAssignmentValue) -> Member:
    epoch = value.member_epoch
    return member._replace(
        epoch=epoch,
        previous_epoch=value.previous_member_epoch,
        state=MemberState(value.state),
        assigned=Held(_active(value.active_tasks, epoch), _tasks(value.standby_tasks), _tasks(value.warmup_tasks)),
        revoking=Held(
            _active(value.active_tasks_pending_revocation, epoch),
            _tasks(value.standby_tasks_pending_revocation),
            _tasks(value.warmup_tasks_pending_revocation),
        ),
    )


def _tasks(rows: Sequence[current.TaskIds] | Sequence[target.TaskIds]) -> dict[str, frozenset[int]]:
    return {row.subtopology_id: frozenset(row.partitions) for row in rows}


def _active(rows: Sequence[current.TaskIds], epoch: int) -> dict[str, dict[int, int]]:
    """Records of older releases have no assignment epochs: the member's own epoch takes their place."""
    tasks: dict[str, dict[int, int]] = {}
    for row in rows:
        epochs = row.assignment_epochs
        if epochs is None or len(epochs) != len(row.partitions):
            epochs = [epoch] * len(row.partitions)
        tasks[row.subtopology_id] = dict(zip(row.partitions, epochs, strict=True))
    return tasks


_RECORDS: Mapping[int, tuple[type[CoordinatorRecord], type[CoordinatorRecord], Apply]] = {
    key.RECORD_TYPE: (key, value, apply)
    for key, value, apply in (
        (group_metadata.StreamsGroupMetadataKey, group_metadata.StreamsGroupMetadataValue, _epoch),
        (metadata.StreamsGroupMemberMetadataKey, metadata.StreamsGroupMemberMetadataValue, _member),
        (stored_topology.StreamsGroupTopologyKey, stored_topology.StreamsGroupTopologyValue, _topology),
        (target.StreamsGroupTargetAssignmentMemberKey, target.StreamsGroupTargetAssignmentMemberValue, _target),
        (
            target_epoch.StreamsGroupTargetAssignmentMetadataKey,
            target_epoch.StreamsGroupTargetAssignmentMetadataValue,
            _target_epoch,
        ),
        (current.StreamsGroupCurrentMemberAssignmentKey, current.StreamsGroupCurrentMemberAssignmentValue, _current),
    )
}
_GROUP_RECORD = group_metadata.StreamsGroupMetadataKey.RECORD_TYPE
_TOPOLOGY_RECORD = stored_topology.StreamsGroupTopologyKey.RECORD_TYPE


def key_of(record_type: int, key: bytes) -> Any:
    """The decoded key of a record, None for a type that Kafka 4.4.0 does not write."""
    kinds = _RECORDS.get(record_type)
    return None if kinds is None else known_key(kinds[0], key)


def apply(group: StreamsGroup, record_type: int, key: Any, record: NewRecord | LogRecord) -> None:
    """Change the group as the record says; ``key`` as `key_of` gives it."""
    _, value_type, change = _RECORDS[record_type]
    change(group, key, value_of(value_type, record))


def deletes_group(record_type: int, value: bytes | None) -> bool:
    """Whether the record is the tombstone of the group."""
    return record_type == _GROUP_RECORD and value is None


def changes_topics(record_type: int) -> bool:
    """Whether the record changes which topics the group needs."""
    return record_type == _TOPOLOGY_RECORD
