"""Logs on disk: a Kafka log directory, written and read as Kafka 4.4.0 does.

`DiskBackend` owns the directory (lock, meta.properties, checkpoints, the clean-shutdown mark); `DiskLogStore` owns one
partition's folder. Nothing here knows Kafka's rules of rolling, retention or compaction: see `PartitionLog`.

What is durable when: batches reach the file with the append, so they survive the death of the process; `flush` makes
them survive the death of the machine. The recovery point says how far that went; a start without the clean-shutdown
mark scans everything behind it.
"""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from odradek.protocol.errors import CorruptDataError
from odradek.protocol.uuids import new_uuid, uuid_to_text
from odradek.storage.backend import LoadedLog, LogStore, SegmentStores, StorageError
from odradek.storage.checkpoint_files import (
    CLEAN_SHUTDOWN,
    CLEANER_OFFSETS,
    HIGH_WATERMARKS,
    LEADER_EPOCHS,
    LOG_START_OFFSETS,
    META_PROPERTIES,
    PARTITION_METADATA,
    RECOVERY_POINTS,
    CheckpointFormatError,
    MetaProperties,
    format_clean_shutdown,
    format_leader_epochs,
    format_meta_properties,
    format_offsets,
    format_partition_metadata,
    format_snapshot,
    parse_clean_shutdown,
    parse_leader_epochs,
    parse_meta_properties,
    parse_offsets,
    parse_partition_metadata,
)
from odradek.storage.disk_segments import DiskSegmentStores
from odradek.storage.file_system import LARGE, FileSystem
from odradek.storage.formats.segment_files import CLEANED, DELETED, LOG, SNAPSHOT, SWAP, file_name, parse_file_name
from odradek.storage.leader_epochs import LeaderEpochs
from odradek.storage.log_config import LogConfig
from odradek.storage.log_directory import (
    check_log_directory,
    is_kafkas,
    is_of_partition,
    is_to_be_deleted,
    lock_directory,
    unlock_directory,
)
from odradek.storage.producer_state import ProducerStates
from odradek.storage.recovery import finish_swaps, recover, restore_producers

_CHECKPOINTS = (RECOVERY_POINTS, LOG_START_OFFSETS, CLEANER_OFFSETS, HIGH_WATERMARKS)
_DERIVABLE = {
    RECOVERY_POINTS: "every log is scanned from its start after an unclean stop",
    LOG_START_OFFSETS: "every log starts with its first segment",
}
"""Checkpoints without which Kafka starts when it cannot read them, and the consequence."""
_LONGEST_NAME = 255
_LARGEST_SEGMENT = 2**31 - 1
_REMOVED_AT_ONCE = 200
"""Files, or folders of partitions: a deleted topic may have thousands, and their removal holds up everybody."""
_log = logging.getLogger(__name__)


def name_with_suffix(folder: str, suffix: str) -> str:
    """Kafka's name for a folder that is no longer a partition (`topic-0.<id>-delete`), cut to the length of a file
    name.
    """
    ending = f".{uuid.uuid4().hex}-{suffix}"
    return folder[: _LONGEST_NAME - len(ending)] + ending


