"""A partition as the broker sees it: a log, who leads it, and who waits for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from odradek.broker.waiters import WaiterSet
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.storage.partition_log import AppendInfo, AppendOrigin, PartitionLog

if TYPE_CHECKING:
    from odradek.broker.topics import Topic
    from odradek.protocol.message import Buffer


class Partition:
    """One partition of a topic.

    Owner: the topic registry makes and closes it. Every mutation is a sync call in the broker's task; readers that wait
    are in ``waiters`` and are told by the mutators here, so write through this class and never to ``log`` directly.

    There is one log for all replicas of the cluster: ``replicas`` and ``isr`` are what Metadata shows and what
    ``min.insync.replicas`` is held against. ``leader_id`` is -1 while no replica's node is up. ``config_watchers`` and
    ``on_activity`` are the maintenance task's way to know that the log holds something worth looking after.
    """

    __slots__ = (
        "active",
        "deleted",
        "index",
        "isr",
        "leader_epoch",
        "leader_id",
        "log",
        "on_activity",
        "partition_epoch",
        "replicas",
        "topic",
        "waiters",
    )

    def __init__(
        self,
        topic: Topic,
        index: int,
        log: PartitionLog,
        *,
        replicas: Sequence[int],
        leader_id: int | None = None,
        leader_epoch: int = 0,
        isr: Sequence[int] | None = None,
        on_activity: Callable[[Partition], None] | None = None,
    ) -> None:
        self.topic = topic
        self.index = index
        self.log = log
        self.replicas = list(replicas)
        self.isr = list(replicas if isr is None else isr)
        self.leader_id = self.replicas[0] if leader_id is None else leader_id
        self.leader_epoch = leader_epoch
        self.partition_epoch = 0
        self.waiters = WaiterSet()
        self.deleted = False
        self.active = False
        self.on_activity = on_activity

    def __repr__(self) -> str:
        return f"Partition({self.topic.name}-{self.index}, leader {self.leader_id}, epoch {self.leader_epoch})"

    # -- writing

    def append(self, records: Buffer, *, now_ms: int, origin: AppendOrigin = AppendOrigin.CLIENT) -> AppendInfo:
        """Append one record batch and wake whoever waits for it.

        The records are copied or rewritten by the log, never kept. Raises KafkaError (RecordValidationError with the
        refused records); a refused append changes nothing.
        """
        log = self.log
        if self.deleted:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        waiters = self.waiters
        if not waiters:
            info = log.append(records, now_ms=now_ms, leader_epoch=self.leader_epoch, origin=origin)
        else:
            stable = log.last_stable_offset
            info = log.append(records, now_ms=now_ms, leader_epoch=self.leader_epoch, origin=origin)
            if not info.duplicate:
                waiters.appended(len(records), stable_moved=log.last_stable_offset != stable)
        if not self.active:
            self._activate()
        return info

    def delete_records(self, before_offset: int) -> int:
        """Move the log start up to ``before_offset``; return the new log start offset.

        Raises OFFSET_OUT_OF_RANGE beyond the high watermark.
        """
        if not 0 <= before_offset <= self.log.high_watermark:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"cannot delete records before offset {before_offset}: the high watermark is {self.log.high_watermark}",
            )
        self.log.delete_records(before_offset)
        self.waiters.wake_all()
        return self.log.log_start_offset

    # -- leadership

    def set_leader(self, leader_id: int, *, leader_epoch: int | None = None, isr: Sequence[int] | None = None) -> None:
        """Another node leads from now on (-1 = none); the leader epoch grows by one unless given."""
        self.leader_id = leader_id
        self.leader_epoch = self.leader_epoch + 1 if leader_epoch is None else leader_epoch
        self.partition_epoch += 1
        if isr is not None:
            self.isr = list(isr)
        self.waiters.wake_all()

    def check_leader_epoch(self, current_leader_epoch: int) -> None:
        """KIP-320: refuse a client that knows an older or newer leader epoch than ours (-1 = does not say)."""
        if current_leader_epoch < 0 or current_leader_epoch == self.leader_epoch:
            return
        if current_leader_epoch < self.leader_epoch:
            raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH)
        raise KafkaError(ErrorCode.UNKNOWN_LEADER_EPOCH)

    # -- life

    def config_changed(self) -> None:
        """To be called after ``log.config`` was replaced: retention or compaction may have become due."""
        if self.active and self.on_activity is not None:
            self.on_activity(self)

    def close(self) -> None:
        """The partition is gone: waiting readers learn it, the log is closed. Idempotent."""
        if self.deleted:
            return
        self.deleted = True
        self.waiters.wake_all()
        self.log.close()

    def _activate(self) -> None:
        self.active = True
        if self.on_activity is not None:
            self.on_activity(self)
