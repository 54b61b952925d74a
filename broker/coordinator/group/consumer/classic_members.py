"""Members of the classic protocol in a consumer group: their JoinGroup, SyncGroup, Heartbeat and LeaveGroup.

Generations are member epochs. There is no leader: the coordinator assigns, and SyncGroup fetches what it has assigned.
A member is told to join again (REBALANCE_IN_PROGRESS) to give up partitions, and to take more.
"""

from __future__ import annotations

from collections.abc import Callable

from odradek.broker.coordinator.group.classic.commands import (
    Heartbeat,
    JoinGroup,
    JoinReply,
    LeaveGroup,
    SyncGroup,
    SyncReply,
    join_refused,
    sync_refused,
)
from odradek.broker.coordinator.group.consumer.commands import FenceMember
from odradek.broker.coordinator.group.consumer.group import (
    CONSUMER_PROTOCOL,
    ConsumerGroup,
    Step,
    join_key,
    session_key,
    sync_key,
)
from odradek.broker.coordinator.group.consumer.heartbeats import Departures, replace_static
from odradek.broker.coordinator.group.consumer.member import (
    ClassicMember,
    Member,
    MemberState,
    as_far_as,
    sorted_names,
    without_epochs,
)
from odradek.broker.coordinator.group.consumer.migration import Migration
from odradek.broker.coordinator.group.consumer.progress import Progress, RegexChange
from odradek.broker.coordinator.group.consumer.reconciliation import check_room
from odradek.broker.coordinator.group.consumer.targets import Change, last_target
from odradek.broker.coordinator.group.epoch_group import check_instance, known_static
from odradek.broker.coordinator.group.groups import Groups
from odradek.broker.coordinator.group.settings import GroupSettings
from odradek.broker.runtime.machine import Cancel, Effect, Outcome, Schedule, make_outcome
from odradek.protocol.consumer_protocol import ConsumerProtocolSubscription, decode_subscription
from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError

_MEMBER_ID_REQUIRED_FROM = 4
"""The JoinGroup versions in which a new dynamic member gets its id before it can join (KIP-394)."""


