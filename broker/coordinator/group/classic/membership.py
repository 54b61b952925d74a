"""What members ask for: joining, syncing, heartbeats and leaving."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from odradek.broker.coordinator.group.classic.classic_group import ClassicGroup, Member, session_key, stored_member
from odradek.broker.coordinator.group.classic.commands import (
    CompleteJoin,
    CompleteJoinIfAll,
    ExpireMember,
    ExpireSync,
    ExtendJoin,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    SyncGroup,
)
from odradek.broker.coordinator.group.classic.rebalance import Rebalance, Step, join_error, sync_error
from odradek.broker.coordinator.group.classic.records import StoredGroup, encode_group_key, encode_group_value
from odradek.broker.coordinator.group.classic.states import COMPLETING_REBALANCE, EMPTY, PREPARING_REBALANCE, STABLE
from odradek.broker.coordinator.group.group_type import GroupType
from odradek.broker.coordinator.group.registry import Groups
from odradek.broker.runtime.machine import Answer, Cancel, Effect, Outcome, Schedule
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.join_group import JoinGroupResponse
from odradek.protocol.messages.sync_group import SyncGroupResponse

KNOWN_MEMBER_ID_FROM = 4
"""JoinGroup versions from which a new dynamic member is told its id before it can join (KIP-394)."""
SKIP_ASSIGNMENT_FROM = 9
"""JoinGroup versions from which a static leader that comes back keeps the lead, without assigning again (KIP-814)."""

_UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID
_GIVE_WAY = frozenset({GroupType.CONSUMER, GroupType.STREAMS})
"""The kinds whose empty groups become classic ones when a classic member joins."""


class Membership:
    """Decides on the commands of members.

    Owner: the classic kind. ``new_id`` makes the random part of member ids.
    """

    def __init__(self, rebalance: Rebalance, groups: Groups, new_id: Callable[[], str]) -> None:
        self._rebalance = rebalance
        self._settings = rebalance.settings
        self._groups = groups
        self._new_id = new_id
        self._tickets = count(1)

    def _find(self, group_id: str) -> ClassicGroup | None:
        group = self._groups.get(group_id)
        return group if group.__class__ is ClassicGroup else None

    # -- joining

    def join(self, command: JoinGroup, now_ms: int) -> Outcome[JoinGroupResponse]:
        """A member joins. The group is created for an unknown member, and stored at once, even if joining fails."""
        timeout = command.session_timeout_ms
        if not self._settings.min_session_timeout_ms <= timeout <= self._settings.max_session_timeout_ms:
            return Outcome(reply=join_error(command.member_id, ErrorCode.INVALID_SESSION_TIMEOUT))
        present = self._groups.get(command.group_id)
        if isinstance(present, ClassicGroup):
            return self._join_group(present, command, Step(now_ms))
        if present is not None and not (present.is_empty and present.group_type in _GIVE_WAY):
            return Outcome(reply=join_error("", ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
        if command.member_id:
            return Outcome(reply=join_error(command.member_id, _UNKNOWN))
        group = ClassicGroup(command.group_id, now_ms)
        outcome = self._join_group(group, command, Step(now_ms))

        def adopt() -> Sequence[Effect]:
            self._groups.put(group)
            return ()

        records = list(outcome.records)
        if not records:
            value = StoredGroup("", 0, None, None, now_ms, ())
            records = [(encode_group_key(command.group_id), encode_group_value(value))]
        if present is not None:
            records = [*present.tombstones(), *records]
            outcome.effects = (*present.on_removed(), *outcome.effects)
        outcome.records = records
        outcome.then = adopt
        return outcome

    def _join_group(self, group: ClassicGroup, command: JoinGroup, step: Step) -> Outcome[JoinGroupResponse]:
        member_id = command.member_id
        if not self._accepts(group, member_id):
            member = group.members.get(member_id)
            if member is not None:
                self._rebalance.drop_member(group, member, step)
            else:
                self._rebalance.drop_pending(group, member_id, step)
            self._rebalance.maybe_complete_join(group, step)
            reply = join_error("", ErrorCode.GROUP_MAX_SIZE_REACHED)
            return Outcome(step.records, reply=reply, effects=step.effects)
        if not group.supports(command.protocol_type, command.protocols):
            return Outcome(reply=join_error(member_id, ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
        if not member_id:
            return self._join_new(group, command, step)
        if member_id in group.pending_join and command.instance_id is None:
            return self._add(group, command, member_id, step)
        try:
            member = group.validate_member(member_id, command.instance_id)
        except KafkaError as error:
            return Outcome(reply=join_error(member_id, error.code))
        return self._join_again(group, member, command, step)

    def _accepts(self, group: ClassicGroup, member_id: str) -> bool:
        """Whether ``group.max.size`` leaves room: for whoever waits already, or is a member once all have joined."""
        limit = self._settings.max_size
        member = group.members.get(member_id)
        if group.state is EMPTY:
            return True
        if group.state is PREPARING_REBALANCE:
            return (member is not None and member.join_ticket is not None) or group.awaiting_join < limit
        return member is not None or len(group.members) < limit

    def _join_new(self, group: ClassicGroup, command: JoinGroup, step: Step) -> Outcome[JoinGroupResponse]:
        if command.instance_id is not None:
            member_id = f"{command.instance_id}-{self._new_id()}"
            old = group.members.get(group.static_members.get(command.instance_id, ""))
            if old is not None:
                return self._replace_static(group, old, member_id, command, step)
            return self._add(group, command, member_id, step)
        member_id = f"{command.client_id}-{self._new_id()}"
        if command.api_version < KNOWN_MEMBER_ID_FROM:
            return self._add(group, command, member_id, step)
        group.pending_join[member_id] = None
        expiry = ExpireMember(group.group_id, member_id)
        step.effects.append(Schedule(session_key(group.group_id, member_id), command.session_timeout_ms, expiry))
        return Outcome(reply=join_error(member_id, ErrorCode.MEMBER_ID_REQUIRED), effects=step.effects)

    def _add(self, group: ClassicGroup, command: JoinGroup, member_id: str, step: Step) -> Outcome[JoinGroupResponse]:
        member = Member(
            group.group_id,
            member_id,
            command.instance_id,
            command.client_id,
            command.host,
            command.rebalance_timeout_ms,
            command.session_timeout_ms,
            command.protocols,
        )
        member.is_new = True
        ticket = member.join_ticket = next(self._tickets)
        if group.state is PREPARING_REBALANCE and group.previous_state is EMPTY:
            group.new_member_added = True
        if not group.members:
            group.protocol_type = command.protocol_type
        group.add(member)
        self._rebalance.expect_heartbeat(member, step, self._settings.new_member_join_timeout_ms)
        self._rebalance.begin_or_go_on(group, step)
        return Outcome(step.records, park=ticket, effects=step.effects)

    def _join_again(
        self, group: ClassicGroup, member: Member, command: JoinGroup, step: Step
    ) -> Outcome[JoinGroupResponse]:
        unchanged = member.protocols == command.protocols
        if group.state is COMPLETING_REBALANCE and unchanged:
            return Outcome(reply=group.join_response(member.member_id))
        if group.state is STABLE and unchanged and group.leader != member.member_id:
            return Outcome(reply=group.join_response(member.member_id))
        if group.state is EMPTY:
            return Outcome(reply=join_error(member.member_id, _UNKNOWN))
        return self._update(group, member, command, step)

    def _update(
        self, group: ClassicGroup, member: Member, command: JoinGroup, step: Step
    ) -> Outcome[JoinGroupResponse]:
        """The member waits for the end of a join phase, which this may begin or end."""
        group.update(member, command.protocols, command.session_timeout_ms, command.rebalance_timeout_ms)
        ticket = next(self._tickets)
        before = group.await_join(member, ticket)
        if before is not None:
            reply = join_error(member.member_id, ErrorCode.REBALANCE_IN_PROGRESS)
            step.effects.append(Answer(before, reply))
        self._rebalance.begin_or_go_on(group, step)
        return Outcome(step.records, park=ticket, effects=step.effects)

    # -- static members

    def _replace_static(
        self, group: ClassicGroup, old: Member, member_id: str, command: JoinGroup, step: Step
    ) -> Outcome[JoinGroupResponse]:
        """A static member has come back without its member id (KIP-345): the new id replaces the old one.

        In a stable group whose protocol stays the same nobody else notices: only the record of the generation changes.
        """
        if group.state is STABLE and group.select_protocol(old, command.protocols) == group.protocol:
            return self._replace_quietly(group, old, member_id, command, step)
        member = self._swap(group, old, member_id, command, step)
        self._rebalance.expect_heartbeat(member, step)
        ticket = next(self._tickets)
        group.await_join(member, ticket)
        self._rebalance.begin_or_go_on(group, step)
        return Outcome(step.records, park=ticket, effects=step.effects)

    def _replace_quietly(
        self, group: ClassicGroup, old: Member, member_id: str, command: JoinGroup, step: Step
    ) -> Outcome[JoinGroupResponse]:
        leader_before = group.leader
        protocol = group.protocol or ""
        metadata = dict(reversed(command.protocols))[protocol]
        stored = group.to_stored()
        replaced = stored_member(old, metadata, old.assignment)._replace(
            member_id=member_id,
            rebalance_timeout_ms=command.rebalance_timeout_ms,
            session_timeout_ms=command.session_timeout_ms,
        )
        stored = stored._replace(
            leader=member_id if leader_before == old.member_id else leader_before,
            members=tuple(replaced if m.member_id == old.member_id else m for m in stored.members),
        )
        reply = JoinGroupResponse(
            generation_id=group.generation,
            protocol_type=group.protocol_type,
            protocol_name=group.protocol,
            member_id=member_id,
        )

        def replace() -> Sequence[Effect]:
            member = self._swap(group, old, member_id, command, step)
            self._rebalance.expect_heartbeat(member, step)
            if command.api_version < SKIP_ASSIGNMENT_FROM:
                reply.leader = leader_before or ""
            else:
                reply.leader = group.leader or ""
                reply.skip_assignment = group.leader == member_id
                reply.members = group.response_members() if reply.skip_assignment else []
            return step.effects

        records = [(encode_group_key(group.group_id), encode_group_value(stored))]
        return Outcome(records, reply=reply, then=replace)

    def _swap(self, group: ClassicGroup, old: Member, member_id: str, command: JoinGroup, step: Step) -> Member:
        new = group.replace_static(old, member_id)
        step.effects.append(Cancel(old.session_key))
        if old.join_ticket is not None:
            step.effects.append(Answer(old.join_ticket, join_error(old.member_id, ErrorCode.FENCED_INSTANCE_ID)))
        if old.sync_ticket is not None:
            step.effects.append(Answer(old.sync_ticket, sync_error(ErrorCode.FENCED_INSTANCE_ID)))
        group.update(new, command.protocols, command.session_timeout_ms, command.rebalance_timeout_ms)
        group.subscribed_topics = group.compute_subscribed_topics()
        return new

    # -- syncing

    def sync(self, command: SyncGroup, now_ms: int) -> Outcome[SyncGroupResponse]:
        """A member wants its assignment; the leader brings everybody's, which is stored before anybody gets it."""
        group = self._find(command.group_id)
        if group is None or group.state is EMPTY:
            return Outcome(reply=sync_error(_UNKNOWN))
        try:
            member = group.validate_member(command.member_id, command.instance_id)
        except KafkaError as error:
            return Outcome(reply=sync_error(error.code))
        if command.generation_id != group.generation:
            return Outcome(reply=sync_error(ErrorCode.ILLEGAL_GENERATION))
        if _differs(command.protocol_type, group.protocol_type) or _differs(command.protocol_name, group.protocol):
            return Outcome(reply=sync_error(ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
        if group.state is PREPARING_REBALANCE:
            return Outcome(reply=sync_error(ErrorCode.REBALANCE_IN_PROGRESS))
        step = Step(now_ms)
        self._rebalance.has_synced(group, member.member_id, step)
        if group.state is STABLE:
            return Outcome(reply=self._rebalance.assignment_of(group, member), effects=step.effects)
        if group.leader == member.member_id:
            return self._store_assignment(group, member, command, step)
        before, member.sync_ticket = member.sync_ticket, next(self._tickets)
        if before is not None:
            step.effects.append(Answer(before, sync_error(ErrorCode.REBALANCE_IN_PROGRESS)))
        return Outcome(park=member.sync_ticket, effects=step.effects)

    def _store_assignment(
        self, group: ClassicGroup, leader: Member, command: SyncGroup, step: Step
    ) -> Outcome[SyncGroupResponse]:
        assignments = command.assignments
        stored = group.to_stored()
        members = tuple(m._replace(assignment=assignments.get(m.member_id, b"")) for m in stored.members)
        value = encode_group_value(stored._replace(members=members))

        def hand_out() -> Sequence[Effect]:
            self._rebalance.hand_out(group, assignments, step)
            self._rebalance.expect_heartbeat(leader, step)
            return step.effects

        reply = SyncGroupResponse(
            protocol_type=group.protocol_type,
            protocol_name=group.protocol,
            assignment=assignments.get(leader.member_id, b""),
        )
        return Outcome([(encode_group_key(group.group_id), value)], reply=reply, then=hand_out)

    def assignment_refused(self, command: SyncGroup, error: ErrorCode, now_ms: int) -> Outcome[SyncGroupResponse]:
        """The log did not take the assignment: all who wait for it get the error, and another rebalance begins."""
        group = self._find(command.group_id)
        step = Step(now_ms)
        if group is not None and group.state is COMPLETING_REBALANCE:
            self._rebalance.fail_assignment(group, error, step)
            self._rebalance.begin(group, step)
        return Outcome(reply=sync_error(error), effects=step.effects)

    # -- living and leaving

    def heartbeat(self, command: Heartbeat, now_ms: int) -> Outcome[ErrorCode]:
        """The member's session goes on."""
        group = self._find(command.group_id)
        if group is None:
            raise KafkaError(_UNKNOWN)
        member = group.validate_member(command.member_id, command.instance_id)
        if command.generation_id != group.generation:
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
        rebalancing = group.state is PREPARING_REBALANCE
        return Outcome(
            reply=ErrorCode.REBALANCE_IN_PROGRESS if rebalancing else ErrorCode.NONE,
            effects=(Schedule(member.session_key, member.session_timeout_ms, member.expiry),),
        )

    def leave(self, command: LeaveGroup, now_ms: int) -> Outcome[list[ErrorCode]]:
        """Members leave by member id, or are removed by instance id (KIP-345)."""
        group = self._find(command.group_id)
        if group is None:
            return Outcome(reply=[_UNKNOWN] * len(command.members))
        step = Step(now_ms)
        codes = [self._leave_one(group, member_id, instance_id, step) for member_id, instance_id in command.members]
        if ErrorCode.NONE in codes:
            self._after_departure(group, step)
        return Outcome(step.records, reply=codes, effects=step.effects)

    def _leave_one(self, group: ClassicGroup, member_id: str, instance_id: str | None, step: Step) -> ErrorCode:
        if not member_id:
            member_id = group.static_members.get(instance_id or "", "")
            if not member_id:
                return _UNKNOWN
        elif member_id in group.pending_join:
            self._rebalance.drop_pending(group, member_id, step)
            return ErrorCode.NONE
        try:
            member = group.validate_member(member_id, instance_id)
        except KafkaError as error:
            return error.code
        self._rebalance.drop_member(group, member, step)
        return ErrorCode.NONE

    def _after_departure(self, group: ClassicGroup, step: Step) -> None:
        if group.state in (STABLE, COMPLETING_REBALANCE):
            self._rebalance.begin(group, step)
        elif group.state is PREPARING_REBALANCE:
            self._rebalance.maybe_complete_join(group, step)

    # -- timers

    def expire_member(self, command: ExpireMember, now_ms: int) -> Outcome[None]:
        """A session is over: unless it waits for the others, the member is out."""
        group = self._find(command.group_id)
        if group is None:
            return Outcome()
        step = Step(now_ms)
        member = group.members.get(command.member_id)
        if member is None:
            if command.member_id in group.pending_join:
                self._rebalance.drop_pending(group, command.member_id, step)
                if group.state is PREPARING_REBALANCE:
                    self._rebalance.maybe_complete_join(group, step)
        elif not member.keeps_session:
            self._rebalance.drop_member(group, member, step)
            self._after_departure(group, step)
        return Outcome(step.records, effects=step.effects)

    def complete_join(self, command: CompleteJoin, now_ms: int) -> Outcome[None]:
        """The time to join again is over."""
        group = self._find(command.group_id)
        step = Step(now_ms)
        if group is not None and group.state is PREPARING_REBALANCE:
            self._rebalance.complete_join(group, step)
        return Outcome(step.records, effects=step.effects)

    def complete_join_if_all(self, command: CompleteJoinIfAll, now_ms: int) -> Outcome[None]:
        """The requests that had arrived are seen to."""
        group = self._find(command.group_id)
        step = Step(now_ms)
        if group is not None and group.state is PREPARING_REBALANCE and group.all_joined:
            self._rebalance.complete_join(group, step)
        return Outcome(step.records, effects=step.effects)

    def extend_join(self, command: ExtendJoin, now_ms: int) -> Outcome[None]:
        """The initial delay is over."""
        group = self._find(command.group_id)
        step = Step(now_ms)
        if group is not None and group.state is PREPARING_REBALANCE:
            self._rebalance.extend_join(group, command.delay_ms, command.remaining_ms, step)
        return Outcome(step.records, effects=step.effects)

    def expire_sync(self, command: ExpireSync, now_ms: int) -> Outcome[None]:
        """The time to sync is over: members that have not are out."""
        group = self._find(command.group_id)
        step = Step(now_ms)
        if group is None or group.generation != command.generation_id or not group.pending_sync:
            return Outcome()
        for member_id in sorted(group.pending_sync):
            member = group.members.get(member_id)
            if member is not None:
                self._rebalance.drop_member(group, member, step)
        self._after_departure(group, step)
        return Outcome(step.records, effects=step.effects)

    def resume(self, group: ClassicGroup, now_ms: int) -> list[Effect]:
        """The coordinator has loaded: every member's session starts anew; a group grown too large rebalances."""
        step = Step(now_ms)
        for member in group.members.values():
            self._rebalance.expect_heartbeat(member, step)
        if len(group.members) > self._settings.max_size:
            self._rebalance.begin(group, step)
        return step.effects


def _differs(asked: str | None, actual: str | None) -> bool:
    return asked is not None and actual is not None and asked != actual
