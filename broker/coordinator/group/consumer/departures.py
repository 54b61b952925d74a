"""Members that leave, or are put out: by themselves, by an administrator, by time."""

from __future__ import annotations

from collections.abc import Sequence

from odradek.broker.coordinator.group.consumer.commands import ConsumerGroupHeartbeat
from odradek.broker.coordinator.group.consumer.fencing import check_instance, known_static
from odradek.broker.coordinator.group.consumer.group import ConsumerGroup
from odradek.broker.coordinator.group.consumer.member import AWAY, NOTHING, Member, standing
from odradek.broker.coordinator.group.consumer.migration import Migration
from odradek.broker.coordinator.group.consumer.records import (
    current_record,
    epoch_record,
    member_tombstones,
    regex_tombstone,
)
from odradek.broker.coordinator.group.consumer.replies import HeartbeatReply
from odradek.broker.coordinator.group.consumer.step import Step
from odradek.broker.coordinator.group.consumer.timers import member_timers
from odradek.broker.coordinator.group.known_topics import KnownTopics
from odradek.broker.coordinator.group.overdue import Overdue
from odradek.broker.coordinator.group.registry import Groups
from odradek.broker.coordinator.group.subscriptions import count_down
from odradek.broker.runtime.machine import Cancel, Outcome, R
from odradek.protocol.errors import ErrorCode, KafkaError


class Departures(Overdue[ConsumerGroup]):
    """Takes members out of groups. Owner: the consumer kind."""

    def __init__(self, groups: Groups, topics: KnownTopics, migration: Migration) -> None:
        super().__init__(lambda group_id: groups.find(group_id, ConsumerGroup))
        self._groups = groups
        self._topics = topics
        self._migration = migration

    def leave(self, command: ConsumerGroupHeartbeat, now_ms: int) -> Outcome[HeartbeatReply]:
        """A member leaves; a static one may do so for a while, and keeps its place for the session timeout."""
        group = self._groups.existing(command.group_id)
        if not isinstance(group, ConsumerGroup):
            text = f"Group {command.group_id} is not a consumer group."
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, text)
        if command.instance_id is None:
            member = group.member(command.member_id)
        else:
            member = known_static(group, command.instance_id)
            check_instance(member, command.member_id)
            if command.member_epoch == AWAY:
                return self._go_away(group, member, now_ms)
        return self.remove(group, [member], HeartbeatReply(command.member_id, command.member_epoch), now_ms)

    def _go_away(self, group: ConsumerGroup, member: Member, now_ms: int) -> Outcome[HeartbeatReply]:
        """Its partitions count as given in epoch 0 from now on, so that whoever takes its place may commit them."""
        kept = {topic_id: dict.fromkeys(partitions, 0) for topic_id, partitions in member.assigned.items()}
        away = standing(member, AWAY, member.previous_epoch, member.state, kept, NOTHING)
        step = Step(group, now_ms, [current_record(group.group_id, away)])
        return step.outcome(HeartbeatReply(member.member_id, AWAY), lambda: group)

    def _put_out(self, group: ConsumerGroup, member: Member, now_ms: int) -> Outcome[None]:
        return self.remove(group, [member], None, now_ms)

    def remove(self, group: ConsumerGroup, members: Sequence[Member], reply: R, now_ms: int) -> Outcome[R]:
        """Take members out. The group goes on in its next epoch, or as a classic group."""
        step = Step(group, now_ms)
        if not members:
            return step.outcome(reply, lambda: group)
        if self._migration.must_downgrade(group, members):
            return self._migration.downgrade(step, members, reply)
        group_id = group.group_id
        for member in members:
            step.records += member_tombstones(group_id, member.member_id)
            step.effects += [Cancel(key) for key in member_timers(group_id, member.member_id)]
        subscriptions = group.subscriptions.copy()
        left = dict(group.members_by_regex)
        for member in members:
            count_down(subscriptions.by_name, member.topics)
            if member.regex:
                count_down(left, (member.regex,))
        for regex in group.members_by_regex:
            if regex not in left:
                step.records.append(regex_tombstone(group_id, regex))
                if regex in group.regexes:
                    count_down(subscriptions.by_regex, group.regexes[regex].topics)
        step.records.append(epoch_record(group_id, group.epoch + 1, self._topics.hash_of(subscriptions)))
        return step.outcome(reply, lambda: group)
