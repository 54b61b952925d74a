"""A cluster's data on disk: the log directories, the metadata log in them, and what older directories hold instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

import trio

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.node_config import quorum_of
from odradek.broker.config.requirements import check_stored
from odradek.broker.controller.controller import OtherReleaseError
from odradek.broker.controller.disk_metadata_log import FOLDER, DiskMetadataLog
from odradek.broker.controller.machine import BLOCK_SIZE
from odradek.broker.controller.membership import CONTROLLER_LISTENER, Membership
from odradek.broker.controller.node_directories import (
    NodeDirectories,
    Place,
    check_complete,
    check_same_cluster,
    directory_id,
    latest_epoch,
    stored_cluster_id,
    stored_identities,
)
from odradek.broker.controller.snapshot_files import KeptLogs, RestoredLogs, remove_left
from odradek.broker.controller.topic_control import internal_configs, records_of_topic
from odradek.broker.metadata.image import INTERNAL_TOPICS, ResourceType, is_topic_name
from odradek.protocol.generated.metadata_records.producer_ids_record import ProducerIdsRecord
from odradek.protocol.generated.stored.voters_record import Endpoint, KRaftVersionFeature, Voter, VotersRecord
from odradek.protocol.message import MetadataRecord
from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import META_PROPERTIES
from odradek.storage.disk_backend import DiskBackend, DiskLogStore
from odradek.storage.file_system import FileSystem
from odradek.storage.log_config import LogConfig
from odradek.storage.partition_folders import copy_folder, finish_restore, remove_unfinished
from odradek.storage.partition_log import PartitionLog
from odradek.storage.quorum_state import read_quorum_state

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.controller.controller import Controller
    from odradek.broker.partitions.durability import Durability
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.partitions.partition_registry import PartitionRegistry


# -- Directories that hold partitions and no metadata log.


def records_of_folders(
    backend: DiskBackend, config: BrokerConfig, directory_ids: Mapping[int, bytes]
) -> list[MetadataRecord]:
    """Topics that only their folders tell of, with default settings."""
    nodes = list(directory_ids)
    found: dict[str, dict[int, bytes | None]] = {}
    for (name, index), topic_id in backend.partitions().items():
        if is_topic_name(name):
            found.setdefault(name, {})[index] = topic_id
    records: list[MetadataRecord] = []
    next_producer_id = 0
    for name, partitions in found.items():
        topic_id = next((entry for entry in partitions.values() if entry is not None), None)
        if topic_id is None:
            continue
        placed = [[nodes[index % len(nodes)]] for index in range(max(partitions) + 1)]
        configs = {key: text for key, text in internal_configs(name, config, len(nodes)).items() if text is not None}
        # The topic has its folders already: leader epochs continue after those of its logs.
        epochs = [latest_epoch(backend, name, index) + 1 for index in range(len(placed))]
        records += records_of_topic(
            name,
            topic_id,
            placed,
            configs,
            directory_of=directory_ids.__getitem__,
            leader_epoch_of=epochs.__getitem__,
        )
        next_producer_id = max(next_producer_id, *(_after_producers(backend, name, index) for index in partitions))
    if next_producer_id:
        records.append(ProducerIdsRecord(-1, -1, next_producer_id))
    return records


def _after_producers(backend: DiskBackend, name: str, index: int) -> int:
    """The first block of producer ids behind all that a partition's log knows."""
    try:
        log = PartitionLog(name, index, LogConfig(), backend, now_ms=backend.now_ms())
    except StorageError:
        return 0
    latest = max((producer.producer_id for producer in log.producers), default=-1)
    log.close()
    return (latest // BLOCK_SIZE + 1) * BLOCK_SIZE


# -- The data directory.


_NODE = "node-"
_TAILS_OF_MEMORY = 4
"""The tails of segments may have a quarter of `odradek.memory.bytes`: the system's page cache has the same bytes."""


def stored_node_id(path: Path) -> int | None:
    """The (first) node that a data directory belongs to; None for a new one, or one that cannot be read."""
    return min((meta.node_id for meta in stored_identities((path, *path.glob(f"{_NODE}*")))), default=None)


class DataDirectory:
    """Opens and closes all that a durable cluster keeps. Owner: the cluster.

    `paths`: the log directories of each node, or what they are below: the directory of a cluster of one node is a Kafka
    log directory; one of several has one for each, `node-1` and so on. `of_nodes`: those that nodes were given instead.
    `controllers` that are no brokers have a directory for the metadata log alone. That log is written in the first
    directory of one node, and copied to the first ones of the others at a clean end; that of a cluster of one node may
    be elsewhere: `metadata`. `cluster_id`: the only one that the directories may have (default: what they have, or a
    new one).
    """

    def __init__(
        self,
        paths: Sequence[Path],
        config: BrokerConfig,
        clock: BrokerClock,
        node_ids: list[int],
        durability: Durability,
        fs: FileSystem | None = None,
        backend: type[DiskBackend] = DiskBackend,
        metadata: Path | None = None,
        cluster_id: str | None = None,
        of_nodes: Mapping[int, Sequence[Path]] | None = None,
        controllers: Sequence[int] = (),
    ) -> None:
        self._paths = paths
        self._controllers = controllers
        self._is_alone = len(node_ids) == 1 and not controllers
        self._of_nodes = of_nodes
        self._path = paths[0]
        self._metadata_path = paths[0] if metadata is None else metadata
        self._cluster_id = cluster_id
        self._config = config
        self._clock = clock
        self._node_ids = node_ids
        self._durability = durability
        self._fs = fs or FileSystem()
        self._fs.tails.limit = config.get_int("odradek.memory.bytes") // _TAILS_OF_MEMORY
        self._backend_class = backend
        self._open: dict[int, list[DiskBackend]] = {}
        self._apart: list[DiskBackend] = []
        self._logs: NodeDirectories | None = None
        self._log: DiskMetadataLog | None = None
        self._unopened: list[Place] = []
        self._kept: WeakSet[KeptLogs] = WeakSet()

    @property
    def backend(self) -> DiskBackend:
        """The (first) log directory of the first node."""
        return self._open[self._node_ids[0]][0]

    @property
    def cluster_id(self) -> str:
        """The id in the `meta.properties` of all nodes."""
        return self.backend.meta.cluster_id

    @property
    def backends(self) -> list[DiskBackend]:
        """Every directory that is open."""
        return [backend for mine in self._open.values() for backend in mine] + self._apart

    @property
    def _with_logs(self) -> dict[int, list[DiskBackend]]:
        """The log directories of each broker."""
        return {node_id: mine for node_id, mine in self._open.items() if node_id in self._node_ids}

    def directories_of(self, node_id: int) -> tuple[Path, ...]:
        """The log directories of a node."""
        if self._of_nodes:
            return tuple(self._of_nodes[node_id])
        if self._is_alone:
            return tuple(self._paths)
        if node_id in self._controllers:
            return (self._path / f"{_NODE}{node_id}",)
        return tuple(path / f"{_NODE}{node_id}" for path in self._paths)

    # -- opening

    def open(self, controller: Controller, membership: Membership, topics: PartitionRegistry) -> None:
        """Take the directories and everything in them; StorageError names the file that prevents it."""
        try:
            self._open_directories()
            self._logs = logs = self._one_medium(controller, topics)
            metadata = self._open_metadata(controller)
            image = controller.image
            check_stored(self._config, (image.configs_of(ResourceType.TOPIC, name) for name in image.topics))
            ids = {node: tuple(map(directory_id, mine)) for node, mine in self._with_logs.items()}
            membership.keep_directories(ids, metadata)
            self._look_at_folders(controller)
            membership.fence_strangers()
            for node_id in membership.directories:
                membership.find_disks(node_id)
            membership.join_controllers(self._controllers)
            membership.join(self._node_ids)
            for backend in logs.backends.values():
                backend.broker_epoch = membership.broker_epoch(backend.meta.node_id)
            if logs.are_several:
                logs.begin()
            self._open_logs_of_coordinators(topics)
        except BaseException as error:
            if self._log is not None:
                self._log.close(clean=False)
            for backend in self.backends:
                if isinstance(error, OtherReleaseError):
                    backend.give_back()
                else:
                    backend.close(clean=False)
            raise

    def _one_medium(self, controller: Controller, topics: PartitionRegistry) -> NodeDirectories:
        """The directories as one medium for the partitions."""
        others = [backend for backend in self.backends if not any(backend in mine for mine in self._with_logs.values())]
        logs = NodeDirectories(self._with_logs, others, controller, self._config)
        if logs.are_several:
            topics.directories = logs
            controller.follow(logs.publish, "created", "deleted", "grown", "moved")
        topics.backend = self._durability.directory = logs
        topics.on_fork = lambda partition: logs.part((partition.topic.name, partition.index), partition.leader_id)
        topics.on_other_log = partial(_settle, logs)
        return logs

    def _open_directories(self) -> None:
        self._check_layout()
        cluster_id = None
        for node_id in (*self._node_ids, *self._controllers):
            paths = self.directories_of(node_id)
            cluster_id = cluster_id or stored_cluster_id(paths[1:]) or self._cluster_id
            mine = self._open[node_id] = []
            for path in paths:
                mine.append(self._open_directory(path, node_id, cluster_id))
                cluster_id = self.cluster_id
        if self._has_metadata_apart:
            self._apart.append(self._open_directory(self._metadata_path, self._node_ids[0], cluster_id))
        if self._apart or any(len(mine) > 1 for mine in self._open.values()):
            for backend in self.backends:
                backend.forget_absent()
            check_same_cluster(self.backends)
            for mine in self._with_logs.values():
                remove_unfinished(mine)

    @property
    def _has_metadata_apart(self) -> bool:
        """Whether the metadata log has a directory of its own."""
        return self._is_alone and self._metadata_path.absolute() not in {path.absolute() for path in self._paths}

    def _open_directory(self, path: Path, node_id: int, cluster_id: str | None) -> DiskBackend:
        backend = self._backend_class(
            path, now_ms=self._clock.now_ms, cluster_id=cluster_id, node_id=node_id, fs=self._fs
        )
        try:
            backend.sync_rolls = self._durability.mode == "always"
            remove_left(backend.directory)
            if backend.meta.node_id != node_id:
                named = backend.directory / META_PROPERTIES
                raise StorageError(f"{named}: belongs to node {backend.meta.node_id}, not to {node_id}", str(named))
            if self._cluster_id not in (None, backend.meta.cluster_id):
                named = backend.directory / META_PROPERTIES
                text = (
                    f"Invalid cluster.id in: {named}. Expected {self._cluster_id}, but read {backend.meta.cluster_id}"
                )
                raise StorageError(text, str(named))
        except BaseException:
            backend.close(clean=False)
            raise
        return backend

    def _check_layout(self) -> None:
        """A directory of one node becomes that of the first of several; nodes are never left out."""
        if self._of_nodes:
            return
        folders = (folder for path in self._paths for folder in path.glob(f"{_NODE}*"))
        stored = {folder.name for folder in folders if (folder / META_PROPERTIES).exists()}
        known = {f"{_NODE}{node_id}" for node_id in (*self._node_ids, *self._controllers)}
        if (self._is_alone and stored) or stored - known:
            text = f"{self._path}: holds the directories {', '.join(sorted(stored))}; start it with all these nodes"
            raise StorageError(text, str(self._path))
        for path in () if self._is_alone else self._paths:
            if not path.exists():
                continue
            for name in known:
                self._fs.is_folder(path / name)
            if (path / META_PROPERTIES).exists():
                self._move_to_first_node(path)
            strangers = sorted(entry.name for entry in path.iterdir() if not entry.name.startswith(_NODE))
            if strangers:
                text = f"{path}: is neither empty nor a data directory; it holds {strangers[0]}"
                raise StorageError(text, str(path))

    def _move_to_first_node(self, path: Path) -> None:
        """meta.properties goes last: until then a start finds the rest of the work to do."""
        target = path / f"{_NODE}{self._node_ids[0]}"
        self._fs.make_directory(target)
        entries = [entry for entry in path.iterdir() if not entry.name.startswith(_NODE)]
        for entry in sorted(entries, key=lambda entry: entry.name == META_PROPERTIES):
            self._fs.rename(entry, target / entry.name)
        self._fs.sync_directory(target)
        self._fs.sync_directory(path)

    def _open_metadata(self, controller: Controller) -> dict[int, bytes]:
        """Returns the id of each node's directory with the metadata log."""
        directory_ids = {node_id: directory_id(mine[0]) for node_id, mine in self._open.items()}
        backend = self._directory_of_metadata()
        voters = {self._node_ids[0]: directory_id(backend)} if self._is_alone else directory_ids
        founders = _founders(voters)
        voting = (*quorum_of(self._config).combined, *self._controllers)
        self._log = DiskMetadataLog(
            backend, self._config, voting, founders, self._clock.now_ms, self._durability.note_append
        )
        for each in self.backends:
            finish_restore(each, self._log.end_offset)
            each.remove_leftovers()
        controller.open(self._log, lambda: records_of_folders(self.backend, self._config, directory_ids))
        if self._controllers and self._log.kraft_version:
            node_id = backend.meta.node_id
            text = f"{self._log.folder} names node {node_id} as the voter; it has to be a controller"
            raise StorageError(text, str(self._log.folder))
        return voters

    def _directory_of_metadata(self) -> DiskBackend:
        """The directory of the metadata log; StorageError if the log is in a directory that must not have it."""
        if not self._is_alone:
            newest = max((first for first, *_ in self._open.values()), key=self._metadata_reaches)
            for first, *further in self._open.values():
                for backend in further:
                    self._check_without_metadata(backend, first, known=(newest.directory / FOLDER).exists())
            return newest
        path = self._metadata_path.absolute()
        chosen = next(backend for backend in self.backends if backend.directory == path)
        if not (path / FOLDER).exists():
            for backend in self.backends:
                if backend is not self.backend or (backend.directory / FOLDER).exists():
                    self._check_without_metadata(backend, chosen, known=False)
        return chosen

    def _check_without_metadata(self, backend: DiskBackend, chosen: DiskBackend, *, known: bool) -> None:
        """StorageError for a metadata log that is not in the chosen directory, or partitions that no such log knows."""
        if (backend.directory / FOLDER).exists():
            text = f"{backend.directory} has the metadata log: name it first, or in metadata.log.dir"
            raise StorageError(text, str(backend.directory))
        if not known and backend.partitions():
            text = f"{backend.directory} has partitions, but {chosen.directory} has no metadata log that knows them"
            raise StorageError(text, str(backend.directory))

    def _metadata_reaches(self, backend: DiskBackend) -> tuple[int, int]:
        """How far the metadata log of a directory goes: each start begins a higher epoch in the one it goes on with."""
        folder = backend.directory / FOLDER
        state = read_quorum_state(self._fs, folder) if self._fs.is_folder(folder) else None
        epoch = -1 if state is None else state.leader_epoch
        return epoch, sum(self._fs.size(path) for path in folder.glob("*.log"))

    def _look_at_folders(self, controller: Controller) -> None:
        """Put aside the folders of partitions that the metadata does not know, as Kafka does; the others hold logs."""
        assert self._logs is not None
        held: dict[Place, list[int]] = {}
        for number, backend in self._logs.backends.items():
            for (name, index), topic_id in backend.partitions().items():
                topic = controller.image.topics.get(name)
                if topic is None or index >= len(topic.partitions) or topic_id not in (None, topic.topic_id):
                    backend.put_aside(name, index)
                else:
                    held.setdefault((name, index), []).append(number)
        for place, holders in held.items():
            registration = controller.image.partition(*place)
            assert registration is not None
            self._logs.choose_home(place, holders, registration)
        for node, mine in self._with_logs.items():
            check_complete(controller.image, node, mine, held)
        self._unopened = list(held)

    def _open_logs_of_coordinators(self, topics: PartitionRegistry) -> None:
        """Open the logs of coordinators, so that time-outs run, and transactions that were ending end."""
        for place in [place for place in self._unopened if place[0] in INTERNAL_TOPICS]:
            self._open_log(topics, *place)

    def _open_log(self, topics: PartitionRegistry, name: str, index: int) -> None:
        topic = topics.get(name)
        if topic is None:
            return
        try:
            topic.partitions[index].open()
        except StorageError as error:
            self.backend.report_damage(f"{name}-{index} is offline: {error.message}")

    async def open_logs(self, topics: PartitionRegistry) -> None:
        """The task that opens what a start leaves closed, one log after the other, so that maintenance sees to them.

        A log that is asked for before its turn is opened then.
        """
        while self._unopened:
            self._open_log(topics, *self._unopened.pop())
            await trio.lowlevel.checkpoint()

    async def write_snapshots(self) -> None:
        """The task that writes snapshots of the metadata."""
        assert self._log is not None
        await self._log.write_snapshots()

    # -- snapshots

    def open_all(self, topics: PartitionRegistry) -> list[Place]:
        """Open every log; returns the partitions whose log cannot be opened."""
        assert self._logs is not None
        held = {place for backend in self._logs.backends.values() for place in backend.partitions()}
        for place in held:
            self._open_log(topics, *place)
        return sorted(
            (name, index)
            for name, index in held
            if (topic := topics.get(name)) is not None and not topic.partitions[index].opened
        )

    def new_kept_logs(self) -> KeptLogs:
        """Where a snapshot keeps its files, until it goes or the directory is closed."""
        kept = KeptLogs()
        self._kept.add(kept)
        return kept

    def new_restored_logs(self) -> RestoredLogs:
        """For a broker that goes back to a snapshot."""
        assert self._logs is not None
        assert self._log is not None
        return RestoredLogs(self._logs, self._log)

    # -- closing

    def close(self, membership: Membership, topics: PartitionRegistry) -> None:
        """Close every log; a clean end leaves Kafka's mark of one."""
        if self._logs is None or self._log is None:
            return
        clean = True
        for kept in list(self._kept):
            kept.remove()
        try:
            membership.shut_down()
        except StorageError:
            clean = False
        clean = topics.close() and clean
        try:
            self._log.close()
            if clean and len(self._open) > 1:
                self._logs.spread_copies()
                self._copy_metadata(self._log.folder)
        except (StorageError, OSError):
            clean = False
        self._logs.close(clean=clean)

    def _copy_metadata(self, source: Path) -> None:
        """Every node is a voter and has the whole metadata log."""
        for first, *_ in self._open.values():
            if first.directory / FOLDER != source:
                copy_folder(first, source, first.directory / FOLDER)


def _founders(directory_ids: dict[int, bytes]) -> VotersRecord | None:
    """The only node of a new cluster, which a Kafka node then is whatever way its configuration names the quorum.

    It amends the endpoint when it starts. Several nodes would look for each other at these endpoints, so they have to
    find them in their configuration (`controller.quorum.voters`).
    """
    if len(directory_ids) > 1:
        return None
    ((node_id, directory_id),) = directory_ids.items()
    endpoint = Endpoint(CONTROLLER_LISTENER, "localhost", 9093)
    return VotersRecord(0, [Voter(node_id, directory_id, [endpoint], KRaftVersionFeature(0, 1))])


def _settle(logs: NodeDirectories, partition: Partition) -> None:
    """The partition is where its leader's log is."""
    store = partition.log.store
    if isinstance(store, DiskLogStore):
        logs.move_home((partition.topic.name, partition.index), store.folder)
