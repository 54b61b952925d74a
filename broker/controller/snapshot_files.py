"""The files of a snapshot: closed segments of the broker's logs under other names, while the snapshot is there."""

from __future__ import annotations

import logging
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from odradek.storage import partition_folders
from odradek.storage.backend import StorageError
from odradek.storage.partition_folders import RestoreMark

if TYPE_CHECKING:
    from odradek.broker.controller.disk_metadata_log import DiskMetadataLog
    from odradek.broker.controller.node_directories import NodeDirectories, Place
    from odradek.broker.metadata.image import PartitionRegistration
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
        backend = partition_folders.directory_of(log)
        partition_folders.close_segments(log, now_ms)
        folder = self._folder_of(backend) / f"{log.topic}-{log.partition}"
        partition_folders.link_segments(log, backend.fs, folder)
        return partition_folders.open_folder(log, backend, folder, topic_id)

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


# -- The files of a broker that goes back to a snapshot: laid out first, in place when the metadata log says so.

_log = logging.getLogger(__name__)


class RestoredLogs:
    """Logs that take the place of others. Use: `add` and `drop`, `begin`, append the metadata, `execute`, `take`.

    An error before the metadata are appended is undone by `give_up`; whenever the process dies, the next start finds
    all of it or nothing (`storage.partition_folders`).
    """

    def __init__(self, directories: NodeDirectories, metadata: DiskMetadataLog) -> None:
        self._directories = directories
        self._metadata = metadata
        self._marks = {number: RestoreMark() for number in directories.backends}
        self._homes: dict[Place, int | None] = {}

    def add(self, log: PartitionLog, topic_id: bytes, registration: PartitionRegistration) -> None:
        """This partition is to have the content of `log`, and will be registered so."""
        place = log.topic, log.partition
        home = self._homes[place] = self._directories.home_of(place, registration)
        self.drop(place)
        backend, mark = self._directories.backends[home], self._marks[home]
        folder = partition_folders.restored_folder(backend, log.name)
        mark.folders[log.name] = folder.name
        mark.offsets[log.name] = log.log_start_offset, log.recovery_point, log.cleaner_offset
        partition_folders.lay_out_folder(log, backend, folder, topic_id)

    def drop(self, place: Place) -> None:
        """This partition is to have nothing."""
        self._homes.setdefault(place, None)
        for number, backend in self._directories.backends.items():
            if backend.has_folder(*place):
                self._marks[number].folders[f"{place[0]}-{place[1]}"] = None

    @property
    def is_empty(self) -> bool:
        """Whether no file changes."""
        return not self._in_use()

    def begin(self, records: int) -> None:
        """The next records of the metadata log are those with which this counts, so many of them."""
        for number, mark in self._in_use():
            mark.metadata_end = self._metadata.end_offset + records
            partition_folders.write_mark(self._directories.backends[number], mark)

    def give_up(self) -> None:
        """Nothing has changed, and nothing will, unless the metadata log has the records: then a start goes on.

        Where a mark can't be removed the metadata log takes nothing more: it would seem to be so far.
        """
        for number, mark in self._in_use():
            if 0 < mark.metadata_end <= self._metadata.end_offset:
                continue
            try:
                partition_folders.give_up_restore(self._directories.backends[number], mark)
            except StorageError as error:
                self._metadata.fail(error)
                raise

    def execute(self) -> None:
        """The metadata log has the records, and the old logs are closed: put the new ones in their place."""
        if not self.is_empty:
            self._flush_metadata()
        for number, mark in self._in_use():
            partition_folders.execute_restore(self._directories.backends[number], mark)
        for place, home in self._homes.items():
            if home is None:
                self._directories.leave(place)
            else:
                self._directories.settle(place, home)

    def take(self, log: PartitionLog, topic_id: bytes) -> PartitionLog:
        """The log that is in place now, with all that `log` knows."""
        home = self._homes[log.topic, log.partition]
        assert home is not None, f"{log.name} was not laid out"
        backend = self._directories.backends[home]
        return partition_folders.open_folder(log, backend, backend.directory / log.name, topic_id)

    def _in_use(self) -> list[tuple[int, RestoreMark]]:
        return [(number, mark) for number, mark in self._marks.items() if mark.folders]

    def _flush_metadata(self) -> None:
        """The folders must not be newer than the metadata when the machine dies."""
        try:
            self._metadata.log.flush()
        except StorageError as error:
            _log.error("the metadata log is not flushed: %s", error.message)
