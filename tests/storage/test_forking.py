"""Logs that begin as one and part: nothing that happens to one is seen in the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek.storage.disk_backend import DiskBackend
from odradek.storage.forking import fork
from odradek.storage.log_config import LogConfig
from odradek.storage.memory_backend import MemoryBackend
from odradek.storage.partition_log import PartitionLog
from odradek.storage.trimming import apply_retention
from tests.storage.logs import NOW, end, make_log, put, records


def _values(log: PartitionLog) -> list[bytes | None]:
    return [record.value for record in records(log)]


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[DiskBackend]:
    backend = DiskBackend(tmp_path / "node-2", now_ms=lambda: NOW)
    yield backend
    backend.close()


def test_a_fork_has_what_the_log_has_and_both_go_on_alone() -> None:
    log = make_log(segment_bytes=200)
    for number in range(5):
        put(log, (b"k", bytes([number])))
    other = fork(log, MemoryBackend(), now_ms=NOW)
    put(log, (b"k", b"left"))
    put(other, (b"k", b"right"))
    assert _values(log) == [*(bytes([n]) for n in range(5)), b"left"]
    assert _values(other) == [*(bytes([n]) for n in range(5)), b"right"]


def test_a_fork_in_memory_shares_the_bytes() -> None:
    log = make_log()
    put(log, (b"k", bytes(200_000)))
    other = fork(log, MemoryBackend(), now_ms=NOW)
    mine = log.read(0, max_bytes=1 << 20, up_to_offset=1).parts[0]
    theirs = other.read(0, max_bytes=1 << 20, up_to_offset=1).parts[0]
    assert mine.obj is theirs.obj


def test_a_fork_below_the_end_leaves_out_what_came_later() -> None:
    log = make_log(segment_bytes=200, index_interval_bytes=0)
    for number in range(6):
        put(log, (b"k", bytes([number])), producer=(7, 0, number), epoch=number // 3)
    other = fork(log, MemoryBackend(), end_offset=3, now_ms=NOW)
    assert (other.log_end_offset, other.high_watermark) == (3, 3)
    assert other.leader_epochs.entries() == [(0, 0)]
    assert put(other, (b"k", b"other"), producer=(7, 0, 3)).base_offset == 3
    assert _values(other) == [b"\0", b"\1", b"\2", b"other"]
    assert _values(log) == [bytes([n]) for n in range(6)]


def test_a_fork_keeps_open_transactions_and_those_that_were_aborted() -> None:
    log = make_log()
    put(log, producer=(7, 0, 0), transactional=True)
    end(log, 7, 0, commit=False)
    put(log, producer=(8, 0, 0), transactional=True)
    other = fork(log, MemoryBackend(), now_ms=NOW)
    end(log, 8, 0, commit=True)
    assert other.aborted_transactions(0, 3) == [(7, 0)]
    assert (log.last_stable_offset, other.last_stable_offset) == (4, 2)


def test_a_fork_of_a_log_with_a_held_high_watermark_holds_it_too() -> None:
    log = make_log()
    put(log)
    log.hold_high_watermark(1)
    put(log)
    other = fork(log, MemoryBackend(), now_ms=NOW)
    put(other)
    assert (other.high_watermark, other.log_end_offset) == (1, 3)


def test_deleted_records_stay_deleted_in_a_fork() -> None:
    log = make_log()
    for _ in range(4):
        put(log)
    log.delete_records(2)
    other = fork(log, MemoryBackend(), now_ms=NOW)
    assert (other.log_start_offset, [record.offset for record in records(other)]) == (2, [2, 3])
    early = fork(log, MemoryBackend(), end_offset=1, now_ms=NOW)
    assert (early.log_start_offset, early.log_end_offset, records(early)) == (2, 2, [])


def test_a_log_in_memory_is_copied_to_a_directory(directory: DiskBackend) -> None:
    log = PartitionLog("t", 0, LogConfig(segment_bytes=200), MemoryBackend(), now_ms=NOW)
    for number in range(6):
        put(log, (b"k", bytes([number])), epoch=number // 2, producer=(7, 0, number))
    log.begin_epoch(9)
    other = fork(log, directory, end_offset=4, now_ms=NOW)
    assert _values(other) == [bytes([n]) for n in range(4)]
    assert other.leader_epochs.entries() == [(0, 0), (1, 2)]
    whole = fork(log, MemoryBackend(), now_ms=NOW)
    assert whole.leader_epochs.entries() == [(0, 0), (1, 2), (2, 4), (9, 6)]
    other.close()
    again = PartitionLog("t", 0, LogConfig(segment_bytes=200), directory, now_ms=NOW)
    assert _values(again) == [bytes([n]) for n in range(4)]
    assert put(again, producer=(7, 0, 4)).base_offset == 4
    again.close()


def test_a_cut_in_a_directory_survives_a_restart(tmp_path: Path) -> None:
    config = LogConfig(segment_bytes=200, index_interval_bytes=0)
    backend = DiskBackend(tmp_path, now_ms=lambda: NOW)
    log = PartitionLog("t", 0, config, backend, now_ms=NOW)
    for number in range(9):
        put(log, (b"k", bytes([number])), producer=(7, 0, number), epoch=number // 4)
    log.flush()
    log.truncate(5, now_ms=NOW)
    put(log, (b"k", b"new"), producer=(7, 0, 5), epoch=3)
    log.close()
    backend.close()
    backend = DiskBackend(tmp_path, now_ms=lambda: NOW)
    log = PartitionLog("t", 0, config, backend, now_ms=NOW)
    assert _values(log) == [*(bytes([n]) for n in range(5)), b"new"]
    assert log.leader_epochs.entries() == [(0, 0), (1, 4), (3, 5)]
    log.close()
    backend.close()


def test_a_fork_costs_segments_not_records() -> None:
    log = make_log()
    for _ in range(300):
        put(log, (b"k", bytes(10_000)))
    other = fork(log, MemoryBackend(), now_ms=NOW)
    ours = {id(part.obj) for part in log.read(0, max_bytes=1 << 30, up_to_offset=300).parts}
    theirs = {id(part.obj) for part in other.read(0, max_bytes=1 << 30, up_to_offset=300).parts}
    assert ours == theirs


def test_a_fork_below_the_start_of_a_log_begins_where_that_does() -> None:
    log = make_log(segment_bytes=100, retention_ms=1)
    for _ in range(4):
        put(log)
    log.delete_records(2)
    apply_retention(log, NOW)
    assert log.segments[0].base_offset == 2
    other = fork(log, MemoryBackend(), end_offset=1, now_ms=NOW)
    assert (other.log_start_offset, other.log_end_offset, len(other.segments)) == (2, 2, 1)
