"""Describes groups: reads the state of their coordinators into the snapshots of `info`.

Everything here runs in the broker's thread. The modules of a group type are imported when a group of that type exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from odradek.broker.coordinator.group.classic.group import ClassicGroup
from odradek.broker.coordinator.group.classic.states import DEAD
from odradek.broker.coordinator.group.groups import CommitOffsets, GroupType, OffsetToCommit
from odradek.broker.facade.groups.info import (
    GroupInfo,
    MemberInfo,
    OffsetInfo,
    SharePartitionInfo,
    StreamsGroupInfo,
    StreamsMemberInfo,
    SubtopologyInfo,
    TopicPartition,
    check_places,
)
from odradek.broker.partitions.lookups import find_partition, find_topic
from odradek.protocol.consumer_protocol import assigned_partitions, subscribed_topics
from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError
from odradek.protocol.generated.messages.offset_commit import OffsetCommitRequest
from odradek.protocol.varint import MAX_STRING_BYTES

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.coordinator.group.classic.group import Member
    from odradek.broker.coordinator.group.consumer.group import ConsumerGroup
    from odradek.broker.coordinator.group.consumer.group import Member as ConsumerMember
    from odradek.broker.coordinator.group.machine import GroupMachine
    from odradek.broker.coordinator.group.service import GroupService
    from odradek.broker.coordinator.group.share.group import ShareGroup, ShareMember
    from odradek.broker.coordinator.group.streams.group import Member as StreamsMember
    from odradek.broker.coordinator.group.streams.group import StreamsGroup
    from odradek.broker.coordinator.group.streams.topology import ConfiguredTopology
    from odradek.broker.coordinator.group.topics import TopicSource
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.partitions.partition_registry import PartitionRegistry
    from odradek.broker.partitions.share.manager import LiveSharePartition, SharePartitions
    from odradek.protocol.generated.stored.streams_group_topology import Subtopology


_SHARE_ASSIGNOR = "simple"
_STREAMS_ASSIGNOR = "sticky"
_NO_REBALANCES = -1

Info = TypeVar("Info", bound=GroupInfo)


def list_groups(groups: GroupService, topics: PartitionRegistry) -> dict[str, GroupInfo]:
    """Snapshots of all groups, ordered by id."""
    return {group_id: group_info(groups, topics, group_id) for group_id in sorted(group_ids(groups))}


def group_ids(groups: GroupService) -> list[str]:
    """The ids of all groups. A coordinator that is loading finishes first."""
    found: list[str] = []
    for shard in groups.shards():
        shard.finish_loading()
        if shard.is_active:
            found += shard.open_machine().groups.ids()
    return found


def group_info(groups: GroupService, topics: PartitionRegistry, group_id: str) -> GroupInfo:
    """A snapshot of a group once its coordinator has loaded; ``Dead`` if there is no such group or no coordinator."""
    return with_gaps(_group_info(groups, topics, group_id), topics)


def _group_info(groups: GroupService, topics: PartitionRegistry, group_id: str) -> GroupInfo:
    dead = GroupInfo(group_id, DEAD.value, -1, "", None, None, (), {}, -1)
    try:
        shard = groups.shard_for(group_id)
        shard.finish_loading()
        machine: GroupMachine = shard.open_machine()
        coordinator = groups.leader_for(group_id)
    except KafkaError:
        return dead
    group: Any = machine.group(group_id)
    if group is None:
        return replace(dead, coordinator=coordinator)
    known = {
        "group_id": group_id,
        "state": group.state_name,
        "protocol_type": group.protocol_type or "",
        "leader": None,
        "offsets": _offsets(topics, machine, group_id),
        "coordinator": coordinator,
        "type": group.group_type.value,
    }
    if isinstance(group, ClassicGroup):
        members = tuple(_classic_member(group, member) for member in group.members.values())
        found = {**known, "generation": group.generation, "protocol": group.protocol, "leader": group.leader}
        return GroupInfo(**found, members=members)
    if group.group_type not in _DESCRIBED:
        return GroupInfo(**known, generation=-1, protocol=None, members=())
    return _DESCRIBED[group.group_type]({**known, "assignment_epoch": group.assignment_epoch}, machine, group)


def _offsets(topics: PartitionRegistry, machine: GroupMachine, group_id: str) -> dict[TopicPartition, OffsetInfo]:
    offsets: dict[TopicPartition, OffsetInfo] = {}
    for (name, index), offset in sorted(machine.stored.offsets.get(group_id, {}).items()):
        topic = topics.get(name)
        lag = None
        if topic is not None and index < len(topic.partitions):
            lag = max(0, topic.partitions[index].log.high_watermark - offset.offset)
        offsets[name, index] = OffsetInfo(
            offset.offset, offset.leader_epoch, offset.metadata, offset.commit_timestamp, lag
        )
    return offsets


def _topics_by_name(
    topics: TopicSource, partitions: Iterable[tuple[bytes, Iterable[int]]]
) -> dict[str, tuple[int, ...]]:
    """Partitions by topic name instead of topic id. Deleted topics are left out."""
    known = ((topics.by_id(topic_id), indexes) for topic_id, indexes in partitions)
    return {facts.name: tuple(sorted(indexes)) for facts, indexes in known if facts is not None}


# -- gaps


def with_gaps(info: Info, topics: PartitionRegistry) -> Info:
    """The same snapshot with ``unassigned`` and ``uncommitted`` filled in."""
    subscribed = _subscribed(info)
    assigned = info.assignments
    followed = subscribed | {topic for topic, _ in info.offsets} if info.protocol_type else set()
    return replace(
        info,
        unassigned=tuple(place for each in _partitions(topics, subscribed) if (place := _place(each)) not in assigned),
        uncommitted=tuple(
            place
            for each in _partitions(topics, followed)
            # A snapshot must not open thousands of logs.
            if each.opened and each.log.high_watermark > each.log.log_start_offset
            if (place := _place(each)) not in info.offsets
        ),
    )


def _subscribed(info: GroupInfo) -> set[str]:
    """The topics that members name, and those in their targets, which regular expressions have matched.

    Empty for a share group: its members get partitions one by one, as the share coordinator initialises their state.
    """
    if info.type == GroupType.SHARE.value:
        return set()
    return {topic for member in info.members for topic in (*member.subscription, *member.target)}


def _partitions(topics: PartitionRegistry, names: Iterable[str]) -> Iterator[Partition]:
    for name in sorted(names):
        topic = topics.get(name)
        if topic is not None:
            yield from topic.partitions


def _place(partition: Partition) -> TopicPartition:
    return partition.topic.name, partition.index


# -- classic groups


def _classic_member(group: ClassicGroup, member: Member) -> MemberInfo:
    topics: tuple[str, ...] = ()
    partitions: dict[str, tuple[int, ...]] = {}
    if group.is_consumer_group:
        try:
            topics = subscribed_topics(member.protocols[0][1] if member.protocols else b"")
            partitions = assigned_partitions(member.assignment)
        except ProtocolError:
            pass
    return MemberInfo(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        topics,
        partitions,
        member.session_timeout_ms,
        member.rebalance_timeout_ms,
    )


# -- consumer groups


def _consumer_group(known: dict[str, Any], machine: GroupMachine, group: ConsumerGroup) -> GroupInfo:
    from odradek.broker.coordinator.group.consumer.progress import preferred_assignor
    from odradek.broker.coordinator.group.settings import ConsumerConfigs

    configs = ConsumerConfigs(machine.context.configs)
    topics, timeout_ms = machine.context.topics, configs.session_timeout_ms(group.group_id)
    members = tuple(_consumer_member(group, member, topics, timeout_ms) for member in group.members.values())
    protocol = preferred_assignor(group) or configs.first_assignor
    return GroupInfo(**known, generation=group.epoch, protocol=protocol, members=members)


def _consumer_member(
    group: ConsumerGroup, member: ConsumerMember, topics: TopicSource, session_timeout_ms: int
) -> MemberInfo:
    present: dict[bytes, list[int]] = {}
    for epochs in (member.assigned, member.revoking):
        for topic_id, partitions in epochs.items():
            present.setdefault(topic_id, []).extend(partitions)
    metadata = member.metadata
    classic = metadata.classic
    return MemberInfo(
        member_id=member.member_id,
        instance_id=metadata.instance_id,
        client_id=metadata.client_id,
        host=metadata.client_host,
        subscription=metadata.topics,
        assignment=_topics_by_name(topics, present.items()),
        session_timeout_ms=session_timeout_ms if classic is None else classic.session_timeout_ms,
        rebalance_timeout_ms=metadata.rebalance_timeout_ms,
        epoch=member.epoch,
        regex=metadata.regex or "",
        target=_topics_by_name(topics, group.target.of(member.member_id).items()),
        protocol="consumer" if classic is None else "classic",
    )


# -- share groups


def _share_group(known: dict[str, Any], machine: GroupMachine, group: ShareGroup) -> GroupInfo:
    timeout_ms = machine.context.configs.group(group.group_id, "share.session.timeout.ms")
    members = tuple(
        _share_member(group, member, machine.context.topics, timeout_ms) for member in group.members.values()
    )
    return GroupInfo(**known, generation=group.epoch, protocol=_SHARE_ASSIGNOR, members=members)


def _share_member(group: ShareGroup, member: ShareMember, topics: TopicSource, session_timeout_ms: int) -> MemberInfo:
    return MemberInfo(
        member_id=member.member_id,
        instance_id=None,
        client_id=member.client_id,
        host=member.client_host,
        subscription=tuple(sorted(member.topics)),
        assignment=_topics_by_name(topics, member.assigned.items()),
        session_timeout_ms=session_timeout_ms,
        rebalance_timeout_ms=_NO_REBALANCES,
        epoch=member.epoch,
        target=_topics_by_name(topics, group.target.of(member.member_id).items()),
        protocol=group.protocol_type,
    )


def share_partitions(
    shared: SharePartitions, topics: PartitionRegistry, group_id: str
) -> dict[TopicPartition, SharePartitionInfo]:
    """The partitions that the members of a share group fetch from."""
    found = {}
    for live in shared.of_group(group_id):
        topic = topics.by_id(live.key.topic_id)
        if topic is not None:
            found[topic.name, live.key.partition] = _share_partition(live)
    return dict(sorted(found.items()))


def _share_partition(live: LiveSharePartition) -> SharePartitionInfo:
    machine = live.machine
    records: dict[str, int] = {}
    deliveries: dict[str, dict[int, int]] = {}
    held: dict[str, int] = {}
    for piece in machine.pieces():
        state = piece.state.name.lower()
        records[state] = records.get(state, 0) + len(piece)
        counts = deliveries.setdefault(state, {})
        counts[piece.delivery_count] = counts.get(piece.delivery_count, 0) + len(piece)
        if piece.member_id:
            held[piece.member_id] = held.get(piece.member_id, 0) + len(piece)
    end_offset = machine.start_offset + machine.in_flight
    return SharePartitionInfo(machine.start_offset, end_offset, records, deliveries, held)


# -- streams groups


def _streams_group(known: dict[str, Any], machine: GroupMachine, group: StreamsGroup) -> StreamsGroupInfo:
    from odradek.broker.coordinator.group.settings import StreamsConfigs

    timeout_ms = StreamsConfigs(machine.context.configs).session_timeout_ms(group.group_id)
    topics = machine.context.topics
    topology, configured = group.topology, group.soft.configured
    declared = {} if topology is None else topology.subtopologies
    return StreamsGroupInfo(
        **known,
        generation=group.epoch,
        protocol=_STREAMS_ASSIGNOR,
        members=tuple(_streams_member(group, member, topics, timeout_ms) for member in group.members.values()),
        topology_epoch=-1 if topology is None else topology.epoch,
        subtopologies=tuple(_subtopology(declared[name], configured) for name in sorted(declared)),
        problem="" if configured is None or configured.problem is None else configured.problem.detail,
    )


def _subtopology(declared: Subtopology, configured: ConfiguredTopology | None) -> SubtopologyInfo:
    known = None if configured is None or configured.subtopologies is None else configured.subtopologies
    return SubtopologyInfo(
        declared.subtopology_id,
        tuple(declared.source_topics),
        tuple(topic.name for topic in declared.repartition_source_topics),
        tuple(topic.name for topic in declared.state_changelog_topics),
        None if known is None else known[declared.subtopology_id].tasks,
    )


def _streams_member(
    group: StreamsGroup, member: StreamsMember, topics: TopicSource, session_timeout_ms: int
) -> StreamsMemberInfo:
    declared = {} if group.topology is None else group.topology.subtopologies
    from odradek.broker.coordinator.group.streams.topology import sources_of

    target, metadata = group.target_of(member.member_id), member.metadata
    endpoint = metadata.user_endpoint
    return StreamsMemberInfo(
        member_id=member.member_id,
        instance_id=metadata.instance_id,
        client_id=metadata.client_id,
        host=metadata.client_host,
        subscription=tuple(sorted({topic for each in declared.values() for topic in sources_of(each)})),
        assignment=_source_partitions(topics, declared, member.assigned.active, member.revoking.active),
        session_timeout_ms=session_timeout_ms,
        rebalance_timeout_ms=metadata.rebalance_timeout_ms,
        epoch=member.epoch,
        target=_source_partitions(topics, declared, target.active),
        protocol=group.protocol_type,
        process_id=metadata.process_id,
        active=_tasks(member.assigned.active),
        standby=_tasks(member.assigned.standby),
        revoking=_tasks(member.revoking.active),
        target_active=_tasks(target.active),
        target_standby=_tasks(target.standby),
        endpoint=None if endpoint is None else (endpoint.host, endpoint.port),
    )


def _tasks(tasks: Mapping[str, Iterable[int]]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(sorted(tasks[name])) for name in sorted(tasks)}


def _source_partitions(
    topics: TopicSource, declared: Mapping[str, Subtopology], *held: Mapping[str, Iterable[int]]
) -> dict[str, tuple[int, ...]]:
    """The partitions that tasks read: in each source topic the one with the task's number, if the topic has it."""
    from odradek.broker.coordinator.group.streams.topology import sources_of

    found: dict[str, set[int]] = {}
    for tasks in held:
        for name, partitions in tasks.items():
            for topic in sources_of(declared[name]) if name in declared else ():
                facts = topics.named(topic)
                if facts is not None:
                    found.setdefault(topic, set()).update(each for each in partitions if each < facts.partitions)
    return {topic: tuple(sorted(found[topic])) for topic in sorted(found)}


