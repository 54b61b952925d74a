"""Folders of partitions that are linked, moved and replaced, whatever fails or dies meanwhile."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage import partition_folders
from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import CLEANER_OFFSETS, LEADER_EPOCHS, LOG_START_OFFSETS, RECOVERY_POINTS
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.file_system import FileSystem
from odradek.storage.formats.segment_files import LOG, file_name
from odradek.storage.log_config import LogConfig
from odradek.storage.partition_folders import (
    MARK,
    RestoreMark,
    execute_restore,
    finish_restore,
    give_up_restore,
    move_folder,
    remove_unfinished,
    restored_folder,
    write_mark,
)
from odradek.storage.partition_log import PartitionLog
from odradek.storage.trimming import apply_retention
from tests.fakes.file_system import FaultyFileSystem
from tests.storage.logs import batches, compact, end, put

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
        [(each.producer_id, each.producer_epoch, each.last_sequence) for each in log.producers],
    )


def copy_of(log: PartitionLog, backend: DiskBackend, folder: Path) -> PartitionLog:
    partition_folders.close_segments(log, 0)
    partition_folders.link_segments(log, backend.fs, folder)
    return partition_folders.open_folder(log, backend, folder, TOPIC_ID)


def test_a_copy_is_what_the_log_is(backend: DiskBackend, tmp_path: Path) -> None:
    log = filled(backend)
    before = seen(log)
    copy = copy_of(log, backend, tmp_path / "copy")
    assert seen(copy) == before
    assert seen(log) == before


def test_partition_folders_are_independent(backend: DiskBackend, tmp_path: Path) -> None:
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
    partition_folders.lay_out_folder(copy, other, other.directory / "t-0", TOPIC_ID)
    other.set_offset("log-start-offset-checkpoint", ("t", 0), 1)
    assert other.partitions() == {("t", 0): TOPIC_ID}
    assert seen(PartitionLog("t", 0, CONFIG, other)) == before


def test_compaction_and_retention_leave_the_copy_alone(backend: DiskBackend, tmp_path: Path) -> None:
    log = filled(backend)
    copy = copy_of(log, backend, tmp_path / "copy")
    before = seen(copy)
    log.config = LogConfig(cleanup_policy=frozenset({"compact"}), min_cleanable_dirty_ratio=0.0, segment_bytes=300)
    assert compact(log, 10_000, force=True) is not None
    assert seen(copy) == before
    log.config = LogConfig(retention_bytes=0, segment_bytes=300, file_delete_delay_ms=0)
    assert apply_retention(log, 10_000)
    assert seen(copy) == before


KEY = ("t", 0)


def directories(folder: Path, fs: FaultyFileSystem) -> tuple[DiskBackend, DiskBackend]:
    return DiskBackend(folder / "a", now_ms=lambda: 0, fs=fs), DiskBackend(folder / "b", now_ms=lambda: 0, fs=fs)


def write(backend: DiskBackend) -> None:
    log = PartitionLog(*KEY, LogConfig(), backend, topic_id=bytes(15) + b"\x07")
    for value in (b"x", b"y"):
        log.append(build_batch([Record(0, 0, None, value, ())]), now_ms=0)
    log.delete_records(1)
    log.close()


def test_files_and_checkpoints_go_along(tmp_path: Path) -> None:
    source, target = directories(tmp_path, FaultyFileSystem())
    write(source)
    kept = {path.name: path.read_bytes() for path in (source.directory / "t-0").iterdir()}
    (source.directory / "t-0" / "00000000000000000007.log.deleted").write_bytes(b"")
    move_folder(source, target, *KEY, 60_000)
    assert {path.name: path.read_bytes() for path in (target.directory / "t-0").iterdir()} == kept
    assert target.offset(RECOVERY_POINTS, KEY) == 2
    assert target.offset(LOG_START_OFFSETS, KEY) == 1
    assert source.offset(LOG_START_OFFSETS, KEY) == 0
    assert "t 0 1" in (target.directory / LOG_START_OFFSETS).read_text()
    assert "t 0" not in (source.directory / LOG_START_OFFSETS).read_text()
    assert [path.name.rpartition("-")[2] for path in source.directory.iterdir() if path.is_dir()] == ["delete"]


@pytest.mark.parametrize("call", ["copy", "write", "sync", "sync_directory", "rename"])
def test_a_disk_that_fails_keeps_the_folder_where_it_was(tmp_path: Path, call: str) -> None:
    fs = FaultyFileSystem()
    source, target = directories(tmp_path, fs)
    write(source)
    fs.refuse = lambda name, path: errno.ENOSPC if name == call and "b" in path.parts else None
    with pytest.raises(StorageError, match="No space left"):
        move_folder(source, target, *KEY, 0)
    fs.refuse = lambda name, path: None
    assert not [path for path in target.directory.iterdir() if path.is_dir()]
    assert target.offset(RECOVERY_POINTS, KEY) == 0
    assert PartitionLog(*KEY, LogConfig(), source).log_end_offset == 2


def test_an_old_folder_that_cannot_go_undoes_the_move(tmp_path: Path) -> None:
    fs = FaultyFileSystem()
    source, target = directories(tmp_path, fs)
    write(source)
    fs.refuse = lambda name, path: errno.EIO if name == "rename" and path == source.directory / "t-0" else None
    with pytest.raises(StorageError):
        move_folder(source, target, *KEY, 0)
    assert not (target.directory / "t-0").exists()
    assert PartitionLog(*KEY, LogConfig(), source).log_end_offset == 2


def test_partition_folder_is_not_moved_over_another(tmp_path: Path) -> None:
    source, target = directories(tmp_path, FaultyFileSystem())
    write(source)
    write(target)
    with pytest.raises(StorageError, match="is there already"):
        move_folder(source, target, *KEY, 0)
    assert (source.directory / "t-0").exists()
    assert (target.directory / "t-0").exists()


def test_only_copies_of_what_is_there_are_removed(tmp_path: Path) -> None:
    source, target = directories(tmp_path, FaultyFileSystem())
    write(source)
    names = {name: f"{name}.{'0' * 32}-future" for name in ("t-0", "only-0")}
    for name in names.values():
        (target.directory / name).mkdir()
    remove_unfinished([source, target])
    assert not (target.directory / names["t-0"]).exists()
    assert (target.directory / names["only-0"]).exists()


def test_checkpoints_of_what_is_not_here_are_forgotten(tmp_path: Path) -> None:
    source, _ = directories(tmp_path, FaultyFileSystem())
    write(source)
    source.set_offset(LOG_START_OFFSETS, ("gone", 3), 5)
    source.forget_absent()
    assert source.offset(LOG_START_OFFSETS, ("gone", 3)) == 0
    assert source.offset(LOG_START_OFFSETS, KEY) == 1


@pytest.fixture
def three(tmp_path: Path) -> DiskBackend:
    """A directory with the partitions t-0, u-1 and v-2, each with a segment of its number."""
    three = DiskBackend(tmp_path, now_ms=lambda: 0)
    for name in ("t-0", "u-1", "v-2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / file_name(int(name[-1]), LOG)).touch()
    three.set_offset(RECOVERY_POINTS, ("u", 1), 9)
    three.set_offset(RECOVERY_POINTS, ("v", 2), 9)
    return three


def marked(three: DiskBackend) -> RestoreMark:
    """t-0 is to be another one, u-1 to go, w-0 to come; v-2 stays."""
    mark = RestoreMark(metadata_end=100)
    for name in ("t-0", "w-0"):
        folder = restored_folder(three, name)
        folder.mkdir()
        (folder / LEADER_EPOCHS).touch()
        mark.folders[name] = folder.name
        mark.offsets[name] = (1, 2, 3)
    mark.folders["u-1"] = None
    write_mark(three, mark)
    return mark


def found(three: DiskBackend) -> dict[str, list[str]]:
    return {
        path.name: sorted(file.name for file in path.iterdir()) for path in three.directory.iterdir() if path.is_dir()
    }


BEFORE = {"t-0": [file_name(0, LOG)], "u-1": [file_name(1, LOG)], "v-2": [file_name(2, LOG)]}
AFTER = {"t-0": [LEADER_EPOCHS], "v-2": [file_name(2, LOG)], "w-0": [LEADER_EPOCHS]}


def test_partition_folder_changes_reach_the_checkpoints(three: DiskBackend) -> None:
    execute_restore(three, marked(three))
    assert found(three) == AFTER
    offsets = (LOG_START_OFFSETS, RECOVERY_POINTS, CLEANER_OFFSETS)
    assert [[three.offset(name, ("t", 0), -1) for name in offsets]] == [[1, 2, 3]]
    assert three.offset(RECOVERY_POINTS, ("u", 1), -1) == -1
    assert three.offset(RECOVERY_POINTS, ("v", 2), -1) == 9
    assert not (three.directory / MARK).exists()


def test_given_up_nothing_has_changed(three: DiskBackend) -> None:
    give_up_restore(three, marked(three))
    assert found(three) == BEFORE
    assert not (three.directory / MARK).exists()


@pytest.mark.parametrize(("metadata_end", "then"), [(99, BEFORE), (100, AFTER), (101, AFTER)])
def test_the_metadata_log_says_whether_it_has_happened(
    three: DiskBackend, metadata_end: int, then: dict[str, list[str]]
) -> None:
    marked(three)
    finish_restore(three, metadata_end)
    assert found(three) == then
    assert len(three.recovered) == 1
    finish_restore(three, metadata_end)
    assert found(three) == then
    assert len(three.recovered) == 1


@pytest.mark.parametrize("done", range(6))
def test_what_is_done_already_is_not_done_again(three: DiskBackend, done: int) -> None:
    """The process died between two renames."""
    mark = marked(three)
    steps: list[Callable[[], object]] = [
        lambda: (three.directory / "t-0").rename(three.directory / f"t-0.{'0' * 32}-delete"),
        lambda: (three.directory / str(mark.folders["t-0"])).rename(three.directory / "t-0"),
        lambda: (three.directory / str(mark.folders["w-0"])).rename(three.directory / "w-0"),
        lambda: (three.directory / "u-1").rename(three.directory / f"u-1.{'0' * 32}-delete"),
        lambda: three.forget(("u", 1)),
    ]
    for step in steps[:done]:
        step()
    finish_restore(three, 100)
    three.remove_leftovers()
    assert found(three) == AFTER


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"metadata_end": 1, "folders": {}, "offsets": {"t-0": [1]}}'])
def test_a_file_that_is_no_mark_stands_in_the_way(three: DiskBackend, text: str) -> None:
    (three.directory / MARK).write_text(text)
    with pytest.raises(StorageError, match=r"odradek\.restore\.json: is not a mark of a restore"):
        finish_restore(three, 100)


def test_the_longest_name_of_a_topic_has_room(three: DiskBackend) -> None:
    assert len(restored_folder(three, "t" * 249 + "-12345").name) == 255
