"""The topics and live partitions of a process, which are made, grown, moved and deleted as the metadata image says."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import trio

from odradek.broker.config.broker_config import BrokerConfig, TopicConfig
from odradek.broker.metadata.image import MetadataDelta, MetadataImage, ResourceType, TopicImage
from odradek.broker.partitions.partition import Partition, Topic
from odradek.storage.backend import StorageError
from odradek.storage.memory_backend import MemoryBackend
from odradek.storage.partition_log import PartitionLog

if TYPE_CHECKING:
    from pathlib import Path

    from odradek.broker.clock import BrokerClock
    from odradek.broker.metadata.image import PartitionRegistration
    from odradek.broker.partitions.durability import Durability
    from odradek.storage.backend import LogBackend
    from odradek.storage.chunks import ChunkPool


_log = logging.getLogger("odradek.broker.partitions")


class Directories(Protocol):
    """The log directories of nodes that have several."""

    def path_of(self, node_id: int, topic: str, index: int) -> Path:
        """The directory of a node's replica."""

    def prefer(self, node_id: int, topic: str, index: int, path: Path) -> None:
        """Create a node's replica in this directory, when it is created."""

    def move(self, node_id: int, partition: Partition, path: Path) -> None:
        """Bring a node's replica to another directory; StorageError leaves it where it is."""


