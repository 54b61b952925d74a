"""A consumer group as Python sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from odradek.broker.coordinator.group.consumer.configs import ConsumerConfigs
from odradek.broker.coordinator.group.consumer.group import ConsumerGroup
from odradek.broker.coordinator.group.consumer.member import Member
from odradek.broker.coordinator.group.consumer.targets import preferred_assignor
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.topic_source import TopicSource
from odradek.broker.facade.group_info import GroupInfo, MemberInfo, OffsetInfo, TopicPartition


def consumer_group_info(
    machine: GroupMachine, group_id: str, offsets: Mapping[TopicPartition, OffsetInfo], coordinator: int
) -> GroupInfo:
    """A consumer group at this moment, with its committed ``offsets``. It has no leader."""
    group = machine.groups.find(group_id, ConsumerGroup)
    assert group is not None
    configs = ConsumerConfigs(machine.context.configs)
    timeout_ms = configs.session_timeout_ms(group_id)
    return GroupInfo(
        group_id=group_id,
        state=group.state_name,
        generation=group.epoch,
        protocol_type=group.protocol_type,
        protocol=preferred_assignor(group) or configs.first_assignor,
        leader=None,
        members=tuple(_member(group, member, machine.context.topics, timeout_ms) for member in group.members.values()),
        offsets=offsets,
        coordinator=coordinator,
        type=group.group_type.value,
        assignment_epoch=group.assignment_epoch,
    )


def _member(group: ConsumerGroup, member: Member, topics: TopicSource, session_timeout_ms: int) -> MemberInfo:
    present: dict[bytes, list[int]] = {}
    for epochs in (member.assigned, member.revoking):
        for topic_id, partitions in epochs.items():
            present.setdefault(topic_id, []).extend(partitions)
    classic = member.classic
    return MemberInfo(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        host=member.client_host,
        subscription=member.topics,
        assignment=_by_name(topics, present.items()),
        session_timeout_ms=session_timeout_ms if classic is None else classic.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        epoch=member.epoch,
        regex=member.regex or "",
        target=_by_name(topics, group.target.of(member.member_id).items()),
        protocol="consumer" if classic is None else "classic",
    )


def _by_name(topics: TopicSource, partitions: Iterable[tuple[bytes, Iterable[int]]]) -> dict[str, tuple[int, ...]]:
    """Topics that do not exist any more are left out."""
    known = ((topics.by_id(topic_id), indexes) for topic_id, indexes in partitions)
    return {facts.name: tuple(sorted(indexes)) for facts, indexes in known if facts is not None}
