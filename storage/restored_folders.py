"""Replaces the logs of a log directory by other ones, all or none, whenever the process dies.

The new folders get names of folders that Kafka is to remove (`topic-0.<id>-delete`), so that any start drops them. Then
a mark is written: which folder becomes which partition, and the end of the metadata log from which on it does. The
append that reaches this end changes everything at once. Then the folders are renamed. A start that finds the mark
completes the rest, or drops the folders.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import CLEANER_OFFSETS, LOG_START_OFFSETS, RECOVERY_POINTS
from odradek.storage.disk_backend import DiskBackend, name_with_suffix
from odradek.storage.file_system import LARGE
from odradek.storage.log_directory import is_of_partition, is_to_be_deleted

MARK = "odradek.restore.json"
_CHECKPOINTS = (LOG_START_OFFSETS, RECOVERY_POINTS, CLEANER_OFFSETS)


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


def new_folder(backend: DiskBackend, name: str) -> Path:
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


def execute(backend: DiskBackend, mark: RestoreMark) -> None:
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


def give_up(backend: DiskBackend, mark: RestoreMark) -> None:
    """Remove the mark, then the new folders. Nothing has changed."""
    _remove_mark(backend)
    for prepared in filter(None, mark.folders.values()):
        backend.remove_folder(backend.directory / prepared)


def finish(backend: DiskBackend, metadata_end: int) -> None:
    """Complete the mark of a process that died if the metadata log has reached `metadata_end`; otherwise give it up."""
    mark = read_mark(backend)
    if mark is None:
        return
    if metadata_end >= mark.metadata_end:
        execute(backend, mark)
        backend.report_damage(f"{backend.directory}: a restore that was cut short is done")
    else:
        give_up(backend, mark)
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
