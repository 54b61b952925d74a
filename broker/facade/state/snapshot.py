"""A snapshot: everything about a broker that its clients could observe, at one moment.

Logs share their bytes with the broker, metadata is copied as dictionaries of the same values, and coordinators are
pickled, so the cost grows with partitions and groups, not with records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.nodes.added_nodes import releases_of
from odradek.broker.partitions.replicas import NOTHING
from odradek.storage.backend import StorageError
from odradek.storage.forking import fork
from odradek.storage.memory_backend import MemoryBackend

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.controller.snapshot_files import KeptLogs
    from odradek.broker.coordinator.transaction.holds import HoldCopy
    from odradek.broker.metadata.image import MetadataImage
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.partitions.partition_registry import PartitionRegistry
    from odradek.broker.partitions.replicas import ReplicaSet
    from odradek.broker.partitions.share.manager import ShareCopy
    from odradek.broker.telemetry.pushes import TelemetryPush
    from odradek.storage.backend import LogBackend
    from odradek.storage.partition_log import PartitionLog
    from odradek.storage.segment import Segment


PartitionKey = tuple[bytes, int]
"""Topic id and index."""
CopyLog = Callable[["PartitionLog", bytes], "PartitionLog"]
"""(log, topic id) -> a copy of the log."""


class _Stamp(NamedTuple):
    """A fingerprint of a log: two logs with the same stamp have the same content.

    A log only changes when it grows, loses its start, or is compacted, and compaction creates new segments.
    """

    log: PartitionLog
    segments: tuple[Segment, ...]
    start: int
    end: int
    high_watermark: int
    producers: int
    leader_epoch: int

    @classmethod
    def of(cls, partition: Partition) -> _Stamp:
        log = partition.log
        marks = log.log_start_offset, log.log_end_offset, log.high_watermark
        return cls(log, tuple(log.segments), *marks, len(log.producers), partition.leader_epoch)


class PartitionCopy:
    """A copy of a partition: its log, and its replicas if they differed. Nothing is ever appended to these logs."""

    __slots__ = ("_stamp", "log", "replicas")

    def __init__(self, partition: Partition, copy: CopyLog) -> None:
        self.log, self.replicas = _copied(partition, partition.log, partition.replica_set, copy)
        self._stamp = None if partition.replica_set is not None else _Stamp.of(partition)

    def matches(self, partition: Partition) -> bool:
        """Whether the partition has the same content now."""
        if self._stamp is None or partition.replica_set is not None or not partition.opened:
            return False
        return self._stamp == _Stamp.of(partition)

    def put_into(self, partition: Partition, copy: CopyLog) -> tuple[PartitionLog, ReplicaSet | None]:
        """A log, and replicas, for the partition to continue with."""
        log, replicas = _copied(partition, self.log, self.replicas, copy)
        log.config = partition.topic.config.log_config()
        log.producers.rewind()
        return log, replicas

    def restored_in(self, partition: Partition) -> None:
        """Note that the partition has this content now."""
        if self.replicas is None:
            self._stamp = _Stamp.of(partition)


def opened(topics: PartitionRegistry) -> Iterator[tuple[PartitionKey, Partition]]:
    """The partitions whose log is open; all others are empty."""
    for topic in topics.all():
        for partition in topic.partitions:
            if partition.opened:
                yield (topic.topic_id, partition.index), partition


def forked_into(backend: LogBackend, now_ms: int) -> CopyLog:
    """Copies on a medium: in memory they share their bytes with logs in memory, else the batches are copied."""
    return lambda log, topic_id: fork(log, backend, now_ms=now_ms, topic_id=topic_id)


def _copied(
    partition: Partition, log: PartitionLog, replicas: ReplicaSet | None, copy: CopyLog
) -> tuple[PartitionLog, ReplicaSet | None]:
    """Copies of the leader's log and of what its replicas have, whose logs are copied with them."""
    topic_id = partition.topic.topic_id
    if replicas is None:
        return copy(log, topic_id), None
    known: dict[int, object] = {id(NOTHING): NOTHING}
    copies = {each: copy(each, topic_id) for each in (log, *replicas.logs())}
    known.update((id(each), made) for each, made in copies.items())
    return copies[log], deepcopy(replicas, known)


