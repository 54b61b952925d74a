"""The records of a snapshot, from which the image can be rebuilt, in the order in which Kafka writes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from odradek.broker.metadata.image import (
    METADATA_VERSION,
    BrokerRegistration,
    ControllerRegistration,
    MetadataImage,
    PartitionRegistration,
)
from odradek.protocol.message import MetadataRecord

if TYPE_CHECKING:
    from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord


def records_of(image: MetadataImage) -> Iterator[MetadataRecord]:
    """The records, one after the other; the image must not change meanwhile."""
    yield from feature_records(image)
    yield from (_broker(broker) for broker in image.brokers.values())
    yield from (_controller(controller) for controller in image.controllers.values())
    yield from _topics(image)
    yield from _configs(image)
    yield from quota_records(image)
    yield from producer_id_records(image)
    yield from image.acls.values()
    yield from image.scram.values()
    yield from image.delegation_tokens.values()


def feature_records(image: MetadataImage) -> Iterator[FeatureLevelRecord]:
    from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord

    names = sorted(image.features, key=lambda name: name != METADATA_VERSION)
    yield from (FeatureLevelRecord(name, image.features[name]) for name in names)


def _broker(broker: BrokerRegistration) -> MetadataRecord:
    from odradek.protocol.generated.metadata_records.register_broker_record import (
        BrokerEndpoint,
        BrokerFeature,
        RegisterBrokerRecord,
    )

    return RegisterBrokerRecord(
        broker.id,
        incarnation_id=broker.incarnation,
        broker_epoch=broker.epoch,
        end_points=[BrokerEndpoint(*endpoint) for endpoint in broker.endpoints],
        features=[BrokerFeature(name, *levels) for name, levels in broker.features.items()],
        rack=broker.rack,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown,
        log_dirs=list(broker.directories),
        cordoned_log_dirs=None if broker.cordoned is None else list(broker.cordoned),
    )


def _controller(controller: ControllerRegistration) -> MetadataRecord:
    from odradek.protocol.generated.metadata_records.register_controller_record import (
        ControllerEndpoint,
        ControllerFeature,
        RegisterControllerRecord,
    )

    return RegisterControllerRecord(
        controller.id,
        controller.incarnation,
        controller.zk_migration_ready,
        [ControllerEndpoint(*endpoint) for endpoint in controller.endpoints],
        [ControllerFeature(name, *levels) for name, levels in controller.features.items()],
    )


def _topics(image: MetadataImage) -> Iterator[MetadataRecord]:
    from odradek.protocol.generated.metadata_records.topic_record import TopicRecord

    for topic in image.topics.values():
        yield TopicRecord(topic.name, topic.topic_id)
        for index, partition in enumerate(topic.partitions):
            yield partition_record(topic.topic_id, index, partition)


def partition_record(topic_id: bytes, index: int, partition: PartitionRegistration) -> MetadataRecord:
    from odradek.protocol.generated.metadata_records.partition_record import PartitionRecord

    return PartitionRecord(
        index,
        topic_id,
        list(partition.replicas),
        list(partition.isr),
        list(partition.removing),
        list(partition.adding),
        partition.leader,
        int(partition.recovering),
        partition.leader_epoch,
        partition.partition_epoch,
        list(partition.directories),
        list(partition.elr) or None,
        list(partition.last_known_elr) or None,
    )


def _configs(image: MetadataImage) -> Iterator[MetadataRecord]:
    from odradek.protocol.generated.metadata_records.config_record import ConfigRecord

    for (kind, name), configs in image.configs.items():
        yield from (ConfigRecord(kind, name, key, value) for key, value in configs.items())


def quota_records(image: MetadataImage) -> Iterator[MetadataRecord]:
    if not image.quotas:
        return
    from odradek.protocol.generated.metadata_records.client_quota_record import ClientQuotaRecord, EntityData

    for entity, quotas in image.quotas.items():
        named = [EntityData(kind, name) for kind, name in entity]
        yield from (ClientQuotaRecord(named, key, value, False) for key, value in quotas.items())


def producer_id_records(image: MetadataImage) -> Iterator[MetadataRecord]:
    if image.next_producer_id:
        from odradek.protocol.generated.metadata_records.producer_ids_record import ProducerIdsRecord

        yield ProducerIdsRecord(-1, -1, image.next_producer_id)
