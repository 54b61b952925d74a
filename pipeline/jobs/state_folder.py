"""Small files beside the checkpoint of a streaming query, on any file system of Spark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


class StateFolder:
    """A folder of JSON files and data folders. JSON files are always complete."""

    def __init__(self, spark: Any, root: str) -> None:
        self._hadoop = spark._jvm.org.apache.hadoop
        self.root = root.rstrip("/")
        self._fs = self._hadoop.fs.Path(self.root).getFileSystem(spark._jsc.hadoopConfiguration())

    def path(self, name: str) -> str:
        """The full path of something in the folder."""
        return f"{self.root}/{name}"

    def _at(self, name: str) -> Any:
        return self._hadoop.fs.Path(self.path(name))

    def exists(self, name: str) -> bool:
        return bool(self._fs.exists(self._at(name)))

    def names(self, name: str) -> list[str]:
        """The names in a subfolder. Empty if it does not exist."""
        if not self.exists(name):
            return []
        return sorted(status.getPath().getName() for status in self._fs.listStatus(self._at(name)))

    def read_text(self, name: str) -> str | None:
        """The text of a file, or None when it is not there."""
        if not self.exists(name):
            return None
        stream = self._fs.open(self._at(name))
        try:
            # py4j converts Java's byte arrays to bytes.
            size = int(self._fs.getFileStatus(self._at(name)).getLen())
            return bytes(stream.readNBytes(size)).decode()
        finally:
            stream.close()

    def read_json(self, name: str) -> Any:
        """The value of a JSON file, or None when it is not there; ValueError for a damaged one."""
        text = self.read_text(name)
        try:
            return None if text is None else json.loads(text)
        except ValueError as error:
            raise ValueError(f"{self.path(name)} is damaged: {error}") from None

    def write_json(self, name: str, value: Mapping[str, Any]) -> None:
        """Write a temporary JSON file and rename it, so that it is always complete."""
        unfinished = self._at(f"{name}.tmp")
        stream = self._fs.create(unfinished, True)
        try:
            stream.write(bytearray(json.dumps(value).encode()))
        finally:
            stream.close()
        self._fs.delete(self._at(name), False)
        if not self._fs.rename(unfinished, self._at(name)):
            raise OSError(f"{self.path(name)}: cannot be written")

    def delete(self, name: str) -> None:
        """Remove a file or a folder with everything in it."""
        self._fs.delete(self._at(name), True)


def has_unfinished_batch(spark: Any, checkpoint: str) -> bool:
    """Whether the last micro-batch was planned but not committed. Spark repeats it first."""
    folder = StateFolder(spark, checkpoint)
    planned, committed = (
        max((int(name) for name in folder.names(kind) if name.isdigit()), default=-1) for kind in ("offsets", "commits")
    )
    return planned > committed
