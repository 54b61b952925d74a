"""The machine of one partition of `__consumer_offsets`: its groups and their offsets.

If INFO is enabled it logs what happens to consumer, share and streams groups: it compares the group before a command
with the group after its records are stored, so a refused command is not logged. Classic groups log by themselves.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

from odradek.broker.coordinator.group import groups as c
from odradek.broker.coordinator.group.classic.group import ClassicGroup, as_known
from odradek.broker.coordinator.group.classic.kind import ClassicKind
from odradek.broker.coordinator.group.groups import (
    KIND_MODULES,
    CommittedGroups,
    Decision,
    Group,
    GroupCommand,
    GroupKind,
    Groups,
    GroupType,
    KindContext,
    commit_error,
)
from odradek.broker.coordinator.group.offsets import EXPIRY_TIMER, OFFSET_KEYS, OffsetBook, StoredOffsets
from odradek.broker.coordinator.group.records import KIND_OF_RECORD, as_stored_by, record_type_of
from odradek.broker.coordinator.group.settings import GroupConfigs, GroupSettings, fixed_configs
from odradek.broker.coordinator.group.topics import FixedTopics, TopicSource
from odradek.broker.runtime.machine import (
    Command,
    Effect,
    LogRecord,
    NewRecord,
    Outcome,
    Schedule,
    coordinator_error,
    make_outcome,
)
from odradek.protocol.errors import KafkaError
from odradek.protocol.stored import UnknownRecordTypeError
from odradek.protocol.uuids import new_uuid_text

_log = logging.getLogger("odradek.broker.coordinator.group")


def _random_id() -> str:
    return str(uuid.uuid4())


class GroupMachine:
    """See `odradek.broker.runtime.machine.Machine`.

    It owns what groups of every kind share (their ids, offsets, deletion and expiry) and routes everything else to the
    module of the group's kind: see `groups`.
    """

    def __init__(
        self,
        settings: GroupSettings | None = None,
        new_id: Callable[[], str] = _random_id,
        new_short_id: Callable[[], str] = new_uuid_text,
        *,
        configs: GroupConfigs | None = None,
        topics: TopicSource | None = None,
    ) -> None:
        self.settings = settings or GroupSettings()
        self.groups = Groups()
        self.stored = StoredOffsets()
        configs = configs or fixed_configs()
        self.offsets = OffsetBook(self.settings, self.stored, self.groups, self._simple_group, configs)
        self.context = KindContext(
            self.groups,
            self.settings,
            configs,
            topics or FixedTopics(),
            new_id,
            new_short_id,
            self.offsets.delete_group,
        )
        self._own: dict[type[Command[Any]], Decision] = {
            c.CommitOffsets: self.offsets.commit,
            c.TxnOffsetCommit: self.offsets.commit_in_transaction,
            c.DeleteOffsets: self.offsets.delete,
            c.DeleteGroup: self.offsets.delete_group,
            c.ForgetPartitions: self.offsets.forget,
            c.ExpireOffsets: self.offsets.expire,
            c.MetadataChanged: self._metadata_changed,
            c.FenceMember: _nothing,
            c.ExpireRevocation: _nothing,
        }
        self._deciding: dict[type[Command[Any]], list[GroupKind]] = {}
        self._kinds: dict[GroupType, GroupKind] = {}
        self._replays: dict[int, Callable[[LogRecord], None]] = {}
        self.classic = ClassicKind(self.context, self.stored)
        self.groups.stored = self.classic
        self._add(self.classic)

    # -- Machine

    def decide(self, command: Command[Any], now_ms: int) -> Outcome[Any]:
        kind = self._kind_for(command)
        decisions = self._own if kind is None else kind.decisions
        outcome = decisions[command.__class__](command, now_ms)
        if not outcome.records:
            return outcome
        if kind is not None and kind is not self.classic and _log.isEnabledFor(logging.INFO):
            assert isinstance(command, GroupCommand)
            follow(self.groups.get, command, outcome)
        if not (release := self.context.configs.release).stores_group_details:
            outcome.records = [as_stored_by(release, record) for record in outcome.records]
        return outcome

    def replay(self, record: LogRecord) -> None:
        if record.key.startswith(OFFSET_KEYS):
            self.stored.replay(record)
            return
        record_type = record_type_of(record.key)
        replay = self._replays.get(record_type)
        if replay is None:
            replay = self._replays[record_type] = self._find_replay(record_type)
        replay(record)

    def _find_replay(self, record_type: int) -> Callable[[LogRecord], None]:
        kind_type = KIND_OF_RECORD.get(record_type)
        if kind_type is None or kind_type not in KIND_MODULES:
            raise UnknownRecordTypeError(f"{record_type} is not a record type of the group coordinator")
        return partial(self._kind(kind_type).replay, record_type)

    def replay_marker(self, producer_id: int, producer_epoch: int, commit: bool) -> None:
        self.stored.replay_marker(producer_id, commit)

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        _log.warning("%s refused: %s", command.__class__.__name__, error)
        kind = self._kind_for(command)
        if kind is not None:
            return kind.refused(command, outcome, error, now_ms)
        if isinstance(command, c.CommitOffsets):
            raise KafkaError(commit_error(error.code)) from error
        if isinstance(command, c.DeleteGroup | c.DeleteOffsets):
            raise KafkaError(coordinator_error(error.code)) from error
        return make_outcome(reply=outcome.reply, effects=outcome.effects)

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        effects: list[Effect] = [Schedule(EXPIRY_TIMER, self.settings.offsets_check_interval_ms, c.ExpireOffsets())]
        for kind in self._kinds.values():
            effects += kind.on_loaded(now_ms)
        return effects

    # -- ReplicatedMachine

    replays_committed: ClassVar[bool] = False

    def commit_timeout_ms(self, outcome: Outcome[Any]) -> int:
        return self.settings.commit_timeout_ms

    def await_commit(self, records: Sequence[NewRecord]) -> None:
        """See `ReplicatedMachine`: records are replayed when they are appended."""

    def commit_settled(self, records: Sequence[NewRecord]) -> None:
        """See `ReplicatedMachine`: nothing is replayed later."""

    def commit_late(self, command: Command[Any], now_ms: int) -> Sequence[Effect]:
        return self.classic.commit_late(command, now_ms)

    def as_committed(self, committed: GroupMachine) -> GroupMachine:
        """See `ReplicatedMachine`. A rebalance is not in the records, so classic groups show the live one."""
        shown = copy(committed)
        shown.groups = CommittedGroups(committed.groups, self.groups, as_known)
        return shown

    # -- copies

    def snapshot(self) -> object:
        kind_snapshots = {kind_type: kind.snapshot() for kind_type, kind in self._kinds.items()}
        return self.groups.live(), self.stored.offsets, self.stored.pending, kind_snapshots

    def restore(self, snapshot: tuple[dict[str, Group], Any, Any, dict[GroupType, Any]]) -> None:
        groups, self.stored.offsets, self.stored.pending, kind_snapshots = snapshot
        self.groups.live().update(groups)
        for kind_type, kind_snapshot in kind_snapshots.items():
            self._kind(kind_type).restore(kind_snapshot)

    # -- reading

    def group(self, group_id: str) -> Group | None:
        """The group with that id; None without one."""
        return self.groups.get(group_id)

    @property
    def follows_topics(self) -> bool:
        """Whether any of its groups may depend on the cluster's topics."""
        return len(self._kinds) > 1

    # -- kinds

    def _kind(self, kind_type: GroupType) -> GroupKind:
        kind = self._kinds.get(kind_type)
        if kind is None:
            kind = import_module(KIND_MODULES[kind_type]).make(self.context)
            self._add(kind)
        return kind

    def _add(self, kind: GroupKind) -> None:
        self._kinds[kind.group_type] = kind
        for command in kind.decisions:
            self._deciding.setdefault(command, []).append(kind)

    def _kind_for(self, command: Command[Any]) -> GroupKind | None:
        """The kind that decides on a command, None for the machine itself; see `groups`."""
        kinds = self._deciding.get(command.__class__)
        if kinds is None:
            home = command.home if isinstance(command, GroupCommand) else None
            return None if home is None else self._kind(home)
        assert isinstance(command, GroupCommand)
        home = command.home
        if home is not None and len(kinds) == 1:
            return kinds[0]
        group = self.groups.get(command.group_id)
        wanted = home if group is None or (home is not None and group.is_empty) else group.group_type
        found = None
        for kind in kinds:
            if kind.group_type is wanted:
                return kind
            if kind.group_type is home:
                found = kind
        return found

    # -- inside

    def _simple_group(self, group_id: str, now_ms: int) -> None:
        self.groups.put(ClassicGroup(group_id, now_ms))

    def _metadata_changed(self, command: c.MetadataChanged, now_ms: int) -> Outcome[None]:
        effects = [e for kind in self._kinds.values() for e in kind.on_metadata_changed(command, now_ms)]
        return make_outcome(effects=effects)


