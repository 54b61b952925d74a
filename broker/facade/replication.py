"""What a test keeps from the replicas of a partition."""

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
    """A follower is alive and serves clients, and gets nothing from its leader.

    A node that has no replica yet gets nothing once a reassignment gives it one.
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
    """A follower stays so far behind its leader; ValueError unless exactly one measure is given."""
    given = [measure for measure in (records, size_bytes, seconds) if measure is not None]
    if len(given) != 1 or given[0] < 0:
        raise ValueError("lag_replication: say one of records=, size_bytes= or seconds=, not below 0")
    ms = None if seconds is None else round(seconds * 1000)
    _hold(cluster, topic, partition, node_id, Lag(records, size_bytes, ms))


def resume_replication(cluster: Cluster, topic: str, partition: int | None, node_id: int) -> None:
    """A follower may have everything again."""
    _hold(cluster, topic, partition, node_id, None)


def reassign(cluster: Cluster, topic: str, partition: int, replicas: Sequence[int]) -> None:
    """Give a partition other replicas. It is done when the new ones are in sync, which may be at once.

    KeyError for an unknown topic or partition, ValueError for replicas that cannot be.
    """
    _reassign(cluster, topic, partition, list(replicas))


def cancel_reassignment(cluster: Cluster, topic: str, partition: int) -> None:
    """Back to the replicas before a reassignment, if it is still under way."""
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
    """One partition, or all; KeyError for one that is not there."""
    known = cluster.topics.get(topic)
    if known is None:
        raise KeyError(f"no topic {topic}")
    if partition is None:
        return known.partitions
    if not 0 <= partition < len(known.partitions):
        raise KeyError(f"no partition {topic}-{partition}")
    return [known.partitions[partition]]
