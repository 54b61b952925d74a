"""The log directories of nodes that have several: which replica is in which, and what the metadata says of it.

A new replica goes to the directory of its node with the fewest, as on Kafka. Where it is, is recorded in the metadata
log; where record and folder differ (the process died between the two), the folder is right.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from odradek.broker.config.cordons import cordoned
from odradek.broker.controller.commands import AssignReplicas
from odradek.broker.controller.node_directories import NodeDirectories, Place
from odradek.broker.controller.several_directories import directory_id, recorded_directory
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.folder_move import move_folder

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.controller.controller import Controller
    from odradek.broker.metadata.delta import MetadataDelta
    from odradek.broker.metadata.image import MetadataImage
    from odradek.broker.metadata.registrations import PartitionRegistration
    from odradek.broker.partitions.partition import Partition

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
            self._controller.submit(AssignReplicas(self.node_id, assigned))


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
        """See `DirectoryGroup`: the one that the metadata is going to name, where it names one of a single node."""
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
