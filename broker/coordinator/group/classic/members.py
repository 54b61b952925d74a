"""SyncGroup, Heartbeat, LeaveGroup, and the timers of members. JoinGroup is in `joining`."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from odradek.broker.coordinator.group.classic.classic_group import ClassicGroup
from odradek.broker.coordinator.group.classic.commands import (
    EndJoinPhase,
    EndJoinPhaseIfAll,
    ExpireMember,
    ExpireSync,
    Heartbeat,
    LeaveGroup,
    SyncGroup,
    SyncReply,
    sync_refused,
)
from odradek.broker.coordinator.group.classic.joining import Joining
from odradek.broker.coordinator.group.classic.rebalance import Changes, Rebalance
from odradek.broker.coordinator.group.classic.records import group_record
from odradek.broker.coordinator.group.classic.roster import Member
from odradek.broker.coordinator.group.classic.states import COMPLETING_REBALANCE, STABLE, SyncAction
from odradek.broker.coordinator.group.groups import Groups
from odradek.broker.runtime.machine import Answer, Effect, Outcome, Schedule, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError

_log = logging.getLogger("odradek.broker.coordinator.group")

_UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID


class Members:
    """Decides on the requests of members after they have joined, and on their timers. Owner: the classic kind."""

    def __init__(self, rebalance: Rebalance, joining: Joining, groups: Groups) -> None:
        self._rebalance = rebalance
        self._settings = rebalance.settings
        self._next_ticket = joining.next_ticket
        self._groups = groups

    def _find(self, group_id: str) -> ClassicGroup | None:
        group = self._groups.get(group_id)
        return group if isinstance(group, ClassicGroup) else None

    # -- SyncGroup

    def sync(self, command: SyncGroup, now_ms: int) -> Outcome[SyncReply]:
        """Give a member its assignment. The leader brings all of them; they are stored before any member gets one."""
        group = self._find(command.group_id)
        if group is None:
            return make_outcome(reply=sync_refused(_UNKNOWN), waits=False)
        try:
            member = group.validate_member(command.member_id, command.instance_id)
        except KafkaError as error:
            return make_outcome(reply=sync_refused(error.code), waits=False)
        if command.generation_id != group.generation:
            return make_outcome(reply=sync_refused(ErrorCode.ILLEGAL_GENERATION), waits=False)
        if _differs(command.protocol_type, group.protocol_type) or _differs(command.protocol_name, group.protocol):
            return make_outcome(reply=sync_refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL), waits=False)
        leads = group.leader == member.member_id
        action = group.rules.sync_leader if leads else group.rules.sync_follower
        if action is SyncAction.UNKNOWN:
            return make_outcome(reply=sync_refused(_UNKNOWN), waits=False)
        if action is SyncAction.REJOIN:
            return make_outcome(reply=sync_refused(ErrorCode.REBALANCE_IN_PROGRESS), waits=False)
        changes = Changes(now_ms)
        self._rebalance.has_synced(group, member.member_id, changes)
        if action is SyncAction.GIVE:
            return changes.answered(self._rebalance.assignment_of(group, member))
        if action is SyncAction.STORE:
            return self._store_assignment(group, member, command, changes)
        return self._wait_for_leader(member, changes)

    def _wait_for_leader(self, member: Member, changes: Changes) -> Outcome[SyncReply]:
        before, member.sync_ticket = member.sync_ticket, self._next_ticket()
        if before is not None:
            changes.effects.append(Answer(before, sync_refused(ErrorCode.REBALANCE_IN_PROGRESS)))
        return changes.parked(member.sync_ticket)

    def _store_assignment(
        self, group: ClassicGroup, leader: Member, command: SyncGroup, changes: Changes
    ) -> Outcome[SyncReply]:
        assignments = command.assignments
        stored = group.to_stored()
        members = tuple(m._replace(assignment=assignments.get(m.member_id, b"")) for m in stored.members)
        changes.records.append(group_record(group.group_id, stored._replace(members=members)))

        def hand_out() -> Sequence[Effect]:
            after = Changes(changes.now_ms)
            self._rebalance.hand_out(group, after)
            _log.info("group %s: generation %d is stable", group.group_id, group.generation)
            self._rebalance.expect_heartbeat(leader, after)
            return after.effects

        changes.then = hand_out
        own = assignments.get(leader.member_id, b"")
        return changes.answered(SyncReply(ErrorCode.NONE, group.protocol_type, group.protocol, own))

    def assignment_refused(self, command: SyncGroup, error: ErrorCode, now_ms: int) -> Outcome[SyncReply]:
        """Answer waiting members with the error of an assignment that the log refused, and begin another rebalance."""
        group = self._find(command.group_id)
        changes = Changes(now_ms)
        if group is not None and group.state is COMPLETING_REBALANCE:
            self._rebalance.fail_assignment(group, error, changes)
            self._rebalance.begin(group, changes)
        return changes.answered(sync_refused(error))

    def assignment_late(self, command: SyncGroup, now_ms: int) -> Sequence[Effect]:
        """The assignment was not committed in time, and the waiting members got an error."""
        group = self._find(command.group_id)
        changes = Changes(now_ms)
        if group is not None and group.state is STABLE and group.generation == command.generation_id:
            self._rebalance.fail_assignment(group, ErrorCode.COORDINATOR_NOT_AVAILABLE, changes)
            self._rebalance.begin(group, changes)
        return changes.effects

    # -- Heartbeat, LeaveGroup

    def heartbeat(self, command: Heartbeat, now_ms: int) -> Outcome[ErrorCode]:
        """Restart the member's session timer."""
        group = self._find(command.group_id)
        if group is None:
            raise KafkaError(_UNKNOWN)
        member = group.validate_member(command.member_id, command.instance_id)
        if command.generation_id != group.generation:
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
        return make_outcome(
            reply=group.rules.heartbeat,
            effects=(Schedule(member.session_key, member.session_timeout_ms, member.expiry),),
        )

    def leave(self, command: LeaveGroup, now_ms: int) -> Outcome[list[ErrorCode]]:
        """Members leave by member id, or are removed by instance id (KIP-345)."""
        group = self._find(command.group_id)
        if group is None:
            return make_outcome(reply=[_UNKNOWN] * len(command.members))
        changes = Changes(now_ms)
        codes = [self._leave_one(group, member_id, instance, changes) for member_id, instance in command.members]
        if ErrorCode.NONE in codes:
            self._rebalance.after_departure(group, changes)
        return changes.answered(codes)

    def _leave_one(self, group: ClassicGroup, member_id: str, instance_id: str | None, changes: Changes) -> ErrorCode:
        if not member_id:
            member_id = group.static_members.get(instance_id or "", "")
            if not member_id:
                return _UNKNOWN
        elif member_id in group.pending_join:
            self._rebalance.drop_pending(group, member_id, changes)
            return ErrorCode.NONE
        try:
            member = group.validate_member(member_id, instance_id)
        except KafkaError as error:
            return error.code
        _log.info("group %s: member %s leaves", group.group_id, member_id)
        self._rebalance.drop_member(group, member, changes)
        return ErrorCode.NONE

    # -- timers

    def expire_member(self, command: ExpireMember, now_ms: int) -> Outcome[None]:
        """Remove a member whose session is over, unless it waits for the others."""
        group = self._find(command.group_id)
        changes = Changes(now_ms)
        if group is None:
            return make_outcome()
        member = group.members.get(command.member_id)
        if member is None:
            if command.member_id in group.pending_join:
                self._rebalance.drop_pending(group, command.member_id, changes)
                self._rebalance.look(group, changes)
        elif not member.keeps_session:
            timeout_ms = member.session_timeout_ms
            _log.info("group %s: member %s was silent for %d ms", group.group_id, member.member_id, timeout_ms)
            self._rebalance.drop_member(group, member, changes)
            self._rebalance.after_departure(group, changes)
        return changes.answered(None)

    def end_join_phase(self, command: EndJoinPhase, now_ms: int) -> Outcome[None]:
        """The time to join is over."""
        group = self._find(command.group_id)
        changes = Changes(now_ms)
        if group is not None:
            self._rebalance.time_over(group, changes)
        return changes.answered(None)

    def end_join_phase_if_all(self, command: EndJoinPhaseIfAll, now_ms: int) -> Outcome[None]:
        """The pause after the last member that has come is over."""
        group = self._find(command.group_id)
        changes = Changes(now_ms)
        if group is not None:
            self._rebalance.pause_over(group, changes)
        return changes.answered(None)

    def expire_sync(self, command: ExpireSync, now_ms: int) -> Outcome[None]:
        """Remove members that have not synced in time."""
        group = self._find(command.group_id)
        changes = Changes(now_ms)
        if group is None or group.generation != command.generation_id or not group.pending_sync:
            return make_outcome()
        for member_id in sorted(group.pending_sync):
            member = group.members.get(member_id)
            if member is not None:
                self._rebalance.drop_member(group, member, changes)
        self._rebalance.after_departure(group, changes)
        return changes.answered(None)

    def resume(self, group: ClassicGroup, now_ms: int) -> list[Effect]:
        """Start every member's session again, once the coordinator has loaded. A group over `group.max.size`
        rebalances.
        """
        changes = Changes(now_ms)
        for member in group.members.values():
            self._rebalance.expect_heartbeat(member, changes)
        if len(group.members) > self._settings.max_size:
            self._rebalance.begin(group, changes)
        return changes.effects


def _differs(asked: str | None, actual: str | None) -> bool:
    return asked is not None and actual is not None and asked != actual
