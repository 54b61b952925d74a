"""The replica that a consumer reads from best: one in its own rack (KIP-392, Kafka's RackAwareReplicaSelector)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition


def closest_replica(partition: Partition, rack: str, offset: int, racks: Mapping[int, str | None]) -> int | None:
    """The follower to which the leader sends a consumer of this rack that reads from `offset`; None: it stays.

    `racks`: those of the nodes that the consumer can reach. Only replicas in sync that have the offset are chosen, of
    several the one that has most.
    """
    if racks.get(partition.leader_id) == rack:
        return None
    log_start = partition.log.log_start_offset
    if offset < log_start:
        return None
    chosen: tuple[int, int, int] | None = None
    for node in partition.isr:
        if node == partition.leader_id or racks.get(node) != rack:
            continue
        copy = partition.copy_on(node)
        end, caught_up_ms = (partition.log.log_end_offset, 0) if copy is None else (copy.known_end, copy.caught_up_ms)
        if end >= offset:
            chosen = max(chosen or (-1, 0, 0), (end, caught_up_ms, node))
    return None if chosen is None else chosen[2]
