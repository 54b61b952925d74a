"""A live partition: its log, its leadership, and the readers that wait for it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from odradek.broker.metadata.image import INTERNAL_TOPICS
from odradek.broker.partitions.waiters import WaiterSet
from odradek.protocol.errors import ErrorCode, KafkaError, as_value
from odradek.protocol.long_work import LargeBatch
from odradek.storage.backend import OUT_OF_DESCRIPTORS, StorageError
from odradek.storage.partition_log import Appended, AppendInfo, AppendOrigin, PartitionLog

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import TopicConfig
    from odradek.broker.metadata.image import PartitionRegistration
    from odradek.broker.partitions.durability import Durability
    from odradek.broker.partitions.replicas import Replica, ReplicaSet
    from odradek.protocol.message import Buffer

_CLIENT: Final = AppendOrigin.CLIENT
_new = tuple.__new__  # a NamedTuple's own constructor costs three times as much
_log = logging.getLogger("odradek.broker.partitions")


class Topic:
    """One topic. Owner: the `PartitionRegistry`, which alone changes it.

    `config` has the topic's own settings. `partitions[i]` has index i. `deleted` stays True for callers that still have
    the object.
    """

    __slots__ = ("config", "deleted", "internal", "name", "partitions", "topic_id")

    def __init__(self, name: str, topic_id: bytes, config: TopicConfig) -> None:
        self.name = name
        self.topic_id = topic_id
        self.config = config
        self.internal = name in INTERNAL_TOPICS
        self.partitions: list[Partition] = []
        self.deleted = False

    def __repr__(self) -> str:
        return f"Topic({self.name}, {len(self.partitions)} partitions)"

    @property
    def replication_factor(self) -> int:
        """The number of replicas of the first partition, which Kafka calls the topic's replication factor."""
        return len(self.partitions[0].replicas)


class Replicates(Protocol):
    """The replicator: copies and commits records while the replicas differ."""

    def replicate(self, partition: Partition) -> None:
        """Replicate: the partition has new records or a new leader."""

    def now_ms(self) -> int:
        """The broker's time."""


class HoldsRecords(Protocol):
    """The holder of records that are not appended yet; see `HeldAppends`."""

    def write(self) -> None:
        """Append them."""


class Leadership(NamedTuple):
    """The leader and the log that it leads, the leader epoch, and the replicas in sync."""

    leader_id: int
    leader_epoch: int
    isr: tuple[int, ...]
    replica_set: ReplicaSet | None
    log: PartitionLog