class ClassicMembers:
    """Decides on the classic protocol's commands for consumer groups. Owner: the consumer kind."""

    def __init__(
        self,
        groups: Groups,
        settings: GroupSettings,
        progress: Progress,
        departures: Departures,
        migration: Migration,
        new_id: Callable[[], str],
    ) -> None:
        self._groups = groups
        self._settings = settings
        self._progress = progress
        self._departures = departures
        self._migration = migration
        self._new_id = new_id

    def _group(self, group_id: str) -> ConsumerGroup:
        group = self._groups.find(group_id, ConsumerGroup)
        if group is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Group {group_id} not found.")
        return group

    # -- joining

    def join(self, command: JoinGroup, now_ms: int) -> Outcome[JoinReply]:
        """A classic member joins, or joins again to continue its reconciliation. It is answered at once."""
        timeout_ms = command.session_timeout_ms
        if not self._settings.min_session_timeout_ms <= timeout_ms <= self._settings.max_session_timeout_ms:
            return make_outcome(reply=join_refused(command.member_id, ErrorCode.INVALID_SESSION_TIMEOUT))
        group = self._group(command.group_id)
        if not self._progress.configs.mixes:
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        member_id = command.member_id or self._new_id()
        check_room(group, member_id, self._progress.configs.max_size)
        self._check_protocols(group, command)
        if not command.member_id and command.instance_id is None and command.api_version >= _MEMBER_ID_REQUIRED_FROM:
            return make_outcome(reply=join_refused(member_id, ErrorCode.MEMBER_ID_REQUIRED))
        step = Step(group, now_ms, visible=command.visible)
        replaced = group.static_member(command.instance_id)
        before = self._member(step, command, member_id)
        subscription = _subscription(command)
        after = _joined(before, command, subscription)
        if replaced is not None and self._migration.must_downgrade_for(group, replaced):
            return self._join_last(step, Change(before, after), replaced, subscription)
        owned = self._owned(subscription)
        member = self._progress.advance(step, Change(before, after), owned, bump_unresolved=True)
        step.effects += self._expect_sync(group.group_id, member, command)
        step.later.append(lambda live: live.asked_to_join.discard(member_id))
        return step.outcome(_join_reply(member), lambda: self._groups.find(group.group_id, ConsumerGroup))

    def _check_protocols(self, group: ConsumerGroup, command: JoinGroup) -> None:
        """Check that all classic members of the group have a protocol in common."""
        names = {name for name, _ in command.protocols}
        supported = any(group.classic_protocols.get(name, 0) == group.classic_members for name in names)
        if command.protocol_type != CONSUMER_PROTOCOL or not supported:
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)

    def _member(self, step: Step, command: JoinGroup, member_id: str) -> Member:
        group = step.group
        if command.instance_id is None:
            return group.members.get(member_id) or Member(member_id)
        present = group.static_member(command.instance_id)
        if not command.member_id:
            return Member(member_id) if present is None else replace_static(step, present, member_id)
        member = known_static(group.static_member(command.instance_id), command.instance_id)
        check_instance(member, member_id)
        return member

    def _join_last(
        self, step: Step, change: Change, replaced: Member, subscription: ConsumerProtocolSubscription
    ) -> Outcome[JoinReply]:
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
        reply = _join_reply(member)
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
            Schedule(session_key(group_id, member_id), command.session_timeout_ms, expiry),
            Schedule(sync_key(group_id, member_id), command.rebalance_timeout_ms, expiry),
        ]

    # -- syncing

    def sync(self, command: SyncGroup, now_ms: int) -> Outcome[SyncReply]:
        """A classic member fetches its assignment."""
        group = self._group(command.group_id)
        try:
            member, classic = self._classic_member(group, command.member_id, command.instance_id)
            if command.generation_id != member.epoch:
                raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
            _check_protocol(classic, command)
        except KafkaError as error:
            return make_outcome(reply=sync_refused(error.code))
        group_id, member_id = group.group_id, member.member_id
        if group.assignment_epoch > member.epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
            effects = self._ask_to_join(group, member)
            return make_outcome(reply=sync_refused(ErrorCode.REBALANCE_IN_PROGRESS), effects=effects)
        metadata = classic.protocols[0][1]
        reply = SyncReply(
            protocol_type=command.protocol_type,
            protocol_name=command.protocol_name,
            assignment=self._migration.assignment_bytes(without_epochs(member.assigned), metadata),
        )
        session = Schedule(
            session_key(group_id, member_id), classic.session_timeout_ms, FenceMember(group_id, member_id)
        )
        return make_outcome(reply=reply, effects=(Cancel(sync_key(group_id, member_id)), session))

    # -- heartbeats and departures

    def heartbeat(self, command: Heartbeat, now_ms: int) -> Outcome[ErrorCode]:
        """A heartbeat of a classic member. It must join again if it has partitions to revoke or to take."""
        group = self._group(command.group_id)
        member, classic = self._classic_member(group, command.member_id, command.instance_id)
        if command.generation_id != member.epoch:
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
        group_id, member_id = group.group_id, member.member_id
        expiry = FenceMember(group_id, member_id)
        effects: list[Effect] = [Schedule(session_key(group_id, member_id), classic.session_timeout_ms, expiry)]
        if not _must_join(group, member):
            return make_outcome(reply=ErrorCode.NONE, effects=effects)
        effects += self._ask_to_join(group, member)
        return make_outcome(reply=ErrorCode.REBALANCE_IN_PROGRESS, effects=effects)

    def leave(self, command: LeaveGroup, now_ms: int) -> Outcome[list[ErrorCode]]:
        """Members leave by member id, or are removed by instance id, whatever protocol they speak."""
        group = self._group(command.group_id)
        codes: list[ErrorCode] = []
        leaving: dict[str, Member] = {}
        for member_id, instance_id in command.members:
            try:
                if instance_id is None:
                    member = group.member(member_id)
                else:
                    member = known_static(group.static_member(instance_id), instance_id)
                    if member_id:
                        check_instance(member, member_id)
            except KafkaError as error:
                codes.append(error.code)
            else:
                codes.append(ErrorCode.NONE)
                leaving[member.member_id] = member
        return self._departures.remove(group, list(leaving.values()), codes, now_ms)

    # -- inside

    def _classic_member(
        self, group: ConsumerGroup, member_id: str, instance_id: str | None
    ) -> tuple[Member, ClassicMember]:
        if instance_id is None:
            member = group.member(member_id)
        else:
            member = known_static(group.static_member(instance_id), instance_id)
            check_instance(member, member_id)
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
    timeout_ms = command.rebalance_timeout_ms
    decoded = Member(
        member.member_id,
        instance_id=member.instance_id if command.instance_id is None else command.instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        topics=sorted_names(subscription.topics),
        client_id=command.client_id,
        client_host=command.host,
        server_assignor=member.server_assignor,
        classic=ClassicMember(command.session_timeout_ms, command.protocols),
    )
    return as_far_as(decoded, member)


def _join_reply(member: Member) -> JoinReply:
    assert member.classic is not None
    return JoinReply(
        generation_id=member.epoch,
        protocol_type=CONSUMER_PROTOCOL,
        protocol_name=member.classic.protocols[0][0],
        member_id=member.member_id,
    )


def _check_protocol(classic: ClassicMember, command: SyncGroup) -> None:
    if command.protocol_type not in (None, CONSUMER_PROTOCOL):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if command.protocol_name not in (None, classic.protocols[0][0]):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
