"""JoinGroup: which members may join, and which are answered at once. The rest of the rebalance is in `rebalance`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from itertools import count

from odradek.broker.coordinator.group.classic.classic_group import ClassicGroup
from odradek.broker.coordinator.group.classic.commands import (
    ExpireMember,
    JoinedMember,
    JoinGroup,
    JoinReply,
    join_refused,
    sync_refused,
)
from odradek.broker.coordinator.group.classic.rebalance import Changes, Rebalance
from odradek.broker.coordinator.group.classic.records import StoredGroup, group_record
from odradek.broker.coordinator.group.classic.roster import Member, session_key
from odradek.broker.coordinator.group.classic.states import EMPTY, PREPARING_REBALANCE, JoinAction
from odradek.broker.coordinator.group.commands import GroupType
from odradek.broker.coordinator.group.groups import Groups
from odradek.broker.runtime.machine import Answer, Cancel, Effect, Outcome, Schedule, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError

_log = logging.getLogger("odradek.broker.coordinator.group")

KNOWN_MEMBER_ID_FROM = 4
"""The JoinGroup versions in which a new dynamic member gets its id before it can join (KIP-394)."""
SKIP_ASSIGNMENT_FROM = 9
"""JoinGroup versions from which a static leader that comes back keeps the lead, without assigning again (KIP-814)."""

_UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID
_GIVE_WAY = frozenset({GroupType.CONSUMER, GroupType.STREAMS})
"""The kinds whose empty groups become classic ones when a classic member joins."""


class Joining:
    """Decides on JoinGroup. Owner: the classic kind. `new_id` makes the random part of member ids."""

    def __init__(self, rebalance: Rebalance, groups: Groups, new_id: Callable[[], str]) -> None:
        self._rebalance = rebalance
        self._settings = rebalance.settings
        self._groups = groups
        self._new_id = new_id
        self._tickets = count(1)

    def next_ticket(self) -> int:
        """A ticket that this machine has not given yet."""
        return next(self._tickets)

    def tickets_after(self, used: int) -> None:
        """Tickets up to this one have been given."""
        self._tickets = count(used + 1)

    def join(self, command: JoinGroup, now_ms: int) -> Outcome[JoinReply]:
        """A member joins. The group is created for an unknown member, and stored at once, even if joining fails.

        Only a static member that takes its place waits until others have the record.
        """
        timeout = command.session_timeout_ms
        if not self._settings.min_session_timeout_ms <= timeout <= self._settings.max_session_timeout_ms:
            return make_outcome(reply=join_refused(command.member_id, ErrorCode.INVALID_SESSION_TIMEOUT), waits=False)
        changes = Changes(now_ms)
        changes.waits = False
        present = self._groups.get(command.group_id)
        if isinstance(present, ClassicGroup):
            return self._join_group(present, command, changes)
        if present is not None and not (present.is_empty and present.group_type in _GIVE_WAY):
            return make_outcome(reply=join_refused("", ErrorCode.INCONSISTENT_GROUP_PROTOCOL), waits=False)
        if command.member_id:
            return make_outcome(reply=join_refused(command.member_id, _UNKNOWN), waits=False)
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

    def _join_group(self, group: ClassicGroup, command: JoinGroup, changes: Changes) -> Outcome[JoinReply]:
        member_id = command.member_id
        if not self._has_room(group, member_id):
            return self._refuse_for_size(group, member_id, changes)
        if not group.supports(command.protocol_type, command.protocols):
            return changes.answered(join_refused(member_id, ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
        if not member_id:
            return self._join_new(group, command, changes)
        if member_id in group.pending_join and command.instance_id is None:
            return self._add(group, command, member_id, changes)
        try:
            member = group.validate_member(member_id, command.instance_id)
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

    def _refuse_for_size(self, group: ClassicGroup, member_id: str, changes: Changes) -> Outcome[JoinReply]:
        member = group.members.get(member_id)
        if member is not None:
            self._rebalance.drop_member(group, member, changes)
        else:
            self._rebalance.drop_pending(group, member_id, changes)
        self._rebalance.look(group, changes)
        return changes.answered(join_refused("", ErrorCode.GROUP_MAX_SIZE_REACHED))

    # -- members without an id

    def _join_new(self, group: ClassicGroup, command: JoinGroup, changes: Changes) -> Outcome[JoinReply]:
        if command.instance_id is not None:
            member_id = f"{command.instance_id}-{self._new_id()}"
            old = group.members.get(group.static_members.get(command.instance_id, ""))
            if old is not None:
                return self._return(group, old, member_id, command, changes)
            return self._add(group, command, member_id, changes)
        member_id = f"{command.client_id}-{self._new_id()}"
        if command.api_version < KNOWN_MEMBER_ID_FROM:
            return self._add(group, command, member_id, changes)
        group.pending_join[member_id] = None
        expiry = ExpireMember(group.group_id, member_id)
        changes.effects.append(Schedule(session_key(group.group_id, member_id), command.session_timeout_ms, expiry))
        return changes.answered(join_refused(member_id, ErrorCode.MEMBER_ID_REQUIRED))

    def _add(self, group: ClassicGroup, command: JoinGroup, member_id: str, changes: Changes) -> Outcome[JoinReply]:
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
        ticket = member.join_ticket = self.next_ticket()
        if group.join_phase is not None:
            group.join_phase.somebody_came = True
        if not group.members:
            group.protocol_type = command.protocol_type
        group.add(member)
        _log.info("group %s: member %s joins from %s", group.group_id, member_id, command.host)
        self._rebalance.expect_heartbeat(member, changes, self._settings.new_member_join_timeout_ms)
        self._carry_out(group.rules.join.new, group, changes)
        return changes.parked(ticket)

    # -- members with an id

    def _join_again(
        self, group: ClassicGroup, member: Member, command: JoinGroup, changes: Changes
    ) -> Outcome[JoinReply]:
        unchanged = member.protocols == command.protocols
        action = group.rules.join.of_member(leads=group.leader == member.member_id, unchanged=unchanged)
        if action is JoinAction.UNKNOWN:
            return changes.answered(join_refused(member.member_id, _UNKNOWN))
        if action is JoinAction.TELL_AGAIN:
            return changes.answered(group.join_reply(member.member_id))
        group.update(member, command.protocols, command.session_timeout_ms, command.rebalance_timeout_ms)
        ticket = self.next_ticket()
        before = group.await_join(member, ticket)
        if before is not None:
            changes.effects.append(Answer(before, join_refused(member.member_id, ErrorCode.REBALANCE_IN_PROGRESS)))
        self._carry_out(action, group, changes)
        return changes.parked(ticket)

    def _carry_out(self, action: JoinAction, group: ClassicGroup, changes: Changes) -> None:
        """Let the member wait for the end of the join phase, and begin one unless it is under way."""
        if action is JoinAction.JOIN:
            self._rebalance.begin(group, changes)
        else:
            assert action is JoinAction.JOIN_PHASE
            self._rebalance.look(group, changes)

    # -- static members that have lost their id

    def _return(
        self, group: ClassicGroup, old: Member, member_id: str, command: JoinGroup, changes: Changes
    ) -> Outcome[JoinReply]:
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
        self._rebalance.expect_heartbeat(member, changes)
        ticket = self.next_ticket()
        group.await_join(member, ticket)
        self._carry_out(action, group, changes)
        return changes.parked(ticket)

    def _take_place(
        self, group: ClassicGroup, old: Member, member_id: str, command: JoinGroup, changes: Changes
    ) -> Outcome[JoinReply]:
        leads = group.leader == old.member_id
        stored = _with_replaced(group, old, member_id, command)
        reply = JoinReply(
            ErrorCode.NONE, member_id, group.generation, group.protocol_type, group.protocol, group.leader or ""
        )
        if command.api_version >= SKIP_ASSIGNMENT_FROM:
            reply = reply._replace(leader=stored.leader or "", skip_assignment=leads)
            if leads:
                members = tuple(JoinedMember(m.member_id, m.instance_id, m.subscription) for m in stored.members)
                reply = reply._replace(members=members)

        def replace() -> Sequence[Effect]:
            after = Changes(changes.now_ms)
            member = self._swap(group, old, member_id, command, after)
            self._rebalance.expect_heartbeat(member, after)
            return after.effects

        changes.records.append(group_record(group.group_id, stored))
        changes.then = replace
        changes.waits = True
        return changes.answered(reply)

    def _swap(self, group: ClassicGroup, old: Member, member_id: str, command: JoinGroup, changes: Changes) -> Member:
        new = group.replace_static(old, member_id)
        changes.effects.append(Cancel(old.session_key))
        if old.join_ticket is not None:
            changes.effects.append(Answer(old.join_ticket, join_refused(old.member_id, ErrorCode.FENCED_INSTANCE_ID)))
        if old.sync_ticket is not None:
            changes.effects.append(Answer(old.sync_ticket, sync_refused(ErrorCode.FENCED_INSTANCE_ID)))
        group.update(new, command.protocols, command.session_timeout_ms, command.rebalance_timeout_ms)
        group.note_subscriptions()
        return new


def _with_replaced(group: ClassicGroup, old: Member, member_id: str, command: JoinGroup) -> StoredGroup:
    """The present generation as stored, with a static member under its new id."""
    stored = group.to_stored()
    metadata = dict(reversed(command.protocols))[group.protocol or ""]
    replaced = old.to_stored(group.protocol)._replace(
        member_id=member_id,
        subscription=metadata,
        rebalance_timeout_ms=command.rebalance_timeout_ms,
        session_timeout_ms=command.session_timeout_ms,
    )
    return stored._replace(
        leader=member_id if group.leader == old.member_id else group.leader,
        members=tuple(replaced if m.member_id == old.member_id else m for m in stored.members),
    )
