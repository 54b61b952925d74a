"""The machine of one partition of `__share_group_state`: the states of its share partitions.

Source: KIP-932 and the observed behaviour of Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from odradek.broker.coordinator.share_state import commands as c
from odradek.broker.coordinator.share_state.stored_states import (
    SNAPSHOT,
    UNINITIALIZED,
    UPDATE,
    ShareDelta,
    ShareState,
    StoredStates,
    combine,
    encode_key,
    encode_snapshot,
    encode_update,
)
from odradek.broker.partitions.share.states import ShareKey, StoredState
from odradek.broker.runtime.machine import Command, Effect, LogRecord, NewRecord, Outcome, Schedule, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError

PRUNE_TIMER = "prune"
IDLE_TIMER = "snapshot idle"

_WRONG_PARTITION = "The partition id cannot be a negative number."
_UNKNOWN = "This server does not host this topic-partition."
_FENCED_LEADER = "The leader epoch in the request is older than the epoch on the broker."
_WRONG_LEADER_EPOCH = "The leader epoch cannot be a negative number."
_WRONG_STATE_EPOCH = "The state epoch cannot be a negative number."


class ShareStateSettings(Protocol):
    """The configs of the share coordinator that are in force now."""

    @property
    def updates_per_snapshot(self) -> int:
        """share.coordinator.snapshot.update.records.per.snapshot"""

    @property
    def prune_interval_ms(self) -> int:
        """share.coordinator.state.topic.prune.interval.ms"""

    @property
    def write_timeout_ms(self) -> int:
        """share.coordinator.write.timeout.ms"""

    @property
    def idle_interval_ms(self) -> int:
        """share.coordinator.cold.partition.snapshot.interval.ms"""

    @property
    def refuses_negative_epochs(self) -> bool:
        """See `Release.refuses_negative_share_epochs`."""

    @property
    def reads_without_leader(self) -> bool:
        """See `Release.reads_shares_without_leader`."""

    @property
    def writes_whole_updates(self) -> bool:
        """See `Release.writes_whole_share_updates`."""

    @property
    def fenced_state(self) -> str:
        """The text of FENCED_STATE_EPOCH."""


class PruneLog(Effect):
    """Delete the records of the partition before `offset`."""

    __slots__ = ("offset",)

    def __init__(self, offset: int) -> None:
        self.offset = offset


class ShareStateMachine:
    """See `odradek.broker.runtime.machine.Machine`. It decides; `StoredStates` is what the log says.

    Everything but `_pruned_to` can be rebuilt from the log.
    """

    def __init__(self, settings: ShareStateSettings, partition_count: Callable[[bytes], int]) -> None:
        """`partition_count(topic_id)`: the topic's present number of partitions, 0 if it does not exist."""
        self._settings = settings
        self._partition_count = partition_count
        self._stored = StoredStates()
        self._pruned_to = 0
        self._decide: dict[type[Command[Any]], Callable[[Any, int], Outcome[Any]]] = {
            c.InitializeState: self._initialize,
            c.ReadState: self._read,
            c.WriteState: self._write,
            c.DeleteState: self._delete,
            c.ReadSummary: self._summary,
            c.Prune: self._prune,
            c.SnapshotIdle: self._snapshot_idle,
            c.ForgetDeletedTopics: self._forget_topics,
        }

    # -- Machine

    def decide(self, command: Command[Any], now_ms: int) -> Outcome[Any]:
        return self._decide[command.__class__](command, now_ms)

    def replay(self, record: LogRecord) -> None:
        self._stored.replay(record, self._settings.updates_per_snapshot)

    @property
    def states(self) -> Mapping[ShareKey, ShareState]:
        """The state of each share partition that is stored."""
        return self._stored.states

    def replay_marker(self, producer_id: int, producer_epoch: int, commit: bool) -> None:
        """See `Machine`: no transaction writes to this topic."""

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """See `Machine`: the caller gets the error. Pruning is tried again later."""
        return None if isinstance(command, c.ShareCommand) else make_outcome(effects=outcome.effects)

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        return self._next_prune(), self._next_idle()

    # -- ReplicatedMachine

    replays_committed = False

    def commit_timeout_ms(self, outcome: Outcome[Any]) -> int:
        return self._settings.write_timeout_ms

    def await_commit(self, records: Sequence[NewRecord]) -> None:
        """See `ReplicatedMachine`: records are replayed when they are appended."""

    def commit_settled(self, records: Sequence[NewRecord]) -> None:
        """See `ReplicatedMachine`: nothing is replayed later."""

    def commit_late(self, command: Command[Any], now_ms: int) -> Sequence[Effect]:
        return ()

    def as_committed(self, committed: ShareStateMachine) -> ShareStateMachine:
        return committed

    # -- copies

    def snapshot(self) -> object:
        return self._stored, self._pruned_to

    def restore(self, snapshot: tuple[StoredStates, int]) -> None:
        self._stored, self._pruned_to = snapshot

    # -- deciding

    def _initialize(self, command: c.InitializeState, now_ms: int) -> Outcome[None]:
        key = command.key
        self._check_partition(key)
        self._check_epoch(command.state_epoch, _WRONG_STATE_EPOCH)
        if command.state_epoch != -1 and self._stored.highest_state_epoch(key) > command.state_epoch:
            raise KafkaError(ErrorCode.FENCED_STATE_EPOCH, self._settings.fenced_state)
        self._check_topic(key)
        former = self.states.get(key)
        is_open = command.start_offset == UNINITIALIZED
        state = ShareState(
            0 if former is None else former.snapshot_epoch + 1,
            command.state_epoch,
            0,
            command.start_offset,
            UNINITIALIZED if is_open else 0,
            (),
            now_ms,
            now_ms,
        )
        return make_outcome([_snapshot(key, state)])

    def _read(self, command: c.ReadState, now_ms: int) -> Outcome[StoredState]:
        key, leader_epoch = command.key, command.leader_epoch
        self._check_partition(key)
        self._check_epoch(leader_epoch, _WRONG_LEADER_EPOCH)
        state = self.states.get(key)
        if state is None:
            why = "Read operation on uninitialized share partition not allowed."
            raise KafkaError(ErrorCode.INVALID_REQUEST, why)
        self._check_leader(key, leader_epoch, any_leader=self._settings.reads_without_leader)
        self._check_topic(key)
        reply = StoredState(state.state_epoch, state.start_offset, state.batches)
        if leader_epoch in (-1, self._stored.highest_leader_epoch(key)):
            return make_outcome(reply=reply)
        delta = ShareDelta(state.snapshot_epoch, leader_epoch, state.start_offset, state.delivery_complete_count, ())
        return make_outcome([self._record(key, state, delta, now_ms)], reply=reply)

    def _write(self, command: c.WriteState, now_ms: int) -> Outcome[None]:
        key = command.key
        self._check_partition(key)
        self._check_epoch(command.leader_epoch, _WRONG_LEADER_EPOCH)
        self._check_epoch(command.state_epoch, _WRONG_STATE_EPOCH)
        state = self.states.get(key)
        if state is None:
            why = "Write operation on uninitialized share partition not allowed."
            raise KafkaError(ErrorCode.INVALID_REQUEST, why)
        self._check_leader(key, command.leader_epoch)
        if command.state_epoch != -1 and self._stored.highest_state_epoch(key) > command.state_epoch:
            raise KafkaError(ErrorCode.FENCED_STATE_EPOCH, self._settings.fenced_state)
        self._check_topic(key)
        start_offset, complete_count = command.start_offset, command.delivery_complete_count
        if self._settings.writes_whole_updates:
            start_offset = state.start_offset if start_offset == -1 else start_offset
            complete_count = state.delivery_complete_count if complete_count == -1 else complete_count
        delta = ShareDelta(
            state.snapshot_epoch,
            state.leader_epoch,
            start_offset,
            complete_count,
            tuple(combine((), command.batches, command.start_offset)),
        )
        return make_outcome([self._record(key, state, delta, now_ms)])

    def _delete(self, command: c.DeleteState, now_ms: int) -> Outcome[None]:
        self._check_partition(command.key)
        self._check_topic(command.key)
        if command.key not in self.states:
            return make_outcome()
        return make_outcome([NewRecord(encode_key(SNAPSHOT, command.key))])

    def _summary(self, command: c.ReadSummary, now_ms: int) -> Outcome[c.StateSummary]:
        self._check_partition(command.key)
        self._check_topic(command.key)
        state = self.states.get(command.key)
        if state is None:
            return make_outcome(reply=c.StateSummary(0, 0, UNINITIALIZED, UNINITIALIZED))
        return make_outcome(
            reply=c.StateSummary(
                state.state_epoch, state.leader_epoch, state.start_offset, state.delivery_complete_count
            )
        )

    def _record(self, key: ShareKey, state: ShareState, delta: ShareDelta, now_ms: int) -> NewRecord:
        """An update, or a snapshot of everything when there have been enough updates."""
        if self._stored.updates_of(key) < self._settings.updates_per_snapshot:
            return NewRecord(encode_key(UPDATE, key), encode_update(delta), delta)
        start_offset = state.start_offset if delta.start_offset == -1 else delta.start_offset
        return _snapshot(
            key,
            ShareState(
                state.snapshot_epoch + 1,
                state.state_epoch,
                delta.leader_epoch,
                start_offset,
                delta.delivery_complete_count,
                tuple(combine(state.batches, delta.batches, start_offset)),
                now_ms,
                now_ms,
            ),
        )

    # -- from time to time

    def _prune(self, command: c.Prune, now_ms: int) -> Outcome[None]:
        """Kafka keeps everything from the oldest of the last snapshots on."""
        oldest = self._stored.oldest_snapshot
        if oldest <= self._pruned_to:
            return make_outcome(effects=[self._next_prune()])
        self._pruned_to = oldest
        return make_outcome(effects=[PruneLog(oldest), self._next_prune()])

    def _snapshot_idle(self, command: c.SnapshotIdle, now_ms: int) -> Outcome[None]:
        records: list[NewRecord] = []
        if any(state.create_ms == state.write_ms for state in self.states.values()):
            for key, state in self.states.items():
                if now_ms - state.write_ms >= self._settings.idle_interval_ms:
                    fresh = state._replace(snapshot_epoch=state.snapshot_epoch + 1, write_ms=now_ms)
                    records.append(_snapshot(key, fresh))
        return make_outcome(records, effects=[self._next_idle()], atomic=False)

    def _forget_topics(self, command: c.ForgetDeletedTopics, now_ms: int) -> Outcome[None]:
        gone = [key for key in self.states if not self._partition_count(key.topic_id)]
        return make_outcome([NewRecord(encode_key(SNAPSHOT, key)) for key in gone], atomic=False)

    def _next_prune(self) -> Effect:
        return Schedule(PRUNE_TIMER, self._settings.prune_interval_ms, c.Prune())

    def _next_idle(self) -> Effect:
        return Schedule(IDLE_TIMER, self._settings.idle_interval_ms, c.SnapshotIdle())

    # -- checking

    def _check_partition(self, key: ShareKey) -> None:
        if key.partition < 0:
            raise KafkaError(ErrorCode.INVALID_REQUEST, _WRONG_PARTITION)

    def _check_epoch(self, epoch: int, why: str) -> None:
        if epoch < 0 and self._settings.refuses_negative_epochs:
            raise KafkaError(ErrorCode.INVALID_REQUEST, why)

    def _check_leader(self, key: ShareKey, leader_epoch: int, *, any_leader: bool = True) -> None:
        if not (any_leader and leader_epoch == -1) and self._stored.highest_leader_epoch(key) > leader_epoch:
            raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH, _FENCED_LEADER)

    def _check_topic(self, key: ShareKey) -> None:
        if key.partition >= self._partition_count(key.topic_id):
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, _UNKNOWN)


def _snapshot(key: ShareKey, state: ShareState) -> NewRecord:
    return NewRecord(encode_key(SNAPSHOT, key), encode_snapshot(state), state)
