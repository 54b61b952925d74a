"""A partition as the broker sees it: a log, who leads it, and who waits for it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from odradek.broker.partitions.waiters import WaiterSet
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.storage.backend import StorageError
from odradek.storage.partition_log import AppendInfo, AppendOrigin, PartitionLog

if TYPE_CHECKING:
    from odradek.broker.controller.topics import Topic
    from odradek.broker.partitions.durability import Durability
    from odradek.protocol.message import Buffer

_CLIENT = AppendOrigin.CLIENT
_log = logging.getLogger(__name__)


class Partition:
    """One partition of a topic.

    Owner: the topic registry makes and closes it. Every mutation is a sync call in the broker's task; readers that wait
    are in ``waiters`` and are told by the mutators here, so write through this class and never to ``log`` directly.

    There is one log for all replicas of the cluster: ``replicas`` and ``isr`` are what Metadata shows and what
    ``min.insync.replicas`` is held against. ``leader_id`` is -1 while no replica's node is up. ``on_activity`` is
    called once, with the first append (and again after a changed config): maintenance looks after such logs only.
    ``coordinator_appends`` counts appends by coordinators, so that whoever awaited something can tell whether a
    transaction marker came in between.
    """

    __slots__ = (
        "active",
        "coordinator_appends",
        "deleted",
        "durability",
        "failure",
        "index",
        "isr",
        "leader_epoch",
        "leader_id",
        "log",
        "on_activity",
        "on_leadership",
        "open_log",
        "partition_epoch",
        "replicas",
        "reported",
        "topic",
        "waiters",
    )

    def __init__(
        self,
        topic: Topic,
        index: int,
        log: PartitionLog | Callable[[], PartitionLog],
        *,
        replicas: Sequence[int],
        leader_id: int | None = None,
        leader_epoch: int = 0,
        isr: Sequence[int] | None = None,
        on_activity: Callable[[Partition], None] | None = None,
        on_leadership: Callable[[Partition], None] | None = None,
    ) -> None:
        self.topic = topic
        self.index = index
        self.replicas = list(replicas)
        self.isr = list(replicas if isr is None else isr)
        self.leader_id = self.replicas[0] if leader_id is None else leader_id
        self.leader_epoch = leader_epoch
        self.partition_epoch = 0
        self.waiters = WaiterSet()
        self.deleted = False
        self.active = False
        self.coordinator_appends = 0
        self.on_activity = on_activity
        self.on_leadership = on_leadership
        self.durability: Durability | None = None
        self.failure: StorageError | None = None
        self.reported = ""
        self.open_log: Callable[[], PartitionLog] | None = None
        if isinstance(log, PartitionLog):
            self._take(log)
            if log.log_end_offset:
                self._activate()
        else:
            self.open_log = log

    def __getattr__(self, name: str) -> PartitionLog:
        """Open the log when it is first looked at: thousands of idle partitions cost next to nothing."""
        if name != "log" or self.open_log is None:
            raise AttributeError(name)
        log = self.open_log()
        self._take(log)
        self.open_log = None
        return log

    def _take(self, log: PartitionLog) -> None:
        """The log and the partition agree on the leader epoch: a log that was there before may know a later one."""
        self.log = log
        self.leader_epoch = max(self.leader_epoch, log.leader_epochs.latest)
        log.begin_epoch(self.leader_epoch)

    @property
    def opened(self) -> bool:
        """Whether there is a log yet; looking at ``log`` opens it."""
        return self.open_log is None

    def __repr__(self) -> str:
        return f"Partition({self.topic.name}-{self.index}, leader {self.leader_id}, epoch {self.leader_epoch})"

    # -- writing

    def append(self, records: Buffer, *, now_ms: int, origin: AppendOrigin = _CLIENT) -> AppendInfo:
        """Append one record batch and wake whoever waits for it.

        The records are copied or rewritten by the log, never kept. Raises KafkaError (RecordsRefused with what a
        produce response says of it); a refused append changes nothing.
        """
        if self.deleted:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if self.failure is not None:
            raise self.failure
        log = self.log
        try:
            if self.waiters.all:
                stable = log.last_stable_offset
                info = log.append(records, now_ms=now_ms, leader_epoch=self.leader_epoch, origin=origin)
                if not info.duplicate:
                    self.waiters.appended(len(records), stable_moved=log.last_stable_offset != stable)
            else:
                info = log.append(records, now_ms=now_ms, leader_epoch=self.leader_epoch, origin=origin)
        except StorageError as error:
            self._report(error)
            raise
        if origin is not _CLIENT:
            self.coordinator_appends += 1
        if not self.active:
            self._activate()
        if self.durability is not None:
            self.durability.note_append(self)
        return info

    def fail(self, error: StorageError) -> None:
        """The medium lost appended bytes: refuse every append from now on with this error."""
        self.failure = error
        self._report(error)

    def _report(self, error: StorageError) -> None:
        """Log what is wrong with the medium, once and not for each request that meets it."""
        if self.reported != error.message:
            self.reported = error.message or ""
            _log.error("%s-%d cannot be written: %s", self.topic.name, self.index, error.message)

    def delete_records(self, before_offset: int, *, now_ms: int) -> int:
        """Move the log start up to ``before_offset`` (-1 = high watermark); return the new log start offset.

        Raises OFFSET_OUT_OF_RANGE beyond the high watermark.
        """
        start = self.log.delete_records(before_offset, now_ms=now_ms)
        self.waiters.wake_all()
        return start

    # -- leadership

    def set_leader(self, leader_id: int, *, leader_epoch: int | None = None, isr: Sequence[int] | None = None) -> None:
        """Another node leads from now on (-1 = none); the leader epoch grows by one unless given."""
        self.leader_id = leader_id
        self.leader_epoch = self.leader_epoch + 1 if leader_epoch is None else leader_epoch
        self.partition_epoch += 1
        if isr is not None:
            self.isr = list(isr)
        if leader_id >= 0 and self.opened:
            self.log.begin_epoch(self.leader_epoch)
        if self.on_leadership is not None:
            self.on_leadership(self)
        self.waiters.wake_all()

    def check_leader(self, node_id: int, current_leader_epoch: int = -1) -> None:
        """Raise unless ``node_id`` leads in the epoch that the client knows (-1 = it does not say; KIP-320)."""
        if current_leader_epoch not in (-1, self.leader_epoch):
            if current_leader_epoch < self.leader_epoch:
                raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH)
            raise KafkaError(ErrorCode.UNKNOWN_LEADER_EPOCH)
        if self.leader_id != node_id:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    @property
    def under_min_isr(self) -> bool:
        """Whether acks=all has to be refused: fewer replicas in sync than ``min.insync.replicas`` (as far as there are
        so many replicas at all)."""
        return len(self.isr) < min(self.log.config.min_insync_replicas, len(self.replicas))

    # -- life

    def config_changed(self) -> None:
        """To be called after ``log.config`` was replaced: retention or compaction may have become due."""
        if self.active and self.on_activity is not None:
            self.on_activity(self)

    def close(self) -> None:
        """The broker stops: release the log, keep its data. Idempotent."""
        if not self.deleted:
            self.deleted = True
            self.waiters.wake_all()
            if self.opened:
                self.log.close()

    def delete(self) -> None:
        """The partition is gone with its data; waiting readers learn it. Idempotent."""
        if not self.deleted:
            self.deleted = True
            self.waiters.wake_all()
            if self.opened:
                self.log.delete()

    def _activate(self) -> None:
        self.active = True
        if self.on_activity is not None:
            self.on_activity(self)
