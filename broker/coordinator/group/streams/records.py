"""The members of streams groups, their tasks and endpoints, and the records that a group writes.

A task is a subtopology and a partition. Each is active, a standby or a warm-up at some member. Endpoints tell members
which of them answer interactive queries for which partitions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from odradek.broker.coordinator.group.records import EpochRecords, encode_key, new_record
from odradek.broker.coordinator.group.streams.topology import (
    NO_DESCRIPTION,
    ConfiguredSubtopology,
    ConfiguredTopology,
    DescriptionEpochs,
    Topology,
    internal_error,
    java_text,
    sources_of,
)
from odradek.broker.coordinator.group.topics import TopicSource
from odradek.broker.runtime.machine import NewRecord
from odradek.protocol.generated.messages.streams_group_heartbeat import (
    EndpointToPartitions,
    ResponseEndpoint,
    TopicPartition,
)
from odradek.protocol.generated.stored import streams_group_current_member_assignment as current
from odradek.protocol.generated.stored import streams_group_member_metadata as stored_member
from odradek.protocol.generated.stored import streams_group_metadata as group
from odradek.protocol.generated.stored import streams_group_target_assignment_member as target
from odradek.protocol.generated.stored import streams_group_target_assignment_metadata as target_epoch
from odradek.protocol.generated.stored import streams_group_topology as stored_topology
from odradek.protocol.java_maps import hash_of_text, java_order

Tasks = Mapping[str, frozenset[int]]
"""Partitions by subtopology id; no subtopology is without partitions."""

TaskEpochs = Mapping[str, Mapping[int, int]]
"""The same, with the epoch in which each task was assigned."""

NO_TASKS: Tasks = {}
NO_EPOCHS: TaskEpochs = {}


class Target(NamedTuple):
    """The tasks of a member's target."""

    active: Tasks = NO_TASKS
    standby: Tasks = NO_TASKS
    warmup: Tasks = NO_TASKS


class Held(NamedTuple):
    """Tasks that a member has, or must give up."""

    active: TaskEpochs = NO_EPOCHS
    standby: Tasks = NO_TASKS
    warmup: Tasks = NO_TASKS

    @property
    def is_empty(self) -> bool:
        """Whether there are none."""
        return not (self.active or self.standby or self.warmup)


class Owned(NamedTuple):
    """The tasks that a member reports as its own."""

    active: Mapping[str, Sequence[int]]
    standby: Mapping[str, Sequence[int]]
    warmup: Mapping[str, Sequence[int]]

    def any_of(self, held: Held) -> bool:
        """Whether it has any of these."""
        return _meet(self.active, held.active) or _meet(self.standby, held.standby) or _meet(self.warmup, held.warmup)

    def all_in(self, held: Held) -> bool:
        """Whether it has none but these."""
        return (
            _within(self.active, held.active)
            and _within(self.standby, held.standby)
            and _within(self.warmup, held.warmup)
        )


NO_TARGET = Target()
NOTHING_HELD = Held()


def in_map_order(subtopologies: Iterable[str]) -> list[str]:
    """Subtopology ids as Kafka walks them."""
    return java_order(sorted(subtopologies), hash_of_text)


def _meet(one: Mapping[str, Collection[int]], other: Mapping[str, Collection[int]]) -> bool:
    return any(
        partition in other[subtopology]
        for subtopology, partitions in one.items()
        if subtopology in other
        for partition in partitions
    )


def _within(one: Mapping[str, Collection[int]], other: Mapping[str, Collection[int]]) -> bool:
    return all(
        subtopology in other and all(partition in other[subtopology] for partition in partitions)
        for subtopology, partitions in one.items()
    )


TaskOffsets = tuple[tuple[str, int, int], ...]
"""Subtopology, partition and offset."""


class MemberState(IntEnum):
    """The states of a member's reconciliation, numbered as in the log."""

    STABLE = 1
    UNREVOKED_TASKS = 2
    UNRELEASED_TASKS = 3
    UNKNOWN = 127

    @classmethod
    def _missing_(cls, value: object) -> MemberState:
        return cls.UNKNOWN