_DESCRIBED: dict[GroupType, Callable[[dict[str, Any], GroupMachine, Any], GroupInfo]] = {
    GroupType.CONSUMER: _consumer_group,
    GroupType.SHARE: _share_group,
    GroupType.STREAMS: _streams_group,
}
"""The kinds of groups with epochs: (what is known of any group, its coordinator, the group) -> its snapshot."""


# -- offsets


def set_offsets(cluster: Cluster, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Commit offsets as an admin client does, in the broker's thread. Raises KafkaError if the coordinator refuses."""
    if len(group_id.encode(errors="replace")) > MAX_STRING_BYTES:  # no answer could tell of the group
        raise ValueError(f"a group id has {MAX_STRING_BYTES} bytes at most")
    check_places(offsets)
    stored = [_offset(cluster.topics, place, offset) for place, offset in offsets.items()]
    groups = cluster.groups
    groups.topic.ensure()
    groups.shard_for(group_id).finish_loading()
    try:
        command = CommitOffsets(OffsetCommitRequest(group_id), stored, OffsetCommitRequest.MAX_VERSION)
        codes: list[ErrorCode] = groups.ask_now(group_id, command)
    except KafkaError as error:
        raise KafkaError(error.code, f"group {group_id!r}: {_reason(error.code)}") from None
    for place, code in zip(offsets, codes, strict=True):
        if code != ErrorCode.NONE:
            raise KafkaError(ErrorCode(code), f"group {group_id!r}, {place[0]}-{place[1]}: {_reason(code)}")


def _offset(topics: PartitionRegistry, place: TopicPartition, offset: int) -> OffsetToCommit:
    name, index = place
    topic = find_topic(topics, name)
    find_partition(topic, index)
    return OffsetToCommit(name, topic.topic_id, index, offset, -1, "")


def _reason(code: ErrorCode) -> str:
    if code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.STALE_MEMBER_EPOCH):
        return "offsets can be set only while the group has no members"
    return "the coordinator refused the offset"
