"""Replay: the records of the metadata log, one after the other, make the image. Nothing else writes to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from odradek.broker.metadata.image import (
    AclContent,
    BrokerRegistration,
    ConfigResource,
    ControllerRegistration,
    Endpoint,
    MetadataDelta,
    MetadataImage,
    PartitionRegistration,
    QuotaEntity,
    ResourceType,
    TopicImage,
    acl_content,
    collision_key,
)

if TYPE_CHECKING:
    from odradek.protocol.message import MetadataRecord

_NO_LEADER_CHANGE = -2
_NO_RECOVERY_CHANGE = -1
_FENCE, _UNFENCE = 1, -1
_MISSING = PartitionRegistration((), (), -1, -1, -1, ())
"""Stands for a partition whose record is still to come."""


class _WritableImage(MetadataImage):
    """The image for its writer, who alone changes the tables."""

    topics: dict[str, TopicImage]
    topics_by_id: dict[bytes, TopicImage]
    colliding_names: dict[str, set[str]]
    configs: dict[ConfigResource, Mapping[str, str]]
    brokers: dict[int, BrokerRegistration]
    controllers: dict[int, ControllerRegistration]
    features: dict[str, int]
    acls: dict[bytes, Any]
    acl_ids: dict[AclContent, bytes]
    scram: dict[tuple[str, int], Any]
    delegation_tokens: dict[str, Any]
    quotas: dict[QuotaEntity, Mapping[str, float]]


class ImageWriter:
    """Owns the dictionaries behind `image` and notes in a delta what each record changes.

    Owner: the controller's machine. The records of a metadata transaction (KIP-868) are held back until it ends.
    """

    def __init__(self) -> None:
        self._shared: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self._held: list[MetadataRecord] | None = None
        self._delta = MetadataDelta()
        self._offset = -1
        self.image = _WritableImage()

    @property
    def in_transaction(self) -> bool:
        """Whether a metadata transaction is open, which only a controller that died leaves behind."""
        return self._held is not None

    def take_delta(self) -> MetadataDelta:
        """The changes since the last call."""
        delta, self._delta = self._delta, MetadataDelta()
        return delta

    def clear(self) -> None:
        """Forget everything; `image` and its tables stay the same objects."""
        for name, empty in vars(MetadataImage()).items():
            value = getattr(self.image, name)
            value.clear() if isinstance(value, dict) else setattr(self.image, name, empty)
        self._shared.clear()
        self._held = None
        self._delta = MetadataDelta()

    def fork(self) -> ImageWriter:
        """A writer whose image is the same now and goes its own way; values are shared, the dictionaries copied."""
        other = ImageWriter()
        for name, value in vars(self.image).items():
            setattr(other.image, name, value.copy() if isinstance(value, dict) else value)
        topics = [TopicImage(t.name, t.topic_id, list(t.partitions), t.version) for t in self.image.topics.values()]
        other.image.topics = {topic.name: topic for topic in topics}
        other.image.topics_by_id = {topic.topic_id: topic for topic in topics}
        other.image.colliding_names = {key: set(names) for key, names in self.image.colliding_names.items()}
        other._held = None if self._held is None else list(self._held)
        return other

    # -- replay

    def replay(self, record: MetadataRecord, offset: int, epoch: int) -> None:
        """Apply the record at `offset`. Obsolete records change only the offset."""
        self._offset = self.image.offset = offset
        self.image.epoch = epoch
        kind = record.RECORD_TYPE
        if self._held is not None and kind not in _TRANSACTION_KINDS:
            self._held.append(record)
            return
        self._apply(record)

    def _apply(self, record: MetadataRecord) -> None:
        apply = _REPLAY.get(record.RECORD_TYPE)
        if apply is not None:
            apply(self, record)

    def _begin(self, _: Any) -> None:
        self._held = []

    def _end(self, _: Any) -> None:
        held, self._held = self._held or [], None
        for record in held:
            self._apply(record)

    def _abort(self, _: Any) -> None:
        self._held = None

    # -- topics and partitions

    def _add_topic(self, record: Any) -> None:
        topic = TopicImage(record.name, record.topic_id, [], self._offset)
        self.image.topics[topic.name] = self.image.topics_by_id[topic.topic_id] = topic
        key = collision_key(topic.name)
        if key is not None:
            self.image.colliding_names.setdefault(key, set()).add(topic.name)
        self._delta.created[topic.topic_id] = topic
        self.image.topics_version = self._offset

    def _remove_topic(self, record: Any) -> None:
        topic = self.image.topics_by_id.pop(record.topic_id)
        del self.image.topics[topic.name]
        key = collision_key(topic.name)
        if key is not None:
            names = self.image.colliding_names[key]
            names.discard(topic.name)
            if not names:
                del self.image.colliding_names[key]
        self.image.configs.pop((ResourceType.TOPIC, topic.name), None)
        delta = self._delta
        if delta.created.pop(topic.topic_id, None) is None:
            delta.deleted[topic.topic_id] = topic
        delta.grown.pop(topic.topic_id, None)
        delta.configs.pop((ResourceType.TOPIC, topic.name), None)
        self.image.topics_version = self._offset

    def _add_partition(self, record: Any) -> None:
        registration = PartitionRegistration(
            self._share(record.replicas),
            self._share(record.isr),
            record.leader,
            record.leader_epoch,
            record.partition_epoch,
            self._share(record.directories or [bytes(16)] * len(record.replicas)),
            self._share(record.adding_replicas),
            self._share(record.removing_replicas),
            self._share(record.eligible_leader_replicas),
            self._share(record.last_known_elr),
            record.leader_recovery_state == 1,
        )
        topic = self.image.topics_by_id[record.topic_id]
        partitions: list[PartitionRegistration] = topic.partitions  # type: ignore[assignment]
        index = record.partition_id
        if index < len(partitions) and partitions[index] is not _MISSING:
            self._set_partition(topic, index, registration)
            return
        if topic.topic_id not in self._delta.created:
            self._delta.grown.setdefault(topic.topic_id, len(partitions))
        partitions.extend([_MISSING] * (index + 1 - len(partitions)))
        partitions[index] = registration
        topic.version = self.image.topics_version = self._offset

    def _change_partition(self, record: Any) -> None:
        topic = self.image.topics_by_id[record.topic_id]
        before = topic.partitions[record.partition_id]
        led = record.leader != _NO_LEADER_CHANGE
        recovery = record.leader_recovery_state
        after = PartitionRegistration(
            self._changed(record.replicas, before.replicas),
            self._changed(record.isr, before.isr),
            record.leader if led else before.leader,
            before.leader_epoch + 1 if led else before.leader_epoch,
            before.partition_epoch + 1,
            self._changed(record.directories, before.directories),
            self._changed(record.adding_replicas, before.adding),
            self._changed(record.removing_replicas, before.removing),
            self._changed(record.eligible_leader_replicas, before.elr),
            self._changed(record.last_known_elr, before.last_known_elr),
            before.recovering if recovery == _NO_RECOVERY_CHANGE else recovery == 1,
        )
        if len(after.directories) != len(after.replicas):
            after = after._replace(directories=self._share([bytes(16)] * len(after.replicas)))
        self._set_partition(topic, record.partition_id, after)

    def _set_partition(self, topic: TopicImage, index: int, after: PartitionRegistration) -> None:
        partitions: list[PartitionRegistration] = topic.partitions  # type: ignore[assignment]
        before = partitions[index]
        partitions[index] = after
        topic.version = self.image.topics_version = self._offset
        if topic.topic_id not in self._delta.created:
            self._delta.moved.setdefault((topic.topic_id, index), before)

    def _clear_elr(self, record: Any) -> None:
        for topic in [self.image.topics[record.topic_name]] if record.topic_name else list(self.image.topics.values()):
            for index, before in enumerate(topic.partitions):
                if before.elr or before.last_known_elr:
                    epoch = before.partition_epoch + 1
                    after = before._replace(elr=(), last_known_elr=(), partition_epoch=epoch)
                    self._set_partition(topic, index, after)

    def _share(self, values: list[Any] | None) -> tuple[Any, ...]:
        """One tuple for all equal lists: most partitions have the same replicas."""
        if not values:
            return ()
        found = tuple(values)
        return self._shared.setdefault(found, found)

    def _changed(self, values: list[Any] | None, before: tuple[Any, ...]) -> tuple[Any, ...]:
        return before if values is None else self._share(values)

    # -- configs, features, producer ids

    def _set_config(self, record: Any) -> None:
        resource = (record.resource_type, record.resource_name)
        before = self.image.configs.get(resource, {})
        self._delta.configs.setdefault(resource, before)
        after = dict(before)
        if record.value is None:
            after.pop(record.name, None)
        else:
            after[record.name] = record.value
        if after:
            self.image.configs[resource] = after
        else:
            self.image.configs.pop(resource, None)

    def _set_feature(self, record: Any) -> None:
        if record.feature_level:
            self.image.features[record.name] = record.feature_level
        else:
            self.image.features.pop(record.name, None)
        self._delta.features = True

    def _set_producer_ids(self, record: Any) -> None:
        self.image.next_producer_id = record.next_producer_id

    # -- nodes

    def _register_broker(self, record: Any) -> None:
        self._set_broker(
            BrokerRegistration(
                record.broker_id,
                record.broker_epoch,
                record.incarnation_id,
                _endpoints(record),
                _feature_ranges(record),
                record.rack,
                record.fenced,
                record.in_controlled_shutdown,
                tuple(record.log_dirs),
                None if record.cordoned_log_dirs is None else tuple(record.cordoned_log_dirs),
            )
        )

    def _unregister_broker(self, record: Any) -> None:
        self._delta.brokers.setdefault(record.broker_id, self.image.brokers.pop(record.broker_id))
        self.image.topics_version = self._offset

    def _change_broker(self, record: Any) -> None:
        before = self.image.brokers[record.broker_id]
        fenced = before.fenced if not record.fenced else record.fenced == _FENCE
        self._set_broker(
            before._replace(
                fenced=fenced,
                in_controlled_shutdown=before.in_controlled_shutdown or record.in_controlled_shutdown == 1,
                directories=tuple(record.log_dirs) or before.directories,
                cordoned=before.cordoned if record.cordoned_log_dirs is None else tuple(record.cordoned_log_dirs),
            )
        )

    def _fence_broker(self, record: Any) -> None:
        self._set_broker(self.image.brokers[record.id]._replace(fenced=True))

    def _unfence_broker(self, record: Any) -> None:
        self._set_broker(self.image.brokers[record.id]._replace(fenced=False))

    def _set_broker(self, after: BrokerRegistration) -> None:
        self._delta.brokers.setdefault(after.id, self.image.brokers.get(after.id))
        self.image.brokers[after.id] = after
        self.image.topics_version = self._offset

    def _register_controller(self, record: Any) -> None:
        self.image.controllers[record.controller_id] = ControllerRegistration(
            record.controller_id,
            record.incarnation_id,
            _endpoints(record),
            _feature_ranges(record),
            record.zk_migration_ready,
        )

    def _unregister_controller(self, record: Any) -> None:
        self.image.controllers.pop(record.controller_id, None)

    # -- access and quotas

    def _add_acl(self, record: Any) -> None:
        self._note_acl(record.id)
        self.image.acls[record.id] = record
        self.image.acl_ids[acl_content(record)] = record.id

    def _remove_acl(self, record: Any) -> None:
        self._note_acl(record.id)
        self.image.acls.pop(record.id, None)

    def _note_acl(self, acl_id: bytes) -> None:
        """An entry is about to change."""
        before = self.image.acls.get(acl_id)
        self._delta.acls.setdefault(acl_id, before)
        self._delta.security = True
        if before is not None:
            self.image.acl_ids.pop(acl_content(before), None)

    def _add_scram(self, record: Any) -> None:
        self.image.scram[record.name, record.mechanism] = record
        self._delta.security = True

    def _remove_scram(self, record: Any) -> None:
        self.image.scram.pop((record.name, record.mechanism), None)
        self._delta.security = True

    def _add_token(self, record: Any) -> None:
        self.image.delegation_tokens[record.token_id] = record
        self._delta.security = True

    def _remove_token(self, record: Any) -> None:
        self.image.delegation_tokens.pop(record.token_id, None)
        self._delta.security = True

    def _set_quota(self, record: Any) -> None:
        entity = tuple(sorted((part.entity_type, part.entity_name) for part in record.entity))
        after = dict(self.image.quotas.get(entity, {}))
        if record.remove:
            after.pop(record.key, None)
        else:
            after[record.key] = record.value
        if after:
            self.image.quotas[entity] = after
        else:
            self.image.quotas.pop(entity, None)
        self._delta.security = self._delta.quotas = True


def _endpoints(record: Any) -> tuple[Endpoint, ...]:
    return tuple(Endpoint(entry.name, entry.host, entry.port, entry.security_protocol) for entry in record.end_points)


def _feature_ranges(record: Any) -> dict[str, tuple[int, int]]:
    return {entry.name: (entry.min_supported_version, entry.max_supported_version) for entry in record.features}


_TRANSACTION_KINDS = frozenset({23, 24, 25})
# By the record types of KIP-631. Not here: ZkMigrationStateRecord (21) and NoOpRecord (20), which change nothing.
_REPLAY: Mapping[int, Callable[[ImageWriter, Any], None]] = {
    0: ImageWriter._register_broker,
    1: ImageWriter._unregister_broker,
    2: ImageWriter._add_topic,
    3: ImageWriter._add_partition,
    4: ImageWriter._set_config,
    5: ImageWriter._change_partition,
    7: ImageWriter._fence_broker,
    8: ImageWriter._unfence_broker,
    9: ImageWriter._remove_topic,
    10: ImageWriter._add_token,
    11: ImageWriter._add_scram,
    12: ImageWriter._set_feature,
    14: ImageWriter._set_quota,
    15: ImageWriter._set_producer_ids,
    17: ImageWriter._change_broker,
    18: ImageWriter._add_acl,
    19: ImageWriter._remove_acl,
    22: ImageWriter._remove_scram,
    23: ImageWriter._begin,
    24: ImageWriter._end,
    25: ImageWriter._abort,
    26: ImageWriter._remove_token,
    27: ImageWriter._register_controller,
    28: ImageWriter._clear_elr,
    29: ImageWriter._unregister_controller,
}
