"""Which folders are taken as log directories, and that a refused one is left as it was."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from odradek.storage.backend import StorageError
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.log_directory import (
    check_log_directory,
    is_kafkas,
    is_of_partition,
    is_to_be_deleted,
    lock_directory,
    unlock_directory,
)


def documents(folder: Path) -> None:
    (folder / "letter.txt").write_text("Dear Felice")


def pictures(folder: Path) -> None:
    (folder / "photos-2020").mkdir()
    (folder / "photos-2020" / "beach.jpg").write_bytes(b"")


def empty_folder(folder: Path) -> None:
    (folder / "src").mkdir()


@pytest.mark.parametrize(
    ("fill", "named"), [(documents, "letter.txt"), (pictures, "photos-2020"), (empty_folder, "src")]
)
def test_a_folder_of_something_else_is_refused(tmp_path: Path, fill: Callable[[Path], None], named: str) -> None:
    fill(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(StorageError) as refused:
        DiskBackend(tmp_path, now_ms=lambda: 0)
    assert str(tmp_path) in str(refused.value)
    assert f"not a log directory: it has no meta.properties and holds {named}." in str(refused.value)
    assert "Name a new or empty folder" in str(refused.value)
    assert sorted(tmp_path.rglob("*")) == before


def test_only_a_few_names_are_shown(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.txt").touch()
    with pytest.raises(StorageError, match=r"holds 0.txt, 1.txt, 2.txt, \.\.\.\."):
        check_log_directory(tmp_path)


def test_three_names_are_all(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.txt").touch()
    with pytest.raises(StorageError, match=r"holds 0.txt, 1.txt, 2.txt\. Name"):
        check_log_directory(tmp_path)


@pytest.mark.parametrize(
    ("name", "partition", "deleted"),
    [
        ("orders-0", True, False),
        ("a-b-12", True, False),
        ("-0", False, False),
        ("orders", False, False),
        ("orders-", False, False),
        ("orders-x", False, False),
        ("orders-\u0661", False, False),
        ("or/ders-0", False, False),
        ("or\0ders-0", False, False),
        (f"orders-0.{'a' * 32}-delete", False, True),
        (f"orders-0.{'a' * 31}-delete", False, False),
        (f"orders-0.{'a' * 32}-future", False, False),
    ],
)
def test_folders_of_partitions_are_known_by_their_names(name: str, partition: bool, deleted: bool) -> None:
    assert (is_of_partition(name), is_to_be_deleted(name)) == (partition, deleted)


@pytest.mark.parametrize("name", ["00000000000000000012.log", "leader-epoch-checkpoint", "quorum-state"])
def test_files_of_a_partition_are_known_by_their_names(name: str, tmp_path: Path) -> None:
    assert is_kafkas(name)
    assert is_kafkas(f"{name}.tmp")
    assert not is_kafkas(f"{name}.bak")
    folder = tmp_path / "orders-0"
    folder.mkdir()
    (folder / "notes.txt").touch()
    with pytest.raises(StorageError, match="holds orders-0"):
        check_log_directory(tmp_path)
    (folder / name).touch()
    check_log_directory(tmp_path)


def test_another_process_is_kept_out(tmp_path: Path) -> None:
    hold = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX); print('held'); input()"
    command = [sys.executable, "-S", "-c", hold, str(tmp_path / ".lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(StorageError, match="another broker uses this data directory"):
            lock_directory(tmp_path)
        other.communicate("\n")
    descriptor = lock_directory(tmp_path)
    unlock_directory(tmp_path, descriptor)
    unlock_directory(tmp_path, -1)
    unlock_directory(tmp_path, lock_directory(tmp_path))


@pytest.mark.parametrize("below", [".", "logs", "logs/data"])
def test_log_directory_that_is_a_file_is_refused(tmp_path: Path, below: str) -> None:
    file = tmp_path / "notes"
    file.write_text("x")
    with pytest.raises(StorageError, match=f"{file}: a file is there, the data directory must be a folder"):
        DiskBackend(file / below, now_ms=lambda: 0)
    assert file.read_text() == "x"


def new(folder: Path) -> None:
    folder.rmdir()


def empty(folder: Path) -> None:
    pass


def root_of_a_disk(folder: Path) -> None:
    (folder / "lost+found").mkdir()


def first_start_died(folder: Path) -> None:
    (folder / ".lock").touch()
    (folder / "meta.properties.tmp").touch()


def copied_partitions(folder: Path) -> None:
    (folder / "orders-0").mkdir()
    (folder / "orders-0" / f"{0:020d}.log").touch()
    (folder / f"gone-0.{'a' * 32}-delete").mkdir()
    (folder / f"gone-0.{'a' * 32}-delete" / "partition.metadata").touch()
    (folder / "cleaner-offset-checkpoint").touch()


def with_documents_beside(folder: Path) -> None:
    documents(folder)
    (folder / "meta.properties").write_text("version=1\ncluster.id=b2RyYWRlay10ZXN0cy0wMQ\nnode.id=1\n")


@pytest.mark.parametrize(
    "fill", [new, empty, root_of_a_disk, first_start_died, copied_partitions, with_documents_beside]
)
def test_a_folder_that_is_or_may_become_a_log_directory_is_taken(tmp_path: Path, fill: Callable[[Path], None]) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    fill(folder)
    backend = DiskBackend(folder, now_ms=lambda: 0)
    backend.close()
    assert (folder / "meta.properties").exists()
    DiskBackend(folder, now_ms=lambda: 0).close()


def test_a_second_backend_is_kept_out(tmp_path: Path) -> None:
    backend = DiskBackend(tmp_path, now_ms=lambda: 0)
    with pytest.raises(StorageError, match="another broker uses this data directory"):
        DiskBackend(tmp_path, now_ms=lambda: 0)
    backend.close()
