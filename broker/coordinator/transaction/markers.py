"""Writing the markers of a transaction into its partitions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping
from typing import Protocol

from odradek.broker.clock import BrokerClock
from odradek.broker.coordinator.service import HasId, TopicStore
from odradek.broker.coordinator.transaction.transaction import MAX_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from odradek.broker.partitions.partition import Partition
from odradek.broker.partitions.waiters import Waiter
from odradek.broker.runtime.machine import Producer
from odradek.broker.runtime.replies import ReplySlot
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.record_batch import FORMAT_OF_BATCHES
from odradek.storage.partition_log import AppendOrigin

GROUP_TOPIC = "__consumer_offsets"

# What ends the attempt for good: the partition is gone, or somebody newer has taken the transaction over. Anything else
# (a partition without a leader, too few replicas, a full disk) is tried again.
_GONE = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID})


class MarkedNode(Protocol):
    """The part of a node that markers need."""

    @property
    def up(self) -> bool: ...


class GroupCoordinators(Protocol):
    """The group coordinators, which settle pending offsets with the marker."""

    def complete_transaction(
        self, partition: int, producer: Producer, commit: bool, coordinator_epoch: int, node: HasId | None = None
    ) -> int: ...


class UncommittedMarker:
    """A marker that not all replicas in sync of its partition have."""

    __slots__ = ("_epoch", "_offset", "_partition", "_settled")

    def __init__(self, partition: Partition, offset: int) -> None:
        self._partition = partition
        self._offset = offset
        self._epoch = partition.leader_epoch

    def then(self, settled: Callable[[KafkaError | None], None]) -> Callable[[], None]:
        """Call `settled` with None when it is committed, or with the error when its leader knows that it never will be.

        Returns a function to cancel that.
        """
        self._settled = settled
        return self._listen()

    def _listen(self) -> Callable[[], None]:
        waiters = self._partition.waiters
        waiter = Waiter(1 << 62, lambda: self._look(waiter))
        waiters.add(waiter)
        return lambda: waiters.discard(waiter)

    def _look(self, waiter: Waiter) -> None:
        partition = self._partition
        partition.waiters.discard(waiter)
        if waiter.over:
            return
        if partition.deleted:
            self._settled(KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        elif partition.leader_epoch != self._epoch:
            self._settled(KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        elif partition.log.high_watermark > self._offset:
            self._settled(None)
        else:
            self._listen()

    async def committed(self, clock: BrokerClock, timeout_ms: int) -> None:
        """Wait until it is committed. Raises the error of `then`, or REQUEST_TIMED_OUT."""
        slot: ReplySlot[None] = ReplySlot()
        forget = self.then(lambda error: slot.complete(None) if error is None else slot.fail(error))
        try:
            with clock.move_on_after(timeout_ms / 1000):
                return await slot.wait()
        finally:
            forget()
        raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)


class MarkerWriter:
    """Writes the markers of one cluster. `groups()` gives its group coordinators, made when they are first needed.

    `cuts`: pairs of nodes that do not reach each other now; `frozen`: nodes that answer nobody.
    """

    def __init__(
        self,
        topics: TopicStore,
        nodes: Mapping[int, MarkedNode],
        groups: Callable[[], GroupCoordinators],
        clock: BrokerClock,
        cuts: Collection[frozenset[int]] = (),
        frozen: Container[int] = (),
    ) -> None:
        self._cuts = cuts
        self._frozen = frozen
        self._topics = topics
        self._nodes = nodes
        self._groups = groups
        self._clock = clock

    def write(
        self,
        topic_name: str,
        index: int,
        producer: Producer,
        *,
        commit: bool,
        coordinator_epoch: int,
        transaction_version: int = 0,
        node: HasId | None = None,
        coordinator_id: int = -1,
    ) -> UncommittedMarker | None:
        """Append a marker to one partition.

        In `__consumer_offsets` also settle the offsets that were pending on it. While replicas lack the marker, it
        returns an `UncommittedMarker`.

        With `node`, that node must lead the partition; with `coordinator_id`, that node must reach its leader.
        `transaction_version` 2 asks for a newer epoch than the partition knows (KIP-890), except where the same marker
        is there already. Raises `KafkaError`, then nothing is written.
        """
        partition = self._target(topic_name, index, producer, node)
        if self._is_out_of_reach(partition.leader_id, coordinator_id):
            raise KafkaError(ErrorCode.NETWORK_EXCEPTION)
        if transaction_version >= 2:
            _check_new_epoch(partition, producer)
        if partition.log.config.message_format < FORMAT_OF_BATCHES:
            return None  # older formats have no transactions
        if topic_name == GROUP_TOPIC:
            offset = self._groups().complete_transaction(index, producer, commit, coordinator_epoch, node)
            return self._uncommitted(partition, offset)
        now_ms = self._clock.now_ms()
        marker = EndTxnMarker(commit, coordinator_epoch)
        batch = build_end_txn_batch(marker, producer_id=producer.id, producer_epoch=producer.epoch, timestamp=now_ms)
        offset = partition.append(batch, now_ms=now_ms, origin=AppendOrigin.COORDINATOR).last_offset
        return self._uncommitted(partition, offset)

    def _is_out_of_reach(self, leader_id: int, coordinator_id: int) -> bool:
        if leader_id in self._frozen:
            return True
        return bool(self._cuts) and frozenset((coordinator_id, leader_id)) in self._cuts

    @staticmethod
    def _uncommitted(partition: Partition, offset: int) -> UncommittedMarker | None:
        if partition.replica_set is None or partition.log.high_watermark > offset:
            return None
        return UncommittedMarker(partition, offset)

    def _target(self, topic_name: str, index: int, producer: Producer, node: HasId | None) -> Partition:
        """The partition, if it can take a marker now."""
        topic = self._topics.get(topic_name)
        if topic is None or not 0 <= index < len(topic.partitions):
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if producer.id == NO_PRODUCER_ID or producer.epoch == NO_PRODUCER_EPOCH:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"a marker needs a producer: {producer}")
        partition = topic.partitions[index]
        if partition.leader_id < 0 and node is None:
            # Kafka 4.4.0 treats a partition without a leader as deleted: its transaction stays open.
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        leader = self._nodes.get(partition.leader_id)
        if leader is None or not leader.up or (node is not None and partition.leader_id != node.id):
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if partition.under_min_isr:
            raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
        return partition


def _check_new_epoch(partition: Partition, producer: Producer) -> None:
    state = partition.log.producers.get(producer.id)
    if state is None or state.producer_epoch != producer.epoch:
        return
    if state.current_txn_first_offset is not None and producer.epoch != MAX_EPOCH:
        raise KafkaError(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"a marker of a version 2 transaction needs an epoch above {state.producer_epoch} in {partition!r}",
        )


def is_gone(error: KafkaError) -> bool:
    """Whether the partition that refused a marker was deleted, so that its marker is no longer needed."""
    return error.code in _GONE
