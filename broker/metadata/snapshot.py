"""The records of a snapshot, from which the image can be rebuilt, in the order in which Kafka writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from odradek.broker.metadata.image import (
    METADATA_VERSION,
    BrokerRegistration,
    ConfigResource,
    ControllerRegistration,
    MetadataImage,
    PartitionRegistration,
    ResourceType,
    TopicImage,
    directory_of,
)
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord
from odradek.protocol.generated.metadata_records.partition_record import PartitionRecord
from odradek.protocol.generated.metadata_records.producer_ids_record import ProducerIdsRecord
from odradek.protocol.generated.metadata_records.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from odradek.protocol.generated.metadata_records.register_controller_record import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)
from odradek.protocol.generated.metadata_records.remove_topic_record import RemoveTopicRecord
from odradek.protocol.generated.metadata_records.topic_record import TopicRecord
from odradek.protocol.message import MetadataRecord


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
    names = sorted(image.features, key=lambda name: name != METADATA_VERSION)
    yield from (FeatureLevelRecord(name, image.features[name]) for name in names)


def _broker(broker: BrokerRegistration) -> MetadataRecord:
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
    return RegisterControllerRecord(
        controller.id,
        controller.incarnation,
        controller.zk_migration_ready,
        [ControllerEndpoint(*endpoint) for endpoint in controller.endpoints],
        [ControllerFeature(name, *levels) for name, levels in controller.features.items()],
    )


def _topics(image: MetadataImage) -> Iterator[MetadataRecord]:
    for topic in image.topics.values():
        yield TopicRecord(topic.name, topic.topic_id)
        for index, partition in enumerate(topic.partitions):
            yield partition_record(topic.topic_id, index, partition)


def partition_record(topic_id: bytes, index: int, partition: PartitionRegistration) -> MetadataRecord:
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
        yield ProducerIdsRecord(-1, -1, image.next_producer_id)


# -- the records that lead from one image to another, with which a broker goes back to earlier metadata
#
# The log only grows, so followers of the image need no special case. Brokers and controllers are left out: they are
# what runs now. Producer ids never go back, as two producers must not get the same one.


LeastEpoch = Callable[[bytes, int], int]
"""(topic id, partition) -> the smallest leader epoch that its new registration may have; 0 where nothing is against
the one that it is to have, with the registration itself if that is what it has."""


def records_between(now: MetadataImage, then: MetadataImage, least_epoch: LeastEpoch) -> Iterator[MetadataRecord]:
    """The records after which `now` says what `then` says.

    A partition whose registration changes gets a leader epoch that is above both: clients pass over an older one.
    """
    doomed = []
    for topic_id, topic in now.topics_by_id.items():
        after = then.topics_by_id.get(topic_id)
        # One that has grown is created again, because no record removes partitions.
        if after is None or len(topic.partitions) > len(after.partitions):
            doomed.append(topic)
            yield RemoveTopicRecord(topic_id)
    gone = {topic.topic_id for topic in doomed}
    yield from _features(now, then)
    for topic in then.topics.values():
        before = None if topic.topic_id in gone else now.topics_by_id.get(topic.topic_id)
        yield from _topic(topic, before, now, least_epoch)
    yield from _changed_configs(now, then, {topic.name for topic in doomed})
    yield from _quotas(now, then)
    yield from _users(now, then)
    if then.next_producer_id > now.next_producer_id:
        yield from producer_id_records(then)


def _topic(
    topic: TopicImage, before: TopicImage | None, now: MetadataImage, least_epoch: LeastEpoch
) -> Iterator[MetadataRecord]:
    known = () if before is None else before.partitions
    if before is None:
        yield TopicRecord(topic.name, topic.topic_id)
    for index, wanted in enumerate(topic.partitions):
        present = known[index] if index < len(known) else None
        least = least_epoch(topic.topic_id, index)
        if present is not None:
            if not least and _same(present, wanted):
                continue
            least = max(least, present.leader_epoch + 1)
            wanted = wanted._replace(partition_epoch=max(present.partition_epoch, wanted.partition_epoch) + 1)
        wanted = wanted._replace(
            leader_epoch=max(wanted.leader_epoch, least), directories=tuple(_directories(wanted, now))
        )
        yield partition_record(topic.topic_id, index, wanted)


def _same(present: PartitionRegistration, wanted: PartitionRegistration) -> bool:
    """Whether two registrations say the same; epochs only tell how often they changed."""
    if present is wanted:
        return True
    return wanted == present._replace(leader_epoch=wanted.leader_epoch, partition_epoch=wanted.partition_epoch)


def _directories(wanted: PartitionRegistration, now: MetadataImage) -> Iterator[bytes]:
    """The log directories of the replicas. Other nodes with the same number have other directories."""
    for node, directory in zip(wanted.replicas, wanted.directories, strict=True):
        broker = now.brokers.get(node)
        known = broker is not None and directory in broker.directories
        yield directory if known else directory_of(now, node)


def _changed_configs(now: MetadataImage, then: MetadataImage, removed_topics: set[str]) -> Iterator[MetadataRecord]:
    present: dict[ConfigResource, Mapping[str, str]] = {
        resource: values
        for resource, values in now.configs.items()
        if resource[0] != ResourceType.TOPIC or resource[1] not in removed_topics
    }
    for kind, name in dict.fromkeys((*present, *then.configs)):
        before, after = present.get((kind, name), {}), then.configs_of(kind, name)
        yield from (ConfigRecord(kind, name, key, None) for key in before if key not in after)
        yield from (ConfigRecord(kind, name, key, value) for key, value in after.items() if before.get(key) != value)


def _features(now: MetadataImage, then: MetadataImage) -> Iterator[MetadataRecord]:
    yield from (FeatureLevelRecord(name, 0) for name in now.features if name not in then.features)
    yield from (record for record in feature_records(then) if now.features.get(record.name) != record.feature_level)


def _quotas(now: MetadataImage, then: MetadataImage) -> Iterator[MetadataRecord]:
    if now.quotas == then.quotas:
        return
    from odradek.protocol.generated.metadata_records.client_quota_record import ClientQuotaRecord, EntityData

    for entity, quotas in now.quotas.items():
        named = [EntityData(kind, name) for kind, name in entity]
        kept = then.quotas.get(entity, {})
        yield from (ClientQuotaRecord(named, key, 0.0, True) for key in quotas if key not in kept)
    yield from quota_records(then)


def _users(now: MetadataImage, then: MetadataImage) -> Iterator[MetadataRecord]:
    """Rights, SCRAM credentials and delegation tokens; the image holds their records."""
    if now.acls != then.acls:
        from odradek.protocol.generated.metadata_records.remove_access_control_entry_record import (
            RemoveAccessControlEntryRecord,
        )

        yield from (RemoveAccessControlEntryRecord(acl_id) for acl_id in now.acls if acl_id not in then.acls)
        yield from _new(now.acls, then.acls)
    if now.scram != then.scram:
        from odradek.protocol.generated.metadata_records.remove_user_scram_credential_record import (
            RemoveUserScramCredentialRecord,
        )

        yield from (RemoveUserScramCredentialRecord(*user) for user in now.scram if user not in then.scram)
        yield from _new(now.scram, then.scram)
    if now.delegation_tokens != then.delegation_tokens:
        from odradek.protocol.generated.metadata_records.remove_delegation_token_record import (
            RemoveDelegationTokenRecord,
        )

        tokens = then.delegation_tokens
        yield from (RemoveDelegationTokenRecord(token) for token in now.delegation_tokens if token not in tokens)
        yield from _new(now.delegation_tokens, tokens)


def _new(now: Mapping[Any, MetadataRecord], then: Mapping[Any, MetadataRecord]) -> Iterator[MetadataRecord]:
    return (record for key, record in then.items() if now.get(key) is not record)
