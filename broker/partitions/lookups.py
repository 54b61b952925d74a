"""The topics and partitions that a test names, and what it is told if there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.mistakes import did_you_mean
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition, Topic
    from odradek.broker.partitions.partition_registry import PartitionRegistry


def check_name(what: str, name: object) -> None:
    """TypeError unless a name is text."""
    if not isinstance(name, str):
        raise TypeError(f"{what} {name!r}: a name is text")


def find_topic(topics: PartitionRegistry, name: str) -> Topic:
    """The topic. Raises UNKNOWN_TOPIC_OR_PARTITION, with the nearest name, if it does not exist; never creates it."""
    check_name("topic", name)
    topic = topics.get(name)
    if topic is None:
        near = did_you_mean(name, [each.name for each in topics.all() if not each.internal])
        message = f"no topic {name!r}{near}; create_topic({name!r}) makes one"
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    return topic


def find_partition(topic: Topic, index: int) -> Partition:
    """The partition. Raises UNKNOWN_TOPIC_OR_PARTITION, with the number of partitions, if it does not exist."""
    if isinstance(index, bool) or not isinstance(index, int):
        raise TypeError(f"a partition is a number, not {index!r}")
    count = len(topic.partitions)
    if not 0 <= index < count:
        message = f"topic {topic.name!r} has no partition {index}, it has {count}, counted from 0"
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    return topic.partitions[index]


def find_partitions(topics: PartitionRegistry, name: str, index: int | None) -> list[Partition]:
    """One partition of a topic, or all for None. Raises as `find_topic` and `find_partition` do."""
    topic = find_topic(topics, name)
    return topic.partitions if index is None else [find_partition(topic, index)]


def check_leader(partition: Partition) -> None:
    """Raise LEADER_NOT_AVAILABLE if no node leads the partition."""
    if partition.leader_id < 0:
        message = f"{partition.topic.name}-{partition.index} has no leader: no node of its replicas is up"
        raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, message)
