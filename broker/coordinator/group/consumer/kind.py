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
    GroupEpochs,
    Owned,
    Progress,
    RegexChange,
    check_epoch,
    check_room,
    last_target,
    matching,
)
from odradek.broker.coordinator.group.consumer.records import (
    LEAVING,
    NO_TOPICS,
    NOTHING,
    ClassicMember,
    Member,
    MemberState,
    ResolvedRegex,
    current_record,
    member_record,
    member_tombstones,
    regex_record,
    regex_tombstone,
    renamed,
    sorted_names,
    target_epoch_record,
    target_record,
    with_progress,
    with_progress_of,
    without_epochs,
)
from odradek.broker.coordinator.group.epoch_group import (
    AWAY,
    EpochKind,
    check_released,
    known_static,
    session,
)
from odradek.broker.coordinator.group.groups import (
    ExpireRevocation,
    FenceMember,
    Groups,
    GroupType,
    KindContext,
    group_error,
)
from odradek.broker.coordinator.group.settings import ConsumerConfigs, GroupSettings
from odradek.broker.runtime.machine import Cancel, Command, Effect, Outcome, R, Schedule, make_outcome
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
from odradek.protocol.generated.messages.sync_group import SyncGroupResponse
from odradek.protocol.generated.stored.consumer_group_metadata import ConsumerGroupMetadataKey

logger = logging.getLogger(__name__)

_LOOK_AGAIN_MS = (1 << 31) - 1


class ConsumerKind(EpochKind):
    """Decides on the requests of members and on the coordinator's own commands. See `GroupKind`."""

    group_type: ClassVar[GroupType] = GroupType.CONSUMER

    def __init__(self, context: KindContext) -> None:
        self.configs = ConsumerConfigs(context.configs)
        super().__init__(
            context, self.configs, ConsumerGroup, REPLAYS, ConsumerGroupMetadataKey.RECORD_TYPE, CHANGE_TOPICS
        )
        self.new_id = context.new_short_id
        epochs = GroupEpochs(self._topics, context.configs)
        self.progress = Progress(self.configs, self._topics, epochs)
        self.migration = Migration(context.groups, context.settings, self.configs, self._topics, epochs)
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

    def heartbeat(self, command: ConsumerGroupHeartbeat, now_ms: int) -> Outcome[ConsumerGroupHeartbeatResponse]:
        """Decide on a heartbeat: a member joins with epoch 0 and leaves with a negative one."""
        unchanged = self._unchanged(command, now_ms)
        if unchanged is not None:
            return unchanged
        request = command.request
        if request.member_epoch <= LEAVING:
            return self._leave(request, now_ms)
        group_id, owned = command.group_id, command.owned
        step = self._step(command, now_ms)
        check_room(step.group, request.member_id, self.configs.max_size)
        member_id = request.member_id or self.new_id()
        before = self._member(step, request, member_id, owned)
        after = _updated(before, command)
        member = self.progress.advance(step, Change(before, after), owned, bump_unresolved=False)
        step.effects.append(self._session(group_id, member_id))
        tells = request.member_epoch == 0 or command.is_full or member.assigned != before.assigned
        return step.outcome(self._response(group_id, member, _assignment(member) if tells else None), self._groups)

    def _response(
        self, group_id: str, member: Member, assignment: Assignment | None = None
    ) -> ConsumerGroupHeartbeatResponse:
        return ConsumerGroupHeartbeatResponse(
            member_id=member.member_id,
            member_epoch=member.epoch,
            heartbeat_interval_ms=self.configs.heartbeat_interval_ms(group_id),
            assignment=assignment,
        )

    def _unchanged(
        self, command: ConsumerGroupHeartbeat, now_ms: int
    ) -> Outcome[ConsumerGroupHeartbeatResponse] | None:
        """The outcome of a heartbeat that says nothing new, of a member that has its whole assignment: most of them.

        A fast path: `heartbeat` would give the same result.
        """
        group_id, request = command.group_id, command.request
        group = self._groups.get(group_id)
        if not isinstance(group, ConsumerGroup):
            return None
        member = group.members.get(request.member_id)
        if (
            member is None
            or member.epoch != request.member_epoch
            or not command.says_nothing
            or not _is_same(member, command)
            or not group.rests(member, now_ms)
        ):
            return None
        instance_id = request.instance_id
        if instance_id is not None and group.static_ids.get(instance_id) != member.member_id:
            return None
        return make_outcome(
            reply=self._response(group_id, member), effects=(self._session(group_id, member.member_id),)
        )

    # -- group and member

    def _step(self, command: ConsumerGroupHeartbeat, now_ms: int) -> ConsumerStep:
        """A step of the group. A first member creates the group, also from an empty or a classic one."""
        group_id, epoch, visible = command.group_id, command.request.member_epoch, command.sender.visible
        group = self._groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return ConsumerStep(group, now_ms, visible=visible)
        if group is None:
            if epoch:
                raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Consumer group {group_id} not found.")
            return ConsumerStep(self._new_group(group_id), now_ms, visible=visible)
        if epoch == 0 and isinstance(group, ClassicGroup):
            if not group.is_empty:
                return self.migration.upgrade(group, now_ms)
            step = ConsumerStep(self._new_group(group_id), now_ms, group.tombstones(), visible=visible)
            step.effects += group.on_removed()
            return step
        raise self.other_kind(group_id)

    def _member(
        self, step: ConsumerStep, request: ConsumerGroupHeartbeatRequest, member_id: str, owned: Owned | None
    ) -> Member:
        group, epoch, instance_id = step.group, request.member_epoch, request.instance_id
        member: Member | None
        if instance_id is None:
            member = group.members.get(member_id)
            if member is None:
                member = Member(member_id) if epoch == 0 else group.member(member_id)
            check_epoch(member, epoch, owned, rejoins=self.configs.release.rejoins_by_epoch)
            return member
        if epoch:
            member = group.requesting(member_id, instance_id)
            check_epoch(member, epoch, owned, rejoins=False)
            return member
        present: Member | None = group.static_member(instance_id)
        if present is None:
            return group.members.get(member_id) or Member(member_id)
        if present.classic is None:
            check_released(present, member_id)
        return replace_static(step, present, member_id)

    # -- members that go

    def _leave(self, request: ConsumerGroupHeartbeatRequest, now_ms: int) -> Outcome[ConsumerGroupHeartbeatResponse]:
        """Let a member leave. A static one may leave for a while, and keeps its place for the session timeout.

        The partitions of such a member count as assigned in epoch 0 from now on, so that its successor may commit them.
        """
        group: ConsumerGroup = self._existing(request.group_id)
        member: Member = group.requesting(request.member_id, request.instance_id)
        response = ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
        if request.instance_id is None or request.member_epoch != AWAY:
            return self.remove(group, [member], response, now_ms)
        kept = {topic_id: dict.fromkeys(partitions, 0) for topic_id, partitions in member.assigned.items()}
        away = with_progress(member, AWAY, member.previous_epoch, member.state, kept, NOTHING)
        step = ConsumerStep(group, now_ms, [current_record(group.group_id, away)])
        return step.outcome(response, self._groups)

    def _expire(self, group: ConsumerGroup, member: Member, now_ms: int) -> Outcome[None]:
        return self.remove(group, [member], None, now_ms)

    def remove(self, group: ConsumerGroup, members: Sequence[Member], reply: R, now_ms: int) -> Outcome[R]:
        """Remove members. The group continues in its next epoch, or as a classic group."""
        step = ConsumerStep(group, now_ms)
        if not members:
            return step.outcome(reply, self._groups)
        if self.migration.must_downgrade(group, members):
            return self.migration.downgrade(step, members, reply)
        group_id = group.group_id
        for member in members:
            step.records += member_tombstones(group_id, member.member_id)
            step.effects += [Cancel(key) for key in group.timers(member.member_id)]
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
        epoch, records = self.progress.epochs.next(group, subscriptions, bump=True)
        step.records += records
        if len(members) == len(group.members) and self.configs.release.assigns_empty_groups:
            step.records.append(target_epoch_record(group_id, epoch, 0))
        return step.outcome(reply, self._groups)

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
        epoch, records = self.progress.epochs.next(group, subscriptions, bump=bump)
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
        *member_tombstones(group_id, old.member_id),
        member_record(group_id, new),
        target_record(group_id, member_id, step.group.target.of(old.member_id)),
        current_record(group_id, new),
    ]
    return new