def _nothing(command: c.GroupCommand, now_ms: int) -> Outcome[None]:
    """The group of a timer has gone."""
    return make_outcome()


_GONE = "Dead"


class _GroupState(NamedTuple):
    """The state of a group, for comparison."""

    kind: str
    state: str
    epoch: int
    assignment_epoch: int
    members: frozenset[str]


def follow(find: Callable[[str], Group | None], command: GroupCommand, outcome: Outcome[Any]) -> None:
    """Log the changes of a command when its records are stored. `find` returns the group of an id as it is then."""
    outcome.then = partial(_followed, find, command, _state_of(find(command.group_id)), outcome.then)


def _followed(
    find: Callable[[str], Group | None],
    command: GroupCommand,
    before: _GroupState,
    then: Callable[[], Sequence[Effect]] | None,
) -> Sequence[Effect]:
    effects = () if then is None else then()
    _log_changes(command, before, _state_of(find(command.group_id)))
    return effects


def _state_of(group: Group | None) -> _GroupState:
    if group is None:
        return _GroupState("", _GONE, 0, 0, frozenset())
    epoch, assigned = getattr(group, "epoch", 0), getattr(group, "assignment_epoch", 0)
    members = frozenset(getattr(group, "members", ()))
    return _GroupState(group.group_type.value, group.state_name, epoch, assigned, members)


def _log_changes(command: GroupCommand, before: _GroupState, after: _GroupState) -> None:
    group_id = command.group_id
    if before.kind and after.kind and before.kind != after.kind:
        _log.info("group %s: the %s group becomes a %s group", group_id, before.kind, after.kind)
    for member_id in sorted(after.members - before.members):
        _log.info("group %s: member %s joins", group_id, member_id)
    for member_id in sorted(before.members - after.members):
        _log.info("group %s: member %s %s", group_id, member_id, command.why_members_go)
    if after.epoch > before.epoch:
        _log.info("group %s: epoch %d, %d members", group_id, after.epoch, len(after.members))
    if after.assignment_epoch > before.assignment_epoch and after.assignment_epoch > 1:
        _log.info("group %s: target assignment of epoch %d", group_id, after.assignment_epoch)
    if after.state != before.state:
        _log.info("group %s: from %s to %s", group_id, before.state, after.state)
