"""ConsumerGroupHeartbeat, members that go, patterns of topics: what a consumer group decides on.

Requests of members that speak the classic protocol are in `classic_members`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from odradek.broker.coordinator.group.assignment import count_down, count_up
from odradek.broker.coordinator.group.classic import group as classic
from odradek.broker.coordinator.group.classic.group import ClassicGroup, join_refused, sync_refused
from odradek.broker.coordinator.group.consumer.classic_members import ClassicMembers
from odradek.broker.coordinator.group.consumer.group import (
    CHANGE_TOPICS,
    NO_TOPICS,
    RECORDS,
    REPLAYS,
    ConsumerGroup,
    ConsumerGroupHeartbeat,
    ConsumerStep,
    Member,
    MemberMetadata,
    MemberState,
    ResolvedRegex,
    ResolveRegexes,
    current_record,
    regex_record,
    regex_tombstone,
    sorted_names,
)
from odradek.broker.coordinator.group.consumer.progress import (
    Change,
    Owned,
    Progress,
    is_part_of,
    matching,
    replace_static,
)
from odradek.broker.coordinator.group.epoch_group import AWAY, EpochKind, check_released, fenced
from odradek.broker.coordinator.group.groups import ExpireRevocation, FenceMember, Group, GroupType, KindContext
from odradek.broker.coordinator.group.settings import ConsumerConfigs
from odradek.broker.runtime.machine import Command, NewRecord, Outcome, R, coordinator_error, make_outcome
from odradek.protocol.errors import KafkaError
from odradek.protocol.generated.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ResponseTopicPartitions,
)
from odradek.protocol.generated.stored.consumer_group_metadata import ConsumerGroupMetadataKey

logger = logging.getLogger(__name__)

_LOOK_AGAIN_MS = (1 << 31) - 1
_new = tuple.__new__  # a NamedTuple's own constructor costs three times as much


class ConsumerKind(EpochKind):
    """Decides on the requests of members and on the coordinator's own commands. See `GroupKind`."""

    group_type: ClassVar[GroupType] = GroupType.CONSUMER
    step_class: ClassVar[type[Any]] = ConsumerStep
    member_class: ClassVar[type[Any]] = Member

    def __init__(self, context: KindContext) -> None:
        self.configs = ConsumerConfigs(context.configs)
        super().__init__(
            context,
            self.configs,
            ConsumerGroup,
            ConsumerGroupHeartbeatResponse,
            RECORDS,
            REPLAYS,
            ConsumerGroupMetadataKey.RECORD_TYPE,
            CHANGE_TOPICS,
        )
        self.progress = Progress(self.configs, self._topics)
        self.classic_members = members = ClassicMembers(self, context, self.progress)
        self.decisions: Mapping[type[Command[Any]], Callable[[Any, int], Outcome[Any]]] = {
            ConsumerGroupHeartbeat: self.heartbeat,
            FenceMember: self.fence,
            ExpireRevocation: self.expire_revocation,
            ResolveRegexes: self.resolve,
            classic.JoinGroup: members.join,
            classic.SyncGroup: members.sync,
            classic.Heartbeat: members.heartbeat,
            classic.LeaveGroup: members.leave,
        }

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """See `GroupKind`: nothing has changed, and the client gets Kafka's choice of error."""
        code = coordinator_error(error.code)
        if isinstance(command, classic.JoinGroup):
            return make_outcome(reply=join_refused(command.request.member_id, code))
        if isinstance(command, classic.SyncGroup):
            return make_outcome(reply=sync_refused(code))
        raise KafkaError(code) from error

    def _gives_up(self, member: Member) -> bool:
        return member.state is MemberState.UNREVOKED_PARTITIONS

    # -- heartbeats

    def _is_unchanged(self, group: ConsumerGroup, member: Member, command: ConsumerGroupHeartbeat, now_ms: int) -> bool:
        request: ConsumerGroupHeartbeatRequest = command.request
        instance_id = request.instance_id
        return (
            command.says_nothing
            and _is_same(member, command)
            and group.rests(member, now_ms)
            and (instance_id is None or group.static_ids.get(instance_id) == member.member_id)
        )

    def _response(self, group: ConsumerGroup, member: Member) -> ConsumerGroupHeartbeatResponse:
        """See `EpochKind`. Compiled code makes a response of a known class in half the time."""
        return ConsumerGroupHeartbeatResponse(
            member_id=member.member_id,
            member_epoch=member.epoch,
            heartbeat_interval_ms=self.configs.heartbeat_interval_ms(group.group_id),
        )

    def _begin(self, command: ConsumerGroupHeartbeat, now_ms: int) -> ConsumerStep:
        step: ConsumerStep = super()._begin(command, now_ms)
        step.visible = command.sender.visible
        return step

    def _take_over(self, group: Group, epoch: int, now_ms: int) -> ConsumerStep:
        """See `EpochKind`: a classic group with members becomes a consumer group."""
        if epoch == 0 and isinstance(group, ClassicGroup) and not group.is_empty:
            return self.classic_members.upgrade(group, now_ms)
        step: ConsumerStep = super()._take_over(group, epoch, now_ms)
        return step

    def check_epoch(self, member: Member, epoch: int, owned: Owned | None) -> None:
        """Its previous epoch is accepted while it owns only partitions that it was given: the answer may be lost."""
        if epoch == member.epoch or (epoch == 0 and self.configs.release.rejoins_by_epoch):
            return
        if epoch > member.epoch:
            raise fenced("consumer", "greater", epoch, member)
        if epoch != member.previous_epoch or not is_part_of(owned, member.assigned):
            raise fenced("consumer", "smaller", epoch, member)

    def _come_back(self, step: ConsumerStep, present: Member, member_id: str) -> Member:
        if present.metadata.classic is None:
            check_released(present, member_id)
        return replace_static(step, present, member_id)

    def _advance(
        self, step: ConsumerStep, command: ConsumerGroupHeartbeat, before: Member
    ) -> ConsumerGroupHeartbeatResponse:
        after = _updated(before, command)
        member = self.progress.advance(step, Change(before, after), command.owned, bump_unresolved=False)
        response: ConsumerGroupHeartbeatResponse = self._response(step.group, member)
        if command.request.member_epoch == 0 or command.is_full or member.assigned != before.assigned:
            rows = [ResponseTopicPartitions(topic_id, sorted(own)) for topic_id, own in member.assigned.items()]
            response.assignment = Assignment(rows)
        return response

    # -- members that go

    def _away(self, group: ConsumerGroup, member: Member) -> NewRecord:
        kept = {topic_id: dict.fromkeys(partitions, 0) for topic_id, partitions in member.assigned.items()}
        away = Member(member.member_id, member.metadata, AWAY, member.previous_epoch, member.state, kept)
        return current_record(group.group_id, away)

    def remove(self, group: ConsumerGroup, members: Sequence[Member], reply: R, now_ms: int) -> Outcome[R]:
        """See `EpochKind`. The group may go on as a classic one."""
        if members and self.classic_members.must_downgrade(group, members):
            return self.classic_members.downgrade(ConsumerStep(group, now_ms), members, reply)
        return super().remove(group, members, reply, now_ms) if members else make_outcome(reply=reply)

    def _next_epoch_without(self, group: ConsumerGroup, members: Sequence[Member]) -> Sequence[NewRecord]:
        records: list[NewRecord] = []
        subscriptions = group.subscriptions.copy()
        left = dict(group.members_by_regex)
        for member in members:
            count_down(subscriptions.by_name, member.metadata.topics)
            if member.metadata.regex:
                count_down(left, (member.metadata.regex,))
        for regex in group.members_by_regex:
            if regex not in left:
                records.append(regex_tombstone(group.group_id, regex))
                if regex in group.regexes:
                    count_down(subscriptions.by_regex, group.regexes[regex].topics)
        return [*records, *self.progress.next_epoch(group, subscriptions, bump=True)[1]]

    # -- patterns

    def resolve(self, command: ResolveRegexes, now_ms: int) -> Outcome[None]:
        """Store the topics that each pattern matches now; the group rebalances if these, or a topic, have changed.

        The coordinator gives itself this command behind a heartbeat.
        """
        group = self._groups.find(command.group_id, ConsumerGroup)
        if group is None:
            return make_outcome()
        group.resolving = False
        group.checked_topics_version = self._topics.version
        step = ConsumerStep(group, now_ms)
        subscriptions = group.subscriptions.copy()
        bump = False
        for regex in command.regexes:
            if regex not in group.members_by_regex:
                continue
            before = group.regexes.get(regex, NO_TOPICS)
            topics = self._matching(regex)
            if command.visible is not None:
                topics &= command.visible(topics)
            resolved = ResolvedRegex(topics, self._topics.version, now_ms)
            if resolved.topics != before.topics:
                bump = True
                count_down(subscriptions.by_regex, before.topics)
                count_up(subscriptions.by_regex, resolved.topics)
            step.records.append(regex_record(group.group_id, regex, resolved))
        epoch, records = self.progress.next_epoch(group, subscriptions, bump=bump)
        if records:
            step.records += records
            step.later.append(lambda live: live.topics_checked(now_ms + _LOOK_AGAIN_MS, epoch))
        return step.outcome(None, self._groups)

    def _matching(self, regex: str) -> frozenset[str]:
        try:
            return matching(regex, self._topics.names())
        except KafkaError as error:  # it was stored by a broker that could read it
            logger.warning("%s", error)
            return frozenset()