class DiskBackend:
    """One log directory. Owner: the cluster; `now_ms` is the broker's clock.

    Raises StorageError for a directory that is not writable, held by another process, or another cluster's.
    """

    def __init__(
        self,
        directory: str | Path,
        *,
        now_ms: Callable[[], int],
        cluster_id: str | None = None,
        node_id: int = 1,
        fs: FileSystem | None = None,
    ) -> None:
        self.directory = Path(directory).absolute()
        self.fs = fs or FileSystem()
        self.now_ms = now_ms
        self.sync_rolls = False
        """Whether a new or finished segment is made durable at once, before anything in it is acknowledged."""
        self.has_new_folders = False
        """Whether folders of partitions were made that a crash of the machine may take away."""
        self.broker_epoch = -1
        """Epoch of the broker's registration. A clean stop writes it down, because a controller asks for it at the next
        registration.
        """
        self.last_broker_epoch = -1
        """The epoch that the last clean stop wrote down; -1 after an unclean one."""
        self.recovered: list[str] = []
        """The repairs of recovery, one line each."""
        check_log_directory(self.directory)
        self.fs.make_directory(self.directory)
        self._lock = lock_directory(self.directory)
        try:
            self.meta = self._load_meta(cluster_id, node_id)
            self._offsets = {name: self._read_offsets(name) for name in _CHECKPOINTS}
            self.was_clean = self._take_clean_mark()
        except BaseException:
            self._unlock()
            raise
        self._stale: set[str] = set()
        self._to_delete: list[tuple[int, Path]] = []

    # --- the directory ------------------------------------------------------------------------------------------------

    def report_damage(self, line: str) -> None:
        """Record and log data that was lost or cannot be served."""
        self.recovered.append(line)
        _log.warning("%s", line)

    def _load_meta(self, cluster_id: str | None, node_id: int) -> MetaProperties:
        path = self.directory / META_PROPERTIES
        new_directory_id = uuid_to_text(new_uuid())
        data = self.fs.read_if_any(path)
        if data is not None:
            try:
                meta = parse_meta_properties(data)
            except CheckpointFormatError as error:
                raise StorageError(f"{path}: {error}", str(path)) from None
            if meta.directory_id is not None:
                return meta
            meta = replace(meta, directory_id=new_directory_id)  # like Kafka, for a directory from before 3.7
        else:
            meta = MetaProperties(cluster_id or uuid_to_text(new_uuid()), node_id, new_directory_id)
        self.fs.write_atomically(path, format_meta_properties(meta))
        return meta

    def _read_offsets(self, name: str) -> dict[tuple[str, int], int]:
        path = self.directory / name
        try:
            return parse_offsets(self.fs.read_if_any(path, LARGE) or b"")
        except CheckpointFormatError as error:
            if name in _DERIVABLE:
                self.report_damage(f"{path}: {error}; {_DERIVABLE[name]}")
                return {}
            raise StorageError(f"{path}: {error}", str(path)) from None

    def _take_clean_mark(self) -> bool:
        path = self.directory / CLEAN_SHUTDOWN
        mark = self.fs.read_if_any(path)
        if mark is None:
            return False
        self.last_broker_epoch = parse_clean_shutdown(mark)
        self.fs.remove(path)
        self.fs.sync_directory(self.directory)
        return True

    def folder(self, topic: str, partition: int) -> Path:
        """The path of a partition's folder; StorageError for a name that leads out of the directory."""
        name = f"{topic}-{partition}"
        if not is_of_partition(name):
            raise StorageError(f"{self.directory}: no folder of a partition can have the name {name[:_LONGEST_NAME]!r}")
        return self.directory / name

    def has_folder(self, topic: str, partition: int) -> bool:
        """Whether a partition has a folder, or something in its place."""
        return os.path.lexists(self.folder(topic, partition))

    def partitions(self) -> dict[tuple[str, int], bytes | None]:
        """(topic, partition) -> topic id of every partition folder; None without partition.metadata.

        A link in the place of a folder counts, and is not followed: whoever opens the log says what is wrong with it.
        """
        found: dict[tuple[str, int], bytes | None] = {}
        for entry in sorted(self.fs.entries(self.directory), key=lambda entry: entry.name):
            if is_of_partition(entry.name) and not entry.name.startswith("__cluster_metadata"):
                topic, _, number = entry.name.rpartition("-")
                if entry.is_dir(follow_symlinks=False):
                    found[topic, int(number)] = self._topic_id(self.directory / entry.name)
                elif entry.is_symlink():
                    found[topic, int(number)] = None
        return found

    def _topic_id(self, folder: Path) -> bytes | None:
        path = folder / PARTITION_METADATA
        data = self.fs.read_if_any(path)
        try:
            return None if data is None else parse_partition_metadata(data)
        except CheckpointFormatError as error:
            raise StorageError(f"{path}: {error}", str(path)) from None

    def remove_leftovers(self) -> None:
        """Remove the folders of topics whose deletion was interrupted."""
        for entry in self.fs.entries(self.directory):
            if is_to_be_deleted(entry.name):
                self.remove_folder(self.directory / entry.name)

    def remove_folder(self, folder: Path) -> None:
        """Remove the files of a partition, and the folder unless it has others. Of a link the link alone goes."""
        if folder.is_symlink():
            self.fs.remove(folder)
        elif self.fs.is_folder(folder):
            foreign = []
            for entry in self.fs.entries(folder):
                if is_kafkas(entry.name) and not entry.is_dir(follow_symlinks=False):
                    self.fs.remove(folder / entry.name)
                else:
                    foreign.append(entry.name)
            if foreign:
                _log.warning("%s stays: it holds %r, which is not Kafka's", folder, min(foreign))
            else:
                self.fs.remove_directory(folder)

    def put_aside(self, topic: str, partition: int) -> None:
        """Rename the folder of an unknown partition, as Kafka does (`topic-0.<id>-stray`)."""
        folder = self.folder(topic, partition)
        target = folder.with_name(name_with_suffix(folder.name, "stray"))
        self.fs.rename(folder, target)
        self.forget((topic, partition))
        self.report_damage(f"{folder}: no partition of this cluster, put aside as {target.name}")

    def sync_folders(self) -> None:
        """Make new folders of partitions durable, all at once. What was flushed in one of them is durable only then."""
        if self.has_new_folders:
            self.fs.sync_directory(self.directory)
            self.has_new_folders = False

    # --- the contract of LogBackend -----------------------------------------------------------------------------------

    def open_log(self, topic: str, partition: int, topic_id: bytes, config: LogConfig) -> LogStore:
        return DiskLogStore(self, topic, partition, topic_id, config)

    def has_log(self, topic: str, partition: int) -> bool:
        return self.has_folder(topic, partition)

    def delete_log(self, topic: str, partition: int, delay_ms: int) -> None:
        """Rename the folder as Kafka does (`topic-0.<id>-delete`) and remove it once `delay_ms` have passed."""
        folder = self.folder(topic, partition)
        if self.has_folder(topic, partition):
            target = folder.with_name(name_with_suffix(folder.name, "delete"))
            self.fs.rename(folder, target)
            self.delete_later([target], delay_ms)
        self.forget((topic, partition))

    def shared_log(self, begin: LoadedLog, end_offset: int, end_size: int) -> LogStore | None:
        """Files are not shared: each log directory has its own."""
        return None

    def segment_bytes(self, config: LogConfig) -> int:
        return config.segment_bytes

    def offset(self, checkpoint: str, key: tuple[str, int], default: int = 0) -> int:
        """The offset of a partition in a checkpoint file (RECOVERY_POINTS, ...)."""
        return self._offsets[checkpoint].get(key, default)

    def set_offset(self, checkpoint: str, key: tuple[str, int], offset: int) -> None:
        """Set an offset; `write_checkpoints` writes it to the file."""
        if self._offsets[checkpoint].get(key) != offset:
            self._offsets[checkpoint][key] = offset
            self._stale.add(checkpoint)

    def forget(self, key: tuple[str, int]) -> None:
        """Remove a deleted partition from all checkpoints."""
        for name, offsets in self._offsets.items():
            if offsets.pop(key, None) is not None:
                self._stale.add(name)

    def take_offsets(self, other: DiskBackend, key: tuple[str, int]) -> None:
        """Copy a partition's offsets from another directory's checkpoints."""
        for name, offsets in other._offsets.items():
            if key in offsets:
                self.set_offset(name, key, offsets[key])

    def forget_absent(self) -> None:
        """Remove partitions from the checkpoints whose folder is not here: it moved away, or never arrived."""
        for key in {key for offsets in self._offsets.values() for key in offsets}:
            if not self.has_folder(*key):
                self.forget(key)

    def write_checkpoints(self, names: Iterable[str] = _CHECKPOINTS, *, durable: bool = True) -> None:
        """Write changed checkpoints to their files."""
        for name in [name for name in names if name in self._stale]:
            self.fs.write_atomically(self.directory / name, format_offsets(self._offsets[name]), durable=durable)
            self._stale.discard(name)

    def delete_later(self, paths: Sequence[Path], delay_ms: int) -> None:
        """Remove these files or folders once `delay_ms` (`file.delete.delay.ms`) have passed."""
        if delay_ms > 0:
            due = self.now_ms() + delay_ms
            self._to_delete += [(due, path) for path in paths]
        else:
            for path in paths:
                self._remove(path)

    def remove_due(self) -> int | None:
        """Remove files whose time to be deleted has come, some at a call; returns when the next ones are due (None for
        never).
        """
        now = self.now_ms()
        due = [entry for entry in self._to_delete if entry[0] <= now][:_REMOVED_AT_ONCE]
        gone = set(due)
        self._to_delete = [entry for entry in self._to_delete if entry not in gone]
        for _, path in due:
            self._remove(path)
        return min((at for at, _ in self._to_delete), default=None)

    def _remove(self, path: Path) -> None:
        self.remove_folder(path) if is_to_be_deleted(path.name) else self.fs.remove(path)

    def close(self, *, clean: bool = True) -> None:
        """Write the remaining checkpoints and unlock the directory. All logs must be closed before.

        If that fails, the directory has no mark of a clean stop.
        """
        if self._lock < 0:
            return
        try:
            if clean:
                for _, path in self._to_delete:
                    self._remove(path)
                self._to_delete = []
                self.write_checkpoints()
                self.fs.write_atomically(self.directory / CLEAN_SHUTDOWN, format_clean_shutdown(self.broker_epoch))
        except StorageError as error:
            _log.error("%s is not closed cleanly: %s", self.directory, error.message)
        finally:
            self._unlock()

    def give_back(self) -> None:
        """Unlock the directory without writing anything. All logs must be closed before."""
        if self.was_clean:
            self.fs.write_atomically(self.directory / CLEAN_SHUTDOWN, format_clean_shutdown(self.last_broker_epoch))
        self._unlock()

    def _unlock(self) -> None:
        unlock_directory(self.directory, self._lock)
        self._lock = -1


