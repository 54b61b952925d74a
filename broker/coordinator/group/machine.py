"""The machine of one partition of `__consumer_offsets`: all groups that belong to it."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from odradek.broker.coordinator.group import commands as c
from odradek.broker.coordinator.group.classic_group import ClassicGroup, session_key
from odradek.broker.coordinator.group.membership import Membership
from odradek.broker.coordinator.group.offsets import EXPIRY_TIMER, OffsetBook
from odradek.broker.coordinator.group.rebalance import GroupChanged, Rebalance, join_error
from odradek.broker.coordinator.group.settings import GroupSettings
from odradek.broker.coordinator.group.states import DEAD
from odradek.broker.coordinator.group.stored_state import StoredState
from odradek.broker.runtime.machine import Cancel, Command, Effect, LogRecord, Outcome, Schedule
from odradek.protocol.errors import ErrorCode, KafkaError

logger = logging.getLogger(__name__)

_NOT_AVAILABLE = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    }
)
_NOT_COORDINATOR = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR})
_TOO_LARGE = frozenset({ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.INVALID_FETCH_SIZE})


class GroupMachine:
    """See `odradek.broker.runtime.machine.Machine`.

    ``stored`` is the hard state, which the log can rebuild. ``groups`` is the soft state of the groups that something
    has been asked of since the load; a group that is only stored is taken up from there when it is first needed.
    """

    def __init__(
        self, settings: GroupSettings | None = None, new_id: Callable[[], str] = lambda: str(uuid.uuid4())
    ) -> None:
        self.settings = settings or GroupSettings()
        self.stored = StoredState()
        self.groups: dict[str, ClassicGroup] = {}
        self._members = Membership(Rebalance(self.settings), self.group, self._adopt, new_id)
        self.offsets = OffsetBook(self.settings, self.stored, self.group, self.group_ids, self._adopt, self._discard)
        members, offsets = self._members, self.offsets
        self._decide: dict[type[Command[Any]], Callable[[Any, int], Outcome[Any]]] = {
            c.JoinGroup: members.join,
            c.SyncGroup: members.sync,
            c.Heartbeat: members.heartbeat,
            c.LeaveGroup: members.leave,
            c.ExpireMember: members.expire_member,
            c.CompleteJoin: members.complete_join,
            c.CompleteJoinIfAll: members.complete_join_if_all,
            c.ExtendJoin: members.extend_join,
            c.ExpireSync: members.expire_sync,
            c.CommitOffsets: offsets.commit,
            c.TxnOffsetCommit: offsets.commit_in_transaction,
            c.DeleteOffsets: offsets.delete,
            c.DeleteGroup: offsets.delete_group,
            c.ForgetPartitions: offsets.forget,
            c.ExpireOffsets: offsets.expire,
        }

    # -- Machine

    def decide(self, command: Command[Any], now_ms: int) -> Outcome[Any]:
        """See `Machine`."""
        return self._decide[command.__class__](command, now_ms)

    def replay(self, record: LogRecord) -> None:
        """See `Machine`."""
        self.stored.replay(record)

    def replay_marker(self, producer_id: int, producer_epoch: int, commit: bool) -> None:
        """See `Machine`."""
        self.stored.replay_marker(producer_id, commit)

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """What clients get is Kafka's choice of error; a group that has lost its last member is empty all the same."""
        logger.warning("%s refused: %s", command.__class__.__name__, error)
        if isinstance(command, c.CommitOffsets | c.TxnOffsetCommit):
            raise KafkaError(_commit_error(error.code)) from error
        if isinstance(command, c.SyncGroup):
            return self._members.assignment_refused(command, _group_error(error.code), now_ms)
        if isinstance(command, c.JoinGroup):
            return Outcome(reply=join_error("", _group_error(error.code)))
        if isinstance(command, c.DeleteGroup | c.DeleteOffsets):
            raise KafkaError(_group_error(error.code)) from error
        return Outcome(reply=outcome.reply, effects=outcome.effects)

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        """See `Machine`: members have a whole session to show that they live."""
        effects: list[Effect] = [Schedule(EXPIRY_TIMER, self.settings.offsets_check_interval_ms, c.ExpireOffsets())]
        for group_id, stored in self.stored.groups.items():
            if stored.members:
                group = self.group(group_id)
                assert group is not None
                effects += self._members.resume(group, now_ms)
                effects.append(GroupChanged(group_id))
        return effects

    # -- reading

    def group(self, group_id: str) -> ClassicGroup | None:
        """The group of that id, None if there is none."""
        group = self.groups.get(group_id)
        if group is not None:
            return group
        stored = self.stored.groups.get(group_id)
        if stored is not None:
            group = ClassicGroup.from_stored(group_id, stored)
        elif group_id in self.stored.offsets or self.stored.has_pending(group_id):
            group = ClassicGroup(group_id, -1)
        else:
            return None
        self.groups[group_id] = group
        return group

    def group_ids(self) -> list[str]:
        """The ids of all groups."""
        return list(dict.fromkeys((*self.groups, *self.stored.group_ids())))

    # -- inside

    def _adopt(self, group: ClassicGroup) -> None:
        self.groups[group.group_id] = group

    def _discard(self, group_id: str, now_ms: int) -> Sequence[Effect]:
        group = self.groups.pop(group_id, None)
        if group is None:
            return ()
        group.transition_to(DEAD, now_ms)
        timers = [Cancel(session_key(group_id, member_id)) for member_id in group.pending_join]
        return [*timers, GroupChanged(group_id)]


def _group_error(code: ErrorCode) -> ErrorCode:
    """What a member gets when the log has refused the group's record."""
    if code in _NOT_AVAILABLE:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if code in _NOT_COORDINATOR:
        return ErrorCode.NOT_COORDINATOR
    if code in _TOO_LARGE:
        return ErrorCode.UNKNOWN_SERVER_ERROR
    return code


def _commit_error(code: ErrorCode) -> ErrorCode:
    """What a commit gets when the log has refused its records."""
    if code in _TOO_LARGE:
        return ErrorCode.INVALID_COMMIT_OFFSET_SIZE
    return _group_error(code)
