"""A log whose medium fails on purpose, and is as before afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.backend import LogBackend, StorageError
from odradek.storage.broken_log import Breakage, break_log, mend_log
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.forking import fork
from odradek.storage.log_config import LogConfig
from odradek.storage.memory_backend import MemoryBackend
from odradek.storage.partition_log import PartitionLog


@pytest.fixture(params=["memory", "disk"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> PartitionLog:
    backend: LogBackend = MemoryBackend() if request.param == "memory" else DiskBackend(tmp_path, now_ms=lambda: 0)
    return PartitionLog("t", 0, LogConfig(segment_bytes=200), backend, now_ms=0)


def append(log: PartitionLog) -> None:
    log.append(build_batch([Record(0, 1, None, bytes(100))]), now_ms=1)


def read(log: PartitionLog, offset: int) -> int:
    return log.read(offset, max_bytes=100, up_to_offset=log.log_end_offset).size_bytes


@pytest.mark.parametrize(("how", "text"), [("full", "No space left on device"), ("write", "Input/output error")])
def test_appends_fail_and_change_nothing(log: PartitionLog, how: str, text: str) -> None:
    hits: list[int] = []
    append(log)
    break_log(log, Breakage(how, lambda: hits.append(1)))
    for _ in range(3):
        with pytest.raises(StorageError, match=rf"t-0/0+\d\.log: {text}"):
            append(log)
    assert (log.log_end_offset, len(hits)) == (1, 3)
    assert read(log, 0)
    mend_log(log)
    append(log)
    assert log.log_end_offset == 2


def test_segments_that_come_later_fail_too(log: PartitionLog) -> None:
    refused = [True]
    breakage = Breakage("write", lambda: None, refuses=False)
    break_log(log, breakage)
    for _ in range(4):
        append(log)
    assert len(log.segments) > 2
    breakage.refuses = refused[0]
    with pytest.raises(StorageError):
        append(log)


def test_reads_of_one_segment_fail(log: PartitionLog) -> None:
    for _ in range(4):
        append(log)
    assert len(log.segments) > 2
    break_log(log, Breakage("read", lambda: None, offset=0))
    with pytest.raises(StorageError, match="Input/output error"):
        read(log, 0)
    assert read(log, 3)
    append(log)
    mend_log(log)
    assert read(log, 0)


def test_broken_log_fails_its_syncs(log: PartitionLog) -> None:
    append(log)
    break_log(log, Breakage("sync", lambda: None))
    append(log)
    with pytest.raises(StorageError):
        log.flush()
    sync = log.begin_sync()
    if sync is not None:
        with pytest.raises(StorageError):
            sync()
    mend_log(log)
    log.flush()


def test_a_fork_of_a_broken_log_is_whole(log: PartitionLog, tmp_path: Path) -> None:
    append(log)
    break_log(log, Breakage("write", lambda: None))
    forked = fork(log, MemoryBackend(), now_ms=0)
    append(forked)
    assert (forked.log_end_offset, log.log_end_offset) == (2, 1)
    with pytest.raises(StorageError):
        append(log)


def test_the_same_error_again_says_the_same_and_knows_no_earlier_frames() -> None:
    error = StorageError("t-0/0.log: gone", "t-0/0.log")
    try:
        raise error
    except StorageError:
        again = error.again()
    assert (again.message, again.path, again.__traceback__) == ("t-0/0.log: gone", "t-0/0.log", None)
