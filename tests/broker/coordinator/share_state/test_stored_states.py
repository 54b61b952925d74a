"""Records of the share coordinator: what is written is read back, and is what the generated classes say."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.share_state.stored_states import (
    SNAPSHOT,
    UPDATE,
    ShareDelta,
    ShareState,
    StoredStates,
    combine,
    decode_key,
    decode_snapshot,
    decode_update,
    encode_key,
    encode_snapshot,
    encode_update,
)
from odradek.broker.partitions.share.states import ShareKey, StateBatch
from odradek.broker.runtime.machine import LogRecord
from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.stored.share_snapshot import ShareSnapshotKey
from odradek.protocol.generated.stored.share_update import ShareUpdateKey
from odradek.protocol.stored import decode_share_record

RECORD_KEY = ShareKey("grüppe", bytes(range(16)), 7)
RECORDED = ShareState(3, 2, 1, 10, 4, (StateBatch(10, 12, 0, 1), StateBatch(13, 13, 4, 5)), 1_000, 2_000)
DELTA = ShareDelta(3, 1, -1, 2, (StateBatch(10, 12, 2, 1),))


def test_keys() -> None:
    for kind, expected in ((SNAPSHOT, ShareSnapshotKey), (UPDATE, ShareUpdateKey)):
        key = encode_key(kind, RECORD_KEY)
        assert decode_key(key) == RECORD_KEY
        about, _ = decode_share_record(key, None)
        assert isinstance(about, expected)
        assert (about.group_id, about.topic_id, about.partition) == RECORD_KEY


def test_values() -> None:
    assert decode_snapshot(encode_snapshot(RECORDED)) == RECORDED
    assert decode_update(encode_update(DELTA)) == DELTA


def test_other_versions_are_refused() -> None:
    with pytest.raises(ProtocolError, match="not version 0"):
        decode_snapshot(b"\0\7" + encode_snapshot(RECORDED)[2:])


def spread(batches: list[StateBatch] | tuple[StateBatch, ...], start: int) -> dict[int, tuple[int, int]]:
    """Delivery count and state of each offset: the largest that any batch says."""
    found: dict[int, tuple[int, int]] = {}
    for first, last, state, count in batches:
        for offset in range(max(first, start), last + 1):
            found[offset] = max(found.get(offset, (-1, -1)), (count, state))
    return found


SOME = st.lists(
    st.builds(
        lambda first, size, state, count: StateBatch(first, first + size, state, count),
        st.integers(0, 30),
        st.integers(0, 8),
        st.sampled_from([0, 2, 4]),
        st.integers(1, 3),
    ),
    max_size=6,
)


@given(writes=st.lists(st.tuples(SOME, st.integers(-1, 25)), max_size=5))
def test_says_the_same_of_each_offset_as_the_model(writes: list[tuple[list[StateBatch], int]]) -> None:
    stored: list[StateBatch] = []
    start = -1
    everything: list[StateBatch] = []
    for new, moved in writes:
        start = max(start, moved)
        stored = combine(stored, new, start)
        everything += new
        assert spread(stored, -1) == spread(everything, start)
        for one, other in itertools.pairwise(stored):
            assert one.last_offset < other.first_offset


def test_neighbours_with_the_same_content_become_one() -> None:
    assert combine([StateBatch(0, 4, 2, 1)], [StateBatch(5, 9, 2, 1)], 0) == [(0, 9, 2, 1)]


def test_what_lies_before_the_start_goes() -> None:
    assert combine([StateBatch(0, 4, 2, 1), StateBatch(6, 9, 0, 1)], [], 7) == [(7, 9, 0, 1)]


def test_a_late_answer_does_not_take_back_a_later_delivery() -> None:
    assert combine([StateBatch(0, 9, 0, 2)], [StateBatch(3, 4, 2, 1)], 0) == [(0, 9, 0, 2)]


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
