"""Looking at groups without a client, and waiting for what they become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING

from odradek.broker.coordinator.group.classic.classic_group import ClassicGroup
from odradek.broker.coordinator.group.classic.states import DEAD, STABLE
from odradek.broker.coordinator.group.group_type import GroupType
from odradek.broker.facade.future_wait import WAIT_TIMEOUT_S, settled
from odradek.broker.facade.group_gaps import with_gaps
from odradek.broker.facade.group_info import GroupInfo, MemberInfo, OffsetInfo, TopicPartition
from odradek.broker.facade.group_lag import lag_of, named
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

Condition = Callable[["GroupInfo"], bool]


class Group:
    """A group of a running broker, by its id; it need not exist yet. Usable from any thread.

    Every property is a fresh look. ``wait`` and ``wait_stable`` are awaited (in trio or asyncio code), their twins
    ``wait_sync`` and ``wait_stable_sync`` block; both return as soon as the coordinator gets there, without polling.
    """

    def __init__(
        self,
        group_id: str,
        groups: Callable[[], GroupService],
        shared: Callable[[], SharePartitions],
        topics: PartitionRegistry,
        call: Call,
    ) -> None:
        self.group_id = group_id
        self._groups = groups
        self._shared = shared
        self._topics = topics
        self._call = call

    def __repr__(self) -> str:
        return f"Group({self.group_id!r})"

    def info(self) -> GroupInfo:
        """All about the group as it is now."""
        return self._call(self._look)

    @property
    def state(self) -> str:
        """Kafka's name of its state; ``Dead`` while it does not exist."""
        return self.info().state

    @property
    def generation(self) -> int:
        """The number of its present generation."""
        return self.info().generation

    @property
    def protocol(self) -> str | None:
        """The assignor in use."""
        return self.info().protocol

    @property
    def leader(self) -> str | None:
        """The member id of its leader."""
        return self.info().leader

    @property
    def members(self) -> tuple[MemberInfo, ...]:
        """Its members."""
        return self.info().members

    @property
    def offsets(self) -> Mapping[TopicPartition, OffsetInfo]:
        """Its committed offsets."""
        return self.info().offsets

    @property
    def lag(self) -> int:
        """How many records it is behind, over all its topics.

        LagUnknownError, with the reason, for a group that does not exist or has not committed what the lag would be
        counted from, so that a misspelt id is never 0. See `GroupInfo.lag`.
        """
        info = self.info()
        return lag_of(info, () if info.offsets else self._call(lambda: list_groups(self._groups(), self._topics)))

    @property
    def share_partitions(self) -> Mapping[TopicPartition, SharePartitionInfo]:
        """Of a share group: where it is in the partitions from which its members fetch."""
        return self._call(lambda: share_partitions(self._shared(), self._topics, self.group_id))

    # -- waiting

    async def wait_stable(
        self, members: int | None = None, timeout: float = WAIT_TIMEOUT_S, *, partitions: int | None = None
    ) -> GroupInfo:
        """Wait until the group is stable with ``members`` members and every partition has been assigned.

        Every partition of the topics that members subscribe to; with ``partitions`` instead exactly so many, for
        assignors that leave some out. A generation of a cooperative rebalance that only takes partitions away is thus
        not stable. Of share groups only ``partitions`` is looked at. TimeoutError, which says what is missing, after
        seconds.
        """
        return await self.wait(_stable(members, partitions), timeout)

    def wait_stable_sync(
        self, members: int | None = None, timeout: float = WAIT_TIMEOUT_S, *, partitions: int | None = None
    ) -> GroupInfo:
        """The blocking twin of `wait_stable`. Not for the broker's own thread."""
        return self.wait_sync(_stable(members, partitions), timeout)

    async def wait(self, condition: Condition, timeout: float = WAIT_TIMEOUT_S) -> GroupInfo:
        """Wait until ``condition(info)`` holds; it is looked at whenever the group enters another state."""
        reached = self._watch(condition)
        try:
            if not await settled(reached, timeout):
                raise self._late(timeout)
            return reached.result()
        finally:
            self._unwatch(reached)

    def wait_sync(self, condition: Condition, timeout: float = WAIT_TIMEOUT_S) -> GroupInfo:
        """The blocking twin of `wait`."""
        reached = self._watch(condition)
        try:
            return reached.result(timeout)
        except TimeoutError:
            raise self._late(timeout) from None
        finally:
            self._unwatch(reached)

    def _watch(self, condition: Condition) -> Future[GroupInfo]:
        reached: Future[GroupInfo] = Future()

        def look() -> None:
            if reached.done():
                return
            try:
                info = self._look()
                fulfilled = condition(info)
            except Exception as error:
                reached.set_exception(error)
                return
            if fulfilled and not reached.done():  # looking may load the coordinator, which has watchers look meanwhile
                reached.set_result(info)

        def begin() -> None:
            self._groups().watchers[reached] = look
            look()

        self._call(begin)
        return reached

    def _unwatch(self, reached: Future[GroupInfo]) -> None:
        self._call(lambda: self._groups().watchers.pop(reached, None))

    def _late(self, timeout: float) -> TimeoutError:
        info = self.info()
        return TimeoutError(f"group {self.group_id!r} after {timeout:g} s: {_described(info)}")

    def _look(self) -> GroupInfo:
        return group_info(self._groups(), self._topics, self.group_id)


def _stable(members: int | None, partitions: int | None) -> Condition:
    def stable(info: GroupInfo) -> bool:
        if info.state != STABLE.value or members not in (None, len(info.members)):
            return False
        return not info.unassigned if partitions is None else len(info.assignments) == partitions

    return stable


def _described(info: GroupInfo) -> str:
    members = ", ".join(member.member_id for member in info.members) or "none"
    return (
        f"{info.state}, generation {info.generation}, members: {members}, "
        f"assigned: {named(info.assignments) or 'none'}, missing: {named(info.unassigned) or 'none'}"
    )


# -- in the broker's thread


def list_groups(groups: GroupService, topics: PartitionRegistry) -> dict[str, GroupInfo]:
    """All groups of the cluster, in order of their ids."""
    found: dict[str, GroupInfo] = {}
    for shard in groups.shards():
        shard.finish_loading()
        if shard.is_active:
            for group_id in shard.machine.groups.ids():
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
