"""Folders of partitions that are copied, linked, moved and replaced, in steps after each of which the process may die.

*Links.* A closed segment does not change, so two logs may have the same file: a hard link, or a copy where a medium has
no links. There is one exception: a log may be cut, or continue, in a segment that was closed. `DiskBatchStore` then
copies the file before it writes. The active segment is never shared. Files that are always written as a whole (indexes,
producers, epochs) are not shared either.

*Moves* to another log directory. The copy is made under Kafka's name for a moving replica (`topic-0.<id>-future`). It
gets its final name when all of it is durable. Only then the old folder is removed. So there is always one whole folder;
after a death there may be two with the same content.

*Restores* replace the logs of a log directory by other ones, all or none. The new folders get names of folders that
Kafka is to remove (`topic-0.<id>-delete`), so that any start drops them. Then a mark is written: which folder becomes
which partition, and the end of the metadata log from which on it does. The append that reaches this end changes
everything at once. Then the folders are renamed. A start that finds the mark completes the rest, or drops the folders.
"""

from __future__ import annotations

import json
import logging
import os
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from odradek.storage.backend import LoadedLog, SegmentStores, StorageError
from odradek.storage.broken_log import unbroken
from odradek.storage.checkpoint_files import (
    CLEANER_OFFSETS,
    LEADER_EPOCHS,
    LOG_START_OFFSETS,
    PARTITION_METADATA,
    RECOVERY_POINTS,
    format_leader_epochs,
    format_partition_metadata,
    format_snapshot,
)
from odradek.storage.disk_backend import DiskBackend, DiskLogStore, name_with_suffix
from odradek.storage.disk_segments import DiskSegmentStores
from odradek.storage.file_system import LARGE, FileSystem
from odradek.storage.formats.segment_files import DELETED, LOG, SNAPSHOT, file_name
from odradek.storage.log_directory import is_kafkas, is_of_partition, is_to_be_deleted
from odradek.storage.partition_log import PartitionLog

MARK = "odradek.restore.json"
_CHECKPOINTS = (LOG_START_OFFSETS, RECOVERY_POINTS, CLEANER_OFFSETS)
_FUTURE = re.compile(r"(.+-\d+)\.[0-9a-f]{32}-future")
_log = logging.getLogger(__name__)


# --- links ------------------------------------------------------------------------------------------------------------


def directory_of(log: PartitionLog) -> DiskBackend:
    """The log directory of a log on disk."""
    with unbroken(log):
        assert isinstance(log.store, DiskLogStore)
        return log.store.backend


def close_segments(log: PartitionLog, now_ms: int) -> None:
    """Close the segments of a log that hold data; StorageError if no new segment can be made."""
    with unbroken(log):
        if log.active.size:
            log.roll(now_ms)


def link_segments(log: PartitionLog, fs: FileSystem, folder: Path) -> None:
    """Make a folder with the closed segments of a log. The log may take appends or be deleted afterwards."""
    fs.make_directory(folder)
    with unbroken(log):
        for segment in log.segments[:-1]:
            stores = segment.stores
            assert isinstance(stores, DiskSegmentStores)
            fs.link(stores.batches.path, folder / file_name(segment.base_offset, LOG))


def lay_out_folder(log: PartitionLog, backend: DiskBackend, folder: Path, topic_id: bytes) -> None:
    """Make a folder with the closed segments of a log, for a separate log.

    It looks like the folder of a partition whose process died: the indexes are missing, and opening the log builds
    them.
    """
    fs = backend.fs
    link_segments(log, fs, folder)
    fs.write_atomically(folder / PARTITION_METADATA, format_partition_metadata(topic_id), durable=False)
    DiskSegmentStores(fs, folder, log.active.base_offset, log.config.segment_index_bytes, size=None).release()
    fs.write_atomically(folder / LEADER_EPOCHS, format_leader_epochs(log.leader_epochs.entries()), durable=False)
    producers = folder / file_name(log.log_end_offset, SNAPSHOT)
    fs.write_atomically(producers, format_snapshot(log.producers), durable=False)


def open_folder(log: PartitionLog, backend: DiskBackend, folder: Path, topic_id: bytes) -> PartitionLog:
    """A log over a folder with the segments of another log. It takes over the other log's state and reads nothing."""
    config = log.config
    limit = config.segment_index_bytes
    active = DiskSegmentStores(backend.fs, folder, log.active.base_offset, limit, size=None)
    found = LoadedLog([active], log.log_start_offset, log.recovery_point)
    store = DiskLogStore(backend, log.topic, log.partition, topic_id, config, folder=folder, found=found)
    store.begin_with_producers(log.log_end_offset)

    def copied(stores: SegmentStores) -> SegmentStores:
        if stores.base_offset == active.base_offset:
            return active
        own = DiskSegmentStores(backend.fs, folder, stores.base_offset, limit, size=stores.batches.size)
        own.take_indexes(stores)
        return own

    with unbroken(log):
        return log.twin(backend, store, copied)


# --- moves ------------------------------------------------------------------------------------------------------------


def move_folder(source: DiskBackend, target: DiskBackend, topic: str, partition: int, delay_ms: int) -> None:
    """Move the folder and checkpoints of a closed log to another directory.

    The old folder is removed once `delay_ms` have passed. After a StorageError the folder is only where it was.
    """
    folder = source.folder(topic, partition)
    arrived = target.directory / folder.name
    future = target.directory / f"{folder.name}.{uuid.uuid4().hex}-future"
    if target.fs.is_folder(arrived):
        raise StorageError(f"{arrived} is there already", str(arrived))
    try:
        copy_folder(target, folder, future)
        target.take_offsets(source, (topic, partition))
        target.write_checkpoints()
        target.fs.rename(future, arrived)
        target.fs.sync_directory(target.directory)
        source.delete_log(topic, partition, delay_ms)
    except StorageError:
        if source.fs.is_folder(folder):
            _undo(target, (topic, partition), arrived, future)
            raise
        _log.exception("%s is given up", folder)
    source.write_checkpoints()


