"""Topics and partitions as a user sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from odradek.protocol.uuids import uuid_to_text

if TYPE_CHECKING:
    from odradek.broker.metadata.image import MetadataImage
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.partitions.partition_registry import PartitionRegistry, Topic


@dataclass(frozen=True, slots=True)
class PartitionInfo:
    """A partition: who leads it, and which offsets its log holds.

    ``replica_ends``: where each node's copy ends. They are all at ``log_end_offset`` unless a node is down or a test
    keeps records from it; records below ``high_watermark`` are committed. ``adding`` and ``removing``: the replicas
    that a reassignment under way brings and takes away. ``elr``: the eligible leader replicas, which have left the ISR
    below ``min.insync.replicas`` and have all that is committed; ``last_known_elr``: who led last, while nobody does
    (KIP-966).
    """

    index: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    log_start_offset: int
    high_watermark: int
    last_stable_offset: int
    size_bytes: int
    log_end_offset: int = 0
    replica_ends: Mapping[int, int] = field(default_factory=dict)
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """A topic: its id (as Kafka prints it), its partitions and the configs that were set on it."""

    name: str
    topic_id: str
    internal: bool
    partitions: tuple[PartitionInfo, ...]
    config: Mapping[str, str] = field(default_factory=dict)


def topic_info(topic: Topic, image: MetadataImage) -> TopicInfo:
    """A picture of a topic (in the broker's thread)."""
    known = image.topics_by_id.get(topic.topic_id)
    registrations = () if known is None else known.partitions
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
                log_end_offset=partition.log.log_end_offset,
                replica_ends=_replica_ends(partition),
                adding=place.adding,
                removing=place.removing,
                elr=place.elr,
                last_known_elr=place.last_known_elr,
            )
            for partition, place in zip(topic.partitions, registrations, strict=False)
        ),
        config=dict(topic.config.overrides),
    )


def topic_called(topics: PartitionRegistry, image: MetadataImage, name: str) -> TopicInfo:
    """A picture of the topic of that name (in the broker's thread); KeyError if there is none."""
    found = topics.get(name)
    if found is None:
        raise KeyError(f"no topic {name!r}")
    return topic_info(found, image)


def _replica_ends(partition: Partition) -> dict[int, int]:
    copies = {node: partition.copy_on(node) for node in partition.replicas}
    return {node: partition.log.log_end_offset if copy is None else copy.end for node, copy in copies.items()}