class DiskLogStore:
    """The folder of one partition. Owner: its PartitionLog.

    `folder`: the folder of a log that is no partition of the log directory. `found`: the loaded log, if it need not be
    read.
    """

    __slots__ = ("_config", "_directory_changed", "_found", "_fs", "_key", "_snapshots", "backend", "folder")

    def __init__(
        self,
        backend: DiskBackend,
        topic: str,
        partition: int,
        topic_id: bytes,
        config: LogConfig,
        *,
        folder: Path | None = None,
        found: LoadedLog | None = None,
    ) -> None:
        self.backend = backend
        self._fs = backend.fs
        self._key = (topic, partition)
        self._config = config
        self._found = found
        self._snapshots: list[int] = []
        self.folder = folder or backend.folder(topic, partition)
        self._directory_changed = False
        if not self._fs.is_folder(self.folder):
            self._fs.make_directory(self.folder)
            try:
                metadata = format_partition_metadata(topic_id)
                self._fs.write_atomically(self.folder / PARTITION_METADATA, metadata, durable=False)
            except StorageError:
                backend.remove_folder(self.folder)
                raise
            backend.has_new_folders = True
            self._directory_changed = True
            if backend.sync_rolls:
                backend.sync_folders()

    # --- loading ------------------------------------------------------------------------------------------------------

    def load(self) -> LoadedLog | None:
        if self._found is not None:
            found, self._found = self._found, None
            return found
        try:
            return self._load()
        except CorruptDataError as error:
            raise StorageError(f"{self.folder} can't be opened: {error}", str(self.folder)) from error

    def _load(self) -> LoadedLog | None:
        names = self._names()
        if finish_swaps(self._fs, self.folder, names):
            names = self._names()
        parsed = [parts for name in names if (parts := parse_file_name(name)) is not None]
        bases = sorted(offset for offset, kind, _ in parsed if kind == LOG)
        self._snapshots = sorted(offset for offset, kind, _ in parsed if kind == SNAPSHOT)
        log_start = self.backend.offset(LOG_START_OFFSETS, self._key)
        if not bases:
            return LoadedLog([], log_start, log_start) if log_start else None
        return self._load_segments([self._open(base) for base in bases], log_start)

    def _names(self) -> list[str]:
        """The names of Kafka's files in the folder; StorageError where one is no file."""
        entries = [entry for entry in self._fs.entries(self.folder) if is_kafkas(entry.name)]
        for entry in entries:
            if not entry.is_file(follow_symlinks=False):
                self._fs.size(self.folder / entry.name)  # it says what there is
        return [entry.name for entry in entries]

    def _load_segments(self, found: list[DiskSegmentStores], log_start: int) -> LoadedLog:
        epochs = self._read_leader_epochs()
        recovery_point = self.backend.offset(RECOVERY_POINTS, self._key)
        recovered = recover(
            found,
            unflushed_from=None if self.backend.was_clean else recovery_point,
            index_interval_bytes=self._config.index_interval_bytes,
            epochs=epochs,
            report=self.backend.report_damage,
        )
        segments, end = recovered.segments, recovered.end_offset
        self._drop_snapshots_outside(segments[0].base_offset, end)
        producers = restore_producers(
            self._fs, self.folder, f"{self._key[0]}-{self._key[1]}", recovered, self._snapshots
        )
        return LoadedLog(
            list(segments),
            max(log_start, segments[0].base_offset),
            recovery_point if end is None else min(recovery_point, end),
            epochs.entries(),
            producers,
            {stores.base_offset: self._fs.modified_ms(stores.batches.path) for stores in segments},
            self.backend.offset(CLEANER_OFFSETS, self._key),
        )

    def _open(self, base: int) -> DiskSegmentStores:
        path = self.folder / file_name(base, LOG)
        size = self._fs.size(path)
        if size > _LARGEST_SEGMENT:
            raise StorageError(f"{path}: has {size} bytes, more than a segment can have", str(path))
        return DiskSegmentStores(self._fs, self.folder, base, self._config.segment_index_bytes, size=size)

    def _drop_snapshots_outside(self, first: int, end: int | None) -> None:
        for offset in [offset for offset in self._snapshots if offset < first or (end is not None and offset > end)]:
            self._remove_snapshot(offset)

    def _read_leader_epochs(self) -> LeaderEpochs:
        path = self.folder / LEADER_EPOCHS
        try:
            return LeaderEpochs(parse_leader_epochs(self._fs.read_if_any(path, LARGE) or b""))
        except CheckpointFormatError as error:
            raise StorageError(f"{path}: {error}", str(path)) from None

    # --- segments -----------------------------------------------------------------------------------------------------

    def create_segment(self, base_offset: int, config: LogConfig) -> SegmentStores:
        self._config = config
        stores = DiskSegmentStores(self._fs, self.folder, base_offset, config.segment_index_bytes, size=None)
        self._directory_changed = not self.backend.sync_rolls
        if self.backend.sync_rolls:
            self._fs.sync_directory(self.folder)
        return stores

    def create_cleaned(self, base_offset: int, config: LogConfig) -> SegmentStores:
        return DiskSegmentStores(
            self._fs, self.folder, base_offset, config.segment_index_bytes, size=None, suffix=CLEANED
        )

    def replace_segments(self, old: Sequence[SegmentStores], new: Sequence[SegmentStores]) -> None:
        for stores in new:
            assert isinstance(stores, DiskSegmentStores)
            stores.batches.flush()
            for index in (stores.offset_index, stores.time_index, stores.txn_index):
                index.flush()
            stores.batches.seal()
        for stores in reversed(new):
            assert isinstance(stores, DiskSegmentStores)
            stores.rename(SWAP)
        self._fs.sync_directory(self.folder)
        self.drop_segments(old, self._config.file_delete_delay_ms)
        for stores in new:
            assert isinstance(stores, DiskSegmentStores)
            stores.rename("")
        self._fs.sync_directory(self.folder)

    def discard(self, cleaned: SegmentStores) -> None:
        assert isinstance(cleaned, DiskSegmentStores)
        cleaned.release()
        cleaned.remove()

    def drop_segments(self, segments: Sequence[SegmentStores], delay_ms: int) -> None:
        for stores in segments:
            assert isinstance(stores, DiskSegmentStores)
            stores.release()
            self.backend.delete_later(stores.rename(DELETED), delay_ms)

    def segment_sealed(self, stores: SegmentStores) -> None:
        assert isinstance(stores, DiskSegmentStores)
        if self.backend.sync_rolls:
            stores.batches.flush()
        stores.batches.seal()

    # --- what is kept beside them -------------------------------------------------------------------------------------

    def save_producers(self, offset: int, producers: ProducerStates) -> None:
        path = self.folder / file_name(offset, SNAPSHOT)
        self._fs.write_atomically(path, format_snapshot(producers), durable=False)
        if offset not in self._snapshots:
            self._snapshots.append(offset)
            self._snapshots.sort()

    def begin_with_producers(self, offset: int) -> None:
        """Begin the folder with one snapshot of the producers, as of `offset`."""
        self._snapshots = [offset]

    def drop_producer_snapshots(self, before_offset: int) -> None:
        for offset in [offset for offset in self._snapshots if offset < before_offset]:
            self._remove_snapshot(offset)

    def truncated(self, offset: int) -> None:
        for taken in [taken for taken in self._snapshots if taken > offset]:
            self._remove_snapshot(taken)
        backend, key = self.backend, self._key
        for name in (RECOVERY_POINTS, CLEANER_OFFSETS, HIGH_WATERMARKS):
            if backend.offset(name, key) > offset:
                backend.set_offset(name, key, offset)
        backend.write_checkpoints([RECOVERY_POINTS, CLEANER_OFFSETS, HIGH_WATERMARKS])

    def _remove_snapshot(self, offset: int) -> None:
        self._snapshots.remove(offset)
        self._fs.remove(self.folder / file_name(offset, SNAPSHOT))

    def save_leader_epochs(self, epochs: LeaderEpochs) -> None:
        self._fs.write_atomically(self.folder / LEADER_EPOCHS, format_leader_epochs(epochs.entries()), durable=False)

    def save_log_start_offset(self, offset: int) -> None:
        self.backend.set_offset(LOG_START_OFFSETS, self._key, offset)
        self.backend.write_checkpoints([LOG_START_OFFSETS])

    def save_recovery_point(self, offset: int) -> None:
        if self._directory_changed:
            self._fs.sync_directory(self.folder)
            self._directory_changed = False
        self.backend.sync_folders()
        self.backend.set_offset(RECOVERY_POINTS, self._key, offset)
        self.backend.set_offset(HIGH_WATERMARKS, self._key, offset)

    def save_cleaner_offset(self, offset: int) -> None:
        self.backend.set_offset(CLEANER_OFFSETS, self._key, offset)
        self.backend.write_checkpoints([CLEANER_OFFSETS])

    def close(self, *, clean: bool) -> None:
        if self._directory_changed and clean:
            self._fs.sync_directory(self.folder)
            self.backend.sync_folders()

    def delete(self) -> None:
        self.backend.delete_log(*self._key, self._config.file_delete_delay_ms)
