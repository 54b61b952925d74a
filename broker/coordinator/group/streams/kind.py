"""Groups of Streams applications (KIP-1071) as one kind of groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from odradek.broker.coordinator.group.commands import DeleteGroup, GroupType, MetadataChanged
from odradek.broker.coordinator.group.epoch_group import MemberTimers, resumed
from odradek.broker.coordinator.group.kinds import GroupChanged, KindContext, group_error
from odradek.broker.coordinator.group.settings import StreamsConfigs
from odradek.broker.coordinator.group.streams import group as c
from odradek.broker.coordinator.group.streams.group import (
    StreamsGroup,
    apply,
    changes_topics,
    deletes_group,
    key_of,
    new_group,
    rebalance_key,
    session_key,
)
from odradek.broker.coordinator.group.streams.heartbeats import Departures, DescriptionUpdates, Heartbeats
from odradek.broker.coordinator.group.streams.progress import Topologies
from odradek.broker.coordinator.group.streams.records import Member, MemberState
from odradek.broker.coordinator.group.target import TopicGroups
from odradek.broker.coordinator.group.topics import TopicCache
from odradek.broker.runtime.machine import Command, Effect, LogRecord, Outcome
from odradek.protocol.errors import KafkaError


class StreamsKind:
    """See `kinds.GroupKind`."""

    group_type: ClassVar[GroupType] = GroupType.STREAMS

    def __init__(self, context: KindContext) -> None:
        self._groups = context.groups
        self._by_topic = TopicGroups()
        self._ids: set[str] = set()
        self.configs = StreamsConfigs(context.configs)
        self._topics = TopicCache(context.topics)
        departures = Departures(context.groups, context.configs)
        topologies = Topologies(self._topics)
        descriptions = DescriptionUpdates(context.groups, self.configs, context.delete_group)
        heartbeats = Heartbeats(context.groups, self._topics, self.configs, topologies, departures, descriptions)
        self.decisions: Mapping[type[Command[Any]], Callable[[Any, int], Outcome[Any]]] = {
            c.StreamsGroupHeartbeat: heartbeats.heartbeat,
            c.FenceMember: departures.fence,
            c.ExpireRevocation: departures.expire_revocation,
            c.EndInitialDelay: heartbeats.end_initial_delay,
            c.TopicsRefused: heartbeats.topics_refused,
            c.UpdateDescription: descriptions.update,
            c.StoreDescription: descriptions.store,
            DeleteGroup: descriptions.delete_group,
        }

    def replay(self, record_type: int, record: LogRecord) -> None:
        """See `GroupKind`."""
        key = key_of(record_type, record.key)
        if key is None:
            return
        group_id: str = key.group_id
        if record.value is None:
            present = self._groups.find_live(group_id, StreamsGroup)
            if present is None:
                return
            group = present
        else:
            group = self._groups.for_replay(group_id, StreamsGroup, partial(new_group, self.configs))
            self._ids.add(group_id)
        if deletes_group(record_type, record.value):
            self._by_topic.update(group_id, group.topics(), ())
            self._groups.remove(group_id, StreamsGroup)
            self._ids.discard(group_id)
            return
        before = group.topics() if changes_topics(record_type) else ()
        apply(group, record_type, key, record)
        if changes_topics(record_type):
            self._by_topic.update(group_id, before, group.topics())

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """See `GroupKind`: nothing has changed, and the client gets Kafka's choice of error."""
        raise KafkaError(group_error(error.code)) from error

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        """See `GroupKind`: members have a whole session to show that they live, and to give up what they have to."""
        effects: list[Effect] = []
        for group_id in sorted(self._ids):
            group = self._groups.find_live(group_id, StreamsGroup)
            if group is not None:
                timeout_ms = self.configs.session_timeout_ms(group_id)
                effects += resumed(group_id, group.members, _TIMERS, timeout_ms, _gives_up)
                effects.append(GroupChanged(group_id))
        return effects

    def on_metadata_changed(self, change: MetadataChanged, now_ms: int) -> Sequence[Effect]:
        """See `GroupKind`: groups that need a changed topic look at it with their next heartbeat."""
        self._topics.forget(change.topics)
        for group_id in self._by_topic.subscribed_to(change.topics):
            group = self._groups.find_live(group_id, StreamsGroup)
            if group is not None:
                group.soft.topics_checked = False
        return ()

    def snapshot(self) -> object:
        """See `GroupKind`."""
        return self._by_topic, self._ids

    def restore(self, snapshot: tuple[TopicGroups, set[str]]) -> None:
        """See `GroupKind`."""
        self._by_topic, self._ids = snapshot


_TIMERS = MemberTimers(session_key, c.FenceMember, rebalance_key, c.ExpireRevocation)


def _gives_up(member: Member) -> bool:
    return member.state is MemberState.UNREVOKED_TASKS


def make(context: KindContext) -> StreamsKind:
    """See `kinds`."""
    return StreamsKind(context)
