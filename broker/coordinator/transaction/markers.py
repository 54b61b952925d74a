"""Writing the markers of a transaction into its partitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from odradek.broker.coordinator.transaction.transaction import MAX_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from odradek.broker.runtime.machine import Producer
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.storage.partition_log import AppendOrigin

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.controller.node import Node
    from odradek.broker.controller.topics import TopicRegistry
    from odradek.broker.coordinator.group.service import GroupService
    from odradek.broker.partitions.partition import Partition

GROUP_TOPIC = "__consumer_offsets"

# What ends the attempt for good: the partition is gone, or somebody newer has taken the transaction over. Anything else
# (a partition without a leader, too few replicas, a full disk) is tried again.
_GONE = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID})


class MarkerTargets(Protocol):
    """Where markers go: partitions, and the group coordinators for `__consumer_offsets`."""

    @property
    def clock(self) -> BrokerClock: ...

    @property
    def groups(self) -> Callable[[], GroupService]: ...

    @property
    def nodes(self) -> Mapping[int, Node]: ...

    @property
    def topics(self) -> TopicRegistry: ...


def write_marker(
    cluster: MarkerTargets,
    topic_name: str,
    index: int,
    producer: Producer,
    *,
    commit: bool,
    coordinator_epoch: int,
    transaction_version: int = 0,
    node: Node | None = None,
) -> None:
    """Append a marker to one partition; in `__consumer_offsets` also settle the offsets that were pending on it.

    With ``node``, that node must lead the partition. ``transaction_version`` 2 asks for a newer epoch than the
    partition knows (KIP-890), except where the same marker is there already. Raises `KafkaError`, then nothing is
    written.
    """
    topic = cluster.topics.get(topic_name)
    if topic is None or not 0 <= index < len(topic.partitions):
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if producer.id == NO_PRODUCER_ID or producer.epoch == NO_PRODUCER_EPOCH:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"a marker needs a producer: {producer}")
    partition = topic.partitions[index]
    leader = cluster.nodes.get(partition.leader_id)
    if node is not None and partition.leader_id != node.id:
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if leader is None or not leader.up:
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if partition.under_min_isr:
        raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
    if transaction_version >= 2:
        _check_new_epoch(partition, producer)
    if topic_name == GROUP_TOPIC:
        cluster.groups().complete_transaction(index, producer.id, producer.epoch, commit, coordinator_epoch, node)
        return
    now_ms = cluster.clock.now_ms()
    marker = EndTxnMarker(commit, coordinator_epoch)
    batch = build_end_txn_batch(marker, producer_id=producer.id, producer_epoch=producer.epoch, timestamp=now_ms)
    partition.append(batch, now_ms=now_ms, origin=AppendOrigin.COORDINATOR)


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
