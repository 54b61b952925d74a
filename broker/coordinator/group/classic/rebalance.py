"""The two phases of a rebalance: gathering the members, and handing out the leader's assignment."""

from __future__ import annotations

from odradek.broker.coordinator.group.classic.classic_group import ClassicGroup, Member, session_key
from odradek.broker.coordinator.group.classic.commands import CompleteJoin, CompleteJoinIfAll, ExpireSync, ExtendJoin
from odradek.broker.coordinator.group.classic.records import encode_group_key, encode_group_value
from odradek.broker.coordinator.group.classic.states import (
    CAN_REBALANCE,
    COMPLETING_REBALANCE,
    EMPTY,
    PREPARING_REBALANCE,
    STABLE,
)
from odradek.broker.coordinator.group.kinds import GroupChanged
from odradek.broker.coordinator.group.settings import GroupSettings
from odradek.broker.runtime.machine import Answer, Cancel, Effect, NewRecord, Pause, Schedule
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.join_group import JoinGroupResponse
from odradek.protocol.messages.sync_group import SyncGroupResponse

PENDING_JOIN_MS = 50
"""How long the first rebalance of a group waits, after its delay, for members that were told their ids (KIP-394)."""
_MEMBERS_PER_PAUSE_MS = 20
_LONGEST_PAUSE_MS = 20


class Step:
    """What one command has caused so far."""

    __slots__ = ("effects", "now_ms", "records")

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.records: list[NewRecord] = []
        self.effects: list[Effect] = []


def join_error(member_id: str, error: ErrorCode) -> JoinGroupResponse:
    """The answer to a refused JoinGroup."""
    return JoinGroupResponse(error_code=error, generation_id=-1, member_id=member_id, protocol_name=None)


def sync_error(error: ErrorCode) -> SyncGroupResponse:
    """The answer to a refused SyncGroup."""
    return SyncGroupResponse(error_code=error)


