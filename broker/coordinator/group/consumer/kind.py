"""Groups of the consumer protocol (KIP-848) as a kind of groups, and the matching of their patterns against topics."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from odradek.broker.coordinator.group.classic import commands as classic
from odradek.broker.coordinator.group.classic.commands import join_refused, sync_refused
from odradek.broker.coordinator.group.commands import GroupType, MetadataChanged
from odradek.broker.coordinator.group.consumer import group as c
from odradek.broker.coordinator.group.consumer.group import (
    CHANGE_TOPICS,
    DELETES_GROUP,
    REPLAYS,
    ConsumerGroup,
    ResolveRegexes,
    Step,
    rebalance_key,
    session_key,
)
from odradek.broker.coordinator.group.consumer.heartbeats import ClassicMembers, Departures, Heartbeats
from odradek.broker.coordinator.group.consumer.migration import Migration
from odradek.broker.coordinator.group.consumer.progress import GroupEpochs, Progress
from odradek.broker.coordinator.group.consumer.records import Member, MemberState, regex_record
from odradek.broker.coordinator.group.consumer.regexes import NO_TOPICS, ResolvedRegex, matching
from odradek.broker.coordinator.group.epoch_group import MemberTimers, resumed
from odradek.broker.coordinator.group.groups import Groups
from odradek.broker.coordinator.group.kinds import GroupChanged, KindContext, group_error
from odradek.broker.coordinator.group.records import known_key
from odradek.broker.coordinator.group.settings import ConsumerConfigs
from odradek.broker.coordinator.group.target import TopicGroups, count_down, count_up
from odradek.broker.coordinator.group.topics import TopicCache
from odradek.broker.runtime.machine import Command, Effect, LogRecord, Outcome, make_outcome
from odradek.protocol.errors import KafkaError

logger = logging.getLogger(__name__)

_LOOK_AGAIN_MS = (1 << 31) - 1


class Resolution:
    """Decides on `ResolveRegexes`, which the coordinator gives itself behind a heartbeat. Owner: the consumer kind."""

    def __init__(self, groups: Groups, progress: Progress) -> None:
        self._groups = groups
        self._progress = progress

    def resolve(self, command: ResolveRegexes, now_ms: int) -> Outcome[None]:
        """Store the topics that each pattern matches now; the group rebalances if these, or a topic, have changed."""
        group = self._groups.find(command.group_id, ConsumerGroup)
        if group is None:
            return make_outcome()
        group.resolving = False
        group.checked_topics_version = self._progress.topics_version
        step = Step(group, now_ms)
        subscriptions = group.subscriptions.copy()
        bump = False
        for regex in command.regexes:
            if regex not in group.members_by_regex:
                continue
            before = group.regexes.get(regex, NO_TOPICS)
            topics = self._matching(regex)
            if command.visible is not None:
                topics &= command.visible(topics)
            resolved = ResolvedRegex(topics, self._progress.topics_version, now_ms)
            if resolved.topics != before.topics:
                bump = True
                count_down(subscriptions.by_regex, before.topics)
                count_up(subscriptions.by_regex, resolved.topics)
            step.records.append(regex_record(group.group_id, regex, resolved))
        epoch, records = self._progress.epochs.next(group, subscriptions, bump=bump)
        if records:
            step.records += records
            step.later.append(lambda live: live.topics_checked(now_ms + _LOOK_AGAIN_MS, epoch))
        return step.outcome(None, lambda: group)

    def _matching(self, regex: str) -> frozenset[str]:
        try:
            return matching(regex, self._progress.topics.names())
        except KafkaError as error:  # it was stored by a broker that could read it
            logger.warning("%s", error)
            return frozenset()


class ConsumerKind:
    """See `kinds.GroupKind`."""

    group_type: ClassVar[GroupType] = GroupType.CONSUMER

    def __init__(self, context: KindContext) -> None:
        self._groups = context.groups
        self._by_topic = TopicGroups()
        self._ids: set[str] = set()
        self.configs = ConsumerConfigs(context.configs)
        topics = TopicCache(context.topics)
        epochs = GroupEpochs(topics, context.configs)
        progress = self._progress = Progress(self.configs, topics, epochs)
        migration = Migration(context.groups, context.settings, self.configs, topics, epochs)
        departures = Departures(context.groups, epochs, migration, context.configs)
        heartbeats = Heartbeats(context.groups, progress, departures, migration, context.new_short_id)
        members = ClassicMembers(
            context.groups, context.settings, progress, departures, migration, context.new_short_id
        )
        self.decisions: Mapping[type[Command[Any]], Callable[[Any, int], Outcome[Any]]] = {
            c.ConsumerGroupHeartbeat: heartbeats.heartbeat,
            c.FenceMember: departures.fence,
            c.ExpireRevocation: departures.expire_revocation,
            c.ResolveRegexes: Resolution(context.groups, progress).resolve,
            classic.JoinGroup: members.join,
            classic.SyncGroup: members.sync,
            classic.Heartbeat: members.heartbeat,
            classic.LeaveGroup: members.leave,
        }

    def replay(self, record_type: int, record: LogRecord) -> None:
        """See `GroupKind`."""
        key_class, change = REPLAYS[record_type]
        key: Any = known_key(key_class, record.key)
        group_id: str = key.group_id
        group = self._groups.find_live(group_id, ConsumerGroup)
        if group is None:
            if record.value is None:
                return
            group = self._groups.for_replay(group_id, ConsumerGroup, ConsumerGroup)
            self._ids.add(group_id)
        elif record.value is None and record_type == DELETES_GROUP:
            self._by_topic.update(group_id, group.subscriptions, ())
            self._groups.remove(group_id, ConsumerGroup)
            self._ids.discard(group_id)
            return
        if record_type not in CHANGE_TOPICS:
            change(group, key, record)
            return
        before = group.subscriptions.topics()
        change(group, key, record)
        after = group.subscriptions.topics()
        if after != before:
            self._by_topic.update(group_id, before, after)

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """See `GroupKind`: nothing has changed, and the client gets Kafka's choice of error."""
        code = group_error(error.code)
        if isinstance(command, classic.JoinGroup):
            return make_outcome(reply=join_refused(command.member_id, code))
        if isinstance(command, classic.SyncGroup):
            return make_outcome(reply=sync_refused(code))
        raise KafkaError(code) from error

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        """See `GroupKind`: members have a whole session to show that they live, and to give up what they have to."""
        effects: list[Effect] = []
        for group_id in sorted(self._ids):
            group = self._groups.find_live(group_id, ConsumerGroup)
            if group is not None:
                timeout_ms = self.configs.session_timeout_ms(group_id)
                effects += resumed(group_id, group.members, _TIMERS, timeout_ms, _gives_up)
                effects.append(GroupChanged(group_id))
        return effects

    def on_metadata_changed(self, change: MetadataChanged, now_ms: int) -> Sequence[Effect]:
        """See `GroupKind`: groups that subscribe to a changed topic look at it with their next heartbeat."""
        self._progress.topics_version += 1
        self._progress.topics.forget(change.topics)
        for group_id in self._by_topic.subscribed_to(change.topics):
            group = self._groups.find_live(group_id, ConsumerGroup)
            if group is not None:
                group.check_topics_again()
        return ()

    def snapshot(self) -> object:
        """See `GroupKind`."""
        return self._by_topic, self._ids, self._progress.topics_version

    def restore(self, snapshot: tuple[TopicGroups, set[str], int]) -> None:
        """See `GroupKind`."""
        self._by_topic, self._ids, self._progress.topics_version = snapshot


_TIMERS = MemberTimers(session_key, c.FenceMember, rebalance_key, c.ExpireRevocation)


def _gives_up(member: Member) -> bool:
    return member.state is MemberState.UNREVOKED_PARTITIONS


def make(context: KindContext) -> ConsumerKind:
    """See `kinds`."""
    return ConsumerKind(context)
