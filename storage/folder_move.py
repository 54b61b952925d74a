"""Moves a partition's folder to another log directory, in steps after each of which the process may die.

The copy is made under Kafka's name for a moving replica (`topic-0.<id>-future`). It gets its final name when all of it
is durable. Only then the old folder is removed. So there is always one whole folder; after a death there may be two
with the same content.
"""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Sequence
from pathlib import Path

from odradek.storage.backend import StorageError
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.formats.segment_files import DELETED
from odradek.storage.log_directory import is_kafkas

_FUTURE = re.compile(r"(.+-\d+)\.[0-9a-f]{32}-future")
_log = logging.getLogger(__name__)


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