class Snapshot:
    """The state of a broker at one moment, for ``broker.restore(snapshot)``, any number of times.

    It stays valid whatever happens to the broker. It only uses memory for what the broker has dropped since.
    """

    def __init__(self, cluster: Cluster) -> None:
        services = cluster.services
        groups, transactions = services.groups.made, services.transactions.made
        states, shares, telemetry = services.share_states.made, services.share_partitions.made, services.telemetry.made
        self._cluster = cluster
        self.now_ms = now_ms = cluster.clock.now_ms()
        self.clock_frozen = cluster.clock.frozen
        # Coordinators first: one that is loading still ends that.
        self.groups: Mapping[int, bytes | None] = {} if groups is None else groups.copied()
        self.transactions: Mapping[int, bytes | None] = {} if transactions is None else transactions.copied()
        self.holds: list[HoldCopy] = [] if transactions is None else transactions.holds.copied()
        self.share_states: Mapping[int, bytes | None] = {} if states is None else states.copied()
        self.share_partitions: list[ShareCopy] = [] if shares is None else shares.copied()
        self.pushes: list[TelemetryPush] = [] if telemetry is None else list(telemetry.pushes())
        self.image: MetadataImage = cluster.controller.image_copied()
        self.controller_id = cluster.controller_id
        self.stopped_nodes = {
            node.id: _shut_down(cluster.image, node.id) for node in cluster.nodes.values() if not node.up
        }
        self.controllers_alone = frozenset(node.id for node in cluster.nodes.values() if node.controls_alone)
        self.config = cluster.config.as_started()
        self.releases = releases_of(cluster)
        self.kraft_version = cluster.controller.kraft_version
        self.voters = frozenset(voter.id for voter in cluster.quorum.voters)
        self.faults = set(cluster.faults)
        """The faults that were set. A restore removes all other faults, and adds none."""
        self.frozen_nodes = frozenset(cluster.frozen)
        self.client_links = list(cluster.server.links.client_links) if cluster.server.has_bad_links else []
        self.replication = cluster.replicator.snapshot
        self.maintained_ms = cluster.maintenance.last_rounds()
        self.kept = _kept_logs(cluster)
        """The files of a broker with a data directory."""
        copy = _copying(cluster, self.kept, now_ms)
        self.partitions: dict[PartitionKey, PartitionCopy] = {
            key: PartitionCopy(partition, copy) for key, partition in opened(cluster.topics)
        }

    def __repr__(self) -> str:
        own = [topic for topic in self.image.topics.values() if not topic.internal]
        return f"<Snapshot: {len(own)} topics, {sum(len(topic.partitions) for topic in own)} partitions>"

    def is_of(self, cluster: Cluster) -> bool:
        """Whether the snapshot was taken of this cluster."""
        return self._cluster is cluster


def _shut_down(image: MetadataImage, node_id: int) -> bool:
    """Whether a node that is down was shut down cleanly."""
    broker = image.brokers.get(node_id)
    return broker is not None and broker.in_controlled_shutdown


def _kept_logs(cluster: Cluster) -> KeptLogs | None:
    """Where a snapshot keeps its files; None where the copies are in memory.

    A log that can't be opened has no copy: StorageError.
    """
    if cluster.directory is None:
        return None
    lost = cluster.directory.open_all(cluster.topics)
    if lost:
        name, index = lost[0]
        raise StorageError(f"{name}-{index} can't be opened, so there is no snapshot of it")
    return None if _diverged(cluster) else cluster.directory.new_kept_logs()


def _copying(cluster: Cluster, kept: KeptLogs | None, now_ms: int) -> CopyLog:
    if kept is None:
        return forked_into(MemoryBackend(cluster.config.get_int("odradek.memory.bytes")), now_ms)
    return lambda log, topic_id: kept.keep(log, topic_id, now_ms)


def _diverged(cluster: Cluster) -> Partition | None:
    """A partition whose replicas differ, if there is one."""
    return next((each for _, each in opened(cluster.topics) if each.replica_set is not None), None)


def take(cluster: Cluster) -> Snapshot:
    """Take a snapshot. Raises ValueError for a cluster with a data directory while replicas differ."""
    differing = None if cluster.directory is None else _diverged(cluster)
    if differing is not None:
        raise ValueError(
            f"the replicas of {differing.topic.name}-{differing.index} differ, and the broker has a data directory: "
            "a snapshot of that is taken in memory only. heal() brings the replicas together"
        )
    return Snapshot(cluster)
