"""The course of a rebalance: `begin`, the join phase, `_end`, the assignment.

The join phase always ends in `Rebalance._end`. Three methods decide when:

- `look`: a member has joined, left or failed. If no member is missing, the phase ends after a short pause (at once if
  no member is left at all). In `JoinStage.DELAY` it waits for the delay in any case.
- `pause_over`: the pause has passed, and still no member is missing.
- `time_over`: the phase's time is up. A delay in which a member has joined is extended; members of a first generation
  that know their ids get a last call; otherwise the phase ends with the members that have joined.

Kafka has no pause and ends the phase at once. This broker answers so fast that members started together would cause one
rebalance each, and the cost of a rebalance grows with the number of members.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Sequence

from odradek.broker.coordinator.group.classic.group import (
    ClassicGroup,
    EndJoinPhase,
    ExpireSync,
    JoinPhase,
    JoinStage,
    Member,
    group_record,
    join_refused,
    session_key,
    sync_refused,
)
from odradek.broker.coordinator.group.classic.states import (
    COMPLETING_REBALANCE,
    EMPTY,
    PREPARING_REBALANCE,
    DepartureAction,
)
from odradek.broker.coordinator.group.groups import GroupChanged
from odradek.broker.coordinator.group.settings import GroupSettings
from odradek.broker.runtime.machine import Answer, Cancel, Effect, NewRecord, Outcome, Pause, R, Schedule, make_outcome
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.join_group import JoinGroupResponse
from odradek.protocol.generated.messages.sync_group import SyncGroupResponse


class Changes:
    """Records to write and effects, in order; `then` and `waits` as in `Outcome`."""

    __slots__ = ("effects", "now_ms", "records", "then", "waits")

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.records: list[NewRecord] = []
        self.effects: list[Effect] = []
        self.waits = True
        self.then: Callable[[], Sequence[Effect]] | None = None

    def answered(self, reply: R) -> Outcome[R]:
        """The outcome of a command that is answered now."""
        return make_outcome(self.records, reply=reply, effects=self.effects, then=self._last_step(), waits=self.waits)

    def parked(self, ticket: Hashable) -> Outcome[R]:
        """The outcome of a command that is answered later, under this ticket."""
        return make_outcome(self.records, park=ticket, effects=self.effects, then=self._last_step(), waits=self.waits)

    def _last_step(self) -> Callable[[], Sequence[Effect]] | None:
        """`then`, which leaves this object: it usually refers to it."""
        then, self.then = self.then, None
        return then


_log = logging.getLogger("odradek.broker.coordinator.group")

PENDING_JOIN_MS = 50
"""How long a group's first rebalance waits, after its delay, for members that were told their ids (KIP-394)."""
_PAUSE_FROM_MEMBERS = 20
_MEMBERS_PER_PAUSE_MS = 100
_LONGEST_PAUSE_MS = 20


