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
from odradek.storage.formats.file_names import DELETED

_FUTURE = re.compile(r"(.+-\d+)\.[0-9a-f]{32}-future")
_log = logging.getLogger(__name__)


def move_folder(source: DiskBackend, target: DiskBackend, topic: str, partition: int, delay_ms: int) -> None:
    """Move the folder and checkpoints of a closed log to another directory.

    The old folder is removed once `delay_ms` have passed. After a StorageError the folder is only where it was.
    """
    folder = source.directory / f"{topic}-{partition}"
    arrived = target.directory / folder.name
    future = target.directory / f"{folder.name}.{uuid.uuid4().hex}-future"
    if arrived.exists():
        raise StorageError(f"{arrived} is there already", str(arrived))
    try:
        _copy(target, folder, future)
        target.take_offsets(source, (topic, partition))
        target.write_checkpoints()
        target.fs.rename(future, arrived)
        target.fs.sync_directory(target.directory)
        source.delete_log(topic, partition, delay_ms)
    except StorageError:
        if folder.exists():
            _undo(target, (topic, partition), arrived, future)
            raise
        _log.exception("%s is given up", folder)
    source.write_checkpoints()


def _copy(target: DiskBackend, folder: Path, copy: Path) -> None:
    fs = target.fs
    fs.make_directory(copy)
    for path in sorted(path for path in folder.iterdir() if path.suffix != DELETED):
        fs.copy(path, copy / path.name)
        descriptor = fs.open_read(copy / path.name)
        try:
            fs.sync(descriptor, copy / path.name)
        finally:
            fs.close(descriptor)
    fs.sync_directory(copy)
    fs.sync_directory(target.directory)


def _undo(target: DiskBackend, key: tuple[str, int], arrived: Path, future: Path) -> None:
    target.forget(key)
    for path in (arrived, future):
        if path.exists():
            target.remove_folder(path)


def remove_unfinished(backends: Sequence[DiskBackend]) -> None:
    """Remove unfinished copies of a process that died: those whose partition is in one of these directories."""
    for backend in backends:
        for path in list(backend.directory.glob("*-future")):
            found = _FUTURE.fullmatch(path.name)
            if found is not None and any((other.directory / found[1]).is_dir() for other in backends):
                backend.remove_folder(path)