def copy_folder(backend: DiskBackend, source: Path, target: Path) -> None:
    """Make a durable copy of a partition's files in a log directory, in the place of a folder of that name."""
    fs = backend.fs
    if fs.is_folder(target):
        backend.remove_folder(target)
    fs.make_directory(target)
    for name in sorted(entry.name for entry in fs.entries(source)):
        if is_kafkas(name) and not name.endswith(DELETED):
            fs.copy(source / name, target / name)
            fs.sync_file(target / name)
    fs.sync_directory(target)
    fs.sync_directory(backend.directory)


def _undo(target: DiskBackend, key: tuple[str, int], arrived: Path, future: Path) -> None:
    target.forget(key)
    for path in (arrived, future):
        target.remove_folder(path)


def remove_unfinished(backends: Sequence[DiskBackend]) -> None:
    """Remove unfinished copies of a process that died: those whose partition is in one of these directories."""
    for backend in backends:
        for entry in backend.fs.entries(backend.directory):
            found = _FUTURE.fullmatch(entry.name)
            if found is not None and any((other.directory / found[1]).is_dir() for other in backends):
                backend.remove_folder(backend.directory / entry.name)


# --- restores ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class RestoreMark:
    """The pending changes in one log directory.

    `metadata_end`: the end of the metadata log from which on they count. `folders`: name of a partition's folder -> the
    new folder, None to remove it. `offsets` of the new folders: log start, recovery point, first offset that compaction
    has not read.
    """

    metadata_end: int = 0
    folders: dict[str, str | None] = field(default_factory=dict)
    offsets: dict[str, tuple[int, int, int]] = field(default_factory=dict)


def restored_folder(backend: DiskBackend, name: str) -> Path:
    """The temporary path of a folder that is to become the partition's folder of that name."""
    return backend.directory / name_with_suffix(name, "delete")


def write_mark(backend: DiskBackend, mark: RestoreMark) -> None:
    """Write the mark. From now on a start carries it out, if the metadata log has reached `metadata_end`."""
    for prepared in filter(None, mark.folders.values()):
        backend.fs.sync_directory(backend.directory / prepared)
    data = {"metadata_end": mark.metadata_end, "folders": mark.folders, "offsets": mark.offsets}
    backend.fs.write_atomically(backend.directory / MARK, json.dumps(data).encode())


def read_mark(backend: DiskBackend) -> RestoreMark | None:
    """The mark of a process that died; StorageError if the file is no mark."""
    path = backend.directory / MARK
    text = backend.fs.read_if_any(path, LARGE)
    if text is None:
        return None
    try:
        data = json.loads(text)
        offsets = {
            name: (int(start), int(point), int(clean)) for name, (start, point, clean) in data["offsets"].items()
        }
        mark = RestoreMark(int(data["metadata_end"]), dict(data["folders"]), offsets)
        for name, prepared in mark.folders.items():
            if not (is_of_partition(name) and (prepared is None or is_to_be_deleted(prepared))):
                raise ValueError(f"{name!r} cannot become {prepared!r}")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StorageError(f"{path}: is not a mark of a restore: {error!r:.200}", str(path)) from None
    return mark


def execute_restore(backend: DiskBackend, mark: RestoreMark) -> None:
    """Rename the folders that are not renamed yet, and remove the mark."""
    fs, directory = backend.fs, backend.directory
    for name, prepared in mark.folders.items():
        live = directory / name
        if prepared is not None and not fs.is_folder(directory / prepared):
            continue
        if os.path.lexists(live):
            gone = directory / name_with_suffix(name, "delete")
            fs.rename(live, gone)
            backend.delete_later([gone], 0)
        if prepared is not None:
            fs.rename(directory / prepared, live)
    _note_offsets(backend, mark.folders, mark.offsets)
    fs.sync_directory(directory)
    _remove_mark(backend)


def give_up_restore(backend: DiskBackend, mark: RestoreMark) -> None:
    """Remove the mark, then the new folders. Nothing has changed."""
    _remove_mark(backend)
    for prepared in filter(None, mark.folders.values()):
        backend.remove_folder(backend.directory / prepared)


def finish_restore(backend: DiskBackend, metadata_end: int) -> None:
    """Complete the mark of a process that died if the metadata log has reached `metadata_end`; otherwise give it up."""
    mark = read_mark(backend)
    if mark is None:
        return
    if metadata_end >= mark.metadata_end:
        execute_restore(backend, mark)
        backend.report_damage(f"{backend.directory}: a restore that was cut short is done")
    else:
        give_up_restore(backend, mark)
        backend.report_damage(f"{backend.directory}: a restore that had not happened yet is given up")


def _note_offsets(
    backend: DiskBackend, names: Mapping[str, str | None], offsets: Mapping[str, tuple[int, int, int]]
) -> None:
    for name in names:
        topic, _, index = name.rpartition("-")
        key = topic, int(index)
        backend.forget(key)
        for checkpoint, offset in zip(_CHECKPOINTS, offsets.get(name, ()), strict=False):
            backend.set_offset(checkpoint, key, offset)
    backend.write_checkpoints()


def _remove_mark(backend: DiskBackend) -> None:
    backend.fs.remove(backend.directory / MARK)
    backend.fs.sync_directory(backend.directory)
