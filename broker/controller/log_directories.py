"""The log directories of a node that has several: which partition is in which, and what the metadata says of it.

A new partition goes to the directory with the fewest, as on Kafka. Where it is, is recorded in the metadata log; where
record and folder differ (the process died between the two), the folder is right.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from odradek.broker.config.cordons import cordoned
from odradek.broker.controller.commands import AssignReplicas
from odradek.broker.controller.node_directories import DirectoryGroup, Place
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


class LogDirectories(DirectoryGroup):
    """The directories of one node, by their places in `log.dirs`. Owner: the data directory.

    `others`: the directory of the metadata log, where it is none of them.
    """

    def __init__(
        self,
        backends: Mapping[int, DiskBackend],
        others: Iterable[DiskBackend],
        controller: Controller,
        node_id: int,
        config: BrokerConfig,
    ) -> None:
        super().__init__(backends, others)
        self._config = config
        self._controller = controller
        self._node_id = node_id
        self._ids = {number: directory_id(backend) for number, backend in backends.items()}
        self._numbers = {identity: number for number, identity in self._ids.items()}
        self._paths = {str(backend.directory): number for number, backend in backends.items()}
        self._counts = dict.fromkeys(backends, 0)
        self._preferred: dict[Place, int] = {}

    # -- homes

    def settle(self, place: Place, home: int) -> None:
        """See `DirectoryGroup`."""
        self.leave(place)
        self._homes[place] = home
        self._counts[home] += 1

    def leave(self, place: Place) -> None:
        """See `DirectoryGroup`."""
        home = self._homes.pop(place, None)
        if home is not None:
            self._counts[home] -= 1

    def _new_home(self, topic: str, partition: int) -> int:
        recorded = self._recorded(self._controller.image.partition(topic, partition))
        preferred = self._preferred.pop((topic, partition), None)
        if recorded is not None:
            return recorded
        return self._emptiest() if preferred is None else preferred

    def _emptiest(self) -> int:
        """The directory with the fewest partitions; a cordoned one only if all are."""
        closed = cordoned(self._config, self._node_id)
        open_ones = [number for path, number in self._paths.items() if path not in closed]
        return min(open_ones or self._counts, key=self._counts.__getitem__)

    def home_of(self, place: Place, registration: PartitionRegistration) -> int:
        """See `DirectoryGroup`: the one that the metadata is going to name."""
        recorded = self._recorded(registration)
        return self._homes.get(place, min(self.backends)) if recorded is None else recorded

    def _rightful(self, place: Place, held: Collection[int], registration: PartitionRegistration) -> int:
        """The recorded one. Another copy is of a move that has not come to its end, and of the same content."""
        recorded = self._recorded(registration)
        return min(held) if recorded is None or recorded not in held else recorded

    def _recorded(self, registration: PartitionRegistration | None) -> int | None:
        return None if registration is None else self._numbers.get(recorded_directory(registration, self._node_id))

    # -- following the metadata

    def begin(self) -> None:
        """Give every partition that the metadata knows a directory, record what is not recorded, and go on so.

        To be called when the homes of all folders are chosen and the node is registered.
        """
        topics = self._controller.image.topics.values()
        self._record((topic.name, index) for topic in topics for index in range(len(topic.partitions)))
        self._controller.publishers.append(self.publish)

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """See `odradek.broker.controller.controller.Publisher`."""
        if delta.deleted:
            for place in [place for place in self._homes if image.partition(*place) is None]:
                self.leave(place)
        changed = [image.topics_by_id[topic_id] for topic_id in (*delta.created, *delta.grown)]
        if changed:
            self._record((topic.name, index) for topic in changed for index in range(len(topic.partitions)))

    def _record(self, places: Iterable[Place]) -> None:
        """Report to the controller the directories of this node's partitions that it does not know."""
        image = self._controller.image
        assigned = []
        for name, index in places:
            registration = image.partition(name, index)
            if registration is None or self._node_id not in registration.replicas:
                continue
            home = self._ids[self.home(name, index)]
            if recorded_directory(registration, self._node_id) != home:
                assigned.append((image.topics[name].topic_id, index, home))
        if assigned:
            self._controller.submit(AssignReplicas(self._node_id, assigned))

    # -- the contract of Directories

    def path_of(self, topic: str, index: int) -> Path:
        """See `odradek.broker.partitions.partition_registry.Directories`."""
        return self.backends[self.home(topic, index)].directory

    def prefer(self, topic: str, index: int, path: Path) -> None:
        """See `Directories`."""
        self._preferred[topic, index] = self._paths[str(path)]

    def move(self, partition: Partition, path: Path) -> None:
        """See `Directories`. All other work waits: nothing is appended to a log that is on its way."""
        name, index = place = (partition.topic.name, partition.index)
        home, target = self.home(name, index), self._paths[str(path)]
        if home == target:
            return
        if partition.replica_set is not None:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"{name}-{index} has replicas that differ")
        folder = self.backends[home].directory / f"{name}-{index}"
        if folder.exists():
            delay_ms = partition.log.config.file_delete_delay_ms

            def move() -> None:
                try:
                    move_folder(self.backends[home], self.backends[target], name, index, delay_ms)
                finally:
                    if not folder.exists():
                        self.settle(place, target)

            partition.relocate(move)
        else:
            self.settle(place, target)
        _log.info("%s-%d is in %s now", name, index, path)
        self._record([place])