class Rebalance:
    """Moves groups through their rebalances. Stateless: the group and the changes are given to every method."""

    def __init__(self, settings: GroupSettings) -> None:
        self.settings = settings

    # -- the join phase

    def begin(self, group: ClassicGroup, changes: Changes) -> None:
        """Begin a join phase: all members must join, also those that wait for an assignment."""
        initial = group.state is EMPTY
        if group.state is COMPLETING_REBALANCE:
            self.fail_assignment(group, ErrorCode.REBALANCE_IN_PROGRESS, changes)
        changes.effects.append(Cancel(_sync_timer(group)))
        group.transition_to(PREPARING_REBALANCE, changes.now_ms)
        _log.info("group %s: generation %d ends, all %d members have to join", *_counts(group))
        changes.effects.append(GroupChanged(group.group_id))
        if initial:
            delay_ms = self.settings.initial_rebalance_delay_ms
            remaining_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
            group.join_phase = JoinPhase(JoinStage.DELAY, delay_ms, remaining_ms)
            self._schedule_end(group, delay_ms, changes)
        else:
            group.join_phase = JoinPhase(JoinStage.OPEN)
            self._schedule_end(group, group.rebalance_timeout_ms, changes)
            self.look(group, changes)

    def look(self, group: ClassicGroup, changes: Changes) -> None:
        """End the join phase soon if no member is missing: see the module's docstring."""
        phase = group.join_phase
        if phase is None or phase.stage is JoinStage.DELAY or not group.all_joined:
            return
        if not group.members:
            self._end(group, changes)
            return
        command = EndJoinPhase(group.group_id, if_all=True)
        changes.effects.append(Pause(_pause_timer(group), _pause_ms(group), command))

    def pause_over(self, group: ClassicGroup, changes: Changes) -> None:
        """End the join phase if still no member is missing, after the requests that had arrived."""
        if group.join_phase is not None and group.all_joined:
            self._end(group, changes)

    def time_over(self, group: ClassicGroup, changes: Changes) -> None:
        """End the present stage of the join phase: see the module."""
        phase = group.join_phase
        if phase is None:
            return
        if phase.stage is not JoinStage.DELAY:
            self._end(group, changes)
        elif phase.somebody_came and phase.remaining_ms:
            self._extend_delay(group, phase, changes)
        elif group.pending_join or _pause_ms(group):
            phase.stage = JoinStage.LAST_CALL
            command = EndJoinPhase(group.group_id)
            changes.effects.append(Pause(_join_timer(group), PENDING_JOIN_MS, command))
            self.look(group, changes)
        else:
            self._end(group, changes)

    def _extend_delay(self, group: ClassicGroup, phase: JoinPhase, changes: Changes) -> None:
        phase.somebody_came = False
        delay_ms = min(self.settings.initial_rebalance_delay_ms, phase.remaining_ms)
        phase.remaining_ms = max(phase.remaining_ms - phase.delay_ms, 0)
        phase.delay_ms = delay_ms
        self._schedule_end(group, delay_ms, changes)

    def _schedule_end(self, group: ClassicGroup, after_ms: int, changes: Changes) -> None:
        changes.effects.append(Schedule(_join_timer(group), after_ms, EndJoinPhase(group.group_id)))

    def _end(self, group: ClassicGroup, changes: Changes) -> None:
        """End the join phase. The next generation consists of the members that joined, and static members with a live
        session.

        The phase continues while only such static members are left and none has joined. A group without members is
        stored at once; any other one when its leader brings the assignment.
        """
        changes.effects += (Cancel(_join_timer(group)), Cancel(_pause_timer(group)))
        for member in [m for m in group.members.values() if m.join_ticket is None and m.instance_id is None]:
            group.remove(member.member_id)
            changes.effects.append(Cancel(member.session_key))
        if group.members and not group.elect_joined_leader():
            self._schedule_end(group, group.rebalance_timeout_ms, changes)
            return
        group.next_generation(changes.now_ms)
        _log.info("group %s: generation %d has %d members, protocol %s", *_counts(group), group.protocol)
        changes.effects.append(GroupChanged(group.group_id))
        if group.state is EMPTY:
            changes.records.append(group_record(group.group_id, group.to_stored()))
            return
        for member in group.members.values():
            self.answer_join(group, member, group.join_response(member.member_id), changes)
            self.expect_heartbeat(member, changes)
            member.is_new = False
        command = ExpireSync(group.group_id, group.generation)
        changes.effects.append(Schedule(_sync_timer(group), group.rebalance_timeout_ms, command))

    def answer_join(self, group: ClassicGroup, member: Member, response: JoinGroupResponse, changes: Changes) -> None:
        """Answer the member's JoinGroup if it waits."""
        ticket = group.stop_awaiting_join(member)
        if ticket is not None:
            changes.effects.append(Answer(ticket, response))

    # -- the assignment

    def hand_out(self, group: ClassicGroup, changes: Changes) -> None:
        """Answer the members that wait with their parts of the stored assignment."""
        group.state_timestamp = changes.now_ms
        changes.effects.append(GroupChanged(group.group_id))
        for member in group.members.values():
            self.answer_sync(member, group.sync_response(member.assignment), changes)

    def fail_assignment(self, group: ClassicGroup, error: ErrorCode, changes: Changes) -> None:
        """Answer the members that wait with an error: this generation gets no assignment."""
        for member in group.members.values():
            member.assignment = b""
            self.answer_sync(member, sync_refused(error), changes)

    def answer_sync(self, member: Member, response: SyncGroupResponse, changes: Changes) -> None:
        """Answer the member's waiting SyncGroup, if any, and restart its session, which did not run meanwhile."""
        if member.sync_ticket is None:
            return
        changes.effects.append(Answer(member.sync_ticket, response))
        member.sync_ticket = None
        self.expect_heartbeat(member, changes)

    def has_synced(self, group: ClassicGroup, member_id: str, changes: Changes) -> None:
        """Note that a member has synced. The last one ends the time to sync."""
        group.pending_sync.discard(member_id)
        if not group.pending_sync:
            changes.effects.append(Cancel(_sync_timer(group)))

    # -- sessions

    def expect_heartbeat(self, member: Member, changes: Changes, timeout_ms: int | None = None) -> None:
        """Restart the member's session."""
        after_ms = member.session_timeout_ms if timeout_ms is None else timeout_ms
        changes.effects.append(Schedule(member.session_key, after_ms, member.expiry))

    def drop_member(self, group: ClassicGroup, member: Member, changes: Changes) -> None:
        """Remove a member, and answer its waiting requests with UNKNOWN_MEMBER_ID."""
        _log.info("group %s: member %s is out", group.group_id, member.member_id)
        changes.effects.append(Cancel(member.session_key))
        self.answer_join(group, member, join_refused("", ErrorCode.UNKNOWN_MEMBER_ID), changes)
        if member.sync_ticket is not None:
            changes.effects.append(Answer(member.sync_ticket, sync_refused(ErrorCode.UNKNOWN_MEMBER_ID)))
            member.sync_ticket = None
        group.remove(member.member_id)

    def drop_pending(self, group: ClassicGroup, member_id: str, changes: Changes) -> None:
        """Forget the id of a member that has not joined."""
        changes.effects.append(Cancel(session_key(group.group_id, member_id)))
        group.remove(member_id)

    def after_departure(self, group: ClassicGroup, changes: Changes) -> None:
        """Rebalance after members have left or failed."""
        action = group.rules.departure
        if action is DepartureAction.REBALANCE:
            self.begin(group, changes)
        elif action is DepartureAction.LOOK:
            self.look(group, changes)


def _counts(group: ClassicGroup) -> tuple[str, int, int]:
    return group.group_id, group.generation, len(group.members)


def _join_timer(group: ClassicGroup) -> tuple[str, str]:
    return ("join", group.group_id)


def _pause_timer(group: ClassicGroup) -> tuple[str, str]:
    return ("joined", group.group_id)


def _sync_timer(group: ClassicGroup) -> tuple[str, str]:
    return ("sync", group.group_id)


def _pause_ms(group: ClassicGroup) -> int:
    """How long a join phase waits after the last member joined; 0 in a small group."""
    members = len(group.members)
    return 0 if members < _PAUSE_FROM_MEMBERS else min(max(1, members // _MEMBERS_PER_PAUSE_MS), _LONGEST_PAUSE_MS)
