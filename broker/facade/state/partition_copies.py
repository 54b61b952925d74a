"""The live partitions as they were at one time: their logs share their bytes with those of the broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.partitions.replicas import NOTHING
from odradek.storage.forking import fork

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.partitions.partition_registry import PartitionRegistry
    from odradek.broker.partitions.replicas import ReplicaSet
    from odradek.storage.backend import LogBackend
    from odradek.storage.partition_log import PartitionLog
    from odradek.storage.segment import Segment

PartitionKey = tuple[bytes, int]
"""Topic id and index."""
CopyLog = Callable[["PartitionLog", bytes], "PartitionLog"]
"""(log, topic id) -> a copy of the log."""


class _Stamp(NamedTuple):
    """How far a log was. While it has the same stamp it holds the same: it grows, loses its start, or is compacted.

    Whatever is compacted is in other segments afterwards.
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
    """What a partition had: its log, and its replicas while they differed. Nobody ever appends to these logs."""

    __slots__ = ("_stamp", "log", "replicas")

    def __init__(self, partition: Partition, copy: CopyLog) -> None:
        self.log, self.replicas = _copied(partition, partition.log, partition.replica_set, copy)
        self._stamp = None if partition.replica_set is not None else _Stamp.of(partition)

    def is_what(self, partition: Partition) -> bool:
        """Whether the partition has just this now."""
        if self._stamp is None or partition.replica_set is not None or not partition.opened:
            return False
        return self._stamp == _Stamp.of(partition)

    def put_into(self, partition: Partition, copy: CopyLog) -> tuple[PartitionLog, ReplicaSet | None]:
        """A log, and replicas, for the partition to go on with."""
        log, replicas = _copied(partition, self.log, self.replicas, copy)
        log.config = partition.topic.config.log_config()
        log.producers.rewind()
        return log, replicas

    def is_in(self, partition: Partition) -> None:
        """The partition has got this, and nothing else yet."""
        if self.replicas is None:
            self._stamp = _Stamp.of(partition)


def opened(topics: PartitionRegistry) -> Iterator[tuple[PartitionKey, Partition]]:
    """The partitions whose log is open; the others have nothing."""
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