def _is_same(member: Member, command: ConsumerGroupHeartbeat) -> bool:
    """Whether the heartbeat is from the member's client id, host and instance, and the member has the consumer
    protocol.
    """
    request: ConsumerGroupHeartbeatRequest = command.request
    instance_id, metadata = request.instance_id, member.metadata
    return (
        metadata.client_id == command.sender.client_id
        and metadata.client_host == command.sender.host
        and (instance_id is None or instance_id == metadata.instance_id)
        and metadata.classic is None
    )


def _updated(member: Member, command: ConsumerGroupHeartbeat) -> Member:
    """The member with the fields of the heartbeat; None and -1 change nothing."""
    if command.says_nothing and _is_same(member, command):
        return member
    request = command.request
    instance_id, rack_id, _, _, topics, regex, timeout_ms, assignor, _ = member.metadata
    names, said_ms = request.subscribed_topic_names, request.rebalance_timeout_ms
    metadata = (
        instance_id if request.instance_id is None else request.instance_id,
        rack_id if request.rack_id is None else request.rack_id,
        command.sender.client_id,
        command.sender.host,
        topics if names is None else sorted_names(names),
        regex if request.subscribed_topic_regex is None else request.subscribed_topic_regex,
        timeout_ms if said_ms == -1 else said_ms,
        assignor if request.server_assignor is None else request.server_assignor,
        None,
    )
    return member.with_metadata(_new(MemberMetadata, metadata))


def make(context: KindContext) -> ConsumerKind:
    return ConsumerKind(context)
