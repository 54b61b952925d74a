"""The log directories of all nodes as one medium: each partition lives in one of its replicas' directories.

All replicas share one log, which has its files in a directory of one node, its home. A clean end copies them to the
directories of the other replicas, so that each node has whole directories of its own, as Kafka has them; the next start
picks a home and removes the copies.

A new replica goes to the directory of its node with the fewest, as on Kafka. Where it is, is recorded in the metadata
log; where record and folder differ (the process died between the two), the folder is right.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count
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
from odradek.storage.log_config import LogConfig
from odradek.storage.partition_folders import copy_folder, move_folder

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.controller.controller import Controller
    from odradek.broker.metadata.image import MetadataDelta, MetadataImage
    from odradek.broker.partitions.partition import Partition


# -- Whether log directories belong together, and are all that their node had.

_log = logging.getLogger(__name__)
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


Place = tuple[str, int]
"""Topic and index."""


class ReplicaDirectories:
    """The directories of one node, by number: which of them has each of its replicas, or will have it.

    Owner: the `NodeDirectories`. A replica gets its directory when somebody asks for it.
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
        if not self.are_several:
            return self.first
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

    @property
    def first(self) -> int:
        """The node's first directory."""
        return next(iter(self._ids))

    @property
    def are_several(self) -> bool:
        """Whether the node has several directories. Where it has one, that is not recorded anew."""
        return len(self._ids) > 1

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
        if not self.are_several:
            return
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

            self._controller.post(assign_replicas, self.node_id, assigned)


class NodeDirectories:
    """The log directories of the nodes, by number, as one medium: each partition has its files in one, its home.

    See `odradek.storage.backend.LogBackend`. Owner: the data directory, which opens and closes the backends.
    `of_nodes`: node -> its directories, in the order of `log.dirs`. `others`: directories that get no partitions.
    """

    def __init__(
        self,
        of_nodes: Mapping[int, Sequence[DiskBackend]],
        others: Iterable[DiskBackend],
        controller: Controller,
        config: BrokerConfig,
    ) -> None:
        numbers = count()
        mine = {node_id: {next(numbers): each for each in backends} for node_id, backends in of_nodes.items()}
        self.backends = {number: each for backends in mine.values() for number, each in backends.items()}
        self._nodes = {node: ReplicaDirectories(node, backends, controller, config) for node, backends in mine.items()}
        self._owners = {number: self._nodes[node] for node, backends in mine.items() for number in backends}
        self._controller = controller
        self._registration_of = controller.image.partition
        self._all = (*self.backends.values(), *others)
        self._homes: dict[Place, int] = {}
        self._follows = False

    # -- the contract of LogBackend

    def open_log(self, topic: str, partition: int, topic_id: bytes, config: LogConfig) -> LogStore:
        return self.backends[self.home((topic, partition))].open_log(topic, partition, topic_id, config)

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

    def home(self, place: Place) -> int:
        """The directory of a partition; one without gets one now."""
        home = self._homes.get(place)
        if home is None:
            registration = self._registration_of(*place)
            nodes = () if registration is None else self._nodes_of(registration)
            home = self._nodes[nodes[0] if nodes else next(iter(self._nodes))].number_of(place)
            self.settle(place, home)
        return home

    def home_of(self, place: Place, registration: PartitionRegistration) -> int:
        """Where a log of a partition is to be that will be registered so: with one of its replicas."""
        nodes = self._nodes_of(registration) or list(self._nodes)
        home = self._homes.get(place)
        is_at_replica = home is not None and self._owners[home].node_id in nodes
        owner = self._owners[home] if home is not None and is_at_replica else self._nodes[nodes[0]]
        recorded = owner.recorded(registration)
        if recorded is not None:
            return recorded
        return home if home is not None and is_at_replica else owner.first

    def choose_home(self, place: Place, held: Collection[int], registration: PartitionRegistration) -> None:
        """Of the directories that hold this partition, let the right one be its home; the copies of the others go.

        It is the one with the newest leader epoch; of equals that of the node that led last. The others are stale. Of
        several of a node the recorded one counts: another is of a move that has not come to its end, and of the same
        content.
        """
        last_known = (registration.leader, *registration.isr, *registration.last_known_elr, *registration.elr)
        owners = {number: self._owners[number].node_id for number in held}
        order = dict.fromkeys((*last_known, *registration.replicas, *owners.values()))
        ordered = [number for node in order for number in held if owners[number] == node]
        newest = max(ordered, key=lambda number: latest_epoch(self.backends[number], *place))
        owner = self._owners[newest]
        mine = [number for number in held if self._owners[number] is owner]
        recorded = owner.recorded(registration)
        home = min(mine) if recorded is None or recorded not in mine else recorded
        self.settle(place, home)
        for other in set(held) - {home}:
            self.backends[other].delete_log(*place, 0)

    def settle(self, place: Place, home: int) -> None:
        """The partition is in this directory."""
        self._homes[place] = home
        self._owners[home].settle(place, home)

    def leave(self, place: Place) -> None:
        """The partition is in no directory."""
        self._homes.pop(place, None)
        for mine in self._nodes.values():
            mine.leave(place)

    def part(self, place: Place, node: int) -> None:
        """The partition's next log is for this node, beside others that there are: it gets a directory without one."""
        own = (self._nodes[node].number_of(place),) if node in self._nodes else ()
        for one in (*own, *self.backends):
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
        for place, home in self._homes.items():
            registration = self._registration_of(*place)
            source = self.backends[home].folder(*place)
            if registration is None or not self.backends[home].fs.is_folder(source):
                continue
            targets = [self._nodes[node].number_of(place) for node in self._nodes_of(registration)]
            for target in targets:
                if target != home:
                    copy_folder(self.backends[target], source, self.backends[target].directory / source.name)
                    self.backends[target].take_offsets(self.backends[home], place)
            if targets and home not in targets:
                self.backends[home].delete_log(*place, 0)

    def _nodes_of(self, registration: PartitionRegistration) -> list[int]:
        return [node for node in registration.replicas if node in self._nodes]

    # -- what the metadata says of the directories of nodes that have several

    @property
    def are_several(self) -> bool:
        """Whether a node has several directories."""
        return any(mine.are_several for mine in self._nodes.values())

    def begin(self) -> None:
        """Give every replica that the metadata knows a directory, record what is not recorded, and follow the metadata.

        To be called when the homes of all folders are chosen and the nodes are registered.
        """
        self._record(
            (topic.name, index)
            for topic in self._controller.image.topics.values()
            for index in range(len(topic.partitions))
        )
        self._follows = True

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        if not self._follows:
            return
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
        home = self.home(place)
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


def latest_epoch(backend: DiskBackend, topic: str, index: int) -> int:
    """The newest leader epoch of a folder, -1 without one. Opening the log reports a damaged file."""
    folder = backend.folder(topic, index)
    try:
        known = backend.fs.is_folder(folder) and backend.fs.read_if_any(folder / LEADER_EPOCHS, LARGE)
        entries = parse_leader_epochs(known or b"")
    except (CheckpointFormatError, StorageError):
        return -1
    return entries[-1][0] if entries else -1
