"""A file system that fails when told to: stops at a chosen call, writes short, is full, has bad blocks."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from odradek.protocol.records import Buffer
from odradek.storage.backend import StorageError
from odradek.storage.file_system import FileSystem


class Crash(BaseException):
    """The process dies here."""


class FaultyFileSystem(FileSystem):
    """Counts the calls that change anything; `stop_at` makes the n-th one (from 0) a Crash, writes half-way through.

    What a process that dies has left open is closed when nobody has this object any more, as a system does for it.
    """

    __slots__ = ("calls", "descriptors", "refuse", "short_writes", "stop_at")

    def __init__(self, stop_at: int | None = None) -> None:
        super().__init__()
        self.calls = 0
        self.stop_at = stop_at
        self.short_writes = False
        self.refuse: Callable[[str, Path], int | None] = lambda call, path: None
        """(call, path) -> errno of the failure, or None."""
        self.descriptors: set[int] = set()

    def __del__(self) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)

    def open(self, path: Path, *, create: bool = True) -> int:
        descriptor = super().open(path, create=create)
        self.descriptors.add(descriptor)
        return descriptor

    def open_read(self, path: Path) -> int:
        descriptor = super().open_read(path)
        self.descriptors.add(descriptor)
        return descriptor

    def create(self, path: Path) -> int:
        if self._before("create", path):
            raise Crash
        descriptor = super().create(path)
        self.descriptors.add(descriptor)
        return descriptor

    def close(self, descriptor: int) -> None:
        self.descriptors.discard(descriptor)
        super().close(descriptor)

    def _before(self, call: str, path: Path) -> bool:
        """Count; True when this is the call to die in."""
        code = self.refuse(call, path)
        if code is not None:
            raise StorageError(f"{path}: {os.strerror(code)}", str(path))
        number, self.calls = self.calls, self.calls + 1
        return number == self.stop_at

    def write_at(self, descriptor: int, parts: Sequence[Buffer], position: int, path: Path) -> None:
        data = b"".join(parts)
        if self._before("write", path):
            os.pwrite(descriptor, data[: len(data) // 2], position)
            raise Crash
        if self.short_writes:
            half = len(data) // 2
            os.pwrite(descriptor, data[:half], position)
            self._write_rest(descriptor, memoryview(data)[half:], position + half)
        else:
            super().write_at(descriptor, [data], position, path)

    def truncate(self, descriptor: int, size: int, path: Path) -> None:
        if self._before("truncate", path):
            raise Crash
        super().truncate(descriptor, size, path)

    def copy(self, source: Path, target: Path) -> None:
        if self._before("copy", target):
            data = source.read_bytes()
            target.write_bytes(data[: len(data) // 2])
            raise Crash
        super().copy(source, target)

    def link(self, source: Path, target: Path) -> None:
        if self._before("link", target):
            raise Crash
        super().link(source, target)

    def rename(self, source: Path, target: Path) -> None:
        if self._before("rename", source):
            raise Crash
        super().rename(source, target)

    def remove(self, path: Path) -> None:
        if self._before("remove", path):
            raise Crash
        super().remove(path)

    def sync(self, descriptor: int, path: Path) -> None:
        if self._before("sync", path):
            raise Crash  # a dead process takes nothing with it, so nothing need really be synced here

    def sync_directory(self, path: Path) -> None:
        if self._before("sync_directory", path):
            raise Crash


def full_after(limit: int) -> Callable[[str, Path], int | None]:
    """A disk that takes `limit` more writes and is full then."""
    left = limit

    def refuse(call: str, path: Path) -> int | None:
        nonlocal left
        if call == "write":
            left -= 1
            return errno.ENOSPC if left < 0 else None
        return None

    return refuse
