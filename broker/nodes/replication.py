"""Replication: followers that a test keeps behind, and reassignments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from odradek.broker.controller.commands import Reassignment, ReassignPartitions
from odradek.broker.partitions.replicas import NOTHING, Lag
from odradek.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.partitions.partition import Partition


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

    Raises KeyError for an unknown topic or partition, ValueError for impossible replicas.
    """
    _reassign(cluster, topic, partition, list(replicas))


def cancel_reassignment(cluster: Cluster, topic: str, partition: int) -> None:
    """Return to the previous replicas, if the reassignment has not completed."""
    place = cluster.image.partition(topic, partition)
    if place is not None and place.is_reassigned:
        _reassign(cluster, topic, partition, None)


def _reassign(cluster: Cluster, topic: str, partition: int, replicas: Sequence[int] | None) -> None:
    (error,) = cluster.controller.ask(ReassignPartitions([Reassignment((topic, partition), replicas)]))
    if error is not None:
        kind = KeyError if error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION else ValueError
        raise kind(error.message)


def _hold(cluster: Cluster, topic: str, partition: int | None, node_id: int, lag: Lag | None) -> None:
    for one in _partitions(cluster, topic, partition):
        if node_id not in cluster.nodes:
            raise ValueError(f"no node {node_id}: the cluster has {', '.join(map(str, cluster.nodes))}")
        if lag is not None and one.leader_id == node_id:
            raise ValueError(f"node {node_id} leads {topic}-{one.index}: name a follower, one of {list(one.replicas)}")
        cluster.replicator.hold(one, node_id, lag)


def _partitions(cluster: Cluster, topic: str, partition: int | None) -> Iterable[Partition]:
    """One partition, or all of a topic. Raises KeyError if it does not exist."""
    known = cluster.topics.get(topic)
    if known is None:
        raise KeyError(f"no topic {topic}")
    if partition is None:
        return known.partitions
    if not 0 <= partition < len(known.partitions):
        raise KeyError(f"no partition {topic}-{partition}")
    return [known.partitions[partition]]
