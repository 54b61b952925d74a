"""Logs on disk that share their closed segments, and never disturb each other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from odradek.storage import linked_log
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.file_system import FileSystem
from odradek.storage.formats.segment_files import LOG, file_name
from odradek.storage.log_config import LogConfig
from odradek.storage.partition_log import PartitionLog
from tests.storage.logs import batches, end, put

TOPIC_ID = bytes(15) + b"\x07"
CONFIG = LogConfig(segment_bytes=300, index_interval_bytes=50)


class NoLinks(FileSystem):
    """A medium without hard links."""

    def link(self, source: Path, target: Path) -> None:
        self.copy(source, target)


@pytest.fixture(params=[FileSystem, NoLinks], ids=["links", "copies"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> DiskBackend:
    return DiskBackend(tmp_path / "logs", now_ms=lambda: 0, fs=request.param())


def filled(backend: DiskBackend) -> PartitionLog:
    """Several segments, an aborted transaction, an open one, epochs, and a start that has moved."""
    log = PartitionLog("t", 0, CONFIG, backend, topic_id=TOPIC_ID)
    for number in range(8):
        put(log, (b"k", b"%d" % number), at=1000 + number, epoch=number // 3)
    put(log, (b"k", b"gone"), producer=(5, 0, 0), transactional=True, epoch=3)
    end(log, 5, 0, commit=False)
    put(log, (b"k", b"open"), producer=(6, 0, 0), transactional=True, epoch=3)
    log.delete_records(1)
    return log


def seen(log: PartitionLog) -> object:
    """All that a client can find out."""
    return (
        [bytes(batch.data) for batch in batches(log)],
        (log.log_start_offset, log.log_end_offset, log.high_watermark, log.last_stable_offset),
        log.aborted_transactions(0, log.log_end_offset),
        [log.end_offset_for_epoch(epoch) for epoch in range(5)],
        [log.offset_for_timestamp(1000 + at) for at in range(9)],
        [(each.producer_id, each.producer_epoch, each.last_sequence) for each in log.active_producers()],
    )


def copy_of(log: PartitionLog, backend: DiskBackend, folder: Path) -> PartitionLog:
    linked_log.close_segments(log, 0)
    linked_log.link_segments(log, backend.fs, folder)
    return linked_log.opened(log, backend, folder, TOPIC_ID)


def test_a_copy_is_what_the_log_is(backend: DiskBackend, tmp_path: Path) -> None:
    log = filled(backend)
    before = seen(log)
    copy = copy_of(log, backend, tmp_path / "copy")
    assert seen(copy) == before
    assert seen(log) == before


def test_what_one_does_the_other_does_not_see(backend: DiskBackend, tmp_path: Path) -> None:
    log = filled(backend)
    copy = copy_of(log, backend, tmp_path / "copy")
    before = seen(copy)
    put(log, (b"k", b"later"))
    assert seen(copy) == before
    log.truncate(3, now_ms=0)
    put(log, (b"k", b"other"))
    assert seen(copy) == before
    there = seen(log)
    copy.truncate(5, now_ms=0)
    put(copy, (b"k", b"its own"))
    assert seen(log) == there
    copy.delete_records(4)
    assert seen(log) == there


def test_a_closed_segment_that_is_appended_to_again_is_the_logs_own(backend: DiskBackend, tmp_path: Path) -> None:
    """A log that is cut just where a closed segment ends goes on in that one."""
    log = filled(backend)
    copy = copy_of(log, backend, tmp_path / "copy")
    boundary = log.segments[1].base_offset
    first = tmp_path / "copy" / file_name(0, LOG)
    before = first.read_bytes()
    log.truncate(boundary, now_ms=0)
    put(log, (b"k", b"x"))
    assert first.read_bytes() == before
    assert copy.log_end_offset > log.log_end_offset


def test_records_take_no_room_twice(tmp_path: Path) -> None:
    backend = DiskBackend(tmp_path / "logs", now_ms=lambda: 0)
    log = filled(backend)
    copy_of(log, backend, tmp_path / "copy")
    for segment in log.segments[:-1]:
        name = file_name(segment.base_offset, LOG)
        assert os.path.samefile(tmp_path / "logs" / "t-0" / name, tmp_path / "copy" / name)


def test_a_log_that_was_laid_out_is_found_by_a_start(backend: DiskBackend, tmp_path: Path) -> None:
    log = filled(backend)
    copy = copy_of(log, backend, tmp_path / "copy")
    before = seen(log)
    other = DiskBackend(tmp_path / "other", now_ms=lambda: 0)
    linked_log.lay_out(copy, other, other.directory / "t-0", TOPIC_ID)
    other.set_offset("log-start-offset-checkpoint", ("t", 0), 1)
    assert other.partitions() == {("t", 0): TOPIC_ID}
    assert seen(PartitionLog("t", 0, CONFIG, other)) == before


def test_compaction_and_retention_leave_the_copy_alone(backend: DiskBackend, tmp_path: Path) -> None:
    log = filled(backend)
    copy = copy_of(log, backend, tmp_path / "copy")
    before = seen(copy)
    log.config = LogConfig(cleanup_policy=frozenset({"compact"}), min_cleanable_dirty_ratio=0.0, segment_bytes=300)
    assert log.compact(10_000, force=True) is not None
    assert seen(copy) == before
    log.config = LogConfig(retention_bytes=0, segment_bytes=300, file_delete_delay_ms=0)
    assert log.apply_retention(10_000)
    assert seen(copy) == before
