"""Whether log directories belong together, and are all that their node had."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from odradek.protocol.uuids import uuid_from_text
from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import (
    META_PROPERTIES,
    CheckpointFormatError,
    MetaProperties,
    parse_meta_properties,
)
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.file_system import FileSystem

if TYPE_CHECKING:
    from odradek.broker.metadata.image import MetadataImage
    from odradek.broker.metadata.registrations import PartitionRegistration

_SHOWN = 3


def directory_id(backend: DiskBackend) -> bytes:
    """The id of a log directory."""
    return uuid_from_text(backend.meta.directory_id or "")


def recorded_directory(registration: PartitionRegistration, node_id: int) -> bytes:
    """The id of the directory that the metadata names for a node's replica; zero for none."""
    known = dict(zip(registration.replicas, registration.directories, strict=False))
    return known.get(node_id, bytes(16))


def stored_cluster_id(paths: Sequence[Path]) -> str | None:
    """The cluster's id in the first directory that has one."""
    return next((meta.cluster_id for meta in stored_identities(paths)), None)


def stored_identities(paths: Iterable[Path]) -> list[MetaProperties]:
    """The `meta.properties` of directories. Whoever opens a directory says what is wrong with one that is left out."""
    found = []
    for path in paths:
        try:
            data = FileSystem().read_if_any(path / META_PROPERTIES)
            if data is not None:
                found.append(parse_meta_properties(data))
        except (CheckpointFormatError, StorageError):
            pass
    return found


def check_same_cluster(backends: Sequence[DiskBackend]) -> None:
    """StorageError unless the directories are of one cluster, and none is a copy of another."""
    cluster_id = backends[0].meta.cluster_id
    known: dict[str | None, DiskBackend] = {}
    for backend in backends:
        path = backend.directory / META_PROPERTIES
        if backend.meta.cluster_id != cluster_id:
            raise StorageError(f"{path}: belongs to cluster {backend.meta.cluster_id}, not to {cluster_id}", str(path))
        other = known.setdefault(backend.meta.directory_id, backend)
        if other is not backend:
            raise StorageError(f"{path}: has the directory id of {other.directory}", str(path))


def check_complete(
    image: MetadataImage, node_id: int, backends: Sequence[DiskBackend], held: Collection[tuple[str, int]]
) -> None:
    """StorageError where partitions are in one of several directories that the node had, and that is not given now.

    `held`: the partitions with a folder in those that are given.
    """
    broker = image.brokers.get(node_id)
    if broker is None or len(broker.directories) < 2:
        return
    missing = set(broker.directories) - set(map(directory_id, backends))
    lost = [
        f"{topic.name}-{index}"
        for topic in image.topics.values()
        for index, registration in enumerate(topic.partitions)
        if recorded_directory(registration, node_id) in missing and (topic.name, index) not in held
    ]
    if lost:
        shown = ", ".join(lost[:_SHOWN]) + (", ..." if len(lost) > _SHOWN else "")
        path = str(backends[0].directory)
        raise StorageError(f"{path}: log.dirs lacks a directory that the node had, with {shown}", path)
