"""Topics that are looked up by name, deleted, and emptied (in the broker's thread)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.config.suggestion import did_you_mean
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.partitions.partition_registry import PartitionRegistry, Topic


def find_topic(topics: PartitionRegistry, name: str) -> Topic:
    """The topic; UNKNOWN_TOPIC_OR_PARTITION, with the nearest name, if there is none: nothing creates one here."""
    topic = topics.get(name)
    if topic is None:
        near = did_you_mean(name, [each.name for each in topics.all() if not each.internal])
        message = f"no topic {name!r}{near}; create_topic({name!r}) makes one"
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    return topic


def find_partition(topic: Topic, index: int) -> Partition:
    """The partition; UNKNOWN_TOPIC_OR_PARTITION, with those that exist, if there is none."""
    if isinstance(index, bool) or not isinstance(index, int):
        raise TypeError(f"a partition is a number, not {index!r}")
    count = len(topic.partitions)
    if not 0 <= index < count:
        message = f"topic {topic.name!r} has no partition {index}, it has {count}, counted from 0"
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    return topic.partitions[index]


def check_leader(partition: Partition) -> None:
    """LEADER_NOT_AVAILABLE while no node leads the partition."""
    if partition.leader_id < 0:
        message = f"{partition.topic.name}-{partition.index} has no leader: no node of its replicas is up"
        raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, message)


def delete_topic(cluster: Cluster, name: str) -> None:
    """Delete a topic with its records and the offsets that groups have committed in it."""
    find_topic(cluster.topics, name)
    cluster.delete_topic(name)


def delete_records(cluster: Cluster, name: str, index: int | None, before: int) -> dict[int, int]:
    """The first offset that each partition still has; all are checked before any is changed."""
    topic = find_topic(cluster.topics, name)
    chosen = topic.partitions if index is None else [find_partition(topic, index)]
    for partition in chosen:
        _check_deletable(partition, before)
    now_ms = cluster.clock.now_ms()
    return {partition.index: partition.delete_records(before, now_ms=now_ms) for partition in chosen}


def _check_deletable(partition: Partition, before: int) -> None:
    name = partition.topic.name
    if partition.topic.internal:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name!r} is a topic of Kafka's own")
    check_leader(partition)
    if not partition.log.config.delete:
        raise KafkaError(ErrorCode.POLICY_VIOLATION, f"topic {name!r} is compacted only (cleanup.policy)")
    if not -1 <= before <= partition.log.high_watermark:
        message = f"{name}-{partition.index} ends at {partition.log.high_watermark}: nothing can be deleted to {before}"
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, message)
