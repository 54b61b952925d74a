"""The few calls that the disk backend makes to the operating system, in one replaceable object.

Every failure becomes a `StorageError` that names the file, and tests put a `FileSystem` with faults (short writes,
ENOSPC, EIO, a stop at a chosen call) in its place. Writes are whole or raise: a short write is continued.

A log directory may come from anywhere, so nothing in it leads out of it. Its files are regular files: a link, a FIFO, a
device in a file's place is refused before it is opened, also if it comes there in between. A file that has a second
name gets a copy of its own before it is written to. Files that are read as a whole have a limit.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from odradek.protocol.records import Buffer
from odradek.storage.backend import OUT_OF_DESCRIPTORS, StorageError, is_reserved
from odradek.storage.byte_budget import ByteBudget

DEFAULT_TAIL_BYTES = 40 * 1024 * 1024


class HasTail(Protocol):
    """A segment that keeps its newest bytes in memory. Hashable by identity."""

    def drop_tail(self) -> None:
        """Read everything from the file."""


SMALL = 1024 * 1024
"""More than the files need that have some lines: `meta.properties`, `quorum-state`, `partition.metadata`."""
LARGE = 64 * 1024 * 1024
"""More than the tables need that have a line or some bytes a partition, an epoch or a producer."""

_SAFELY = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_KINDS = {
    stat.S_IFREG: "a file",
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
}
_ADVICE = {
    errno.EMFILE: OUT_OF_DESCRIPTORS,
    errno.ENFILE: "the system is out of file descriptors",
    errno.ELOOP: "is a symbolic link, and has to be a file",  # of O_NOFOLLOW
}


class FileSystem:
    """Files and directories of log directories, shared by all logs of a broker.

    `tails`: the newest bytes of open segments, which are in memory and in the file.
    """

    def __init__(self) -> None:
        self.tails: ByteBudget[HasTail] = ByteBudget(DEFAULT_TAIL_BYTES, lambda segment: segment.drop_tail())

    # -- looking

    def is_file(self, path: Path) -> bool:
        """Whether there is a file; StorageError if there is something else."""
        return _found(path, stat.S_IFREG) is not None

    def is_folder(self, path: Path) -> bool:
        """Whether there is a folder; StorageError if there is something else."""
        return _found(path, stat.S_IFDIR) is not None

    def entries(self, folder: Path) -> list[os.DirEntry[str]]:
        """What is in a folder."""
        with _naming(folder), os.scandir(folder) as entries:
            return list(entries)

    def size(self, path: Path) -> int:
        return self._status(path).st_size

    def modified_ms(self, path: Path) -> int:
        """When a file was last written to."""
        return int(self._status(path).st_mtime * 1000)

    def _status(self, path: Path) -> os.stat_result:
        status = _found(path, stat.S_IFREG)
        if status is None:
            raise _error(path, OSError(errno.ENOENT, os.strerror(errno.ENOENT)))
        return status

    # -- opening

    def open(self, path: Path, *, create: bool = True) -> int:
        """A descriptor for reading and writing, created when absent; the caller closes it."""
        status = _found(path, stat.S_IFREG)
        if status is not None and status.st_nlink > 1:
            self._unlink_others(path)
        with _naming(path):
            return _kept_open(os.open(path, os.O_RDWR | _SAFELY | (os.O_CREAT if create else 0), 0o644))

    def open_read(self, path: Path) -> int:
        _found(path, stat.S_IFREG)
        with _naming(path):
            return os.open(path, os.O_RDONLY | _SAFELY)

    def create(self, path: Path) -> int:
        """A descriptor of a new and empty file, which takes the place of what there is but a folder."""
        if os.path.lexists(path):
            self.remove(path)
        with _naming(path):
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _SAFELY, 0o644)

    def duplicate(self, descriptor: int, path: Path) -> int:
        """Another descriptor of the same file."""
        with _naming(path):
            return _kept_open(os.dup(descriptor))

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    # -- reading

    def read(self, path: Path, limit: int = SMALL) -> bytes:
        """The whole file; StorageError if it has more than `limit` bytes."""
        descriptor = self.open_read(path)
        try:
            with _naming(path):
                size = os.fstat(descriptor).st_size
                if size > limit:
                    raise StorageError(f"{path}: has {size} bytes, more than {limit}", str(path))
                return _whole(descriptor, size)
        finally:
            self.close(descriptor)

    def read_if_any(self, path: Path, limit: int = SMALL) -> bytes | None:
        """The same; None without the file."""
        return self.read(path, limit) if self.is_file(path) else None

    def map(self, descriptor: int, length: int, path: Path) -> memoryview:
        """The first `length` bytes of a file as a read-only view; pages are read when they are touched."""
        with _naming(path):
            return memoryview(mmap.mmap(descriptor, length, access=mmap.ACCESS_READ))

    def view(self, path: Path) -> memoryview:
        """All bytes of a file as such a view."""
        descriptor = self.open_read(path)
        try:
            size = os.fstat(descriptor).st_size
            return self.map(descriptor, size, path) if size else memoryview(b"")
        finally:
            self.close(descriptor)

    # -- writing

    def write_at(self, descriptor: int, parts: Sequence[Buffer], position: int, path: Path) -> None:
        """Write all of `parts` one after the other from `position` on."""
        with _naming(path):
            written = os.pwritev(descriptor, parts, position)
            total = sum(len(part) for part in parts)
            if written < total:
                rest = memoryview(b"".join(parts))[written:]
                self._write_rest(descriptor, rest, position + written)

    def _write_rest(self, descriptor: int, rest: memoryview, position: int) -> None:
        while rest:
            written = os.pwrite(descriptor, rest, position)
            if written == 0:
                raise OSError(errno.EIO, "the file takes no more bytes")
            position += written
            rest = rest[written:]

    def write_atomically(self, path: Path, data: bytes, *, durable: bool = True) -> None:
        """Replace a small file: write it as `.tmp`, sync it, rename it over the old one."""
        _found(path, stat.S_IFREG)
        temporary = path.with_name(path.name + ".tmp")
        descriptor = self.create(temporary)
        try:
            self.write_at(descriptor, [data], 0, temporary)
            if durable:
                self.sync(descriptor, temporary)
        finally:
            self.close(descriptor)
        self.rename(temporary, path)
        if durable:
            self.sync_directory(path.parent)

    def truncate(self, descriptor: int, size: int, path: Path) -> None:
        with _naming(path):
            os.ftruncate(descriptor, size)

    def sync(self, descriptor: int, path: Path) -> None:
        """Make a file's bytes durable."""
        with _naming(path):
            os.fsync(descriptor)

    def sync_file(self, path: Path) -> None:
        """The same for a file that is not open."""
        descriptor = self.open_read(path)
        try:
            self.sync(descriptor, path)
        finally:
            self.close(descriptor)

    def sync_directory(self, path: Path) -> None:
        """Make created, renamed and removed entries of a directory durable."""
        with _naming(path):
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    # -- names

    def copy(self, source: Path, target: Path) -> None:
        """Copy a file; the copy is not yet durable."""
        read = self.open_read(source)
        try:
            written = self.create(target)
            try:
                with _naming(target), open(read, "rb", closefd=False) as old, open(written, "wb", closefd=False) as new:
                    shutil.copyfileobj(old, new, SMALL)
            finally:
                self.close(written)
        finally:
            self.close(read)

    def link(self, source: Path, target: Path) -> None:
        """Give a file that no longer changes a second name, or copy it where the medium has no hard links."""
        try:
            os.link(source, target)
        except OSError:
            self.copy(source, target)

    def _unlink_others(self, path: Path) -> None:
        """Give this name its own copy of the file; the other names keep theirs."""
        temporary = path.with_name(path.name + ".tmp")
        self.copy(path, temporary)
        self.sync_file(temporary)
        self.rename(temporary, path)
        self.sync_directory(path.parent)

    def rename(self, source: Path, target: Path) -> None:
        with _naming(source):
            os.replace(source, target)

    def remove(self, path: Path) -> None:
        """Remove a file, or a link and not what it leads to. It is no error if it is gone already."""
        with _naming(path):
            path.unlink(missing_ok=True)

    def remove_directory(self, path: Path) -> None:
        with _naming(path):
            path.rmdir()

    def make_directory(self, path: Path) -> None:
        with _naming(path):
            path.mkdir(parents=True, exist_ok=True)


def _found(path: Path, kind: int) -> os.stat_result | None:
    """What there is of this kind at the path itself, whatever a link leads to; StorageError for another kind."""
    with _naming(path):
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return None
    if stat.S_IFMT(status.st_mode) != kind:
        there = _KINDS.get(stat.S_IFMT(status.st_mode), "a device")
        raise StorageError(f"{path}: is {there}, and has to be {_KINDS[kind]}", str(path))
    return status


def _kept_open(descriptor: int) -> int:
    """A descriptor that its owner keeps; the last ones of the process are left to others."""
    if is_reserved(descriptor):
        os.close(descriptor)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    return descriptor


def _whole(descriptor: int, size: int) -> bytes:
    with open(descriptor, "rb", closefd=False) as file:
        return file.read(size)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _error(path, error) from error


def _error(path: Path, error: OSError) -> StorageError:
    return StorageError(f"{path}: {said(error)}", str(path))


def said(error: OSError) -> str:
    """What the system said, and what helps."""
    return _ADVICE.get(error.errno or 0) or error.strerror or str(error)