MemberMetadata = stored_member.StreamsGroupMemberMetadataValue
"""Who a member is and where, as the log has it, with the tags in the order of their keys. Do not change one."""

NO_METADATA: Final = MemberMetadata(None, None, topology_epoch=-1)


class Member(NamedTuple):
    """An immutable member.

    ``assigned``: the tasks that it has or may take up; ``revoking``: those that it must give up first.
    """

    member_id: str
    epoch: int = 0
    previous_epoch: int = 0
    state: MemberState = MemberState.STABLE
    metadata: MemberMetadata = NO_METADATA
    assigned: Held = NOTHING_HELD
    revoking: Held = NOTHING_HELD

    def is_reconciled_to(self, epoch: int) -> bool:
        """Whether it has all that it was given in that epoch."""
        return self.state is MemberState.STABLE and self.epoch == epoch


def endpoints(
    members: Iterable[Member], configured: ConfiguredTopology, topics: TopicSource
) -> list[EndpointToPartitions]:
    """The source partitions of all members with an endpoint. KafkaError while topics are missing or do not fit."""
    reachable = ((member, member.metadata.user_endpoint) for member in members)
    return [_of_member(member, endpoint, configured, topics) for member, endpoint in reachable if endpoint]


def _of_member(
    member: Member, endpoint: stored_member.Endpoint, configured: ConfiguredTopology, topics: TopicSource
) -> EndpointToPartitions:
    subtopologies = configured.subtopologies
    if subtopologies is None:
        raise internal_error()
    return EndpointToPartitions(
        ResponseEndpoint(endpoint.host, endpoint.port),
        _partitions(member.assigned.active, subtopologies, topics),
        _partitions(member.assigned.standby, subtopologies, topics),
    )


def _partitions(
    tasks: Mapping[str, Iterable[int]], subtopologies: Mapping[str, ConfiguredSubtopology], topics: TopicSource
) -> list[TopicPartition]:
    rows: list[TopicPartition] = []
    for subtopology in in_map_order(tasks):
        configured = subtopologies.get(subtopology)
        if configured is None:
            raise internal_error()
        partitions = sorted(tasks[subtopology])
        for topic in java_order(sources_of(configured.declared), hash_of_text):
            facts = topics.named(topic)
            if facts is None:
                raise internal_error()
            rows.append(TopicPartition(topic, partitions[: facts.partitions]))
    return rows


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
    """The record of a member's metadata."""
    return new_record(RECORDS.member.of(group_id, member.member_id), member.metadata)


def topology_record(group_id: str, topology: Topology) -> NewRecord:
    """The topology as its first member has declared it."""
    value = stored_topology.StreamsGroupTopologyValue(topology.epoch, list(topology.subtopologies.values()))
    return new_record(encode_key(stored_topology.StreamsGroupTopologyKey(group_id)), value)


def target_record(group_id: str, member_id: str, tasks: Target) -> NewRecord:
    """The record of a member's target."""
    value = target.StreamsGroupTargetAssignmentMemberValue(
        [target.TaskIds(name, sorted(tasks.active[name])) for name in _sorted(tasks.active)],
        [target.TaskIds(name, sorted(tasks.standby[name])) for name in _sorted(tasks.standby)],
        [target.TaskIds(name, sorted(tasks.warmup[name])) for name in _sorted(tasks.warmup)],
    )
    return new_record(RECORDS.target.of(group_id, member_id), value)


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
    return new_record(RECORDS.current.of(group_id, member.member_id), value)


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


def group_tombstones(group_id: str, members: Iterable[str]) -> list[NewRecord]:
    """The records that delete a group."""
    return [
        *RECORDS.tombstones(group_id, members),
        NewRecord(encode_key(group.StreamsGroupMetadataKey(group_id))),
        NewRecord(encode_key(stored_topology.StreamsGroupTopologyKey(group_id))),
    ]


RECORDS: Final = EpochRecords(
    current.StreamsGroupCurrentMemberAssignmentKey,
    target.StreamsGroupTargetAssignmentMemberKey,
    stored_member.StreamsGroupMemberMetadataKey,
    target_epoch.StreamsGroupTargetAssignmentMetadataKey,
    target_epoch.StreamsGroupTargetAssignmentMetadataValue,
)
