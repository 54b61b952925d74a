"""Writing the markers of a transaction into its partitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from odradek.broker.clock import BrokerClock
from odradek.broker.coordinator.internal_topic import TopicStore
from odradek.broker.coordinator.service import HasId
from odradek.broker.coordinator.transaction.transaction import MAX_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from odradek.broker.partitions.partition import Partition
from odradek.broker.runtime.machine import Producer
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.storage.partition_log import AppendOrigin

GROUP_TOPIC = "__consumer_offsets"

# What ends the attempt for good: the partition is gone, or somebody newer has taken the transaction over. Anything else
# (a partition without a leader, too few replicas, a full disk) is tried again.
_GONE = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID})


class MarkedNode(Protocol):
    """A node, as far as markers are concerned."""

    @property
    def up(self) -> bool: ...


class GroupCoordinators(Protocol):
    """The group coordinators, which settle pending offsets with the marker."""

    def complete_transaction(
        self, partition: int, producer: Producer, commit: bool, coordinator_epoch: int, node: HasId | None = None
    ) -> None: ...


class MarkerWriter:
    """Writes the markers of one cluster. `groups()` gives its group coordinators, made when they are first needed."""

    def __init__(
        self,
        topics: TopicStore,
        nodes: Mapping[int, MarkedNode],
        groups: Callable[[], GroupCoordinators],
        clock: BrokerClock,
    ) -> None:
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
    ) -> None:
        """Append a marker to one partition; in `__consumer_offsets` also settle the offsets that were pending on it.

        With `node`, that node must lead the partition. `transaction_version` 2 asks for a newer epoch than the
        partition knows (KIP-890), except where the same marker is there already. Raises `KafkaError`, then nothing is
        written.
        """
        partition = self._target(topic_name, index, producer, node)
        if transaction_version >= 2:
            _check_new_epoch(partition, producer)
        if topic_name == GROUP_TOPIC:
            self._groups().complete_transaction(index, producer, commit, coordinator_epoch, node)
            return
        now_ms = self._clock.now_ms()
        marker = EndTxnMarker(commit, coordinator_epoch)
        batch = build_end_txn_batch(marker, producer_id=producer.id, producer_epoch=producer.epoch, timestamp=now_ms)
        partition.append(batch, now_ms=now_ms, origin=AppendOrigin.COORDINATOR)

    def _target(self, topic_name: str, index: int, producer: Producer, node: HasId | None) -> Partition:
        """The partition, if it can take a marker now."""
        topic = self._topics.get(topic_name)
        if topic is None or not 0 <= index < len(topic.partitions):
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if producer.id == NO_PRODUCER_ID or producer.epoch == NO_PRODUCER_EPOCH:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"a marker needs a producer: {producer}")
        partition = topic.partitions[index]
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
    """Whether the partition that refused a marker does not exist any more, so that nobody waits for the marker."""
    return error.code in _GONE
