"""A topic as a broker hosts it: its partitions, by index, and the settings that their logs obey."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.metadata.topic_names import INTERNAL_TOPICS

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import TopicConfig
    from odradek.broker.partitions.partition import Partition


class Topic:
    """One topic. Owner: the `PartitionRegistry`, which alone changes it.

    `config` holds the topic's own settings. `partitions[i]` has index i. `deleted` stays True for whoever still
    holds the object.
    """

    __slots__ = ("config", "deleted", "internal", "name", "partitions", "topic_id")

    def __init__(self, name: str, topic_id: bytes, config: TopicConfig) -> None:
        self.name = name
        self.topic_id = topic_id
        self.config = config
        self.internal = name in INTERNAL_TOPICS
        self.partitions: list[Partition] = []
        self.deleted = False

    def __repr__(self) -> str:
        return f"Topic({self.name}, {len(self.partitions)} partitions)"

    @property
    def replication_factor(self) -> int:
        """Replicas of the first partition, which is what Kafka calls the topic's factor."""
        return len(self.partitions[0].replicas)
