"""The durable cluster: its log directory, what is remembered beside the logs, and when appends reach the disk.

Beside Kafka's own files the directory holds ``odradek.metadata.json``: topics with their ids, placement and settings,
dynamic broker and group settings, feature levels, the next producer id. It takes the place of KRaft's
``__cluster_metadata`` log; topics that only a partition folder tells of (a directory that Kafka wrote) are taken over
with default settings.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio

from odradek.protocol.uuids import uuid_from_text, uuid_to_text
from odradek.storage.backend import StorageError
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.file_system import FileSystem

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.partitions.partition import Partition

METADATA_FILE = "odradek.metadata.json"
FLUSH = "odradek.flush"
ALWAYS, INTERVAL, NEVER = "always", "interval", "never"
CHECKPOINT_INTERVAL = "log.flush.offset.checkpoint.interval.ms"
_FORMAT = 1
_SCHEDULER_MS = 1000
"""How often logs are looked over for ``flush.ms`` at most."""


class Durability:
    """Opens the directory, keeps its metadata file current, flushes.

    Owner: the cluster; :meth:`open` before topics are made, :meth:`run` in the maintenance nursery; the topic
    registry closes logs and backend. ``appended`` grows with every append, so a request that appended knows to wait
    for the flush.
    """

    def __init__(
        self,
        cluster: Cluster,
        directory: Path,
        fs: FileSystem | None = None,
        backend: type[DiskBackend] = DiskBackend,
    ) -> None:
        self._cluster = cluster
        self._directory = directory
        self._fs = fs or FileSystem()
        self._backend_class = backend
        self.backend: DiskBackend | None = None
        self.appended = 0
        self._flushed = 0
        self._failure: StorageError | None = None
        self._failed_to = 0
        self._dirty: dict[Partition, None] = {}
        self._unflushed_since: dict[Partition, int] = {}
        self._flush_asked = trio.Event()
        self._flush_done = trio.Event()
        self._restoring = False
        self.mode = INTERVAL

    # -- the directory

    def open(self) -> None:
        """Take the directory and everything in it; StorageError names the file that stands in the way."""
        cluster = self._cluster
        self.mode = cluster.config.get_str(FLUSH)
        self.backend = self._backend_class(
            self._directory,
            now_ms=cluster.clock.now_ms,
            cluster_id=cluster.cluster_id,
            node_id=next(iter(cluster.nodes)),
            fs=self._fs,
        )
        self.backend.sync_rolls = self.mode == ALWAYS
        try:
            cluster.cluster_id = self.backend.meta.cluster_id
            cluster.topics.backend = self.backend
            self._restore(self._read_metadata())
        except BaseException:
            self.backend.close(clean=False)
            raise
        for listen in (cluster.topics.on_created, cluster.topics.on_deleted, cluster.topics.on_config_changed):
            listen(lambda _topic: self.save())
        cluster.topics.on_partitions_added(lambda _topic, _first: self.save())
        cluster.config.on_change(self._config_changed)
        cluster.producer_ids.on_block = self.save
        self.save()

    def _config_changed(self, _names: frozenset[str]) -> None:
        self.save()

    def _read_metadata(self) -> dict[str, Any]:
        path = self._directory / METADATA_FILE
        if not path.exists():
            return {}
        try:
            metadata = json.loads(self._fs.read(path))
        except ValueError as error:
            raise StorageError(f"{path}: {error}", str(path)) from None
        if not isinstance(metadata, dict) or metadata.get("format") != _FORMAT:
            raise StorageError(f"{path}: not a metadata file of format {_FORMAT}", str(path))
        return metadata

    def _restore(self, metadata: dict[str, Any]) -> None:
        self._restoring = True
        assert self.backend is not None
        self.backend.remove_leftovers()
        cluster = self._cluster
        if metadata:
            cluster.config.set_dynamic(None, metadata["broker_defaults"])
            for node_id, values in metadata["broker_nodes"].items():
                cluster.config.set_dynamic(int(node_id), values)
            for name, level in metadata["features"].items():
                cluster.features.set_level(name, level)
            cluster.producer_ids.next_block = metadata["next_producer_id"]
            cluster.dynamic_configs.groups.update(metadata.get("groups", {}))
            cluster.dynamic_configs.client_metrics.update(metadata.get("client_metrics", {}))
        known = {topic["name"]: topic for topic in metadata.get("topics", ())}
        for topic in known.values():
            self._restore_topic(topic["name"], uuid_from_text(topic["id"]), topic["partitions"], topic["config"])
        self._adopt(known)
        self._restoring = False

    def _adopt(self, known: dict[str, Any]) -> None:
        """Take over topics that only their folders tell of."""
        assert self.backend is not None
        found: dict[str, dict[int, bytes | None]] = {}
        for (name, index), topic_id in self.backend.partitions().items():
            if name not in known:
                found.setdefault(name, {})[index] = topic_id
        for name, partitions in found.items():
            topic_id = next((each for each in partitions.values() if each is not None), None)
            if topic_id is not None:
                nodes = list(self._cluster.nodes)
                placed = [[nodes[index % len(nodes)]] for index in range(max(partitions) + 1)]
                self._restore_topic(name, topic_id, placed, self._cluster.topics.internal_overrides(name))

    def _restore_topic(self, name: str, topic_id: bytes, placed: list[list[int]], overrides: dict[str, str]) -> None:
        nodes = self._cluster.nodes
        first = next(iter(nodes))
        kept = [[node for node in replicas if node in nodes] or [first] for replicas in placed]
        topic = self._cluster.topics.restore(name, topic_id, kept, overrides)
        for partition in topic.partitions:
            try:
                log = partition.log
            except StorageError as error:
                assert self.backend is not None
                self.backend.mended(f"{name}-{partition.index} is offline: {error.message}")
                continue
            # As after a restart of Kafka: a new leader epoch, so that clients notice.
            if log.leader_epochs.latest >= 0:
                partition.leader_epoch = log.leader_epochs.latest + 1
            for producer in log.producers:
                self._cluster.producer_ids.skip_past(producer.producer_id)

    def save(self) -> None:
        """Bring the metadata file up to date; durable when it returns."""
        if self._restoring or self.backend is None:
            return
        cluster = self._cluster
        metadata = {
            "format": _FORMAT,
            "topics": [
                {
                    "name": topic.name,
                    "id": uuid_to_text(topic.topic_id),
                    "partitions": [partition.replicas for partition in topic.partitions],
                    "config": dict(topic.config.overrides),
                }
                for topic in cluster.topics
            ],
            "broker_defaults": cluster.config.dynamic_default,
            "broker_nodes": {str(node): values for node, values in cluster.config.dynamic_nodes.items()},
            "groups": cluster.dynamic_configs.groups,
            "client_metrics": cluster.dynamic_configs.client_metrics,
            "features": cluster.features.finalized,
            "next_producer_id": cluster.producer_ids.next_block,
        }
        text = json.dumps(metadata, indent=1) + "\n"
        self._fs.write_atomically(self._directory / METADATA_FILE, text.encode())

    # -- flushing

    def note_append(self, partition: Partition) -> None:
        """To be called after every append, in the same sync step."""
        self.appended += 1
        if self.mode == ALWAYS:
            self._dirty[partition] = None
        elif self.mode == INTERVAL:
            log = partition.log
            if log.unflushed_messages >= log.config.flush_messages:
                log.flush()
                self._unflushed_since.pop(partition, None)
            elif partition not in self._unflushed_since:
                self._unflushed_since[partition] = self._cluster.clock.now_ms()

    def must_wait(self, appended_before: int) -> bool:
        """Whether a request that saw ``appended`` at this value has appends to wait for."""
        return self.mode == ALWAYS and self.appended != appended_before

    async def flushed(self) -> None:
        """Wait until everything appended so far is on the disk; StorageError if it could not be brought there."""
        target = self.appended
        while self._flushed < target:
            done = self._flush_done
            self._flush_asked.set()
            await done.wait()
        if self._failure is not None and self._failed_to >= target:
            raise self._failure

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """The tasks: the group flusher, and the periodic work on the broker's clock."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._flush_for_waiters)
            nursery.start_soon(self._work_periodically)
            task_status.started()

    async def _flush_for_waiters(self) -> None:
        """One sync serves all requests that wait; while it runs, the next ones gather."""
        while True:
            await self._flush_asked.wait()
            self._flush_asked = trio.Event()
            target, dirty = self.appended, list(self._dirty)
            self._dirty.clear()
            await self._sync(dirty)
            self._flushed = target
            done, self._flush_done = self._flush_done, trio.Event()
            done.set()

    async def _sync(self, partitions: list[Partition]) -> None:
        syncs = [
            (each, sync) for each in partitions if not each.deleted and (sync := each.log.begin_sync()) is not None
        ]
        if not syncs:
            return

        def sync_all() -> list[tuple[Partition, StorageError]]:
            failed = []
            for partition, sync in syncs:
                try:
                    sync()
                except StorageError as error:
                    failed.append((partition, error))
            return failed

        for partition, error in await trio.to_thread.run_sync(sync_all):
            partition.fail(error)
            # Whoever waits for this round can't be told apart, so nobody in it gets a false yes.
            self._failure, self._failed_to = error, self.appended

    async def _work_periodically(self) -> None:
        cluster = self._cluster
        last_checkpoint = cluster.clock.now_ms()
        while True:
            await cluster.clock.sleep(_SCHEDULER_MS / 1000)
            now = cluster.clock.now_ms()
            self._guard("flush", lambda now=now: self._flush_due(now))  # type: ignore[misc]
            assert self.backend is not None
            self._guard("removal of files", self.backend.remove_due)
            if now - last_checkpoint >= cluster.config.get_int(CHECKPOINT_INTERVAL):
                last_checkpoint = now
                self._guard("checkpoint", self.backend.write_checkpoints)

    def _guard(self, what: str, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as error:
            self._cluster.bug_log.report(what, error)

    def _flush_due(self, now_ms: int) -> None:
        for partition, since in list(self._unflushed_since.items()):
            if partition.deleted:
                del self._unflushed_since[partition]
            elif now_ms - since >= partition.log.config.flush_ms:
                del self._unflushed_since[partition]
                partition.log.flush()
