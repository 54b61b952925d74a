"""A leader that was paused and does not know yet that others lead: for a moment it serves what waits in its sockets.

A real broker takes up its work where it stopped. It appends to logs that it led, answers acks=1, and shows what it has;
some milliseconds later it learns of the new leaders and cuts what it has taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import trio

from odradek.broker.partitions.partition import Leadership
from odradek.broker.partitions.replicas import ReplicaSet

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.partitions.partition_registry import PartitionRegistry


class Led(NamedTuple):
    """The leadership of a partition as the frozen node knew it."""

    leader_epoch: int
    isr: tuple[int, ...]


def led_by(topics: PartitionRegistry, node_id: int) -> dict[Partition, Led]:
    """The partitions that a node leads, as it knows them."""
    return {
        partition: Led(partition.leader_epoch, tuple(partition.isr))
        for topic in topics.all()
        for partition in topic.partitions
        if partition.leader_id == node_id and len(partition.replicas) > 1
    }


class Frozen:
    """A frozen node. `led`: the partitions that it led when it froze. `scope`: of the task that has it fenced."""

    def __init__(self, led: dict[Partition, Led]) -> None:
        self.led = led
        self.scope: trio.CancelScope | None = None

    def cancel(self) -> None:
        """Cancel its fencing."""
        if self.scope is not None:
            self.scope.cancel()


@contextmanager
def leading_still(known: Mapping[Partition, Led], node_id: int, now_ms: int) -> Iterator[None]:
    """Inside, a node leads what it led: requests that are served meanwhile find its own logs, cut off from the others.

    Only for logs in memory, where a log of its own costs nothing.
    """
    before = []
    for partition, led in known.items():
        replicas = partition.replica_set
        if partition.deleted or replicas is None or partition.leader_id in (node_id, -1):
            continue
        if node_id in replicas.by_node:
            before.append(_Memory(partition))
            _lead(partition, node_id, led, now_ms)
    try:
        yield
    finally:
        for memory in before:
            memory.restore(node_id)


def _lead(partition: Partition, node_id: int, led: Led, now_ms: int) -> None:
    assert partition.replica_set is not None
    own = partition.replica_set.by_node[node_id]
    log = own.log
    if log is partition.log or own.end < log.log_end_offset:
        log = partition.fork(log, own.end)
    alone = ReplicaSet(node_id, log, partition.replicas, now_ms)
    for replica in alone.by_node.values():
        if replica.node_id != node_id:
            replica.alive = False
            replica.end = min(replica.end, own.high_watermark)
    log.hold_high_watermark(own.high_watermark)
    partition.leadership = Leadership(node_id, led.leader_epoch, led.isr, alone, log)


class _Memory:
    """A partition as the other nodes know it."""

    def __init__(self, partition: Partition) -> None:
        self._partition = partition
        self._state = partition.leadership

    def restore(self, node_id: int) -> None:
        """Let it be so again; what the stale leader has taken is in a log of its own."""
        partition = self._partition
        taken = partition.log
        partition.leadership = self._state
        assert partition.replica_set is not None
        own = partition.replica_set.by_node[node_id]
        if own.log is not taken:
            own.log, own.end, own.follows = taken, taken.log_end_offset, False
            own.high_watermark = min(own.high_watermark, own.end)
        partition.waiters.wake_all()