class PartitionRegistry:
    """All partitions that the nodes of this process host, by topic name and id: the look-up of Produce and Fetch.

    Owner: the cluster. `publish` follows the image and is the only way in which partitions come, change and go; it
    never fails on a medium: a log is opened when it is first used, and its errors are those of whoever used it.
    `on_activity` is told of partitions that get data or another config. `on_fork` is told of those whose leader gets a
    log of its own, and may choose the directory; `on_other_log` of those that go on with another log than before.
    `directories` is there for nodes with several log directories. `crowded`: where to wait before an append that can
    wait, while records come faster than they leave memory for the temporary file; None else.
    """

    def __init__(self, config: BrokerConfig, clock: BrokerClock, backend: LogBackend | None = None) -> None:
        self._config = config
        self._clock = clock
        self._topics: dict[str, Topic] = {}
        self._by_id: dict[bytes, Topic] = {}
        self.backend: LogBackend = MemoryBackend() if backend is None else backend
        self._room = (
            BackPressure(self.backend.pool, self._set_crowded) if isinstance(self.backend, MemoryBackend) else None
        )
        self.crowded: BackPressure | None = None
        self.durability: Durability | None = None
        self.directories: Directories | None = None
        self.on_activity: Callable[[Partition], None] | None = None
        self.on_fork: Callable[[Partition], None] | None = None
        self.on_other_log: Callable[[Partition], None] | None = None

    # -- looking

    def get(self, name: str) -> Topic | None:
        """The topic of that name."""
        return self._topics.get(name)

    def by_name(self, name: str) -> Topic:
        """The topic of that name, which must be there."""
        return self._topics[name]

    def by_id(self, topic_id: bytes) -> Topic | None:
        """The topic of that id."""
        return self._by_id.get(topic_id)

    def all(self) -> list[Topic]:
        """Every topic, oldest first."""
        return list(self._topics.values())

    def _set_crowded(self, crowded: bool) -> None:
        self.crowded = self._room if crowded else None

    # -- following the image

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Do what `delta` did to the image; see `odradek.broker.controller.controller.Publisher`."""
        for topic_id in delta.deleted:
            self._remove(topic_id)
        for created in delta.created.values():
            self._add(created, image)
        for topic_id in delta.grown:
            self._grow(self._by_id[topic_id], image.topics_by_id[topic_id].partitions)
        for topic_id, index in delta.moved:
            moved = image.topics_by_id.get(topic_id)
            if moved is not None:
                self._follow(self._by_id[topic_id].partitions[index], moved.partitions[index])
        self._configure(delta, image)

    def _follow(self, partition: Partition, registration: PartitionRegistration) -> None:
        if self.on_other_log is None or partition.replica_set is None:
            partition.follow(registration)
            return
        before = partition.log
        partition.follow(registration)
        if partition.log is not before:
            self.on_other_log(partition)

    def _add(self, created: TopicImage, image: MetadataImage) -> None:
        config = TopicConfig(self._config, image.configs_of(ResourceType.TOPIC, created.name))
        topic = self._by_id.get(created.topic_id)
        if topic is None:
            topic = Topic(created.name, created.topic_id, config)
            self._topics[topic.name] = self._by_id[topic.topic_id] = topic
        topic.config = config
        for partition, registration in zip(topic.partitions, created.partitions, strict=False):
            partition.follow(registration)
        self._grow(topic, created.partitions)

    def _grow(self, topic: Topic, registrations: Sequence[PartitionRegistration]) -> None:
        for index in range(len(topic.partitions), len(registrations)):
            partition = Partition(
                topic, index, self._open_log, registrations[index], self._note_activity, self._fork_log, self._has_log
            )
            partition.durability = self.durability
            topic.partitions.append(partition)

    def _remove(self, topic_id: bytes) -> None:
        topic = self._by_id.pop(topic_id)
        if self._topics.get(topic.name) is topic:
            del self._topics[topic.name]
        topic.deleted = True
        delay_ms = topic.config.log_config().file_delete_delay_ms
        for partition in topic.partitions:
            try:
                partition.delete()
                if not partition.opened:
                    self.backend.delete_log(topic.name, partition.index, delay_ms)
            except StorageError as error:
                # The topic is deleted whatever the medium says. The next start removes what is left of it.
                _log.error("%s-%d is deleted, its files are not: %s", topic.name, partition.index, error.message)

    def _configure(self, delta: MetadataDelta, image: MetadataImage) -> None:
        if any(kind == ResourceType.BROKER for kind, _ in delta.configs):
            self.configure_all()
        for kind, name in delta.configs:
            known = self._topics.get(name) if kind == ResourceType.TOPIC else None
            if known is not None:
                known.config = TopicConfig(self._config, image.configs_of(kind, name))
                self._apply_config(known)

    def configure_all(self) -> None:
        """Configure all partitions again: the brokers' defaults for topics have changed."""
        for topic in self._topics.values():
            self._apply_config(topic)

    def _apply_config(self, topic: Topic) -> None:
        config = topic.config.log_config()
        for partition in topic.partitions:
            if partition.opened and partition.log.config is not config:
                partition.log.config = config
                partition.config_changed()

    # -- logs

    def _open_log(self, partition: Partition) -> PartitionLog:
        topic = partition.topic
        return PartitionLog(
            topic.name,
            partition.index,
            topic.config.log_config(),
            self.backend,
            now_ms=self._clock.now_ms(),
            topic_id=topic.topic_id,
        )

    def _has_log(self, partition: Partition) -> bool:
        return self.backend.has_log(partition.topic.name, partition.index)

    def _fork_log(self, partition: Partition, log: PartitionLog, end: int) -> PartitionLog:
        """A log of the leader's own, because it lacks what comes behind `end` in the one that it had with others."""
        from odradek.storage.forking import fork

        topic = partition.topic
        if self.on_fork is not None:
            self.on_fork(partition)
        return fork(log, self.backend, end_offset=end, now_ms=self._clock.now_ms(), topic_id=topic.topic_id)

    def _note_activity(self, partition: Partition) -> None:
        if self.on_activity is not None:
            self.on_activity(partition)

    def close(self) -> bool:
        """Close every log; the data stay. Returns whether all went well."""
        clean = True
        for topic in self._topics.values():
            for partition in topic.partitions:
                try:
                    partition.close()
                except StorageError:
                    clean = False
        return clean


# -- Back-pressure: Produce waits here while the file writer is behind.


class BackPressure:
    """Waits for a chunk pool to have room, for the tasks of one event loop.

    `on_change` is called when the pool becomes crowded, and when it no longer is.
    """

    def __init__(self, pool: ChunkPool, on_change: Callable[[bool], None]) -> None:
        self._pool = pool
        self._on_change = on_change
        self._changed = trio.Event()
        pool.on_crowded = self._crowded

    async def wait(self) -> None:
        """Return when the pool is not crowded; an append that follows at once finds it like that."""
        while self._pool.crowded:
            self._listen()
            self._pool.collect()  # collect what was written before anybody listened
            if self._pool.crowded:
                await self._changed.wait()

    def _listen(self) -> None:
        """Look at the pool, in this event loop, whenever its writer has done something."""
        token = trio.lowlevel.current_trio_token()

        def written() -> None:
            try:
                token.run_sync_soon(self._pool.collect, idempotent=True)
            except trio.RunFinishedError:
                pass

        self._pool.when_written(written)

    def _crowded(self, crowded: bool) -> None:
        if not crowded:
            self._pool.when_written(None)
            changed, self._changed = self._changed, trio.Event()
            changed.set()
        self._on_change(crowded)
