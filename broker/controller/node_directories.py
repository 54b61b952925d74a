"""The log directories of several nodes as one medium: each partition lives in one of its replicas' directories.

All replicas share one log, which has its files in the directory of one node, its home. A clean end copies them to the
directories of the other replicas, so that each node has a whole directory of its own, as Kafka has it; the next start
picks a home and removes the copies.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from odradek.broker.metadata.registrations import PartitionRegistration
from odradek.storage.backend import LogStore
from odradek.storage.checkpoint_files import CLEANER_OFFSETS, HIGH_WATERMARKS, LOG_START_OFFSETS, RECOVERY_POINTS
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.log_config import LogConfig

Place = tuple[str, int]
"""Topic and index."""
_CHECKPOINTS = (RECOVERY_POINTS, LOG_START_OFFSETS, CLEANER_OFFSETS, HIGH_WATERMARKS)


class NodeDirectories:
    """See `odradek.storage.backend.LogBackend`. Owner: the data directory, which opens and closes the backends.

    `registration_of(topic, index)`: what the metadata says of a partition, None if it does not know it.
    """

    def __init__(
        self,
        backends: Mapping[int, DiskBackend],
        registration_of: Callable[[str, int], PartitionRegistration | None],
    ) -> None:
        self.backends = backends
        self._registration_of = registration_of
        self._homes: dict[Place, int] = {}

    # -- the contract of LogBackend

    def open_log(self, topic: str, partition: int, topic_id: bytes, config: LogConfig) -> LogStore:
        """See `LogBackend`."""
        home = self._homes.get((topic, partition))
        if home is None:
            home = self._homes[topic, partition] = self._new_home(topic, partition)
        return self.backends[home].open_log(topic, partition, topic_id, config)

    def delete_log(self, topic: str, partition: int, delay_ms: int) -> None:
        """See `LogBackend`."""
        home = self._homes.pop((topic, partition), None)
        if home is not None:
            self.backends[home].delete_log(topic, partition, delay_ms)

    def segment_bytes(self, config: LogConfig) -> int:
        """See `LogBackend`."""
        return next(iter(self.backends.values())).segment_bytes(config)

    def close(self, *, clean: bool = True) -> None:
        """See `LogBackend`."""
        for backend in self.backends.values():
            backend.close(clean=clean)

    # -- periodic work

    def remove_due(self) -> None:
        """Remove the files whose time has come."""
        for backend in self.backends.values():
            backend.remove_due()

    def write_checkpoints(self) -> None:
        """Bring changed checkpoints to their files."""
        for backend in self.backends.values():
            backend.write_checkpoints()

    # -- homes

    def _new_home(self, topic: str, partition: int) -> int:
        registration = self._registration_of(topic, partition)
        known = [node for node in (registration.replicas if registration else ()) if node in self.backends]
        return known[0] if known else next(iter(self.backends))

    def choose_home(self, place: Place, nodes: Iterable[int], registration: PartitionRegistration) -> None:
        """Of the nodes whose directories hold this partition, let the one that led last be its home.

        The copies of the others go: they would grow stale.
        """
        held = set(nodes)
        last_known = (registration.leader, *registration.isr, *registration.last_known_elr, *registration.elr)
        home = next(node for node in (*last_known, *registration.replicas, *held) if node in held)
        self._homes[place] = home
        for node in held - {home}:
            self.backends[node].delete_log(*place, 0)

    def spread_copies(self) -> None:
        """Bring each partition to the directories of all its replicas, and away from a home that is none of them."""
        for (topic, index), home in self._homes.items():
            registration = self._registration_of(topic, index)
            source = self.backends[home].directory / f"{topic}-{index}"
            if registration is None or not source.exists():
                continue
            for node in registration.replicas:
                if node != home and node in self.backends:
                    self._copy((topic, index), source, home, node)
            if home not in registration.replicas:
                self.backends[home].delete_log(topic, index, 0)

    def _copy(self, place: Place, source: Path, home: int, node: int) -> None:
        copy_folder(self.backends[node], source)
        for checkpoint in _CHECKPOINTS:
            offset = self.backends[home].offset(checkpoint, place, -1)
            if offset >= 0:
                self.backends[node].set_offset(checkpoint, place, offset)


def copy_folder(backend: DiskBackend, source: Path) -> None:
    """Put a durable copy of a log's folder into another log directory, in place of what is there under its name."""
    target = backend.directory / source.name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    fs = backend.fs
    for path in target.iterdir():
        descriptor = fs.open_read(path)
        try:
            fs.sync(descriptor, path)
        finally:
            fs.close(descriptor)
    fs.sync_directory(target)
    fs.sync_directory(backend.directory)
