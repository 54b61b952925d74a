"""Looking at groups without a client."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING

from odradek.broker.coordinator.group.classic.classic_group import ClassicGroup
from odradek.broker.coordinator.group.classic.states import DEAD
from odradek.broker.coordinator.group.group_type import GroupType
from odradek.broker.facade.group_gaps import with_gaps
from odradek.broker.facade.group_info import GroupInfo, MemberInfo, OffsetInfo, TopicPartition
from odradek.broker.facade.group_lag import lag_of
from odradek.broker.facade.share_partitions import SharePartitionInfo, share_partitions
from odradek.protocol.consumer_protocol import assigned_partitions, subscribed_topics
from odradek.protocol.errors import KafkaError, ProtocolError

if TYPE_CHECKING:
    from odradek.broker.coordinator.group.classic.member import Member
    from odradek.broker.coordinator.group.machine import GroupMachine
    from odradek.broker.coordinator.group.service import GroupService
    from odradek.broker.facade.call import Call
    from odradek.broker.partitions.registry import PartitionRegistry
    from odradek.broker.partitions.share.live import SharePartitions


class GroupView:
    """What can be seen of a group, in both flavours. Every property is a fresh look."""

    def __init__(
        self,
        group_id: str,
        groups: Callable[[], GroupService],
        shared: Callable[[], SharePartitions],
        topics: PartitionRegistry,
        look: Call,
    ) -> None:
        self.group_id = group_id
        self._groups = groups
        self._shared = shared
        self._topics = topics
        self._look = look

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.group_id!r}>"

    @property
    def info(self) -> GroupInfo:
        """All about the group as it is now."""
        return self._look(lambda: group_info(self._groups(), self._topics, self.group_id))

    @property
    def state(self) -> str:
        """Kafka's name of its state; ``Dead`` while it does not exist."""
        return self.info.state

    @property
    def generation(self) -> int:
        """The number of its present generation."""
        return self.info.generation

    @property
    def protocol(self) -> str | None:
        """The assignor in use."""
        return self.info.protocol

    @property
    def leader(self) -> str | None:
        """The member id of its leader."""
        return self.info.leader

    @property
    def members(self) -> tuple[MemberInfo, ...]:
        """Its members."""
        return self.info.members

    @property
    def offsets(self) -> Mapping[TopicPartition, OffsetInfo]:
        """Its committed offsets."""
        return self.info.offsets

    @property
    def lag(self) -> int:
        """How many records it is behind, over all its topics.

        LagUnknownError, with the reason, for a group that does not exist or has not committed what the lag would be
        counted from, so that a misspelt id is never 0. See `GroupInfo.lag`.
        """
        info = self.info
        return lag_of(info, () if info.offsets else self._look(lambda: list_groups(self._groups(), self._topics)))

    @property
    def share_partitions(self) -> Mapping[TopicPartition, SharePartitionInfo]:
        """Of a share group: where it is in the partitions from which its members fetch."""
        return self._look(lambda: share_partitions(self._shared(), self._topics, self.group_id))

    def watch(self, key: Future[GroupInfo], look: Callable[[], None]) -> None:
        """Have ``look`` called now and whenever the coordinator has done something, until `unwatch`."""

        def begin() -> None:
            self._groups().watchers[key] = look
            look()

        self._look(begin)

    def unwatch(self, key: Future[GroupInfo]) -> None:
        """End what `watch` began."""
        self._look(lambda: self._groups().watchers.pop(key, None))


# -- in the broker's thread


def list_groups(groups: GroupService, topics: PartitionRegistry) -> dict[str, GroupInfo]:
    """All groups of the cluster, in order of their ids."""
    found: dict[str, GroupInfo] = {}
    for shard in groups.shards():
        shard.finish_loading()
        if shard.is_active:
            for group_id in shard.open_machine().groups.ids():
                found[group_id] = group_info(groups, topics, group_id)
    return dict(sorted(found.items()))


def group_info(groups: GroupService, topics: PartitionRegistry, group_id: str) -> GroupInfo:
    """A picture of a group, after its coordinator has loaded; ``Dead`` if there is none, or no coordinator."""
    return with_gaps(_group_info(groups, topics, group_id), topics)


def _group_info(groups: GroupService, topics: PartitionRegistry, group_id: str) -> GroupInfo:
    try:
        shard = groups.shard_for(group_id)
        shard.finish_loading()
        machine: GroupMachine = shard.open_machine()
        coordinator = groups.leader_for(group_id)
    except KafkaError:
        return GroupInfo(group_id, DEAD.value, -1, "", None, None, (), {}, -1)
    group = machine.group(group_id)
    if group is None:
        return GroupInfo(group_id, DEAD.value, -1, "", None, None, (), {}, coordinator)
    if not isinstance(group, ClassicGroup):
        offsets = _offsets(topics, machine, group_id)
        if group.group_type is GroupType.CONSUMER:
            from odradek.broker.facade.consumer_group_info import consumer_group_info  # the kind is imported when used

            return consumer_group_info(machine, group_id, offsets, coordinator)
        if group.group_type is GroupType.STREAMS:
            from odradek.broker.facade.streams_group_info import streams_group_info

            return streams_group_info(machine, group_id, offsets, coordinator)
        if group.group_type is GroupType.SHARE:
            from odradek.broker.facade.share_group_info import share_group_info

            return share_group_info(machine, group_id, offsets, coordinator)
        protocol = group.protocol_type or ""
        kind = group.group_type.value
        return GroupInfo(group_id, group.state_name, -1, protocol, None, None, (), offsets, coordinator, kind)
    return GroupInfo(
        group_id=group_id,
        state=group.state.value,
        generation=group.generation,
        protocol_type=group.protocol_type or "",
        protocol=group.protocol,
        leader=group.leader,
        members=tuple(_member_info(group, member) for member in group.members.values()),
        offsets=_offsets(topics, machine, group_id),
        coordinator=coordinator,
        type=group.group_type.value,
    )


def _member_info(group: ClassicGroup, member: Member) -> MemberInfo:
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
