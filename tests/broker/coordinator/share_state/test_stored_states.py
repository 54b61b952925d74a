"""What records make of the states of share partitions."""

from __future__ import annotations

from odradek.broker.coordinator.share_state.records import (
    SNAPSHOT,
    UPDATE,
    ShareDelta,
    ShareState,
    encode_key,
    encode_snapshot,
    encode_update,
)
from odradek.broker.coordinator.share_state.stored_states import StoredStates
from odradek.broker.partitions.share.states import ShareKey, StateBatch
from odradek.broker.runtime.machine import LogRecord

KEY = ShareKey("g", bytes(range(16)), 0)
OTHER = ShareKey("g", bytes(range(16)), 1)
STATE = ShareState(0, 3, 5, 10, 0, (), 1_000, 1_000)
ENOUGH = 2


def snapshot(state: ShareState | None, offset: int = 0, key: ShareKey = KEY) -> LogRecord:
    value = None if state is None else encode_snapshot(state)
    return LogRecord(encode_key(SNAPSHOT, key), value, offset, -1, -1)


def update(delta: ShareDelta, offset: int = 0) -> LogRecord:
    return LogRecord(encode_key(UPDATE, KEY), encode_update(delta), offset, -1, -1)


def replayed(*records: LogRecord) -> StoredStates:
    stored = StoredStates()
    for record in records:
        stored.replay(record, ENOUGH)
    return stored


def test_epochs_never_fall() -> None:
    stored = replayed(snapshot(STATE), snapshot(STATE._replace(state_epoch=1, leader_epoch=2)))
    assert stored.states[KEY].state_epoch == 1
    assert (stored.highest_state_epoch(KEY), stored.highest_leader_epoch(KEY)) == (3, 5)
    assert (stored.highest_state_epoch(OTHER), stored.highest_leader_epoch(OTHER)) == (-1, -1)


def test_an_update_leaves_what_it_does_not_say() -> None:
    done = StateBatch(10, 12, 2, 1)
    state = replayed(snapshot(STATE), update(ShareDelta(0, -1, -1, 3, (done,)))).states[KEY]
    assert (state.leader_epoch, state.start_offset, state.delivery_complete_count) == (5, 10, 3)
    assert state.batches == (done,)
    moved = replayed(snapshot(STATE), update(ShareDelta(0, 6, 13, 0, ()))).states[KEY]
    assert (moved.leader_epoch, moved.start_offset) == (6, 13)


def test_an_update_without_its_snapshot_is_all_that_is_known() -> None:
    state = replayed(update(ShareDelta(4, 2, 7, 0, ()))).states[KEY]
    assert (state.snapshot_epoch, state.state_epoch, state.leader_epoch, state.start_offset) == (4, 0, 2, 7)


def test_updates_count_until_there_are_enough_for_a_snapshot() -> None:
    delta = ShareDelta(0, -1, -1, 0, ())
    stored = replayed(snapshot(STATE), update(delta))
    assert stored.updates_of(KEY) == 1
    stored.replay(snapshot(STATE), ENOUGH)
    assert stored.updates_of(KEY) == 1
    stored.replay(update(delta), ENOUGH)
    stored.replay(snapshot(STATE), ENOUGH)
    assert stored.updates_of(KEY) == 0


def test_the_oldest_of_the_last_snapshots() -> None:
    stored = replayed(snapshot(STATE, 3), snapshot(STATE, 5, OTHER), snapshot(STATE, 9))
    assert stored.oldest_snapshot == 5
    stored.replay(snapshot(None, 10, OTHER), ENOUGH)
    assert (stored.oldest_snapshot, list(stored.states)) == (9, [KEY])
    assert replayed().oldest_snapshot == 0
