"""Makes coordinators load again, and keeps them from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from odradek.broker.metadata.image import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from odradek.broker.cluster import Cluster
    from odradek.broker.coordinator.service import CoordinatorService
    from odradek.broker.nodes.node_life import Undoing


def reload(cluster: Cluster, topic: str, partition: int) -> None:
    """Make the coordinator of a partition load again.

    Raises ValueError if no coordinator uses the topic, or if the partition does not exist.
    """
    service = _service(cluster, topic)
    _check(service, partition, len(service.topic.partitions or ()))
    service.reload(partition)


def hold_load(cluster: Cluster, topic: str, partition: int | None, *, now: bool = False) -> Undoing:
    """Keep the coordinator of a partition, or all if None, from loading. Creates the topic if necessary.

    After the undo, coordinators that wait load.

    Raises ValueError if no coordinator uses the topic, or if the partition does not exist.
    """
    service = _service(cluster, topic)
    for index in _partitions(service, partition):
        service.hold_load(index, now=now)

    def release() -> None:
        for index in _partitions(service, partition):
            service.release_load(index)

    return release


def _service(cluster: Cluster, topic: str) -> CoordinatorService[Any]:
    if topic == CONSUMER_OFFSETS:
        return cluster.groups
    if topic == TRANSACTION_STATE:
        return cluster.transactions
    if topic == SHARE_GROUP_STATE:
        return cluster.services.share_states()
    known = ", ".join((CONSUMER_OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE))
    raise ValueError(f"no coordinator loads from {topic!r}: use one of {known}")


def _partitions(service: CoordinatorService[Any], partition: int | None) -> Iterable[int]:
    count = len(service.topic.ensure())
    if partition is None:
        return range(count)
    _check(service, partition, count)
    return (partition,)


def _check(service: CoordinatorService[Any], partition: int, count: int) -> None:
    if not 0 <= partition < count:
        there = f"has {count} partitions, counted from 0" if count else "does not exist yet"
        raise ValueError(f"partition={partition}: {service.topic.name} {there}")
