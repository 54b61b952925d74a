"""The records of a topic that exists already: in partition folders, in an older format, in another cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from odradek.broker.metadata.image import ResourceType
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
from odradek.protocol.generated.metadata_records.partition_record import PartitionRecord
from odradek.protocol.generated.metadata_records.topic_record import TopicRecord
from odradek.protocol.message import MetadataRecord


def records_of_topic(
    name: str,
    topic_id: bytes,
    placed: Sequence[Sequence[int]],
    configs: Mapping[str, str],
    *,
    directory_of: Callable[[int], bytes],
    leader_epoch_of: Callable[[int], int] = lambda index: 0,
) -> list[MetadataRecord]:
    """A topic with these replicas for each partition, all in sync, led by the first.

    `directory_of`: the log directory of a broker. `leader_epoch_of`: the epoch of a partition's leader.
    """
    records: list[MetadataRecord] = [TopicRecord(name, topic_id)]
    records += (ConfigRecord(ResourceType.TOPIC, name, key, value) for key, value in configs.items())
    records += (
        PartitionRecord(
            index,
            topic_id,
            list(replicas),
            list(replicas),
            leader=replicas[0],
            leader_epoch=leader_epoch_of(index),
            partition_epoch=0,
            directories=[directory_of(node) for node in replicas],
        )
        for index, replicas in enumerate(placed)
    )
    return records
