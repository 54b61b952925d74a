"""A streams group as Python sees it: its topology, and the tasks of its members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.streams.configs import StreamsConfigs
from odradek.broker.coordinator.group.streams.configured import ConfiguredTopology
from odradek.broker.coordinator.group.streams.group import StreamsGroup
from odradek.broker.coordinator.group.streams.member import Member
from odradek.broker.coordinator.group.streams.topology import Subtopology
from odradek.broker.coordinator.group.topic_source import TopicSource
from odradek.broker.facade.group_info import GroupInfo, MemberInfo, OffsetInfo, TopicPartition

ASSIGNOR = "sticky"

TaskMap = Mapping[str, tuple[int, ...]]
"""Partitions by subtopology id."""


@dataclass(frozen=True, slots=True)
class SubtopologyInfo:
    """A part of a topology. ``tasks``: how many it has, None while topics are missing.

    ``source_topics`` are read, ``repartition_topics`` too, ``changelog_topics`` keep its state.
    """

    subtopology_id: str
    source_topics: tuple[str, ...]
    repartition_topics: tuple[str, ...]
    changelog_topics: tuple[str, ...]
    tasks: int | None


@dataclass(frozen=True, slots=True)
class StreamsMemberInfo(MemberInfo):
    """A member of a streams group: usually a thread of the application.

    ``active`` and ``standby`` are the tasks that it has, ``revoking`` active ones that it has to give up first;
    ``target_active`` and ``target_standby`` are what it is to have. ``assignment`` (of ``active`` and ``revoking``)
    and ``target`` tell of active tasks as partitions of the topics that they read. ``endpoint``: host and port for
    interactive queries.
    """

    process_id: str = ""
    active: TaskMap = field(default_factory=dict)
    standby: TaskMap = field(default_factory=dict)
    revoking: TaskMap = field(default_factory=dict)
    target_active: TaskMap = field(default_factory=dict)
    target_standby: TaskMap = field(default_factory=dict)
    endpoint: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class StreamsGroupInfo(GroupInfo):
    """A streams group. ``problem``: why tasks cannot be assigned, in Kafka's words, empty if they can."""

    topology_epoch: int = -1
    subtopologies: tuple[SubtopologyInfo, ...] = ()
    problem: str = ""


# -- in the broker's thread


def streams_group_info(
    machine: GroupMachine, group_id: str, offsets: Mapping[TopicPartition, OffsetInfo], coordinator: int
) -> StreamsGroupInfo:
    """A streams group at this moment, with its committed ``offsets``. It has no leader."""
    group = machine.groups.find(group_id, StreamsGroup)
    assert group is not None
    timeout_ms = StreamsConfigs(machine.context.configs).session_timeout_ms(group_id)
    topology, configured = group.topology, group.soft.configured
    declared = {} if topology is None else topology.subtopologies
    topics = machine.context.topics
    return StreamsGroupInfo(
        group_id=group_id,
        state=group.state_name,
        generation=group.epoch,
        protocol_type=group.protocol_type,
        protocol=ASSIGNOR,
        leader=None,
        members=tuple(_member(group, member, topics, timeout_ms) for member in group.members.values()),
        offsets=offsets,
        coordinator=coordinator,
        type=group.group_type.value,
        assignment_epoch=group.assignment_epoch,
        topology_epoch=-1 if topology is None else topology.epoch,
        subtopologies=tuple(_subtopology(declared[name], configured) for name in sorted(declared)),
        problem="" if configured is None or configured.problem is None else configured.problem.detail,
    )


def _subtopology(declared: Subtopology, configured: ConfiguredTopology | None) -> SubtopologyInfo:
    known = None if configured is None or configured.subtopologies is None else configured.subtopologies
    return SubtopologyInfo(
        declared.subtopology_id,
        declared.source_topics,
        tuple(topic.name for topic in declared.repartition_sources),
        tuple(topic.name for topic in declared.changelogs),
        None if known is None else known[declared.subtopology_id].tasks,
    )


def _member(group: StreamsGroup, member: Member, topics: TopicSource, session_timeout_ms: int) -> StreamsMemberInfo:
    declared = {} if group.topology is None else group.topology.subtopologies
    target = group.target_of(member.member_id)
    return StreamsMemberInfo(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        host=member.client_host,
        subscription=tuple(sorted({topic for each in declared.values() for topic in each.sources})),
        assignment=_partitions(topics, declared, member.assigned.active, member.revoking.active),
        session_timeout_ms=session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        epoch=member.epoch,
        target=_partitions(topics, declared, target.active),
        protocol=group.protocol_type,
        process_id=member.process_id,
        active=_tasks(member.assigned.active),
        standby=_tasks(member.assigned.standby),
        revoking=_tasks(member.revoking.active),
        target_active=_tasks(target.active),
        target_standby=_tasks(target.standby),
        endpoint=None if member.endpoint is None else (member.endpoint.host, member.endpoint.port),
    )


def _tasks(tasks: Mapping[str, Iterable[int]]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(sorted(tasks[name])) for name in sorted(tasks)}


def _partitions(
    topics: TopicSource, declared: Mapping[str, Subtopology], *held: Mapping[str, Iterable[int]]
) -> dict[str, tuple[int, ...]]:
    """The source partitions that tasks read: those of their number, in topics that have so many."""
    found: dict[str, set[int]] = {}
    for tasks in held:
        for name, partitions in tasks.items():
            for topic in declared[name].sources if name in declared else ():
                facts = topics.named(topic)
                if facts is not None:
                    found.setdefault(topic, set()).update(each for each in partitions if each < facts.partitions)
    return {topic: tuple(sorted(found[topic])) for topic in sorted(found)}
