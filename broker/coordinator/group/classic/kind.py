"""The classic protocol's requests: who may join and is answered at once, SyncGroup, Heartbeat, LeaveGroup, timers.

Groups of offsets alone ("simple" groups) are of this kind too. The course of a rebalance is in `rebalance`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, ClassVar

from odradek.broker.coordinator.group.classic.group import (
    ClassicGroup,
    EndJoinPhase,
    ExpireSync,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    Member,
    SyncGroup,
    decode_group_key,
    decode_group_value,
    group_record,
    join_refused,
    session_key,
    sync_refused,
)
from odradek.broker.coordinator.group.classic.rebalance import Changes, Rebalance
from odradek.broker.coordinator.group.classic.states import (
    COMPLETING_REBALANCE,
    EMPTY,
    PREPARING_REBALANCE,
    STABLE,
    JoinAction,
    SyncAction,
)
from odradek.broker.coordinator.group.groups import FenceMember, GroupChanged, GroupType, KindContext, MetadataChanged
from odradek.broker.coordinator.group.offsets import StoredOffsets
from odradek.broker.runtime.machine import (
    Answer,
    Cancel,
    Command,
    Effect,
    LogRecord,
    Outcome,
    Schedule,
    coordinator_error,
    make_outcome,
)
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.heartbeat import HeartbeatResponse
from odradek.protocol.generated.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from odradek.protocol.generated.messages.leave_group import LeaveGroupResponse
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from odradek.protocol.generated.stored.group_metadata import GroupMetadataValue

_log = logging.getLogger("odradek.broker.coordinator.group")

KNOWN_MEMBER_ID_FROM = 4
"""The JoinGroup versions in which a new dynamic member gets its id before it can join (KIP-394)."""
SKIP_ASSIGNMENT_FROM = 9
"""JoinGroup versions from which a static leader that comes back keeps the lead, without assigning again (KIP-814)."""

_UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID
_GIVE_WAY = frozenset({GroupType.CONSUMER, GroupType.STREAMS})
"""The kinds whose empty groups become classic ones when a classic member joins."""


class ClassicKind:
    """See `GroupKind` and `groups.GroupMetadataValues`.

    `stored` has the last generation of each group as the log has it. A group is taken up from there, or from the
    offsets that name it, when something is first asked of it; from then on it takes each further record itself.
    """

    group_type: ClassVar[GroupType] = GroupType.CLASSIC

    def __init__(self, context: KindContext, offsets: StoredOffsets) -> None:
        self.stored: dict[str, GroupMetadataValue] = {}
        self._offsets = offsets
        self._groups = context.groups
        self._settings = context.settings
        self._new_id = context.new_id
        self._rebalance = Rebalance(context.settings)
        self._tickets = count(1)
        self.decisions: Mapping[type[Command[Any]], Callable[[Any, int], Outcome[Any]]] = {
            JoinGroup: self.join,
            SyncGroup: self.sync,
            Heartbeat: self.heartbeat,
            LeaveGroup: self.leave,
            FenceMember: self.fence,
            EndJoinPhase: self.end_join_phase,
            ExpireSync: self.expire_sync,
        }

    # -- GroupKind

    def replay(self, record_type: int, record: LogRecord) -> None:
        group_id = decode_group_key(record.key)
        live = self._groups.find_live(group_id, ClassicGroup)
        if record.value is None:
            self.stored.pop(group_id, None)
            if live is not None:
                live.end()
                self._groups.remove(group_id, ClassicGroup)
            return
        stored = self.stored[group_id] = record.decoded or decode_group_value(record.value)
        if live is not None:
            live.take_stored(stored)
        else:
            self._groups.displace(group_id, ClassicGroup)

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """The client gets Kafka's error code. A group that has lost its last member is empty even so."""
        code = coordinator_error(error.code)
        if isinstance(command, SyncGroup):
            changes = Changes(now_ms)
            group = self._groups.find(command.group_id, ClassicGroup)
            if group is not None and group.state is COMPLETING_REBALANCE:
                self._fail_assignment(group, code, changes)
            return changes.answered(sync_refused(code))
        if isinstance(command, JoinGroup):
            return make_outcome(reply=join_refused("", code))
        return make_outcome(reply=outcome.reply, effects=outcome.effects)

    def commit_late(self, command: Command[Any], now_ms: int) -> Sequence[Effect]:
        """See `ReplicatedMachine`: members whose assignment was not committed in time have to join again."""
        if not isinstance(command, SyncGroup):
            return ()
        changes = Changes(now_ms)
        group = self._groups.find(command.group_id, ClassicGroup)
        if group is not None and group.state is STABLE and group.generation == command.request.generation_id:
            self._fail_assignment(group, ErrorCode.COORDINATOR_NOT_AVAILABLE, changes)
        return changes.effects

    def _fail_assignment(self, group: ClassicGroup, error: ErrorCode, changes: Changes) -> None:
        """Answer the waiting members with the error of an assignment that is not stored; another rebalance begins."""
        self._rebalance.fail_assignment(group, error, changes)
        self._rebalance.begin(group, changes)

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        """See `GroupKind`: members have a whole session to show that they live. A group over `group.max.size`
        rebalances.
        """
        changes = Changes(now_ms)
        for group_id, stored in self.stored.items():
            group = self._groups.find(group_id, ClassicGroup) if stored.members else None
            if group is not None:
                for member in group.members.values():
                    self._rebalance.expect_heartbeat(member, changes)
                if len(group.members) > self._settings.max_size:
                    self._rebalance.begin(group, changes)
                changes.effects.append(GroupChanged(group_id))
        return changes.effects

    def on_metadata_changed(self, change: MetadataChanged, now_ms: int) -> Sequence[Effect]:
        """See `GroupKind`: the members look at topics themselves."""
        return ()

    def snapshot(self) -> dict[str, GroupMetadataValue]:
        return self.stored

    def restore(self, snapshot: dict[str, GroupMetadataValue]) -> None:
        """See `GroupKind`: the tickets of members that wait must not be given again."""
        self.stored = snapshot
        groups = (group for group in self._groups.live().values() if isinstance(group, ClassicGroup))
        members = [member for group in groups for member in group.members.values()]
        used = max((m.join_ticket or m.sync_ticket or 0 for m in members), default=0)
        self._tickets = count(used + 1)

    # -- GroupMetadataValues

    def load(self, group_id: str) -> ClassicGroup | None:
        stored = self.stored.get(group_id)
        if stored is not None:
            return ClassicGroup.from_stored(group_id, stored)
        if group_id in self._offsets.offsets or self._offsets.has_pending(group_id):
            return ClassicGroup(group_id, -1)
        return None

    def ids(self) -> Iterable[str]:
        return (*self.stored, *self._offsets.group_ids())

    # -- JoinGroup

    def join(self, command: JoinGroup, now_ms: int) -> Outcome[JoinGroupResponse]:
        """A member joins. The group is created for an unknown member, and stored at once, even if joining fails.

        Only a static member that takes its place waits until others have the record.
        """
        request = command.request
        timeout = request.session_timeout_ms
        if not self._settings.min_session_timeout_ms <= timeout <= self._settings.max_session_timeout_ms:
            return make_outcome(reply=join_refused(request.member_id, ErrorCode.INVALID_SESSION_TIMEOUT), waits=False)
        changes = Changes(now_ms)
        changes.waits = False
        present = self._groups.get(command.group_id)
        if isinstance(present, ClassicGroup):
            return self._join_group(present, command, changes)
        if present is not None and not (present.is_empty and present.group_type in _GIVE_WAY):
            return make_outcome(reply=join_refused("", ErrorCode.INCONSISTENT_GROUP_PROTOCOL), waits=False)
        if request.member_id:
            return make_outcome(reply=join_refused(request.member_id, _UNKNOWN), waits=False)
        if present is not None:
            changes.records += present.tombstones()
            changes.effects += present.on_removed()
        return self._join_group(self._new_group(command.group_id, changes), command, changes)

    def _new_group(self, group_id: str, changes: Changes) -> ClassicGroup:
        """A group that exists as soon as its record is written."""
        group = ClassicGroup(group_id, changes.now_ms)

        def take_in() -> Sequence[Effect]:
            self._groups.put(group)
            return ()

        changes.records.append(group_record(group_id, group.to_stored()))
        changes.then = take_in
        return group

    def _join_group(self, group: ClassicGroup, command: JoinGroup, changes: Changes) -> Outcome[JoinGroupResponse]:
        request = command.request
        member_id = request.member_id
        if not self._has_room(group, member_id):
            return self._refuse_for_size(group, member_id, changes)
        if not group.supports(request.protocol_type, command.protocols):
            return changes.answered(join_refused(member_id, ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
        if not member_id:
            return self._join_new(group, command, changes)
        if member_id in group.pending_join:
            if request.group_instance_id is not None:  # Kafka stumbles over it
                return changes.answered(join_refused("", ErrorCode.UNKNOWN_SERVER_ERROR))
            return self._add(group, command, member_id, changes)
        try:
            member = group.validate_member(member_id, request.group_instance_id)
        except KafkaError as error:
            return changes.answered(join_refused(member_id, error.code))
        return self._join_again(group, member, command, changes)

    def _has_room(self, group: ClassicGroup, member_id: str) -> bool:
        """Whether `group.max.size` lets a member join.

        A member that waits already, or has completed a join phase, may always join.
        """
        limit = self._settings.max_size
        member = group.members.get(member_id)
        if group.state is EMPTY:
            return True
        if group.state is PREPARING_REBALANCE:
            return (member is not None and member.join_ticket is not None) or group.awaiting_join < limit
        return member is not None or len(group.members) < limit

    def _refuse_for_size(self, group: ClassicGroup, member_id: str, changes: Changes) -> Outcome[JoinGroupResponse]:
        member = group.members.get(member_id)
        if member is not None:
            self._rebalance.drop_member(group, member, changes)
        else:
            self._rebalance.drop_pending(group, member_id, changes)
        self._rebalance.look(group, changes)
        return changes.answered(join_refused("", ErrorCode.GROUP_MAX_SIZE_REACHED))

    # -- members without an id

    def _join_new(self, group: ClassicGroup, command: JoinGroup, changes: Changes) -> Outcome[JoinGroupResponse]:
        request = command.request
        if request.group_instance_id is not None:
            member_id = f"{request.group_instance_id}-{self._new_id()}"
            old = group.members.get(group.static_members.get(request.group_instance_id, ""))
            if old is not None:
                return self._return(group, old, member_id, command, changes)
            return self._add(group, command, member_id, changes)
        member_id = f"{command.sender.client_id}-{self._new_id()}"
        if command.sender.api_version < KNOWN_MEMBER_ID_FROM:
            return self._add(group, command, member_id, changes)
        group.pending_join[member_id] = None
        expiry = FenceMember(group.group_id, member_id)
        changes.effects.append(Schedule(session_key(group.group_id, member_id), request.session_timeout_ms, expiry))
        return changes.answered(join_refused(member_id, ErrorCode.MEMBER_ID_REQUIRED))

    def _add(
        self, group: ClassicGroup, command: JoinGroup, member_id: str, changes: Changes
    ) -> Outcome[JoinGroupResponse]:
        request = command.request
        member = Member(
            group.group_id,
            member_id,
            request.group_instance_id,
            command.sender.client_id,
            command.sender.host,
            command.rebalance_timeout_ms,
            request.session_timeout_ms,
            command.protocols,
        )
        member.is_new = True
        ticket = member.join_ticket = next(self._tickets)
        if group.join_phase is not None:
            group.join_phase.somebody_came = True
        if not group.members:
            group.protocol_type = request.protocol_type
        group.add(member)
        _log.info("group %s: member %s joins from %s", group.group_id, member_id, command.sender.host)
        self._rebalance.expect_heartbeat(member, changes, self._settings.new_member_join_timeout_ms)
        self._await_join_phase(group.rules.join.new, group, changes)
        return changes.parked(ticket)

    # -- members with an id

    def _join_again(
        self, group: ClassicGroup, member: Member, command: JoinGroup, changes: Changes
    ) -> Outcome[JoinGroupResponse]:
        unchanged = member.protocols == command.protocols
        action = group.rules.join.of_member(leads=group.leader == member.member_id, unchanged=unchanged)
        if action is JoinAction.UNKNOWN:
            return changes.answered(join_refused(member.member_id, _UNKNOWN))
        if action is JoinAction.TELL_AGAIN:
            return changes.answered(group.join_response(member.member_id))
        group.update(member, command.protocols, command.request.session_timeout_ms, command.rebalance_timeout_ms)
        ticket = next(self._tickets)
        before = group.await_join(member, ticket)
        if before is not None:
            changes.effects.append(Answer(before, join_refused(member.member_id, ErrorCode.REBALANCE_IN_PROGRESS)))
        self._await_join_phase(action, group, changes)
        return changes.parked(ticket)

    def _await_join_phase(self, action: JoinAction, group: ClassicGroup, changes: Changes) -> None:
        """Let the member wait for the end of the join phase, and begin one unless it is under way."""
        if action is JoinAction.JOIN:
            self._rebalance.begin(group, changes)
        else:
            assert action is JoinAction.JOIN_PHASE
            self._rebalance.look(group, changes)

    # -- static members that have lost their id

    def _return(
        self, group: ClassicGroup, old: Member, member_id: str, command: JoinGroup, changes: Changes
    ) -> Outcome[JoinGroupResponse]:
        """A static member has rejoined without its member id (KIP-345): the new id replaces the old one.

        In a stable group whose protocol stays the same, other members notice nothing: only the generation's record
        changes.
        """
        action = group.rules.join.returning
        if action is JoinAction.TAKE_PLACE:
            if group.select_protocol(old, command.protocols) == group.protocol:
                return self._take_place(group, old, member_id, command, changes)
            action = JoinAction.JOIN
        member = self._swap(group, old, member_id, command, changes)
        ticket = next(self._tickets)
        group.await_join(member, ticket)
        self._await_join_phase(action, group, changes)
        return changes.parked(ticket)

    def _take_place(
        self, group: ClassicGroup, old: Member, member_id: str, command: JoinGroup, changes: Changes
    ) -> Outcome[JoinGroupResponse]:
        leads = group.leader == old.member_id
        stored = _with_replaced(group, old, member_id, command)
        response = group.join_response(member_id)
        if command.sender.api_version >= SKIP_ASSIGNMENT_FROM:
            response.leader = stored.leader or ""
            response.skip_assignment = leads
            if leads:
                response.members = [
                    JoinGroupResponseMember(m.member_id, m.group_instance_id, m.subscription) for m in stored.members
                ]

        def replace() -> Sequence[Effect]:
            after = Changes(changes.now_ms)
            self._swap(group, old, member_id, command, after)
            return after.effects

        changes.records.append(group_record(group.group_id, stored))
        changes.then = replace
        changes.waits = True
        return changes.answered(response)

    def _swap(self, group: ClassicGroup, old: Member, member_id: str, command: JoinGroup, changes: Changes) -> Member:
        new = group.replace_static(old, member_id)
        changes.effects.append(Cancel(old.session_key))
        if old.join_ticket is not None:
            changes.effects.append(Answer(old.join_ticket, join_refused(old.member_id, ErrorCode.FENCED_INSTANCE_ID)))
        if old.sync_ticket is not None:
            changes.effects.append(Answer(old.sync_ticket, sync_refused(ErrorCode.FENCED_INSTANCE_ID)))
        self._rebalance.expect_heartbeat(new, changes)  # as in Kafka still with the session timeout of the old one
        group.update(new, command.protocols, command.request.session_timeout_ms, command.rebalance_timeout_ms)
        group.note_subscriptions()
        return new

    # -- SyncGroup

    def sync(self, command: SyncGroup, now_ms: int) -> Outcome[SyncGroupResponse]:
        """Give a member its assignment. The leader brings all of them; they are stored before any member gets one."""
        request = command.request
        group = self._groups.find(command.group_id, ClassicGroup)
        try:
            if group is None:
                raise KafkaError(_UNKNOWN)
            member, action = _syncing(group, request)
        except KafkaError as error:
            return make_outcome(reply=sync_refused(error.code), waits=False)
        changes = Changes(now_ms)
        self._rebalance.has_synced(group, member.member_id, changes)
        if action is SyncAction.GIVE:
            return changes.answered(group.sync_response(member.assignment))
        if action is SyncAction.STORE:
            return self._store_assignment(group, member, command, changes)
        before, member.sync_ticket = member.sync_ticket, next(self._tickets)
        if before is not None:
            changes.effects.append(Answer(before, sync_refused(ErrorCode.REBALANCE_IN_PROGRESS)))
        return changes.parked(member.sync_ticket)

    def _store_assignment(
        self, group: ClassicGroup, leader: Member, command: SyncGroup, changes: Changes
    ) -> Outcome[SyncGroupResponse]:
        assignments = {row.member_id: bytes(row.assignment) for row in command.request.assignments}
        stored = group.to_stored()
        for member in stored.members:
            member.assignment = assignments.get(member.member_id, b"")
        changes.records.append(group_record(group.group_id, stored))

        def hand_out() -> Sequence[Effect]:
            after = Changes(changes.now_ms)
            self._rebalance.hand_out(group, after)
            _log.info("group %s: generation %d is stable", group.group_id, group.generation)
            self._rebalance.expect_heartbeat(leader, after)
            return after.effects

        changes.then = hand_out
        own = assignments.get(leader.member_id, b"")
        return changes.answered(group.sync_response(own))

    # -- Heartbeat, LeaveGroup

    def heartbeat(self, command: Heartbeat, now_ms: int) -> Outcome[HeartbeatResponse]:
        """Restart the member's session timer."""
        request = command.request
        group = self._groups.find(command.group_id, ClassicGroup)
        if group is None:
            raise KafkaError(_UNKNOWN)
        member = group.validate_member(request.member_id, request.group_instance_id)
        if request.generation_id != group.generation:
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
        return make_outcome(
            reply=HeartbeatResponse(error_code=group.rules.heartbeat),
            effects=(Schedule(member.session_key, member.session_timeout_ms, member.expiry),),
        )

    def leave(self, command: LeaveGroup, now_ms: int) -> Outcome[LeaveGroupResponse]:
        """Members leave by member id, or are removed by instance id (KIP-345)."""
        group = self._groups.find(command.group_id, ClassicGroup)
        if group is None:
            return make_outcome(reply=command.response([_UNKNOWN] * len(command.members)))
        changes = Changes(now_ms)
        codes = [self._leave_one(group, m.member_id, m.group_instance_id, changes) for m in command.members]
        if ErrorCode.NONE in codes:
            self._rebalance.after_departure(group, changes)
        return changes.answered(command.response(codes))

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

    def fence(self, command: FenceMember, now_ms: int) -> Outcome[None]:
        """Remove a member whose session is over, unless it waits for the others."""
        group = self._groups.find(command.group_id, ClassicGroup)
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
        """The time to join is over, or the pause after the last member that has come."""
        group = self._groups.find(command.group_id, ClassicGroup)
        changes = Changes(now_ms)
        if group is not None:
            end = self._rebalance.pause_over if command.if_all else self._rebalance.time_over
            end(group, changes)
        return changes.answered(None)

    def expire_sync(self, command: ExpireSync, now_ms: int) -> Outcome[None]:
        """Remove members that have not synced in time."""
        group = self._groups.find(command.group_id, ClassicGroup)
        changes = Changes(now_ms)
        if group is None or group.generation != command.generation_id or not group.pending_sync:
            return make_outcome()
        for member_id in sorted(group.pending_sync):
            member = group.members.get(member_id)
            if member is not None:
                self._rebalance.drop_member(group, member, changes)
        self._rebalance.after_departure(group, changes)
        return changes.answered(None)


def _with_replaced(group: ClassicGroup, old: Member, member_id: str, command: JoinGroup) -> GroupMetadataValue:
    """The present generation as stored, with a static member under its new id."""
    stored = group.to_stored()
    if stored.leader == old.member_id:
        stored.leader = member_id
    for member in stored.members:
        if member.member_id == old.member_id:
            member.member_id = member_id
            member.subscription = dict(reversed(command.protocols))[group.protocol or ""]
            member.rebalance_timeout = command.rebalance_timeout_ms
            member.session_timeout = command.request.session_timeout_ms
    return stored


def _syncing(group: ClassicGroup, request: SyncGroupRequest) -> tuple[Member, SyncAction]:
    """The member that syncs, and what it gets."""
    member = group.validate_member(request.member_id, request.group_instance_id)
    if request.generation_id != group.generation:
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION)
    if _differs(request.protocol_type, group.protocol_type) or _differs(request.protocol_name, group.protocol):
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    action = group.rules.sync_leader if group.leader == member.member_id else group.rules.sync_follower
    if action is SyncAction.UNKNOWN:
        raise KafkaError(_UNKNOWN)
    if action is SyncAction.REJOIN:
        raise KafkaError(ErrorCode.REBALANCE_IN_PROGRESS)
    return member, action


def _differs(asked: str | None, actual: str | None) -> bool:
    return asked is not None and actual is not None and asked != actual