def _is_same(member: Member, command: ConsumerGroupHeartbeat) -> bool:
    """Whether the heartbeat is from the member's client id, host and instance, and the member has the consumer
    protocol.
    """
    instance_id = command.request.instance_id
    return (
        member.client_id == command.sender.client_id
        and member.client_host == command.sender.host
        and (instance_id is None or instance_id == member.instance_id)
        and member.classic is None
    )


def _assignment(member: Member) -> Assignment:
    rows = [ResponseTopicPartitions(topic_id, sorted(own)) for topic_id, own in member.assigned.items()]
    return Assignment(rows)


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
        check_room(group, member_id, self._progress.configs.max_size)
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

    def leave(self, command: LeaveGroup, now_ms: int) -> Outcome[list[ErrorCode]]:
        """Members leave by member id, or are removed by instance id, whatever protocol they speak."""
        group = self._group(command.group_id)
        codes: list[ErrorCode] = []
        leaving: dict[str, Member] = {}
        member: Member
        for member_id, instance_id in command.members:
            try:
                if instance_id is None or member_id:
                    member = group.requesting(member_id, instance_id)
                else:
                    member = known_static(group.static_member(instance_id), instance_id)
            except KafkaError as error:
                codes.append(error.code)
            else:
                codes.append(ErrorCode.NONE)
                leaving[member.member_id] = member
        return self._kind.remove(group, list(leaving.values()), codes, now_ms)

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
    """See `groups`."""
    return ConsumerKind(context)