class Rebalance:
    """Moves groups through their rebalances. Stateless: the group and the step are given to every method."""

    def __init__(self, settings: GroupSettings) -> None:
        self.settings = settings

    # -- sessions

    def expect_heartbeat(self, member: Member, step: Step, timeout_ms: int | None = None) -> None:
        """The member's session starts anew."""
        after_ms = member.session_timeout_ms if timeout_ms is None else timeout_ms
        step.effects.append(Schedule(member.session_key, after_ms, member.expiry))

    # -- gathering

    def begin_or_go_on(self, group: ClassicGroup, step: Step) -> None:
        """The group's membership has changed: begin a rebalance, or see whether that ends the join phase."""
        if group.state in CAN_REBALANCE:
            self.begin(group, step)
        else:
            self.maybe_complete_join(group, step)

    def begin(self, group: ClassicGroup, step: Step) -> None:
        """All members have to join again. The first rebalance of an empty group waits for more members (KIP-134)."""
        initial = group.state is EMPTY
        if group.state is COMPLETING_REBALANCE:
            self.fail_assignment(group, ErrorCode.REBALANCE_IN_PROGRESS, step)
        step.effects.append(Cancel(("sync", group.group_id)))
        group.transition_to(PREPARING_REBALANCE, step.now_ms)
        group.delay_over = False
        step.effects.append(GroupChanged(group.group_id))
        if initial:
            delay_ms = self.settings.initial_rebalance_delay_ms
            self._wait_for_more(group, delay_ms, max(group.rebalance_timeout_ms - delay_ms, 0), step)
        else:
            self._schedule_complete_join(group, step)
            self.maybe_complete_join(group, step)

    def _wait_for_more(self, group: ClassicGroup, delay_ms: int, remaining_ms: int, step: Step) -> None:
        command = ExtendJoin(group.group_id, delay_ms, remaining_ms)
        step.effects.append(Schedule(("join", group.group_id), delay_ms, command))

    def extend_join(self, group: ClassicGroup, delay_ms: int, remaining_ms: int, step: Step) -> None:
        """The initial delay is over; another one follows if somebody has come and the rebalance timeout allows it.

        Members that have just been told their ids get a moment to come back with them.
        """
        if group.new_member_added and remaining_ms:
            group.new_member_added = False
            delay = min(self.settings.initial_rebalance_delay_ms, remaining_ms)
            self._wait_for_more(group, delay, max(remaining_ms - delay_ms, 0), step)
        elif group.pending_join or _pause_ms(group):
            group.delay_over = True
            step.effects.append(Pause(("join", group.group_id), PENDING_JOIN_MS, CompleteJoin(group.group_id)))
            self.maybe_complete_join(group, step)
        else:
            self.complete_join(group, step)

    def _schedule_complete_join(self, group: ClassicGroup, step: Step) -> None:
        command = CompleteJoin(group.group_id)
        step.effects.append(Schedule(("join", group.group_id), group.rebalance_timeout_ms, command))

    def maybe_complete_join(self, group: ClassicGroup, step: Step) -> None:
        """End the join phase if nobody is missing. An initial rebalance always waits its delay.

        It ends when the broker has seen to the requests that have arrived by now, in large groups when no more members
        came for a few milliseconds: of members that start together the first ones would otherwise always cause one
        rebalance more, which costs the more, the more members there are.
        """
        waits = group.previous_state is EMPTY and not group.delay_over
        if group.state is PREPARING_REBALANCE and not waits and group.all_joined:
            if not group.members:
                self.complete_join(group, step)
            else:
                command = CompleteJoinIfAll(group.group_id)
                step.effects.append(Pause(("joined", group.group_id), _pause_ms(group), command))

    def complete_join(self, group: ClassicGroup, step: Step) -> None:
        """End the join phase: members that have not joined are out, except static ones while their session lasts."""
        step.effects += (Cancel(("join", group.group_id)), Cancel(("joined", group.group_id)))
        late = [m for m in group.members.values() if m.join_ticket is None and m.instance_id is None]
        for member in late:
            group.remove(member.member_id)
            step.effects.append(Cancel(member.session_key))
        if group.members and not group.elect_joined_leader():
            self._schedule_complete_join(group, step)
            return
        group.next_generation(step.now_ms, COMPLETING_REBALANCE if group.members else EMPTY)
        step.effects.append(GroupChanged(group.group_id))
        if not group.members:
            step.records.append((encode_group_key(group.group_id), encode_group_value(group.to_stored())))
            return
        for member in group.members.values():
            self.answer_join(group, member, group.join_response(member.member_id), step)
            self.expect_heartbeat(member, step)
            member.is_new = False
            group.pending_sync.add(member.member_id)
        command = ExpireSync(group.group_id, group.generation)
        step.effects.append(Schedule(("sync", group.group_id), group.rebalance_timeout_ms, command))

    def answer_join(self, group: ClassicGroup, member: Member, response: JoinGroupResponse, step: Step) -> None:
        """Answer the member's JoinGroup if it waits."""
        ticket = group.stop_awaiting_join(member)
        if ticket is not None:
            step.effects.append(Answer(ticket, response))

    # -- handing out

    def hand_out(self, group: ClassicGroup, assignments: dict[str, bytes], step: Step) -> None:
        """The assignment is stored: the group is stable, and members that wait get their part."""
        for member in group.members.values():
            member.assignment = assignments.get(member.member_id, b"")
        group.transition_to(STABLE, step.now_ms)
        step.effects.append(GroupChanged(group.group_id))
        for member in group.members.values():
            self.answer_sync(member, self.assignment_of(group, member), step)

    def assignment_of(self, group: ClassicGroup, member: Member) -> SyncGroupResponse:
        """What a member gets from SyncGroup."""
        return SyncGroupResponse(
            protocol_type=group.protocol_type, protocol_name=group.protocol, assignment=member.assignment
        )

    def fail_assignment(self, group: ClassicGroup, error: ErrorCode, step: Step) -> None:
        """There is no assignment for this generation: members that wait for theirs get an error."""
        for member in group.members.values():
            member.assignment = b""
            self.answer_sync(member, sync_error(error), step)

    def answer_sync(self, member: Member, response: SyncGroupResponse, step: Step) -> None:
        """Answer the member's SyncGroup if it waits; its session, which did not run meanwhile, starts anew."""
        if member.sync_ticket is None:
            return
        step.effects.append(Answer(member.sync_ticket, response))
        member.sync_ticket = None
        self.expect_heartbeat(member, step)

    def has_synced(self, group: ClassicGroup, member_id: str, step: Step) -> None:
        """A member has sent its SyncGroup; the last one ends the time to sync."""
        group.pending_sync.discard(member_id)
        if not group.pending_sync:
            step.effects.append(Cancel(("sync", group.group_id)))

    # -- leaving

    def drop_member(self, group: ClassicGroup, member: Member, step: Step) -> None:
        """Take a member out; what it waits for is answered with UNKNOWN_MEMBER_ID."""
        step.effects.append(Cancel(member.session_key))
        self.answer_join(group, member, join_error("", ErrorCode.UNKNOWN_MEMBER_ID), step)
        if member.sync_ticket is not None:
            step.effects.append(Answer(member.sync_ticket, sync_error(ErrorCode.UNKNOWN_MEMBER_ID)))
            member.sync_ticket = None
        group.remove(member.member_id)

    def drop_pending(self, group: ClassicGroup, member_id: str, step: Step) -> None:
        """Forget a member id that was given out."""
        step.effects.append(Cancel(session_key(group.group_id, member_id)))
        group.remove(member_id)


def _pause_ms(group: ClassicGroup) -> int:
    """How long a join phase goes on after the last member that has come; 0 in a small group."""
    return min(len(group.members) // _MEMBERS_PER_PAUSE_MS, _LONGEST_PAUSE_MS)
