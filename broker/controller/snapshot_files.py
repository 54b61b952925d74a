"""The files of a snapshot: closed segments of the broker's logs under other names, while the snapshot is there."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from odradek.storage import linked_log
from odradek.storage.backend import StorageError

if TYPE_CHECKING:
    from odradek.storage.disk_backend import DiskBackend
    from odradek.storage.partition_log import PartitionLog

_BESIDE = ".odradek-snapshots"


class KeptLogs:
    """Copies of logs that share their closed segments. The files go with this object, or with `remove`.

    They are in a folder beside the log directory, where hard links can be made; in a temporary one, as copies, where
    none may be made there.
    """

    def __init__(self) -> None:
        self._folders: dict[Path, Path] = {}
        self.remove = weakref.finalize(self, _remove, self._folders)
        """Remove the files; the copies can't be read any more."""

    def keep(self, log: PartitionLog, topic_id: bytes, now_ms: int) -> PartitionLog:
        """A copy of a log as it is now, which is never appended to; StorageError if its disk refuses that."""
        backend = linked_log.directory_of(log)
        linked_log.close_segments(log, now_ms)
        folder = self._folder_of(backend) / f"{log.topic}-{log.partition}"
        linked_log.link_segments(log, backend.fs, folder)
        return linked_log.opened(log, backend, folder, topic_id)

    def _folder_of(self, backend: DiskBackend) -> Path:
        known = self._folders.get(backend.directory)
        if known is None:
            known = self._folders[backend.directory] = _new_folder(backend)
        return known


def remove_left(directory: Path) -> None:
    """Remove the snapshots of a process that died with this log directory, which must be locked."""
    left = _beside(directory)
    if left.is_dir() and not left.is_symlink():
        shutil.rmtree(left, ignore_errors=True)


def _beside(directory: Path) -> Path:
    return directory.with_name(directory.name + _BESIDE)


def _new_folder(backend: DiskBackend) -> Path:
    beside = _beside(backend.directory)
    try:
        if not backend.fs.is_folder(beside):
            backend.fs.make_directory(beside)
        return Path(tempfile.mkdtemp(dir=beside))
    except (StorageError, OSError):
        return Path(tempfile.mkdtemp(prefix="odradek-snapshot-"))


def _remove(folders: dict[Path, Path]) -> None:
    for directory, folder in folders.items():
        shutil.rmtree(folder, ignore_errors=True)
        if folder.parent == _beside(directory):
            try:
                folder.parent.rmdir()
            except OSError:
                pass  # another snapshot has files there
