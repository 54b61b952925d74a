"""Folders that take the place of others, or do not, whatever a start finds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import CLEANER_OFFSETS, LEADER_EPOCHS, LOG_START_OFFSETS, RECOVERY_POINTS
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.formats.segment_files import LOG, file_name
from odradek.storage.restored_folders import MARK, RestoreMark, execute, finish, give_up, new_folder, write_mark


@pytest.fixture
def backend(tmp_path: Path) -> DiskBackend:
    """A directory with the partitions t-0, u-1 and v-2, each with a segment of its number."""
    backend = DiskBackend(tmp_path, now_ms=lambda: 0)
    for name in ("t-0", "u-1", "v-2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / file_name(int(name[-1]), LOG)).touch()
    backend.set_offset(RECOVERY_POINTS, ("u", 1), 9)
    backend.set_offset(RECOVERY_POINTS, ("v", 2), 9)
    return backend


def marked(backend: DiskBackend) -> RestoreMark:
    """t-0 is to be another one, u-1 to go, w-0 to come; v-2 stays."""
    mark = RestoreMark(metadata_end=100)
    for name in ("t-0", "w-0"):
        folder = new_folder(backend, name)
        folder.mkdir()
        (folder / LEADER_EPOCHS).touch()
        mark.folders[name] = folder.name
        mark.offsets[name] = (1, 2, 3)
    mark.folders["u-1"] = None
    write_mark(backend, mark)
    return mark


def found(backend: DiskBackend) -> dict[str, list[str]]:
    return {
        path.name: sorted(file.name for file in path.iterdir()) for path in backend.directory.iterdir() if path.is_dir()
    }


BEFORE = {"t-0": [file_name(0, LOG)], "u-1": [file_name(1, LOG)], "v-2": [file_name(2, LOG)]}
AFTER = {"t-0": [LEADER_EPOCHS], "v-2": [file_name(2, LOG)], "w-0": [LEADER_EPOCHS]}


def test_folders_and_checkpoints_change(backend: DiskBackend) -> None:
    execute(backend, marked(backend))
    assert found(backend) == AFTER
    offsets = (LOG_START_OFFSETS, RECOVERY_POINTS, CLEANER_OFFSETS)
    assert [[backend.offset(name, ("t", 0), -1) for name in offsets]] == [[1, 2, 3]]
    assert backend.offset(RECOVERY_POINTS, ("u", 1), -1) == -1
    assert backend.offset(RECOVERY_POINTS, ("v", 2), -1) == 9
    assert not (backend.directory / MARK).exists()


def test_given_up_nothing_has_changed(backend: DiskBackend) -> None:
    give_up(backend, marked(backend))
    assert found(backend) == BEFORE
    assert not (backend.directory / MARK).exists()


@pytest.mark.parametrize(("metadata_end", "then"), [(99, BEFORE), (100, AFTER), (101, AFTER)])
def test_the_metadata_log_says_whether_it_has_happened(
    backend: DiskBackend, metadata_end: int, then: dict[str, list[str]]
) -> None:
    marked(backend)
    finish(backend, metadata_end)
    assert found(backend) == then
    assert len(backend.recovered) == 1
    finish(backend, metadata_end)
    assert found(backend) == then
    assert len(backend.recovered) == 1


@pytest.mark.parametrize("done", range(6))
def test_what_is_done_already_is_not_done_again(backend: DiskBackend, done: int) -> None:
    """The process died between two renames."""
    mark = marked(backend)
    steps: list[Callable[[], object]] = [
        lambda: (backend.directory / "t-0").rename(backend.directory / f"t-0.{'0' * 32}-delete"),
        lambda: (backend.directory / str(mark.folders["t-0"])).rename(backend.directory / "t-0"),
        lambda: (backend.directory / str(mark.folders["w-0"])).rename(backend.directory / "w-0"),
        lambda: (backend.directory / "u-1").rename(backend.directory / f"u-1.{'0' * 32}-delete"),
        lambda: backend.forget(("u", 1)),
    ]
    for step in steps[:done]:
        step()
    finish(backend, 100)
    backend.remove_leftovers()
    assert found(backend) == AFTER


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"metadata_end": 1, "folders": {}, "offsets": {"t-0": [1]}}'])
def test_a_file_that_is_no_mark_stands_in_the_way(backend: DiskBackend, text: str) -> None:
    (backend.directory / MARK).write_text(text)
    with pytest.raises(StorageError, match=r"odradek\.restore\.json: is not a mark of a restore"):
        finish(backend, 100)


def test_the_longest_name_of_a_topic_has_room(backend: DiskBackend) -> None:
    assert len(new_folder(backend, "t" * 249 + "-12345").name) == 255
