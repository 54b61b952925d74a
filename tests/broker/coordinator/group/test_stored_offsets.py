"""Committed and pending offsets, as the log's records leave them."""

from __future__ import annotations

from odradek.broker.coordinator.group.offset_records import encode_offset_key, encode_offset_value
from odradek.broker.coordinator.group.stored_offsets import StoredOffsets
from odradek.broker.runtime.machine import LogRecord
from odradek.protocol.primitives import ZERO_UUID


def record(at: int, offset: int | None, *, group: str = "g", partition: int = 0, producer: int = -1) -> LogRecord:
    value = None if offset is None else encode_offset_value(offset, -1, "", 0, -1, ZERO_UUID)
    return LogRecord(encode_offset_key(group, "t", partition), value, at, producer, 0 if producer >= 0 else -1)


def offset_of(stored: StoredOffsets, partition: int = 0) -> int | None:
    found = stored.offset("g", "t", partition)
    return None if found is None else found.offset


def test_the_last_commit_counts() -> None:
    stored = StoredOffsets()
    stored.replay(record(0, 5))
    stored.replay(record(1, 7))
    assert offset_of(stored) == 7
    assert offset_of(stored, 1) is None


def test_a_tombstone_forgets_committed_and_pending() -> None:
    stored = StoredOffsets()
    stored.replay(record(0, 5))
    stored.replay(record(1, 6, producer=1))
    stored.replay(record(2, None))
    assert (stored.offsets, stored.pending, stored.group_ids()) == ({}, {}, [])


def test_pending_offsets_wait_for_the_marker() -> None:
    stored = StoredOffsets()
    stored.replay(record(0, 5, producer=1))
    stored.replay(record(1, 6, partition=1, producer=2))
    assert stored.group_ids() == ["g"]
    assert stored.has_pending("g")
    assert stored.is_pending("g", "t", 0)
    assert list(stored.pending_places("g")) == [("t", 0), ("t", 1)]
    assert offset_of(stored) is None
    stored.replay_marker(1, True)
    stored.replay_marker(2, False)
    assert (offset_of(stored), offset_of(stored, 1)) == (5, None)
    assert not stored.has_pending("g")


def test_of_two_commits_of_one_offset_the_later_in_the_log_wins() -> None:
    stored = StoredOffsets()
    stored.replay(record(0, 5, producer=1))
    stored.replay(record(1, 6))
    stored.replay_marker(1, True)
    assert offset_of(stored) == 6
    stored.replay(record(3, 7, producer=1))
    stored.replay_marker(1, True)
    assert offset_of(stored) == 7


def test_a_marker_of_nobody_changes_nothing() -> None:
    stored = StoredOffsets()
    stored.replay(record(0, 5))
    stored.replay_marker(9, True)
    assert offset_of(stored) == 5
