"""The log directories of several nodes as one medium: each partition lives in one of its replicas' directories.

All replicas share one log, which has its files in the directory of one node, its home. A clean end copies them to the
directories of the other replicas, so that each node has a whole directory of its own, as Kafka has it; the next start
picks a home and removes the copies.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from odradek.broker.config.requirements import cordoned
from odradek.broker.metadata.image import PartitionRegistration
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.uuids import uuid_from_text
from odradek.storage.backend import LoadedLog, LogStore, StorageError
from odradek.storage.checkpoint_files import (
    LEADER_EPOCHS,
    META_PROPERTIES,
    CheckpointFormatError,
    MetaProperties,
    parse_leader_epochs,
    parse_meta_properties,
)
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.file_system import LARGE, FileSystem
from odradek.storage.folder_move import copy_folder, move_folder
from odradek.storage.log_config import LogConfig

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.controller.controller import Controller
    from odradek.broker.metadata.image import MetadataDelta, MetadataImage
    from odradek.broker.partitions.partition import Partition


# -- Whether log directories belong together, and are all that their node had.

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


# -- A directory for each node.


Place = tuple[str, int]
"""Topic and index."""


class NodeDirectories:
    """The log directories of the nodes, by number, as one medium: each partition has its files in one, its home.

    Here each node has one directory: its number is that of its node. See `odradek.storage.backend.LogBackend`. Owner:
    the data directory, which opens and closes the backends. `registration_of(topic, index)`: a partition's registration
    in the metadata, None if it is unknown there. `others`: directories that get no partitions.
    """

    def __init__(
        self,
        backends: Mapping[int, DiskBackend],
        registration_of: Callable[[str, int], PartitionRegistration | None],
        others: Iterable[DiskBackend] = (),
    ) -> None:
        self.backends = backends
        self._registration_of = registration_of
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

    # -- nodes

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

    def _new_home(self, topic: str, partition: int) -> int:
        registration = self._registration_of(topic, partition)
        known = [node for node in (registration.replicas if registration else ()) if node in self.node_ids]
        return self.number_for(known[0] if known else next(iter(self.node_ids)), (topic, partition))

    def home_of(self, place: Place, registration: PartitionRegistration) -> int:
        """Where a log of a partition is to be that will be registered so: with one of its replicas."""
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


# -- The log directories of nodes that have several: which replica is in which, and what the metadata says of it.
#
# A new replica goes to the directory of its node with the fewest, as on Kafka. Where it is, is recorded in the
# metadata log; where record and folder differ (the process died between the two), the folder is right.

_log = logging.getLogger(__name__)


class ReplicaDirectories:
    """The directories of one node, by number: which of them has each of its replicas, or will have it.

    Owner: the `LogDirectories`. A replica gets its directory when somebody asks for it.
    """

    def __init__(
        self, node_id: int, backends: Mapping[int, DiskBackend], controller: Controller, config: BrokerConfig
    ) -> None:
        self.node_id = node_id
        self._config = config
        self._controller = controller
        self._ids = {number: directory_id(backend) for number, backend in backends.items()}
        self._numbers = {identity: number for number, identity in self._ids.items()}
        self._paths = {str(backend.directory): number for number, backend in backends.items()}
        self._counts = dict.fromkeys(backends, 0)
        self._places: dict[Place, int] = {}
        self._preferred: dict[Place, int] = {}

    def number_of(self, place: Place) -> int:
        """The directory of a replica."""
        number = self._places.get(place)
        if number is None:
            recorded = self.recorded(self._controller.image.partition(*place))
            preferred = self._preferred.pop(place, None)
            if recorded is not None:
                number = recorded
            else:
                number = self._emptiest() if preferred is None else preferred
            self.settle(place, number)
        return number

    def number_at(self, path: Path) -> int:
        """The directory with this path."""
        return self._paths[str(path)]

    def settle(self, place: Place, number: int) -> None:
        """The replica is in this directory."""
        self.leave(place)
        self._places[place] = number
        self._counts[number] += 1

    def leave(self, place: Place) -> None:
        """The replica is in no directory."""
        number = self._places.pop(place, None)
        if number is not None:
            self._counts[number] -= 1

    def prefer(self, place: Place, path: Path) -> None:
        """The replica is to be created in this directory."""
        self._preferred[place] = self.number_at(path)

    def _emptiest(self) -> int:
        """The directory with the fewest replicas; a cordoned one only if all are."""
        closed = cordoned(self._config, self.node_id)
        open_ones = [number for path, number in self._paths.items() if path not in closed]
        return min(open_ones or self._counts, key=self._counts.__getitem__)

    def recorded(self, registration: PartitionRegistration | None) -> int | None:
        """The directory that a registration names for the node's replica; None where it names none of the node's."""
        return None if registration is None else self._numbers.get(recorded_directory(registration, self.node_id))

    def forget_absent(self, image: MetadataImage, places: Iterable[Place] | None = None) -> None:
        """Leave those of these partitions (of all) that are no more, or have no replica here."""
        for place in list(self._places) if places is None else places:
            registration = image.partition(*place)
            if registration is None or self.node_id not in registration.replicas:
                self.leave(place)

    def record(self, places: Iterable[Place]) -> None:
        """Report to the controller the directories of the node's replicas that it does not know."""
        image = self._controller.image
        assigned = []
        for place in places:
            registration = image.partition(*place)
            if registration is None or self.node_id not in registration.replicas:
                continue
            identity = self._ids[self.number_of(place)]
            if recorded_directory(registration, self.node_id) != identity:
                assigned.append((image.topics[place[0]].topic_id, place[1], identity))
        if assigned:
            from odradek.broker.controller.partition_control import assign_replicas

            self._controller.submit(assign_replicas, self.node_id, assigned)


