"""A share group as Python sees it: its members; `share_partitions` has its records."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.coordinator.group.assignment import Partitions
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.share.group import ShareGroup
from odradek.broker.coordinator.group.share.members import ShareMember
from odradek.broker.coordinator.group.topic_source import TopicSource
from odradek.broker.facade.group_info import GroupInfo, MemberInfo, OffsetInfo, TopicPartition

ASSIGNOR = "simple"
_NO_REBALANCES = -1


def share_group_info(
    machine: GroupMachine, group_id: str, offsets: Mapping[TopicPartition, OffsetInfo], coordinator: int
) -> GroupInfo:
    """A share group at this moment. It has neither a leader nor committed offsets."""
    group = machine.groups.find(group_id, ShareGroup)
    assert group is not None
    timeout_ms = machine.context.configs.group(group_id, "share.session.timeout.ms")
    topics = machine.context.topics
    return GroupInfo(
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
    )


def _member(group: ShareGroup, member: ShareMember, topics: TopicSource, session_timeout_ms: int) -> MemberInfo:
    return MemberInfo(
        member_id=member.member_id,
        instance_id=None,
        client_id=member.client_id,
        host=member.client_host,
        subscription=tuple(sorted(member.topics)),
        assignment=_by_name(topics, member.assigned),
        session_timeout_ms=session_timeout_ms,
        rebalance_timeout_ms=_NO_REBALANCES,
        epoch=member.epoch,
        target=_by_name(topics, group.target.of(member.member_id)),
        protocol=group.protocol_type,
    )


def _by_name(topics: TopicSource, partitions: Partitions) -> dict[str, tuple[int, ...]]:
    """Topics that do not exist any more are left out."""
    known = ((topics.by_id(topic_id), indexes) for topic_id, indexes in partitions.items())
    return {facts.name: tuple(sorted(indexes)) for facts, indexes in known if facts is not None}
