"""The few calls that the disk backend makes to the operating system, in one replaceable object.

Every failure becomes a `StorageError` that names the file, and tests put a `FileSystem` with faults (short writes,
ENOSPC, EIO, a stop at a chosen call) in its place. Writes are whole or raise: a short write is continued.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from odradek.protocol.records import Buffer
from odradek.storage.backend import StorageError


class FileSystem:
    """Files and directories of a log directory; stateless, shared by all logs of a node."""

    __slots__ = ()

    def open(self, path: Path, *, create: bool = True) -> int:
        """A descriptor for reading and writing, created when absent; the caller closes it."""
        flags = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | (os.O_CREAT if create else 0)
        with _naming(path):
            return os.open(path, flags, 0o644)

    def open_read(self, path: Path) -> int:
        with _naming(path):
            return os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

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

    def sync(self, descriptor: int, path: Path) -> None:
        """Make a file's bytes durable."""
        with _naming(path):
            os.fsync(descriptor)

    def sync_directory(self, path: Path) -> None:
        """Make created, renamed and removed entries of a directory durable."""
        with _naming(path):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def truncate(self, descriptor: int, size: int, path: Path) -> None:
        with _naming(path):
            os.ftruncate(descriptor, size)

    def map(self, descriptor: int, length: int, path: Path) -> memoryview:
        """The first `length` bytes of a file as a read-only view; pages are read when they are touched."""
        with _naming(path):
            return memoryview(mmap.mmap(descriptor, length, access=mmap.ACCESS_READ))

    def size(self, path: Path) -> int:
        with _naming(path):
            return path.stat().st_size

    def read(self, path: Path) -> bytes:
        with _naming(path):
            return path.read_bytes()

    def write_atomically(self, path: Path, data: bytes, *, durable: bool = True) -> None:
        """Replace a small file: write it as `.tmp`, sync it, rename it over the old one."""
        temporary = path.with_name(path.name + ".tmp")
        descriptor = self.open(temporary)
        try:
            self.truncate(descriptor, 0, temporary)
            self.write_at(descriptor, [data], 0, temporary)
            if durable:
                self.sync(descriptor, temporary)
        finally:
            self.close(descriptor)
        self.rename(temporary, path)
        if durable:
            self.sync_directory(path.parent)

    def copy(self, source: Path, target: Path) -> None:
        """Copy a file; the copy is not yet durable."""
        with _naming(target):
            shutil.copyfile(source, target)

    def link(self, source: Path, target: Path) -> None:
        """Give a file that no longer changes a second name, or copy it where the medium has no hard links."""
        with _naming(target):
            try:
                os.link(source, target)
            except OSError:
                shutil.copyfile(source, target)

    def is_linked(self, path: Path) -> bool:
        """Whether a file has more than one name (`link`)."""
        with _naming(path):
            return path.exists() and path.stat().st_nlink > 1

    def unlink_others(self, path: Path) -> None:
        """Give this name its own copy of the file; the other names keep theirs."""
        temporary = path.with_name(path.name + ".tmp")
        self.copy(path, temporary)
        descriptor = self.open(temporary)
        try:
            self.sync(descriptor, temporary)
        finally:
            self.close(descriptor)
        self.rename(temporary, path)
        self.sync_directory(path.parent)

    def rename(self, source: Path, target: Path) -> None:
        with _naming(source):
            os.replace(source, target)

    def remove(self, path: Path) -> None:
        """Remove a file. It is no error if the file is gone already."""
        with _naming(path):
            path.unlink(missing_ok=True)

    def remove_directory(self, path: Path) -> None:
        with _naming(path):
            path.rmdir()

    def make_directory(self, path: Path) -> None:
        with _naming(path):
            path.mkdir(parents=True, exist_ok=True)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}", str(path)) from error