class LogDirectories(NodeDirectories):
    """The directories of nodes that have several, by their places in `log.dirs`. Owner: the data directory.

    `of_nodes`: node -> its directories by number. `others`: the directory of the metadata log, where it is none of
    them.
    """

    def __init__(
        self,
        of_nodes: Mapping[int, Mapping[int, DiskBackend]],
        others: Iterable[DiskBackend],
        controller: Controller,
        config: BrokerConfig,
    ) -> None:
        backends = {number: backend for mine in of_nodes.values() for number, backend in mine.items()}
        super().__init__(backends, controller.image.partition, others)
        self._controller = controller
        self._nodes = {
            node_id: ReplicaDirectories(node_id, mine, controller, config) for node_id, mine in of_nodes.items()
        }
        self._owners = {number: self._nodes[node_id] for node_id, mine in of_nodes.items() for number in mine}

    # -- the contract of NodeDirectories

    @property
    def node_ids(self) -> Collection[int]:
        return self._nodes

    def node_of(self, number: int) -> int:
        return self._owners[number].node_id

    def number_for(self, node_id: int, place: Place) -> int:
        return self._nodes[node_id].number_of(place)

    def settle(self, place: Place, home: int) -> None:
        super().settle(place, home)
        self._owners[home].settle(place, home)

    def leave(self, place: Place) -> None:
        super().leave(place)
        for mine in self._nodes.values():
            mine.leave(place)

    def home_of(self, place: Place, registration: PartitionRegistration) -> int:
        """The one that the metadata is going to name, where it names one of a single node."""
        if len(self._nodes) == 1:
            [mine] = self._nodes.values()
            recorded = mine.recorded(registration)
            return self._homes.get(place, min(self.backends)) if recorded is None else recorded
        return super().home_of(place, registration)

    def _rightful(self, place: Place, held: Collection[int], registration: PartitionRegistration) -> int:
        """Of the node's that has the rightful one the recorded one. Another is of a move that has not come to its
        end, and of the same content.
        """
        owner = self._owners[super()._rightful(place, held, registration)]
        mine = [number for number in held if self._owners[number] is owner]
        recorded = owner.recorded(registration)
        return min(mine) if recorded is None or recorded not in mine else recorded

    # -- following the metadata

    def begin(self) -> None:
        """Give every replica that the metadata knows a directory, record what is not recorded, and go on so.

        To be called when the homes of all folders are chosen and the nodes are registered.
        """
        self._record(
            (topic.name, index)
            for topic in self._controller.image.topics.values()
            for index in range(len(topic.partitions))
        )
        self._controller.publishers.append(self.publish)

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        if delta.deleted:
            for place in [place for place in self._homes if image.partition(*place) is None]:
                self.leave(place)
            for mine in self._nodes.values():
                mine.forget_absent(image)
        known = image.topics_by_id
        moved = [(known[topic_id].name, index) for topic_id, index in delta.moved if topic_id in known]
        for mine in self._nodes.values():
            mine.forget_absent(image, moved)
        topics = [known[topic_id] for topic_id in (*delta.created, *delta.grown)]
        changed = [(topic.name, index) for topic in topics for index in range(len(topic.partitions))] + moved
        if changed:
            self._record(changed)

    def _record(self, places: Iterable[Place]) -> None:
        known = list(places)
        for mine in self._nodes.values():
            mine.record(known)

    # -- the contract of Directories

    def path_of(self, node_id: int, topic: str, index: int) -> Path:
        return self.backends[self._nodes[node_id].number_of((topic, index))].directory

    def prefer(self, node_id: int, topic: str, index: int, path: Path) -> None:
        self._nodes[node_id].prefer((topic, index), path)

    def move(self, node_id: int, partition: Partition, path: Path) -> None:
        """See `Directories`. All other work waits: nothing is appended to a log that is on its way.

        The files are in the home of the partition. Where that is another node's, only the record changes: a clean end
        copies the files to the directory that it names.
        """
        name, index = place = (partition.topic.name, partition.index)
        mine = self._nodes[node_id]
        target = mine.number_at(path)
        if mine.number_of(place) == target:
            return
        if partition.replica_set is not None:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"{name}-{index} has replicas that differ")
        home = self.home(name, index)
        if self._owners[home] is not mine:
            mine.settle(place, target)
        elif self.backends[home].has_folder(*place):
            delay_ms = partition.log.config.file_delete_delay_ms

            def move() -> None:
                try:
                    move_folder(self.backends[home], self.backends[target], name, index, delay_ms)
                finally:
                    if not self.backends[home].has_folder(*place):
                        self.settle(place, target)

            partition.relocate(move)
        else:
            self.settle(place, target)
        _log.info("%s-%d of node %d is in %s now", name, index, node_id, path)
        mine.record([place])
