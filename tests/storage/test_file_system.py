"""Calls to the operating system: whole writes, errors that name the file, atomic replacement."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.storage import file_system
from odradek.storage.backend import StorageError
from odradek.storage.file_system import FileSystem
from tests.fakes.file_system import Crash, FaultyFileSystem


@pytest.fixture
def fs() -> FileSystem:
    return FileSystem()


def test_parts_are_written_at_a_position(fs: FileSystem, tmp_path: Path) -> None:
    path = tmp_path / "a"
    descriptor = fs.open(path)
    fs.write_at(descriptor, [b"abc", memoryview(b"def")], 0, path)
    fs.write_at(descriptor, [b"XY"], 2, path)
    fs.truncate(descriptor, 5, path)
    fs.sync(descriptor, path)
    fs.close(descriptor)
    assert fs.read(path) == b"abXYe"
    assert fs.size(path) == 5


def test_a_short_write_is_continued(tmp_path: Path, fs: FileSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    write, writev = os.pwrite, os.pwritev
    monkeypatch.setattr(os, "pwritev", lambda fd, parts, at: writev(fd, [b"".join(parts)[:3]], at))
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: write(fd, bytes(data)[:2], at))
    descriptor = fs.open(path)
    fs.write_at(descriptor, [b"0123", b"456789"], 0, path)
    fs.close(descriptor)
    assert path.read_bytes() == b"0123456789"


def test_a_file_that_takes_nothing_is_an_error(tmp_path: Path, fs: FileSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    monkeypatch.setattr(os, "pwritev", lambda fd, parts, at: 1)
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: 0)
    descriptor = fs.open(path)
    with pytest.raises(StorageError, match=f"{path}: the file takes no more bytes"):
        fs.write_at(descriptor, [b"0123"], 0, path)
    fs.close(descriptor)


@pytest.mark.parametrize(
    "call",
    [
        lambda fs, path: fs.read(path),
        lambda fs, path: fs.size(path),
        lambda fs, path: fs.open_read(path),
        lambda fs, path: fs.open(path, create=False),
        lambda fs, path: fs.rename(path, path.with_name("b")),
        lambda fs, path: fs.sync_directory(path),
        lambda fs, path: fs.remove_directory(path),
    ],
)
def test_file_system_error_names_the_file(
    fs: FileSystem, tmp_path: Path, call: Callable[[FileSystem, Path], object]
) -> None:
    path = tmp_path / "missing"
    with pytest.raises(StorageError, match=f"{path}: {os.strerror(errno.ENOENT)}") as caught:
        call(fs, path)
    assert (caught.value.code, caught.value.path) == (ErrorCode.KAFKA_STORAGE_ERROR, str(path))


def test_removing_twice_is_no_error(fs: FileSystem, tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    fs.remove(tmp_path / "a")
    fs.remove(tmp_path / "a")


def test_a_map_outlives_its_file(fs: FileSystem, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abcdef")
    descriptor = fs.open_read(path)
    mapped = fs.map(descriptor, 4, path)
    fs.close(descriptor)
    fs.remove(path)
    assert bytes(mapped) == b"abcd"
    assert mapped.readonly


def test_a_replaced_file_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    """At every call at which the process may die."""
    path = tmp_path / "a"
    for stop in range(10):
        path.write_bytes(b"old")
        dying = FaultyFileSystem(stop)
        try:
            dying.write_atomically(path, b"newer")
        except Crash:
            assert path.read_bytes() in (b"old", b"newer")
        else:
            assert path.read_bytes() == b"newer"
            break
    assert stop == 6  # removal of a leftover, create, write, sync, rename, sync of the directory


def test_without_descriptors_it_says_what_helps(
    fs: FileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StorageError, match="a: out of file descriptors: raise the limit"):
        fs.open(tmp_path / "a")


def test_a_file_that_stays_open_leaves_the_last_descriptors_to_others(
    fs: FileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"x")
    opened: list[int] = []
    closed: list[int] = []
    close = os.close

    def reserved(descriptor: int) -> bool:
        opened.append(descriptor)
        return True

    def close_and_note(descriptor: int) -> None:
        closed.append(descriptor)
        close(descriptor)

    monkeypatch.setattr(file_system, "is_reserved", reserved)
    monkeypatch.setattr(os, "close", close_and_note)
    with pytest.raises(StorageError, match="a: out of file descriptors: raise the limit"):
        fs.open(tmp_path / "a")
    assert fs.read(tmp_path / "a") == b"x"
    assert opened
    assert set(opened) <= set(closed), "nothing is left open"


@pytest.mark.parametrize("name", ["link", "pipe", "folder", "dangling"])
def test_what_is_no_file_is_not_opened(fs: FileSystem, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(b"kept")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "dangling").symlink_to("missing")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    path = tmp_path / name
    calls: list[Callable[[], object]] = [
        lambda: fs.open(path),
        lambda: fs.open_read(path),
        lambda: fs.read_if_any(path),
        lambda: fs.size(path),
        lambda: fs.view(path),
        lambda: fs.copy(path, tmp_path / "copy"),
        lambda: fs.write_atomically(path, b"x"),
    ]
    for call in calls:
        with pytest.raises(StorageError, match=f"{name}: is a .*, and has to be a file"):
            call()
    assert (tmp_path / "file").read_bytes() == b"kept"
    assert not (tmp_path / "missing").exists()


def test_a_link_that_comes_in_between_is_not_followed(
    fs: FileSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"kept")
    (tmp_path / "link").symlink_to("file")
    monkeypatch.setattr(os, "lstat", os.stat)
    for call in (fs.open, fs.open_read):
        with pytest.raises(StorageError, match="link: is a symbolic link, and has to be a file"):
            call(tmp_path / "link")


def test_a_file_with_two_names_is_copied_before_it_changes(fs: FileSystem, tmp_path: Path) -> None:
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"abc")
    os.link(path, other)
    descriptor = fs.open(path)
    fs.write_at(descriptor, [b"X"], 0, path)
    fs.close(descriptor)
    assert (path.read_bytes(), other.read_bytes()) == (b"Xbc", b"abc")


def test_a_file_that_is_too_large_is_not_read(fs: FileSystem, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(bytes(11))
    assert fs.read(path, 11) == bytes(11)
    with pytest.raises(StorageError, match="a: has 11 bytes, more than 10"):
        fs.read(path, 10)
