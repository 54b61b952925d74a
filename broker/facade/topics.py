"""Topics and partitions as a user sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from odradek.protocol.uuids import uuid_to_text

if TYPE_CHECKING:
    from odradek.broker.partitions.topic import Topic


@dataclass(frozen=True, slots=True)
class PartitionInfo:
    """A partition: who leads it, and which offsets its log holds."""

    index: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    log_start_offset: int
    high_watermark: int
    last_stable_offset: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """A topic: its id (as Kafka prints it), its partitions and the configs that were set on it."""

    name: str
    topic_id: str
    internal: bool
    partitions: tuple[PartitionInfo, ...]
    config: Mapping[str, str] = field(default_factory=dict)


def topic_info(topic: Topic) -> TopicInfo:
    """A picture of a topic (in the broker's thread)."""
    return TopicInfo(
        name=topic.name,
        topic_id=uuid_to_text(topic.topic_id),
        internal=topic.internal,
        partitions=tuple(
            PartitionInfo(
                index=partition.index,
                leader=partition.leader_id,
                leader_epoch=partition.leader_epoch,
                replicas=tuple(partition.replicas),
                isr=tuple(partition.isr),
                log_start_offset=partition.log.log_start_offset,
                high_watermark=partition.log.high_watermark,
                last_stable_offset=partition.log.last_stable_offset,
                size_bytes=partition.log.size_bytes,
            )
            for partition in topic.partitions
        ),
        config=dict(topic.config.overrides),
    )
