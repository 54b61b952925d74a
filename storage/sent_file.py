"""A segment's file while answers take bytes from it."""

from __future__ import annotations

from odradek.storage.file_system import FileSystem


class SentFile:
    """A file that is open for reading, and its map; see `FileBytes`. It closes with the last slice."""

    __slots__ = ("_fs", "_map", "descriptor")

    def __init__(self, fs: FileSystem, descriptor: int, mapped: memoryview) -> None:
        self._fs = fs
        self._map = mapped
        self.descriptor = descriptor

    def view(self, offset: int, length: int) -> memoryview:
        """See `FileBytes`."""
        return self._map[offset : offset + length]

    def read(self, offset: int, length: int) -> bytes:
        """See `FileBytes`."""
        return bytes(self.view(offset, length))

    def __del__(self) -> None:
        self._fs.close(self.descriptor)
