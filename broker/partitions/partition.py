"""A partition as the broker sees it: a log, who leads it, and who waits for it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from odradek.broker.partitions.waiters import WaiterSet
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.storage.backend import StorageError
from odradek.storage.partition_log import AppendInfo, AppendOrigin, PartitionLog

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import TopicConfig
    from odradek.broker.metadata.registrations import PartitionRegistration
    from odradek.broker.partitions.durability import Durability
    from odradek.protocol.message import Buffer

_CLIENT = AppendOrigin.CLIENT
_log = logging.getLogger("odradek.broker.partitions")


class OwnTopic(Protocol):
    """What a partition knows of the topic that it belongs to. `internal`: it is one of the coordinators' topics."""

    name: str
    topic_id: bytes
    internal: bool
    config: TopicConfig


class Partition:
    """One partition of a topic.

    Owner: the `PartitionRegistry` makes and closes it, and lets it follow its registration in the metadata image.
    Every mutation is a sync call in the broker's task; readers that wait are in `waiters` and are told by the
    mutators here, so write through this class and never to `log` directly.

    There is one log for all replicas of the cluster: `replicas` and `isr` are what Metadata shows and what
    `min.insync.replicas` is held against. `leader_id` is -1 while no replica's node is up. `on_activity` is
    called once, with the first append (and again after a changed config): maintenance looks after such logs only.
    """

    __slots__ = (
        "_log",
        "_on_activity",
        "_open_log",
        "active",
        "deleted",
        "durability",
        "failure",
        "index",
        "isr",
        "leader_epoch",
        "leader_id",
        "partition_epoch",
        "replicas",
        "reported",
        "topic",
        "waiters",
    )

    def __init__(
        self,
        topic: OwnTopic,
        index: int,
        open_log: Callable[[Partition], PartitionLog],
        registration: PartitionRegistration,
        on_activity: Callable[[Partition], None],
    ) -> None:
        self.topic = topic
        self.index = index
        self.replicas = registration.replicas
        self.isr = registration.isr
        self.leader_id = registration.leader
        self.leader_epoch = registration.leader_epoch
        self.partition_epoch = registration.partition_epoch
        self.waiters = WaiterSet()
        self.deleted = False
        self.active = False
        self.durability: Durability | None = None
        self.failure: StorageError | None = None
        self.reported = ""
        self._log: PartitionLog | None = None
        self._open_log = open_log
        self._on_activity = on_activity

    @property
    def log(self) -> PartitionLog:
        """The log; opened when it is first asked for, since thousands of idle partitions must cost next to nothing.

        Raises StorageError where the medium has no log that could be read.
        """
        return self._log or self.open()

    def open(self) -> PartitionLog:
        """Open the log now; a log that holds data is looked after from then on."""
        if self._log is None:
            log = self._log = self._open_log(self)
            if self.leader_id >= 0:
                log.begin_epoch(self.leader_epoch)
            if log.log_end_offset:
                self._activate()
        return self._log

    @property
    def opened(self) -> bool:
        """Whether the log is open yet."""
        return self._log is not None

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
        log = self._log or self.open()
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
        """Move the log start up to `before_offset` (-1 = high watermark); return the new log start offset.

        Raises OFFSET_OUT_OF_RANGE beyond the high watermark.
        """
        start = self.log.delete_records(before_offset, now_ms=now_ms)
        self.waiters.wake_all()
        return start

    # -- leadership

    def follow(self, registration: PartitionRegistration) -> None:
        """Be what the metadata image says; whoever waits here looks again if the leader is another one."""
        elected = registration.leader_epoch != self.leader_epoch
        self.replicas = registration.replicas
        self.isr = registration.isr
        self.leader_id = registration.leader
        self.leader_epoch = registration.leader_epoch
        self.partition_epoch = registration.partition_epoch
        if elected:
            if self._log is not None and self.leader_id >= 0:
                self._log.begin_epoch(self.leader_epoch)
            self.waiters.wake_all()

    def check_leader(self, node_id: int, current_leader_epoch: int = -1) -> None:
        """Raise unless `node_id` leads in the epoch that the client knows (-1 = it does not say; KIP-320)."""
        if current_leader_epoch not in (-1, self.leader_epoch):
            if current_leader_epoch < self.leader_epoch:
                raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH)
            raise KafkaError(ErrorCode.UNKNOWN_LEADER_EPOCH)
        if self.leader_id != node_id:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    @property
    def under_min_isr(self) -> bool:
        """Whether acks=all has to be refused: fewer replicas in sync than `min.insync.replicas` (as far as there are
        so many replicas at all)."""
        return len(self.isr) < min(self.log.config.min_insync_replicas, len(self.replicas))

    # -- life

    def config_changed(self) -> None:
        """To be called after `log.config` was replaced: retention or compaction may have become due."""
        if self.active:
            self._on_activity(self)

    def close(self) -> None:
        """The broker stops: release the log, keep its data. Idempotent."""
        if not self.deleted:
            self.deleted = True
            self.waiters.wake_all()
            if self._log is not None:
                self._log.close()

    def delete(self) -> None:
        """The partition is gone with its data; waiting readers learn it. Idempotent.

        A log that is not open is the backend's to remove.
        """
        if not self.deleted:
            self.deleted = True
            self.waiters.wake_all()
            if self._log is not None:
                self._log.delete()

    def _activate(self) -> None:
        self.active = True
        self._on_activity(self)
