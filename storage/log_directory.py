"""Log directories: the check whether a folder is one, its lock, and which names in it are Kafka's."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import (
    CLEAN_SHUTDOWN,
    CLEANER_OFFSETS,
    HIGH_WATERMARKS,
    LEADER_EPOCHS,
    LOG_START_OFFSETS,
    META_PROPERTIES,
    PARTITION_METADATA,
    RECOVERY_POINTS,
)
from odradek.storage.file_system import FileSystem
from odradek.storage.formats.segment_files import parse_file_name
from odradek.storage.quorum_state import QUORUM_STATE

LOCK = ".lock"
_FILES = {
    LOCK,
    CLEAN_SHUTDOWN,
    CLEANER_OFFSETS,
    HIGH_WATERMARKS,
    LOG_START_OFFSETS,
    META_PROPERTIES,
    RECOVERY_POINTS,
    "bootstrap.checkpoint",
}
_PARTITION_FOLDER = re.compile(r".+-\d+(\.[0-9a-f]{32}-(delete|future|stray))?")
_DELETED_FOLDER = re.compile(r".+\.[0-9a-f]{32}-delete")
_METADATA_SNAPSHOT = re.compile(r"\d{20}-\d{10}.*\.checkpoint(\.part|\.deleted)?")
_SHOWN = 3

_locked_here: set[Path] = set()
"""Directories that this process holds. The operating system's lock does not exclude its own process."""


def check_log_directory(directory: Path) -> None:
    """Raise StorageError unless the folder is missing, empty or a log directory. Writes nothing.

    A log directory has a meta.properties, or it has nothing but entries of a log directory (and the `lost+found` of a
    disk).
    """
    if not hasattr(os, "pwritev"):  # Windows, where no directory can be synced either
        text = f"{directory}: a data directory needs Linux or macOS; brokers in memory run on this system"
        raise StorageError(text, str(directory))
    try:
        with os.scandir(directory) as entries:
            found = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    except FileNotFoundError:
        return
    except NotADirectoryError:
        file = next(path for path in (directory, *directory.parents) if path.is_file())
        text = f"{file}: a file is there, the data directory must be a folder"
        raise StorageError(text, str(file)) from None
    except OSError as error:
        raise StorageError(f"{directory}: {error.strerror or error}", str(directory)) from error
    if META_PROPERTIES in found:
        return
    foreign = sorted(name for name, is_folder in found.items() if not _belongs(directory / name, is_folder))
    if foreign:
        shown = ", ".join(foreign[:_SHOWN]) + (", ..." if len(foreign) > _SHOWN else "")
        raise StorageError(
            f"{directory}: not a log directory: it has no {META_PROPERTIES} and holds {shown}. Name a new or empty "
            "folder, or a log directory of Kafka or odradek",
            str(directory),
        )


def _belongs(path: Path, is_folder: bool) -> bool:
    """Whether this is an entry of a log directory."""
    if not is_folder:
        return path.name.removesuffix(".tmp") in _FILES
    if path.name == "lost+found":
        return True
    return _PARTITION_FOLDER.fullmatch(path.name) is not None and any(map(is_kafkas, os.listdir(path)))


def is_kafkas(name: str) -> bool:
    """Whether Kafka gives this name to a file in the folder of a partition."""
    name = name.removesuffix(".tmp")
    of_log = name in (PARTITION_METADATA, LEADER_EPOCHS) or parse_file_name(name) is not None
    return of_log or name == QUORUM_STATE or _METADATA_SNAPSHOT.fullmatch(name) is not None


def is_to_be_deleted(name: str) -> bool:
    """Whether Kafka gives this name to the folder of a deleted partition."""
    return _DELETED_FOLDER.fullmatch(name) is not None


def is_of_partition(name: str) -> bool:
    """Whether this may name the folder of a partition."""
    topic, _, number = name.rpartition("-")
    return bool(topic) and number.isdecimal() and number.isascii() and "/" not in name and "\0" not in name


def lock_directory(directory: Path) -> int:
    """Lock the directory's `.lock`, as Kafka does; returns its descriptor. StorageError if it is locked already."""
    path = directory / LOCK
    held = StorageError(f"{path}: another broker uses this data directory", str(path))
    if directory in _locked_here:
        raise held
    descriptor = FileSystem().open(path)
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise held from None
    _locked_here.add(directory)
    return descriptor


def unlock_directory(directory: Path, descriptor: int) -> None:
    """Unlock the directory; a negative descriptor means that it is unlocked already."""
    _locked_here.discard(directory)
    if descriptor >= 0:
        os.close(descriptor)
