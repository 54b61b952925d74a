"""The log directories of several nodes as one medium: each partition lives in one of its replicas' directories.

All replicas share one log, which has its files in the directory of one node, its home. A clean end copies them to the
directories of the other replicas, so that each node has a whole directory of its own, as Kafka has it; the next start
picks a home and removes the copies.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from odradek.broker.metadata.registrations import PartitionRegistration
from odradek.storage.backend import LoadedLog, LogStore, StorageError
from odradek.storage.checkpoint_files import LEADER_EPOCHS, CheckpointFormatError, parse_leader_epochs
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.file_system import LARGE
from odradek.storage.folder_move import copy_folder
from odradek.storage.log_config import LogConfig

Place = tuple[str, int]
"""Topic and index."""


class DirectoryGroup:
    """Several log directories, by number, as one medium: each partition has its files in one of them, its home.

    See `odradek.storage.backend.LogBackend`. Owner: the data directory, which opens and closes the backends. `others`:
    directories that get no partitions.
    """

    def __init__(self, backends: Mapping[int, DiskBackend], others: Iterable[DiskBackend] = ()) -> None:
        self.backends = backends
        self._all = (*backends.values(), *others)
        self._homes: dict[Place, int] = {}

    # -- the contract of LogBackend

    def open_log(self, topic: str, partition: int, topic_id: bytes, config: LogConfig) -> LogStore:
        return self.backends[self.home(topic, partition)].open_log(topic, partition, topic_id, config)

    def has_log(self, topic: str, partition: int) -> bool:
        home = self._homes.get((topic, partition))
        return home is not None and self.backends[home].has_log(topic, partition)

    def delete_log(self, topic: str, partition: int, delay_ms: int) -> None:
        home = self._homes.get((topic, partition))
        if home is not None:
            self.leave((topic, partition))
            self.backends[home].delete_log(topic, partition, delay_ms)

    def shared_log(self, begin: LoadedLog, end_offset: int, end_size: int) -> LogStore | None:
        return None

    def segment_bytes(self, config: LogConfig) -> int:
        return next(iter(self.backends.values())).segment_bytes(config)

    def close(self, *, clean: bool = True) -> None:
        for backend in self._all:
            backend.close(clean=clean)

    # -- periodic work

    def remove_due(self) -> None:
        """Remove the files whose time has come."""
        for backend in self._all:
            backend.remove_due()

    def write_checkpoints(self) -> None:
        """Bring changed checkpoints to their files."""
        for backend in self._all:
            backend.write_checkpoints()

    # -- homes

    def home(self, topic: str, partition: int) -> int:
        """The directory of a partition; one without gets one now."""
        home = self._homes.get((topic, partition))
        if home is None:
            home = self._new_home(topic, partition)
            self.settle((topic, partition), home)
        return home

    def number_of(self, backend: DiskBackend) -> int:
        """The number of a directory."""
        return next(number for number, one in self.backends.items() if one is backend)

    def choose_home(self, place: Place, held: Collection[int], registration: PartitionRegistration) -> None:
        """Of the directories that hold this partition, let the right one be its home; the copies of the others go."""
        home = self._rightful(place, held, registration)
        self.settle(place, home)
        for other in set(held) - {home}:
            self.backends[other].delete_log(*place, 0)

    def settle(self, place: Place, home: int) -> None:
        """The partition is in this directory."""
        self._homes[place] = home

    def leave(self, place: Place) -> None:
        """The partition is in no directory."""
        self._homes.pop(place, None)

    def home_of(self, place: Place, registration: PartitionRegistration) -> int:
        """Where a log of a partition is to be that will be registered so."""
        raise NotImplementedError

    def _new_home(self, topic: str, partition: int) -> int:
        raise NotImplementedError

    def _rightful(self, place: Place, held: Collection[int], registration: PartitionRegistration) -> int:
        raise NotImplementedError


class NodeDirectories(DirectoryGroup):
    """The directories of several nodes, one each: its number is that of its node.

    `registration_of(topic, index)`: a partition's registration in the metadata, None if it is unknown there.
    """

    def __init__(
        self,
        backends: Mapping[int, DiskBackend],
        registration_of: Callable[[str, int], PartitionRegistration | None],
        others: Iterable[DiskBackend] = (),
    ) -> None:
        super().__init__(backends, others)
        self._registration_of = registration_of

    @property
    def node_ids(self) -> Collection[int]:
        """The nodes."""
        return self.backends.keys()

    def node_of(self, number: int) -> int:
        """The node of a directory."""
        return number

    def number_for(self, node_id: int, place: Place) -> int:
        """The directory of a node that has, or will have, its replica of a partition."""
        return node_id

    # -- homes

    def _new_home(self, topic: str, partition: int) -> int:
        registration = self._registration_of(topic, partition)
        known = [node for node in (registration.replicas if registration else ()) if node in self.node_ids]
        return self.number_for(known[0] if known else next(iter(self.node_ids)), (topic, partition))

    def home_of(self, place: Place, registration: PartitionRegistration) -> int:
        """See `DirectoryGroup`: one of its replicas'."""
        nodes = [node for node in registration.replicas if node in self.node_ids] or list(self.node_ids)
        home = self._homes.get(place)
        return home if home is not None and self.node_of(home) in nodes else self.number_for(nodes[0], place)

    def _rightful(self, place: Place, held: Collection[int], registration: PartitionRegistration) -> int:
        """The one with the newest leader epoch; of equals that of the node that led last. The others are stale."""
        last_known = (registration.leader, *registration.isr, *registration.last_known_elr, *registration.elr)
        order = dict.fromkeys((*last_known, *registration.replicas, *map(self.node_of, held)))
        ordered = [number for node in order for number in held if self.node_of(number) == node]
        return max(ordered, key=lambda number: latest_epoch(self.backends[number], *place))

    def part(self, place: Place, node: int) -> None:
        """The partition's next log is for this node, beside others that there are: it gets a directory without one."""
        for one in (self.number_for(node, place), *self.backends) if node in self.node_ids else self.backends:
            if not self.backends[one].has_folder(*place):
                self._homes[place] = one
                return
        name = f"{place[0]}-{place[1]}"
        raise StorageError(f"no directory is left for another log of {name}", name)

    def move_home(self, place: Place, folder: Path) -> None:
        """The partition continues with the log in this folder."""
        self._homes[place] = next(number for number, one in self.backends.items() if one.directory == folder.parent)

    def spread_copies(self) -> None:
        """Copy each partition to the directories of all its replicas, and remove it from a home that is not one of
        them.
        """
        for (topic, index), home in self._homes.items():
            registration = self._registration_of(topic, index)
            source = self.backends[home].folder(topic, index)
            if registration is None or not self.backends[home].fs.is_folder(source):
                continue
            replicas = [node for node in registration.replicas if node in self.node_ids]
            targets = [self.number_for(node, (topic, index)) for node in replicas]
            for target in targets:
                if target != home:
                    self._copy((topic, index), source, home, target)
            if targets and home not in targets:
                self.backends[home].delete_log(topic, index, 0)

    def _copy(self, place: Place, source: Path, home: int, target: int) -> None:
        copy_folder(self.backends[target], source, self.backends[target].directory / source.name)
        self.backends[target].take_offsets(self.backends[home], place)


def latest_epoch(backend: DiskBackend, topic: str, index: int) -> int:
    """The newest leader epoch of a folder, -1 without one. Opening the log reports a damaged file."""
    folder = backend.folder(topic, index)
    try:
        known = backend.fs.is_folder(folder) and backend.fs.read_if_any(folder / LEADER_EPOCHS, LARGE)
        entries = parse_leader_epochs(known or b"")
    except (CheckpointFormatError, StorageError):
        return -1
    return entries[-1][0] if entries else -1
