"""A folder that moves to another log directory, and one that a failing disk keeps where it was."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import LOG_START_OFFSETS, RECOVERY_POINTS
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.folder_move import move_folder, remove_unfinished
from odradek.storage.log_config import LogConfig
from odradek.storage.partition_log import PartitionLog
from tests.fakes.file_system import FaultyFileSystem

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


def test_nothing_is_moved_over_another_folder(tmp_path: Path) -> None:
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
