"""A cluster's data on disk: the log directory, the metadata log in it, and what older directories hold instead."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import trio

from odradek.broker.controller.disk_metadata_log import DiskMetadataLog
from odradek.broker.controller.membership import CONTROLLER_LISTENER, Membership
from odradek.broker.controller.takeover import records_of_folders, records_of_old_format, retire_old_format
from odradek.broker.metadata.topic_names import INTERNAL_TOPICS
from odradek.protocol.message import MetadataRecord
from odradek.protocol.metadata_records.topic_record import TopicRecord
from odradek.protocol.stored.voters_record import Endpoint, KRaftVersionFeature, Voter, VotersRecord
from odradek.protocol.uuids import uuid_from_text
from odradek.storage.backend import StorageError
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.file_system import FileSystem

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.controller.controller import Controller
    from odradek.broker.partitions.durability import Durability
    from odradek.broker.partitions.registry import PartitionRegistry


class DataDirectory:
    """Opens and closes all that a durable cluster keeps. Owner: the cluster.

    One log directory serves all nodes and belongs to the first of them; its metadata log is the cluster's.
    """

    def __init__(
        self,
        path: Path,
        config: BrokerConfig,
        clock: BrokerClock,
        node_ids: list[int],
        durability: Durability,
        fs: FileSystem | None = None,
        backend: type[DiskBackend] = DiskBackend,
    ) -> None:
        self._path = path
        self._config = config
        self._clock = clock
        self._node_ids = node_ids
        self._durability = durability
        self._fs = fs or FileSystem()
        self._backend_class = backend
        self.backend: DiskBackend | None = None
        self._log: DiskMetadataLog | None = None
        self._unopened: list[tuple[str, int]] = []

    @property
    def cluster_id(self) -> str:
        """The id in the directory's ``meta.properties``."""
        assert self.backend is not None
        return self.backend.meta.cluster_id

    # -- opening

    def open(self, controller: Controller, membership: Membership, topics: PartitionRegistry) -> None:
        """Take the directory and everything in it; StorageError names the file that stands in the way."""
        backend = self._backend_class(self._path, now_ms=self._clock.now_ms, node_id=self._node_ids[0], fs=self._fs)
        try:
            backend.sync_rolls = self._durability.mode == "always"
            self.backend = topics.backend = self._durability.directory = backend
            backend.remove_leftovers()
            directory_id = uuid_from_text(backend.meta.directory_id or "")
            membership.directories = dict.fromkeys(self._node_ids, directory_id)
            self._open_metadata(backend, directory_id, controller)
            self._check_folders(backend, controller)
            membership.fence_strangers()
            membership.join(self._node_ids)
            backend.broker_epoch = membership.broker_epoch(self._node_ids[0])
            self._open_logs_of_coordinators(topics)
        except BaseException:
            if self._log is not None:
                self._log.close(clean=False)
            backend.close(clean=False)
            raise

    def _open_metadata(self, backend: DiskBackend, directory_id: bytes, controller: Controller) -> None:
        self._log = DiskMetadataLog(
            backend, self._config, self._voters(directory_id), self._clock.now_ms, self._durability.note_append
        )
        controller.open(self._log, lambda: self._known_already(backend, directory_id))
        retire_old_format(backend)

    def _known_already(self, backend: DiskBackend, directory_id: bytes) -> list[MetadataRecord]:
        """What a directory without a metadata log tells of the cluster."""
        records = records_of_old_format(backend, directory_id)
        names = {record.name for record in records if isinstance(record, TopicRecord)}
        return records + records_of_folders(backend, self._config, self._node_ids, directory_id, names)

    def _voters(self, directory_id: bytes) -> VotersRecord:
        endpoint = Endpoint(CONTROLLER_LISTENER, "localhost", 9093)
        levels = KRaftVersionFeature(0, 1)
        return VotersRecord(0, [Voter(self._node_ids[0], directory_id, [endpoint], levels)])

    def _check_folders(self, backend: DiskBackend, controller: Controller) -> None:
        """Put aside the folders of partitions that the metadata does not know, as Kafka does; the others hold logs."""
        for (name, index), topic_id in backend.partitions().items():
            topic = controller.image.topics.get(name)
            known = topic is not None and 0 <= index < len(topic.partitions)
            if not known or (topic is not None and topic_id not in (None, topic.topic_id)):
                backend.put_aside(name, index)
            else:
                self._unopened.append((name, index))

    def _open_logs_of_coordinators(self, topics: PartitionRegistry) -> None:
        """What is in them goes on now: time-outs run, transactions that were being ended end."""
        for name, index in [place for place in self._unopened if place[0] in INTERNAL_TOPICS]:
            self._open_log(topics, name, index)

    def _open_log(self, topics: PartitionRegistry, name: str, index: int) -> None:
        topic = topics.get(name)
        if topic is None:
            return
        try:
            topic.partitions[index].open()
        except StorageError as error:
            assert self.backend is not None
            self.backend.mended(f"{name}-{index} is offline: {error.message}")

    async def open_logs(self, topics: PartitionRegistry) -> None:
        """The task that opens what a start leaves closed, one log after the other, so that maintenance sees to them.

        A log that is asked for before its turn is opened then.
        """
        while self._unopened:
            self._open_log(topics, *self._unopened.pop())
            await trio.lowlevel.checkpoint()

    # -- closing

    def close(self, membership: Membership, topics: PartitionRegistry) -> None:
        """Close every log; a clean end leaves Kafka's mark of one."""
        backend, log = self.backend, self._log
        if backend is None or log is None:
            return
        clean = True
        try:
            membership.shut_down()
        except StorageError:
            clean = False
        clean = topics.close() and clean
        try:
            log.close()
        except StorageError:
            clean = False
        backend.close(clean=clean)