class Partition:
    """One partition of a topic.

    Owner: the `PartitionRegistry` makes and closes it, and lets it follow its registration in the metadata image. Every
    mutation is a sync call in the broker's task. It tells the waiting readers in `waiters`, so write through this class
    and never to `log` directly.

    While all replicas have everything there is one log for all of them, and `replica_set` is None. There is a
    `replica_set` while a test holds records back from a replica or a node is down. Then `log` is the leader's, and
    `replicator` copies and commits. Metadata shows `replicas` and `isr`, and `min.insync.replicas` is compared with
    `isr`. `leader_id` is -1 while no replica's node is up. `on_activity` is called once, with the first append (and
    again after a changed config): maintenance cares for such logs only. `held`: the holder of records that belong at
    the log's end. They are appended before anybody sees the log.
    """

    __slots__ = (
        "_fork_log",
        "_has_log",
        "_log",
        "_on_activity",
        "_open_log",
        "active",
        "deleted",
        "durability",
        "failure",
        "held",
        "index",
        "internal",
        "isr",
        "leader_epoch",
        "leader_id",
        "partition_epoch",
        "replica_set",
        "replicas",
        "replicator",
        "reported",
        "topic",
        "waiters",
    )

    def __init__(
        self,
        topic: Topic,
        index: int,
        open_log: Callable[[Partition], PartitionLog],
        registration: PartitionRegistration,
        on_activity: Callable[[Partition], None],
        fork_log: Callable[[Partition, PartitionLog, int], PartitionLog] | None = None,
        has_log: Callable[[Partition], bool] | None = None,
    ) -> None:
        self.topic = topic
        self.index = index
        self.internal = topic.internal
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
        self.replica_set: ReplicaSet | None = None
        self.replicator: Replicates | None = None
        self.held: HoldsRecords | None = None
        self.reported = ""
        self._fork_log = fork_log
        self._has_log = has_log
        self._log: PartitionLog | None = None
        self._open_log = open_log
        self._on_activity = on_activity

    @property
    def log(self) -> PartitionLog:
        """The log.

        It is opened with its first use, because thousands of idle partitions must cost next to nothing. Raises
        StorageError if the medium has no readable log.
        """
        if self.held is not None:
            self.write_held()
        return self._log or self.open()

    def open(self) -> PartitionLog:
        """Open the log now. Maintenance cares for it from now on if it has data."""
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

    @property
    def log_if_any(self) -> PartitionLog | None:
        """The log; None if there is none yet, as nobody has used the partition: it is not made by those who look."""
        if self._log is None and self._has_log is not None and not self._has_log(self):
            return None
        return self.log

    def __repr__(self) -> str:
        return f"Partition({self.topic.name}-{self.index}, leader {self.leader_id}, epoch {self.leader_epoch})"

    # -- writing

    def append(self, records: Buffer, *, now_ms: int, origin: AppendOrigin = _CLIENT) -> AppendInfo:
        """Append one record batch and wake the waiting readers. The log copies or rewrites the records, and keeps no
        reference.

        Raises KafkaError (RecordsRefused with the contents of the Produce response). A refused append changes nothing.
        """
        try:
            return _new(AppendInfo, self.append_plainly(records, now_ms, origin))
        except LargeBatch:
            return _new(AppendInfo, self.append_plainly(self.log.check_large(records, now_ms), now_ms, origin))

    def append_plainly(self, records: Buffer, now_ms: int, origin: AppendOrigin = _CLIENT) -> Appended:
        """The same for callers that append with each request; returns the fields of an `AppendInfo`.

        Raises LargeBatch for a client's batch whose records have to be checked before.
        """
        if self.held is not None:
            self.write_held()
        if self.deleted:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if self.failure is not None:
            raise self.failure.again()
        try:
            log = self._log or self.open()
            if self.replica_set is not None:
                appended = self._append_apart(self.replica_set, log, records, now_ms, origin)
            elif self.waiters.all:
                stable = log.last_stable_offset
                appended = log.append_plainly(records, now_ms, self.leader_epoch, origin)
                if not appended[4]:
                    rolled = appended[0] == log.active.base_offset > log.segments[0].base_offset
                    moved = log.last_stable_offset != stable
                    self.waiters.appended(len(records), stable_moved=moved, rolled=rolled)
            else:
                appended = log.append_plainly(records, now_ms, self.leader_epoch, origin)
        except StorageError as error:
            self._report(error)
            raise
        if not self.active:
            self._activate()
        if self.durability is not None:
            self.durability.note_append(self)
        return appended

    @property
    def may_hold(self) -> bool:
        """Whether appends can be held back: neither the medium nor a follower could refuse them later."""
        alone = self.replica_set is None and self.durability is None
        return alone and not self.deleted and self.log.takes_all

    def write_held(self) -> None:
        """Append the held records."""
        held, self.held = self.held, None
        if held is not None:
            held.write()

    def _append_apart(
        self, replicas: ReplicaSet, log: PartitionLog, records: Buffer, now_ms: int, origin: AppendOrigin
    ) -> Appended:
        """Append while replicas differ. Copying the records commits them and wakes readers."""
        appended = log.append_plainly(records, now_ms, self.leader_epoch, origin)
        if not appended[4]:
            replicas.appended(now_ms)
            self.waiters.wake_followers()
            if self.replicator is not None:
                self.replicator.replicate(self)
        return appended

    # -- replicas

    def track_replicas(self, replicator: Replicates, now_ms: int) -> ReplicaSet:
        """Keep the replicas separately from now on."""
        if self.replica_set is None:
            from odradek.broker.partitions.replicas import ReplicaSet

            self.replica_set = ReplicaSet(self.leader_id, self.log, self.replicas, now_ms)
            self.replicator = replicator
        return self.replica_set

    def join_replicas(self) -> None:
        """Go back to one log, because all replicas have the same records again."""
        if self.replica_set is not None:
            self.replica_set = self.replicator = None
            self.log.release_high_watermark()

    def copy_on(self, node_id: int) -> Replica | None:
        """A node's copy of the partition; None if it equals the leader's."""
        return None if self.replica_set is None else self.replica_set.by_node.get(node_id)

    def fail(self, error: StorageError) -> None:
        """The medium lost appended bytes: refuse every append from now on with this error."""
        self.failure = as_value(error)
        self._report(error)

    def _report(self, error: StorageError) -> None:
        """Log an error of the medium once, and not for each request that meets it.

        If all partitions lack the same, descriptors, it is told once for all.
        """
        if self.durability is not None and OUT_OF_DESCRIPTORS in str(error.message):
            self.durability.report(f"{self.topic.name}-{self.index}", error)
        elif self.reported != error.message:
            self.reported = error.message or ""
            _log.error("%s-%d cannot be written: %s", self.topic.name, self.index, error.message)

    def delete_records(self, before_offset: int) -> int:
        """Move the log start up to `before_offset` (-1 = high watermark); return the new log start offset.

        Raises OFFSET_OUT_OF_RANGE beyond the high watermark.
        """
        start = self.log.delete_records(before_offset)
        if self.replicator is not None:
            self.replicator.replicate(self)
        self.waiters.wake_all()
        return start

    def low_watermark(self, is_alive: Callable[[int], bool]) -> int:
        """The lowest log start offset of all live replicas; see `ReplicaSet.low_watermark`."""
        return self.log.log_start_offset if self.replica_set is None else self.replica_set.low_watermark(is_alive)

    # -- leadership

    def follow(self, registration: PartitionRegistration) -> None:
        """Follow the metadata image. Waiting readers look again if the leader has changed."""
        self.write_held()
        elected = registration.leader_epoch != self.leader_epoch
        self.replicas = registration.replicas
        self.isr = registration.isr
        self.leader_id = registration.leader
        self.leader_epoch = registration.leader_epoch
        self.partition_epoch = registration.partition_epoch
        if self.replica_set is not None:
            self._follow_apart(self.replica_set, elected=elected)
        elif elected and self._log is not None and self.leader_id >= 0:
            self._log.begin_epoch(self.leader_epoch)
        if elected:
            self.waiters.wake_all()

    def _follow_apart(self, replicas: ReplicaSet, *, elected: bool) -> None:
        """Go on with the log of the leader's replica."""
        assert self.replicator is not None, "who keeps replicas apart replicates"
        replicas.set_nodes(self.replicas, self.log)
        if elected and self.leader_id < 0:
            replicas.leader_id = self.leader_id
        elif elected:
            now_ms = self.replicator.now_ms()
            self._log = replicas.elect(self.leader_id, self.leader_epoch, self.fork, self.isr, now_ms)
        self.replicator.replicate(self)

    @property
    def leadership(self) -> Leadership:
        """Leader, epoch and log, as one value."""
        return Leadership(self.leader_id, self.leader_epoch, self.isr, self.replica_set, self.log)

    @leadership.setter
    def leadership(self, known: Leadership) -> None:
        self.write_held()
        self.leader_id, self.leader_epoch, self.isr, self.replica_set, self._log = known

    def fork(self, log: PartitionLog, end: int) -> PartitionLog:
        """A separate log that begins like another one."""
        assert self._fork_log is not None, "the registry makes logs"
        return self._fork_log(self, log, end)

    def check_leader(self, node_id: int, current_leader_epoch: int = -1) -> None:
        """Raise unless `node_id` leads in the epoch that the client knows (-1 = it does not say; KIP-320)."""
        if self.replica_set is not None:
            self.check_disk(node_id)
        if current_leader_epoch not in (-1, self.leader_epoch) and node_id in self.replicas:
            self.check_epoch(current_leader_epoch)
        if self.leader_id != node_id:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def check_disk(self, node_id: int) -> None:
        """KAFKA_STORAGE_ERROR where the disk of the node's replica has failed."""
        copy = self.copy_on(node_id)
        if copy is not None and copy.lost:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)

    def check_epoch(self, current_leader_epoch: int) -> None:
        """Raise unless this is the epoch that the client knows (-1 = it does not say)."""
        if current_leader_epoch not in (-1, self.leader_epoch):
            older = current_leader_epoch < self.leader_epoch
            raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH if older else ErrorCode.UNKNOWN_LEADER_EPOCH)

    @property
    def under_min_isr(self) -> bool:
        """Whether acks=all has to be refused: fewer replicas in sync than `min.insync.replicas` (as far as there are
        so many replicas at all)."""
        return len(self.isr) < min(self.log.config.min_insync_replicas, len(self.replicas))

    # -- life

    def config_changed(self) -> None:
        """Call this after `log.config` was replaced: retention or compaction may have become due."""
        if self.active:
            self._on_activity(self)

    def close(self) -> None:
        """The broker stops: release the log, keep its data. Idempotent."""
        self.write_held()
        if not self.deleted:
            self.deleted = True
            self.waiters.wake_all()
            for log in self._logs():
                log.close()

    def delete(self) -> None:
        """The partition was deleted with its data: waiting readers are woken. Idempotent. The backend removes a log
        that is not open.
        """
        self.write_held()
        if not self.deleted:
            self.deleted = True
            self.waiters.wake_all()
            for log in self._logs():
                log.delete()

    def relocate(self, move: Callable[[], None]) -> None:
        """Close the log, let `move` bring its files elsewhere, and continue with it.

        Waiting readers look again. After a StorageError, also of `move`, the log is where it was, or unusable until its
        files can be read again.
        """
        log = self.log
        log.close()
        self._log = None
        try:
            move()
        except StorageError:
            self._reopen(log)
            raise
        self._reopen(log)

    def let_go(self) -> None:
        """Close the logs. `go_on_with` replaces them."""
        self.write_held()
        for log in self._logs():
            log.close(clean=False)
        self._log = self.replica_set = self.replicator = None

    def go_on_with(self, log: PartitionLog | None, replicas: ReplicaSet | None, replicator: Replicates) -> None:
        """Replace the closed logs by `log` (None: the first use opens one) and these replicas. Waiting readers look
        again.
        """
        self.let_go()
        self._log = log
        self.replica_set = replicas
        self.replicator = None if replicas is None else replicator
        if log is not None and replicas is None and self.leader_id >= 0:
            log.begin_epoch(self.leader_epoch)
        self.waiters.wake_all()
        if log is not None and log.log_end_offset:
            self._activate()

    def _reopen(self, closed: PartitionLog) -> None:
        self._log = self._open_log(self)
        self._log.producers = closed.producers  # more than a snapshot keeps of them
        self.waiters.wake_all()

    def _logs(self) -> list[PartitionLog]:
        """The log, and the separate logs of replicas."""
        logs = [] if self._log is None else [self._log]
        if self.replica_set is not None:
            logs += [log for log in self.replica_set.logs() if log is not self._log]
        return logs

    def _activate(self) -> None:
        self.active = True
        self._on_activity(self)
