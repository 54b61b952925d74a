"""The records of streams groups in `__consumer_offsets`: what is written, and what reading them makes of a group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from odradek.broker.coordinator.group.records import encode_key, new_record
from odradek.broker.coordinator.group.streams.description import NO_DESCRIPTION, DescriptionEpochs
from odradek.broker.coordinator.group.streams.member import Member, Target, TaskEpochs, Tasks
from odradek.broker.coordinator.group.streams.topology import Subtopology, TopicInfo, Topology, java_text
from odradek.broker.runtime.machine import NewRecord
from odradek.protocol.generated.stored import streams_group_current_member_assignment as current
from odradek.protocol.generated.stored import streams_group_member_metadata as metadata
from odradek.protocol.generated.stored import streams_group_metadata as group
from odradek.protocol.generated.stored import streams_group_target_assignment_member as target
from odradek.protocol.generated.stored import streams_group_target_assignment_metadata as target_epoch
from odradek.protocol.generated.stored import streams_group_topology as stored_topology


def epoch_record(
    group_id: str,
    epoch: int,
    metadata_hash: int,
    validated: int,
    configs: Mapping[str, str],
    described: DescriptionEpochs = NO_DESCRIPTION,
) -> NewRecord:
    """The group in a new epoch, or with another description of its topology."""
    rows = [group.LastAssignmentConfig(key, value) for key, value in sorted(configs.items())]
    value = group.StreamsGroupMetadataValue(epoch, metadata_hash, validated, rows, *described)
    return new_record(encode_key(group.StreamsGroupMetadataKey(group_id)), value)


def member_record(group_id: str, member: Member) -> NewRecord:
    """The record of a member's identity and subscription."""
    endpoint = member.endpoint
    value = metadata.StreamsGroupMemberMetadataValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=None if endpoint is None else metadata.Endpoint(endpoint.host, endpoint.port),
        client_tags=[metadata.KeyValue(key, tag) for key, tag in member.client_tags],
    )
    return new_record(encode_key(metadata.StreamsGroupMemberMetadataKey(group_id, member.member_id)), value)


def topology_record(group_id: str, topology: Topology) -> NewRecord:
    """The topology as its first member has declared it."""
    rows = [_subtopology(each) for each in topology.subtopologies.values()]
    value = stored_topology.StreamsGroupTopologyValue(topology.epoch, rows)
    return new_record(encode_key(stored_topology.StreamsGroupTopologyKey(group_id)), value)


def _subtopology(each: Subtopology) -> stored_topology.Subtopology:
    return stored_topology.Subtopology(
        each.subtopology_id,
        list(each.source_topics),
        list(each.source_regexes),
        [_topic(topic) for topic in each.changelogs],
        list(each.repartition_sinks),
        [_topic(topic) for topic in each.repartition_sources],
        [
            stored_topology.CopartitionGroup(
                list(topics.source_topics), list(topics.source_regexes), list(topics.repartition_sources)
            )
            for topics in each.copartition_groups
        ],
    )


def _topic(topic: TopicInfo) -> stored_topology.TopicInfo:
    configs = [stored_topology.TopicConfig(key, value) for key, value in topic.configs]
    return stored_topology.TopicInfo(topic.name, topic.partitions, topic.replication_factor, configs)


def target_record(group_id: str, member_id: str, tasks: Target) -> NewRecord:
    """The record of a member's target."""
    value = target.StreamsGroupTargetAssignmentMemberValue(
        [target.TaskIds(name, sorted(tasks.active[name])) for name in _sorted(tasks.active)],
        [target.TaskIds(name, sorted(tasks.standby[name])) for name in _sorted(tasks.standby)],
        [target.TaskIds(name, sorted(tasks.warmup[name])) for name in _sorted(tasks.warmup)],
    )
    return new_record(encode_key(target.StreamsGroupTargetAssignmentMemberKey(group_id, member_id)), value)


def target_epoch_record(group_id: str, epoch: int, now_ms: int) -> NewRecord:
    """A target assignment is complete."""
    value = target_epoch.StreamsGroupTargetAssignmentMetadataValue(epoch, now_ms)
    return new_record(encode_key(target_epoch.StreamsGroupTargetAssignmentMetadataKey(group_id)), value)


def current_record(group_id: str, member: Member) -> NewRecord:
    """The record of a member's present tasks."""
    value = current.StreamsGroupCurrentMemberAssignmentValue(
        member.epoch,
        member.previous_epoch,
        member.state,
        _active(member.assigned.active),
        _copies(member.assigned.standby),
        _copies(member.assigned.warmup),
        _active(member.revoking.active),
        _copies(member.revoking.standby),
        _copies(member.revoking.warmup),
    )
    key = current.StreamsGroupCurrentMemberAssignmentKey(group_id, member.member_id)
    return new_record(encode_key(key), value)


def _active(tasks: TaskEpochs) -> list[current.TaskIds]:
    rows: list[current.TaskIds] = []
    for name in _sorted(tasks):
        partitions = sorted(tasks[name])
        rows.append(current.TaskIds(name, partitions, [tasks[name][each] for each in partitions]))
    return rows


def _copies(tasks: Tasks) -> list[current.TaskIds]:
    return [current.TaskIds(name, sorted(tasks[name])) for name in _sorted(tasks)]


def _sorted(subtopologies: Iterable[str]) -> list[str]:
    return sorted(subtopologies, key=java_text)


# -- tombstones


def member_tombstones(group_id: str, member_id: str) -> list[NewRecord]:
    """The records that take a member out of a group."""
    return [
        NewRecord(encode_key(current.StreamsGroupCurrentMemberAssignmentKey(group_id, member_id))),
        NewRecord(encode_key(target.StreamsGroupTargetAssignmentMemberKey(group_id, member_id))),
        NewRecord(encode_key(metadata.StreamsGroupMemberMetadataKey(group_id, member_id))),
    ]


def group_tombstones(group_id: str, members: Iterable[str]) -> list[NewRecord]:
    """The records that delete a group."""
    ids = list(members)
    return [
        *(NewRecord(encode_key(current.StreamsGroupCurrentMemberAssignmentKey(group_id, each))) for each in ids),
        *(NewRecord(encode_key(target.StreamsGroupTargetAssignmentMemberKey(group_id, each))) for each in ids),
        NewRecord(encode_key(target_epoch.StreamsGroupTargetAssignmentMetadataKey(group_id))),
        *(NewRecord(encode_key(metadata.StreamsGroupMemberMetadataKey(group_id, each))) for each in ids),
        NewRecord(encode_key(group.StreamsGroupMetadataKey(group_id))),
        NewRecord(encode_key(stored_topology.StreamsGroupTopologyKey(group_id))),
    ]
