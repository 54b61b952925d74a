"""Replication: followers that a test keeps behind, and reassignments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from odradek.broker.controller.partition_control import Reassignment, reassign_partitions
from odradek.broker.partitions.lookups import find_partitions
from odradek.broker.partitions.replicas import NOTHING, Lag

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster


def pause_replication(cluster: Cluster, topic: str, partition: int | None, node_id: int) -> None:
    """Stop a follower from replicating, while its node keeps serving clients.

    A node without a replica may be named: it applies when a reassignment gives it one.
    """
    _hold(cluster, topic, partition, node_id, NOTHING)


def lag_replication(
    cluster: Cluster,
    topic: str,
    partition: int | None,
    node_id: int,
    *,
    records: int | None = None,
    size_bytes: int | None = None,
    seconds: float | None = None,
) -> None:
    """Keep a follower behind its leader. Raises ValueError unless exactly one measure is given."""
    given = [measure for measure in (records, size_bytes, seconds) if measure is not None]
    if len(given) != 1 or given[0] < 0:
        raise ValueError("lag_replication: give exactly one of records=, size_bytes= or seconds=, and none below 0")
    ms = None if seconds is None else round(seconds * 1000)
    _hold(cluster, topic, partition, node_id, Lag(records, size_bytes, ms))


def resume_replication(cluster: Cluster, topic: str, partition: int | None, node_id: int) -> None:
    """Let a follower catch up."""
    _hold(cluster, topic, partition, node_id, None)


def reassign(cluster: Cluster, topic: str, partition: int, replicas: Sequence[int]) -> None:
    """Move a partition to other replicas. The reassignment completes when they are in sync, which may be at once.

    Raises UNKNOWN_TOPIC_OR_PARTITION for an unknown topic or partition, ValueError for impossible replicas.
    """
    find_partitions(cluster.topics, topic, partition)
    _reassign(cluster, topic, partition, list(replicas))


def cancel_reassignment(cluster: Cluster, topic: str, partition: int) -> None:
    """Return to the previous replicas, if the reassignment has not completed."""
    place = cluster.image.partition(topic, partition)
    if place is not None and place.is_reassigned:
        _reassign(cluster, topic, partition, None)


def _reassign(cluster: Cluster, topic: str, partition: int, replicas: Sequence[int] | None) -> None:
    (error,) = cluster.controller.ask(reassign_partitions, [Reassignment((topic, partition), replicas)])
    if error is not None:
        raise ValueError(error.message)


def _hold(cluster: Cluster, topic: str, partition: int | None, node_id: int, lag: Lag | None) -> None:
    for one in find_partitions(cluster.topics, topic, partition):
        if node_id not in cluster.nodes:
            raise ValueError(f"no node {node_id}: the cluster has {', '.join(map(str, cluster.nodes))}")
        if lag is not None and one.leader_id == node_id:
            others = ", ".join(str(each) for each in one.replicas if each != node_id)
            hint = f"name a follower: {others}" if others else "it has no follower"
            raise ValueError(f"node {node_id} leads {topic}-{one.index}; {hint}")
        cluster.replicator.hold(one, node_id, lag)
