"""The requests of a consumer group's members: ConsumerGroupHeartbeat, and those of the classic protocol.

For a member of the classic protocol a generation is its member epoch. There is no leader: the coordinator assigns, and
SyncGroup fetches what it has assigned. Such a member is told to join again (REBALANCE_IN_PROGRESS) to give up
partitions, and to take more.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from odradek.broker.coordinator.group.assignment import count_down, count_up
from odradek.broker.coordinator.group.classic import group as classic
from odradek.broker.coordinator.group.classic.group import (
    ClassicGroup,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    SyncGroup,
    join_refused,
    sync_refused,
)
from odradek.broker.coordinator.group.consumer.group import (
    CHANGE_TOPICS,
    CONSUMER_PROTOCOL,
    REPLAYS,
    ConsumerGroup,
    ConsumerGroupHeartbeat,
    ConsumerStep,
    ResolveRegexes,
    join_key,
    sync_key,
)
from odradek.broker.coordinator.group.consumer.migration import Migration
from odradek.broker.coordinator.group.consumer.progress import (
    Change,
    Owned,
    Progress,
    RegexChange,
    is_part_of,
    last_target,
    matching,
)
from odradek.broker.coordinator.group.consumer.records import (
    NO_TOPICS,
    NOTHING,
    RECORDS,
    ClassicMember,
    Member,
    MemberState,
    ResolvedRegex,
    current_record,
    member_record,
    regex_record,
    regex_tombstone,
    renamed,
    sorted_names,
    target_record,
    with_progress,
    with_progress_of,
    without_epochs,
)
from odradek.broker.coordinator.group.epoch_group import (
    AWAY,
    EpochKind,
    check_released,
    fenced,
    session,
)
from odradek.broker.coordinator.group.groups import (
    ExpireRevocation,
    FenceMember,
    Group,
    Groups,
    GroupType,
    KindContext,
    group_error,
)
from odradek.broker.coordinator.group.settings import ConsumerConfigs, GroupSettings
from odradek.broker.runtime.machine import Cancel, Command, Effect, NewRecord, Outcome, R, Schedule, make_outcome
from odradek.protocol.consumer_protocol import ConsumerProtocolSubscription, decode_subscription
from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError
from odradek.protocol.generated.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ResponseTopicPartitions,
)
from odradek.protocol.generated.messages.heartbeat import HeartbeatResponse
from odradek.protocol.generated.messages.join_group import JoinGroupResponse
from odradek.protocol.generated.messages.leave_group import LeaveGroupResponse
from odradek.protocol.generated.messages.sync_group import SyncGroupResponse
from odradek.protocol.generated.stored.consumer_group_metadata import ConsumerGroupMetadataKey

logger = logging.getLogger(__name__)

_LOOK_AGAIN_MS = (1 << 31) - 1


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
        self.migration = Migration(context, self.progress)
        members = ClassicMembers(self, context.groups, context.settings)
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
        code = group_error(error.code)
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
            return self.migration.upgrade(group, now_ms)
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
        if present.classic is None:
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
        away = with_progress(member, AWAY, member.previous_epoch, member.state, kept, NOTHING)
        return current_record(group.group_id, away)

    def remove(self, group: ConsumerGroup, members: Sequence[Member], reply: R, now_ms: int) -> Outcome[R]:
        """See `EpochKind`. The group may go on as a classic one."""
        if members and self.migration.must_downgrade(group, members):
            return self.migration.downgrade(ConsumerStep(group, now_ms), members, reply)
        return super().remove(group, members, reply, now_ms) if members else make_outcome(reply=reply)

    def _next_epoch_without(self, group: ConsumerGroup, members: Sequence[Member]) -> Sequence[NewRecord]:
        records: list[NewRecord] = []
        subscriptions = group.subscriptions.copy()
        left = dict(group.members_by_regex)
        for member in members:
            count_down(subscriptions.by_name, member.topics)
            if member.regex:
                count_down(left, (member.regex,))
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


def replace_static(step: ConsumerStep, old: Member, member_id: str) -> Member:
    """A static member has rejoined with another member id: it replaces the old member."""
    group_id = step.group.group_id
    new = renamed(old, member_id)
    step.records += [
        *RECORDS.member_tombstones(group_id, old.member_id),
        member_record(group_id, new),
        target_record(group_id, member_id, step.group.target.of(old.member_id)),
        current_record(group_id, new),
    ]
    return new


def _is_same(member: Member, command: ConsumerGroupHeartbeat) -> bool:
    """Whether the heartbeat is from the member's client id, host and instance, and the member has the consumer
    protocol.
    """
    request: ConsumerGroupHeartbeatRequest = command.request
    instance_id = request.instance_id
    return (
        member.client_id == command.sender.client_id
        and member.client_host == command.sender.host
        and (instance_id is None or instance_id == member.instance_id)
        and member.classic is None
    )


def _updated(member: Member, command: ConsumerGroupHeartbeat) -> Member:
    """The member with the fields of the heartbeat; None and -1 change nothing."""
    if command.says_nothing and _is_same(member, command):
        return member
    request = command.request
    topics, regex, assignor = request.subscribed_topic_names, request.subscribed_topic_regex, request.server_assignor
    timeout_ms = request.rebalance_timeout_ms
    decoded = Member(
        member.member_id,
        member.instance_id if request.instance_id is None else request.instance_id,
        member.rack_id if request.rack_id is None else request.rack_id,
        command.sender.client_id,
        command.sender.host,
        member.topics if topics is None else sorted_names(topics),
        member.regex if regex is None else regex,
        member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        member.server_assignor if assignor is None else assignor,
    )
    return with_progress_of(decoded, member)


_MEMBER_ID_REQUIRED_FROM = 4
"""The JoinGroup versions in which a new dynamic member gets its id before it can join (KIP-394)."""


class ClassicMembers:
    """Decides on the classic protocol's commands for consumer groups. Owner: the consumer kind."""

    def __init__(self, kind: ConsumerKind, groups: Groups, settings: GroupSettings) -> None:
        self._kind = kind
        self._groups = groups
        self._settings = settings
        self._progress = kind.progress
        self._migration = kind.migration

    def _group(self, group_id: str) -> ConsumerGroup:
        group = self._groups.find(group_id, ConsumerGroup)
        if group is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Group {group_id} not found.")
        return group

    # -- joining

    def join(self, command: JoinGroup, now_ms: int) -> Outcome[JoinGroupResponse]:
        """A classic member joins, or joins again to continue its reconciliation. It is answered at once."""
        request = command.request
        timeout_ms = request.session_timeout_ms
        if not self._settings.min_session_timeout_ms <= timeout_ms <= self._settings.max_session_timeout_ms:
            return make_outcome(reply=join_refused(request.member_id, ErrorCode.INVALID_SESSION_TIMEOUT))
        group = self._group(command.group_id)
        if not self._progress.configs.mixes:
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        member_id = request.member_id or self._kind.new_id()
        self._kind.check_room(group, member_id)
        self._check_protocols(group, command)
        if (
            not request.member_id
            and request.group_instance_id is None
            and command.sender.api_version >= _MEMBER_ID_REQUIRED_FROM
        ):
            return make_outcome(reply=join_refused(member_id, ErrorCode.MEMBER_ID_REQUIRED))
        step = ConsumerStep(group, now_ms, visible=command.sender.visible)
        replaced: Member | None = group.static_member(request.group_instance_id)
        before = self._member(step, command, member_id)
        subscription = _subscription(command)
        after = _joined(before, command, subscription)
        if replaced is not None and self._migration.must_downgrade_for(group, replaced):
            return self._join_last(step, Change(before, after), replaced, subscription)
        owned = self._owned(subscription)
        member = self._progress.advance(step, Change(before, after), owned, bump_unresolved=True)
        step.effects += self._expect_sync(group.group_id, member, command)
        step.later.append(lambda live: live.asked_to_join.discard(member_id))
        return step.outcome(_join_response(member), self._groups)

    def _check_protocols(self, group: ConsumerGroup, command: JoinGroup) -> None:
        """Check that all classic members of the group have a protocol in common."""
        names = {name for name, _ in command.protocols}
        supported = any(group.classic_protocols.get(name, 0) == group.classic_members for name in names)
        if command.request.protocol_type != CONSUMER_PROTOCOL or not supported:
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    def _member(self, step: ConsumerStep, command: JoinGroup, member_id: str) -> Member:
        request = command.request
        group = step.group
        if request.group_instance_id is None:
            return group.members.get(member_id) or Member(member_id)
        present: Member | None = group.static_member(request.group_instance_id)
        if not request.member_id:
            return Member(member_id) if present is None else replace_static(step, present, member_id)
        member: Member = group.requesting(member_id, request.group_instance_id)
        return member

    def _join_last(
        self, step: ConsumerStep, change: Change, replaced: Member, subscription: ConsumerProtocolSubscription
    ) -> Outcome[JoinGroupResponse]:
        """The last member of the consumer protocol gives way: the group becomes a classic one.

        Its members keep their assignments unless the group's topics have changed.
        """
        progress, group = self._progress, step.group
        member = change.after
        names_changed = progress.store_member(step, change)
        regex_changed = progress.update_regexes(step, change) is not RegexChange.NONE
        bump = names_changed or regex_changed
        epoch, _ = progress.check_topics(step, change, bump)
        rebalance = group.assignment_epoch < epoch
        if not rebalance:
            target = last_target(group, member)
            member = progress.reconcile(step, member, target, self._owned(subscription), subscription_changed=bump)
        step.later.clear()
        staying = [m for m in group.members.values() if m.member_id != replaced.member_id]
        stored_ids = [member.member_id if m == replaced.member_id else m for m in group.members]
        heirs = {member.member_id: replaced.member_id}
        reply = _join_response(member)
        return self._migration.to_classic(step, [*staying, member], stored_ids, heirs, reply, rebalance=rebalance)

    def _owned(self, subscription: ConsumerProtocolSubscription) -> dict[bytes, list[int]]:
        owned: dict[bytes, list[int]] = {}
        for row in subscription.owned_partitions:
            facts = self._progress.topics.named(row.topic)
            if facts is not None:
                owned[facts.topic_id] = row.partitions
        return owned

    def _expect_sync(self, group_id: str, member: Member, command: JoinGroup) -> list[Effect]:
        member_id = member.member_id
        expiry = FenceMember(group_id, member_id)
        return [
            Cancel(join_key(group_id, member_id)),
            session(group_id, member_id, command.request.session_timeout_ms),
            Schedule(sync_key(group_id, member_id), command.rebalance_timeout_ms, expiry),
        ]

    # -- syncing

    def sync(self, command: SyncGroup, now_ms: int) -> Outcome[SyncGroupResponse]:
        """A classic member fetches its assignment."""
        request = command.request
        group = self._group(command.group_id)
        try:
            member, classic = self._classic_member(group, request.member_id, request.group_instance_id)
            if request.generation_id != member.epoch:
                raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
            _check_protocol(classic, command)
        except KafkaError as error:
            return make_outcome(reply=sync_refused(error.code))
        group_id, member_id = group.group_id, member.member_id
        if group.assignment_epoch > member.epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
            effects = self._ask_to_join(group, member)
            return make_outcome(reply=sync_refused(ErrorCode.REBALANCE_IN_PROGRESS), effects=effects)
        metadata = classic.protocols[0][1]
        reply = SyncGroupResponse(
            protocol_type=request.protocol_type,
            protocol_name=request.protocol_name,
            assignment=self._migration.assignment_bytes(without_epochs(member.assigned), metadata),
        )
        alive = session(group_id, member_id, classic.session_timeout_ms)
        return make_outcome(reply=reply, effects=(Cancel(sync_key(group_id, member_id)), alive))

    # -- heartbeats and departures

    def heartbeat(self, command: Heartbeat, now_ms: int) -> Outcome[HeartbeatResponse]:
        """A heartbeat of a classic member. It must join again if it has partitions to revoke or to take."""
        request = command.request
        group = self._group(command.group_id)
        member, classic = self._classic_member(group, request.member_id, request.group_instance_id)
        if request.generation_id != member.epoch:
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
        group_id, member_id = group.group_id, member.member_id
        effects: list[Effect] = [session(group_id, member_id, classic.session_timeout_ms)]
        if not _must_join(group, member):
            return make_outcome(reply=HeartbeatResponse(), effects=effects)
        effects += self._ask_to_join(group, member)
        return make_outcome(reply=HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS), effects=effects)

    def leave(self, command: LeaveGroup, now_ms: int) -> Outcome[LeaveGroupResponse]:
        """Members leave by member id, or are removed by instance id, whatever protocol they speak."""
        group = self._group(command.group_id)
        codes: list[ErrorCode] = []
        leaving: dict[str, Member] = {}
        member: Member
        for each in command.members:
            member_id, instance_id = each.member_id, each.group_instance_id
            try:
                named = member_id or ("" if instance_id is None else group.static_ids.get(instance_id, ""))
                member = group.requesting(named, instance_id)
            except KafkaError as error:
                codes.append(error.code)
            else:
                codes.append(ErrorCode.NONE)
                leaving[member.member_id] = member
        return self._kind.remove(group, list(leaving.values()), command.response(codes), now_ms)

    # -- inside

    def _classic_member(
        self, group: ConsumerGroup, member_id: str, instance_id: str | None
    ) -> tuple[Member, ClassicMember]:
        member: Member = group.requesting(member_id, instance_id)
        if member.classic is None:
            text = f"Member {member_id} does not use the classic protocol."
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, text)
        return member, member.classic

    def _ask_to_join(self, group: ConsumerGroup, member: Member) -> list[Effect]:
        """Ask a member to join again. It has its rebalance timeout from the first time it is asked."""
        if member.member_id in group.asked_to_join:
            return []
        group.asked_to_join.add(member.member_id)
        expiry = FenceMember(group.group_id, member.member_id)
        return [Schedule(join_key(group.group_id, member.member_id), member.rebalance_timeout_ms, expiry)]


