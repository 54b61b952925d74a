"""The machine of one partition of `__share_group_state`: the states of its share partitions, and their records.

Source: KIP-932 and the observed behaviour of Kafka 4.4.0.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from operator import attrgetter
from struct import Struct
from typing import Any, NamedTuple

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.coordinator.share_state import commands as c
from odradek.broker.partitions.share.states import ShareKey, StateBatch, StoredState
from odradek.broker.runtime.machine import Command, Effect, LogRecord, NewRecord, Outcome, Schedule, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError
from odradek.protocol.generated.stored import share_snapshot, share_update
from odradek.protocol.generated.stored.share_snapshot import ShareSnapshotKey, ShareSnapshotValue
from odradek.protocol.generated.stored.share_update import ShareUpdateKey, ShareUpdateValue
from odradek.protocol.message_codec import codec
from odradek.protocol.stored import UnknownRecordTypeError
from odradek.protocol.text_cache import text_cache

SNAPSHOT = b"\0\0"
UPDATE = b"\0\1"
"""The first bytes of the keys of the two record types."""

UNINITIALIZED = -1
"""The start offset of a share partition without fetches so far, and its count of completed records."""

_INT16 = Struct(">h")
_VERSION = b"\0\0"


class ShareState(NamedTuple):
    """The stored state of a share partition.

    `batches` are in order, without overlaps, none before `start_offset`. `delivery_complete_count`: how many records
    from `start_offset` on are completed. Times in milliseconds.
    """

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    batches: tuple[StateBatch, ...]
    create_ms: int
    write_ms: int


class ShareDelta(NamedTuple):
    """The content of one write. -1 as start offset or leader epoch keeps the stored one."""

    snapshot_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    batches: tuple[StateBatch, ...]


@text_cache(1 << 12)
def encode_key(kind: bytes, key: ShareKey) -> bytes:
    """The key of a snapshot or an update, behind its record type."""
    group = key.group_id.encode()
    return b"".join((kind, _INT16.pack(len(group)), group, key.topic_id, key.partition.to_bytes(4, "big", signed=True)))


@text_cache(1 << 12)
def decode_key(key: bytes) -> ShareKey:
    """The share partition that a key is about."""
    message: type[ShareSnapshotKey | ShareUpdateKey] = ShareSnapshotKey if key.startswith(SNAPSHOT) else ShareUpdateKey
    decoded = codec(message, 0).decode(key, 2)[0]
    return ShareKey(decoded.group_id, decoded.topic_id, decoded.partition)


def encode_snapshot(state: ShareState) -> bytes:
    """ShareSnapshotValue, behind its version."""
    value = ShareSnapshotValue(
        snapshot_epoch=state.snapshot_epoch,
        state_epoch=state.state_epoch,
        leader_epoch=state.leader_epoch,
        start_offset=state.start_offset,
        delivery_complete_count=state.delivery_complete_count,
        create_timestamp=state.create_ms,
        write_timestamp=state.write_ms,
        state_batches=[share_snapshot.StateBatch(*batch) for batch in state.batches],
    )
    return _VERSION + codec(ShareSnapshotValue, 0).encode(value)


def decode_snapshot(value: bytes) -> ShareState:
    """The reverse of `encode_snapshot`."""
    _check_version(value)
    decoded = codec(ShareSnapshotValue, 0).decode(value, 2)[0]
    return ShareState(
        decoded.snapshot_epoch,
        decoded.state_epoch,
        decoded.leader_epoch,
        decoded.start_offset,
        decoded.delivery_complete_count,
        _batches(decoded.state_batches),
        decoded.create_timestamp,
        decoded.write_timestamp,
    )


def encode_update(delta: ShareDelta) -> bytes:
    """ShareUpdateValue, behind its version."""
    value = ShareUpdateValue(
        snapshot_epoch=delta.snapshot_epoch,
        leader_epoch=delta.leader_epoch,
        start_offset=delta.start_offset,
        delivery_complete_count=delta.delivery_complete_count,
        state_batches=[share_update.StateBatch(*batch) for batch in delta.batches],
    )
    return _VERSION + codec(ShareUpdateValue, 0).encode(value)


def decode_update(value: bytes) -> ShareDelta:
    """The reverse of `encode_update`."""
    _check_version(value)
    decoded = codec(ShareUpdateValue, 0).decode(value, 2)[0]
    return ShareDelta(
        decoded.snapshot_epoch,
        decoded.leader_epoch,
        decoded.start_offset,
        decoded.delivery_complete_count,
        _batches(decoded.state_batches),
    )


def _batches(stored: Iterable[share_snapshot.StateBatch | share_update.StateBatch]) -> tuple[StateBatch, ...]:
    return tuple(
        StateBatch(batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count)
        for batch in stored
    )


def _check_version(value: bytes) -> None:
    if value[:2] != _VERSION:
        raise ProtocolError(f"not version 0 of a value of __share_group_state: {value[:16]!r}")


_FIRST = attrgetter("first_offset")
_LAST = attrgetter("last_offset")
_ENDS = attrgetter("first_offset", "last_offset")

_UNORDERED = (
    'Unable to write share group state: Cannot invoke "java.lang.Integer.intValue()" because the return value of '
    '"java.util.TreeMap.get(Object)" is null'
)


def combine(stored: Sequence[StateBatch], new: Iterable[StateBatch], start_offset: int) -> list[StateBatch]:
    """Merge batches, from `start_offset` on (-1: all offsets). Of several states of an offset the one with the most
    deliveries counts, then the highest.

    `stored` is in order and without overlaps, `new` need not be. Only stored batches near new ones are examined.
    A batch that ends before it begins is kept if it is the only one; among several it is an UNKNOWN_SERVER_ERROR, as in
    Kafka, if no batch of the same content lasts where it ends.
    """
    kept = list(stored[bisect_left(stored, start_offset, key=_LAST) :])
    kept[:1] = _from(kept[:1], start_offset)
    added = list(_from(new, start_offset))
    if not added or len(kept) + len(added) == 1:
        return kept + added
    low, high = 0, 1
    if len(kept) > 1:
        low = bisect_left(kept, min(map(min, map(_ENDS, added))) - 1, key=_LAST)
        high = bisect_right(kept, max(map(max, map(_ENDS, added))) + 1, key=_FIRST)
    kept[low:high] = _merged([*kept[low:high], *added])
    return kept


def _from(batches: Iterable[StateBatch], start_offset: int) -> Iterator[StateBatch]:
    for batch in batches:
        if batch.last_offset >= start_offset:
            yield batch if batch.first_offset >= start_offset else batch._replace(first_offset=start_offset)


def _merged(batches: Sequence[StateBatch]) -> list[StateBatch]:
    """Walk over the offsets at which batches begin and end, and know which of them last."""
    events: list[tuple[int, bool, tuple[int, int]]] = []
    for first, last, state, count in batches:
        events += (last + 1, False, (-count, -state)), (first, True, (-count, -state))
    events.sort()
    lasting: dict[tuple[int, int], int] = {}
    ranked: list[tuple[int, int]] = []  # a heap; what lasts no longer is dropped when it comes first
    done: list[StateBatch] = []
    since = events[0][0]
    for offset, begins, content in events:
        if lasting and since < offset:
            while ranked[0] not in lasting:
                heappop(ranked)
            count, state = ranked[0]
            piece = StateBatch(since, offset - 1, -state, -count)
            if done and done[-1].last_offset == since - 1 and done[-1][2:] == piece[2:]:
                piece = piece._replace(first_offset=done.pop().first_offset)
            done.append(piece)
        since = offset
        if begins:
            lasting[content] = lasting.get(content, 0) + 1
            heappush(ranked, content)
        elif content not in lasting:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, _UNORDERED)
        elif lasting[content] == 1:
            del lasting[content]
        else:
            lasting[content] -= 1
    return done


_NO_EPOCH = -1


class StoredStates:
    """The state of each share partition. Owner: the machine.

    The highest epochs are kept beside the states, because a state may be created again with lower ones. `_updates`: the
    number of updates since the last snapshot. `_snapshots`: the offset of the last snapshot.
    """

    def __init__(self) -> None:
        self.states: dict[ShareKey, ShareState] = {}
        self._leader_epochs: dict[ShareKey, int] = {}
        self._state_epochs: dict[ShareKey, int] = {}
        self._updates: dict[ShareKey, int] = {}
        self._snapshots: dict[ShareKey, int] = {}

    # -- reading

    def highest_leader_epoch(self, key: ShareKey) -> int:
        """The highest leader epoch stored, -1 without a state."""
        return self._leader_epochs.get(key, _NO_EPOCH)

    def highest_state_epoch(self, key: ShareKey) -> int:
        """The highest state epoch stored, -1 without a state."""
        return self._state_epochs.get(key, _NO_EPOCH)

    def updates_of(self, key: ShareKey) -> int:
        """The number of updates since the last snapshot."""
        return self._updates.get(key, 0)

    @property
    def oldest_snapshot(self) -> int:
        """The lowest offset among the last snapshots, 0 without any. Records before it are no longer needed."""
        return min(self._snapshots.values(), default=0)

    # -- changing

    def replay(self, record: LogRecord, updates_per_snapshot: int) -> None:
        """Apply a record. A snapshot restarts the count of updates."""
        key = decode_key(record.key)
        if record.key.startswith(UPDATE):
            if record.value is not None:
                self._update(key, record.decoded or decode_update(record.value))
        elif record.key.startswith(SNAPSHOT):
            self._snapshot(key, record, updates_per_snapshot)
        else:
            raise UnknownRecordTypeError(f"{record.key[:2].hex()} begins no key of the share coordinator")

    def _snapshot(self, key: ShareKey, record: LogRecord, updates_per_snapshot: int) -> None:
        if record.value is None:
            self.states.pop(key, None)
            for table in (self._leader_epochs, self._state_epochs, self._updates, self._snapshots):
                table.pop(key, None)
            return
        state: ShareState = record.decoded or decode_snapshot(record.value)
        self._note_epochs(key, state.leader_epoch, state.state_epoch)
        self.states[key] = state
        self._snapshots[key] = record.offset
        if self.updates_of(key) >= updates_per_snapshot:
            self._updates[key] = 0

    def _update(self, key: ShareKey, delta: ShareDelta) -> None:
        state = self.states.get(key)
        self._note_epochs(key, delta.leader_epoch, _NO_EPOCH)
        self._updates[key] = self.updates_of(key) + 1
        if state is None:
            # Its snapshot has been pruned away with a share partition that was deleted.
            self.states[key] = ShareState(
                delta.snapshot_epoch,
                0,
                delta.leader_epoch,
                delta.start_offset,
                delta.delivery_complete_count,
                delta.batches,
                0,
                0,
            )
            return
        self.states[key] = _updated(state, delta)

    def _note_epochs(self, key: ShareKey, leader_epoch: int, state_epoch: int) -> None:
        self._leader_epochs[key] = max(leader_epoch, self._leader_epochs.get(key, leader_epoch))
        if state_epoch >= 0:
            self._state_epochs[key] = max(state_epoch, self._state_epochs.get(key, state_epoch))


def _updated(state: ShareState, delta: ShareDelta) -> ShareState:
    start_offset = state.start_offset if delta.start_offset == -1 else delta.start_offset
    return state._replace(
        leader_epoch=state.leader_epoch if delta.leader_epoch == -1 else delta.leader_epoch,
        start_offset=start_offset,
        delivery_complete_count=delta.delivery_complete_count,
        batches=tuple(combine(state.batches, delta.batches, start_offset)),
    )


PRUNE_TIMER = "prune"
IDLE_TIMER = "snapshot idle"

_WRONG_PARTITION = "The partition id cannot be a negative number."
_UNKNOWN = "This server does not host this topic-partition."
_FENCED_LEADER = "The leader epoch in the request is older than the epoch on the broker."
_WRONG_LEADER_EPOCH = "The leader epoch cannot be a negative number."
_WRONG_STATE_EPOCH = "The state epoch cannot be a negative number."


class PruneLog(Effect):
    """Delete the records of the partition before `offset`."""

    def __init__(self, offset: int) -> None:
        self.offset = offset


class ShareStateMachine:
    """See `odradek.broker.runtime.machine.Machine`. It decides; `StoredStates` is what the log says.

    Everything but `_pruned_to` can be rebuilt from the log.
    """

    def __init__(self, config: BrokerConfig, partition_count: Callable[[bytes], int]) -> None:
        """`partition_count(topic_id)`: the topic's present number of partitions, 0 if it does not exist."""
        self._config = config
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
        self._stored.replay(record, self._updates_per_snapshot)

    @property
    def _updates_per_snapshot(self) -> int:
        return self._config.get_int("share.coordinator.snapshot.update.records.per.snapshot")

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
        return self._config.get_int("share.coordinator.write.timeout.ms")

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
        self._check_state_epoch(key, command.state_epoch)
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
        self._check_leader(key, leader_epoch, any_leader=self._config.release.reads_shares_without_leader)
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
        self._check_state_epoch(key, command.state_epoch)
        self._check_topic(key)
        start_offset, complete_count = command.start_offset, command.delivery_complete_count
        if self._config.release.writes_whole_share_updates:
            start_offset = max(state.start_offset, start_offset)
            if complete_count == -1 and start_offset == state.start_offset:
                complete_count = state.delivery_complete_count
        if any(batch.last_offset < batch.first_offset for batch in (*state.batches[:1], *command.batches)):
            combine(state.batches, command.batches, start_offset)  # refused before it is written
        delta = ShareDelta(
            state.snapshot_epoch,
            state.leader_epoch,
            start_offset,
            complete_count,
            tuple(combine((), command.batches, start_offset)),
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
        if self._stored.updates_of(key) < self._updates_per_snapshot:
            return NewRecord(encode_key(UPDATE, key), encode_update(delta), delta)
        whole = _updated(state, delta)
        return _snapshot(
            key,
            whole._replace(
                snapshot_epoch=state.snapshot_epoch + 1,
                leader_epoch=delta.leader_epoch,
                create_ms=now_ms,
                write_ms=now_ms,
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
                if now_ms - state.write_ms >= self._idle_interval_ms:
                    fresh = state._replace(snapshot_epoch=state.snapshot_epoch + 1, write_ms=now_ms)
                    records.append(_snapshot(key, fresh))
        return make_outcome(records, effects=[self._next_idle()], atomic=False)

    def _forget_topics(self, command: c.ForgetDeletedTopics, now_ms: int) -> Outcome[None]:
        gone = [key for key in self.states if not self._partition_count(key.topic_id)]
        return make_outcome([NewRecord(encode_key(SNAPSHOT, key)) for key in gone], atomic=False)

    def _next_prune(self) -> Effect:
        interval_ms = self._config.get_int("share.coordinator.state.topic.prune.interval.ms")
        return Schedule(PRUNE_TIMER, interval_ms, c.Prune())

    def _next_idle(self) -> Effect:
        return Schedule(IDLE_TIMER, self._idle_interval_ms, c.SnapshotIdle())

    @property
    def _idle_interval_ms(self) -> int:
        return self._config.get_int("share.coordinator.cold.partition.snapshot.interval.ms")

    # -- checking

    def _check_partition(self, key: ShareKey) -> None:
        if key.partition < 0:
            raise KafkaError(ErrorCode.INVALID_REQUEST, _WRONG_PARTITION)

    def _check_epoch(self, epoch: int, why: str) -> None:
        if epoch < 0 and self._config.release.refuses_negative_share_epochs:
            raise KafkaError(ErrorCode.INVALID_REQUEST, why)

    def _check_state_epoch(self, key: ShareKey, epoch: int) -> None:
        if epoch != -1 and self._stored.highest_state_epoch(key) > epoch:
            newest = "The coordinator rejected the request because the state epoch did not match."
            raise KafkaError(ErrorCode.FENCED_STATE_EPOCH, self._config.release.text("state epoch", newest))

    def _check_leader(self, key: ShareKey, leader_epoch: int, *, any_leader: bool = True) -> None:
        if not (any_leader and leader_epoch == -1) and self._stored.highest_leader_epoch(key) > leader_epoch:
            raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH, _FENCED_LEADER)

    def _check_topic(self, key: ShareKey) -> None:
        if key.partition >= self._partition_count(key.topic_id):
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, _UNKNOWN)


def _snapshot(key: ShareKey, state: ShareState) -> NewRecord:
    return NewRecord(encode_key(SNAPSHOT, key), encode_snapshot(state), state)