def _must_join(group: ConsumerGroup, member: Member) -> bool:
    if member.epoch < group.assignment_epoch or member.state is MemberState.UNREVOKED_PARTITIONS:
        return True
    return member.state is MemberState.UNRELEASED_PARTITIONS and not group.waits_for_others(member)


def _subscription(command: JoinGroup) -> ConsumerProtocolSubscription:
    try:
        subscription, _ = decode_subscription(command.protocols[0][1])
    except ProtocolError as error:
        text = "Malformed embedded consumer protocol in subscription deserialization."
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, text) from error
    return subscription


def _joined(member: Member, command: JoinGroup, subscription: ConsumerProtocolSubscription) -> Member:
    request = command.request
    timeout_ms = command.rebalance_timeout_ms
    decoded = Member(
        member.member_id,
        instance_id=member.instance_id if request.group_instance_id is None else request.group_instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        topics=sorted_names(subscription.topics),
        client_id=command.sender.client_id,
        client_host=command.sender.host,
        server_assignor=member.server_assignor,
        classic=ClassicMember(request.session_timeout_ms, command.protocols),
    )
    return with_progress_of(decoded, member)


def _join_response(member: Member) -> JoinGroupResponse:
    assert member.classic is not None
    return JoinGroupResponse(
        generation_id=member.epoch,
        protocol_type=CONSUMER_PROTOCOL,
        protocol_name=member.classic.protocols[0][0],
        member_id=member.member_id,
    )


def _check_protocol(classic: ClassicMember, command: SyncGroup) -> None:
    request = command.request
    if request.protocol_type not in (None, CONSUMER_PROTOCOL):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if request.protocol_name not in (None, classic.protocols[0][0]):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)


def make(context: KindContext) -> ConsumerKind:
    return ConsumerKind(context)
