"""Topics: creation, growth and deletion, and Kafka's errors for invalid descriptions."""

from __future__ import annotations

from collections.abc import Sequence

from odradek.broker.config.broker_config import BrokerConfig, ConfigError, TopicConfig
from odradek.broker.config.cordons import takes_replicas
from odradek.broker.config.tiered_storage import check_topic
from odradek.broker.controller.commands import (
    CreatedTopic,
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    NewPartitions,
    NewTopic,
    Quota,
)
from odradek.broker.controller.config_control import config_records
from odradek.broker.controller.placement import check_replicas, spread
from odradek.broker.metadata.image import METADATA_VERSION, MetadataImage, ResourceType, directory_of
from odradek.broker.metadata.topic_name_rules import check_topic_name, collision_key
from odradek.protocol.errors import ErrorCode, KafkaError, as_value
from odradek.protocol.generated.metadata_records.partition_record import PartitionRecord
from odradek.protocol.generated.metadata_records.remove_topic_record import RemoveTopicRecord
from odradek.protocol.generated.metadata_records.topic_record import TopicRecord
from odradek.protocol.message import MetadataRecord
from odradek.protocol.uuids import new_uuid

MAX_NEW_PARTITIONS = 10_000
_NOBODY: list[int] = []
# Ids that KIP-516 keeps for Kafka itself: the zero id and the metadata topic's.
_RESERVED_IDS = frozenset({bytes(16), bytes(15) + b"\x01"})


def check_new_partitions(count: int) -> None:
    """POLICY_VIOLATION for more new partitions than one request may ask for."""
    if count > MAX_NEW_PARTITIONS:
        raise KafkaError(ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request.")


class TopicControl:
    """Decides about topics. Reads image and configuration; changes neither.

    `controller_id`: the controller that decides, by its own defaults. `placed`: how many partitions were placed before.
    Leaders of new ones go round the brokers.
    """

    def __init__(self, image: MetadataImage, config: BrokerConfig, controller_id: int) -> None:
        self._image = image
        self._config = config
        self._controller_id = controller_id
        self._placements: dict[tuple[int, ...], tuple[list[int], list[int], list[bytes]]] = {}

    # -- creating

    def create(
        self, command: CreateTopics, placed: int
    ) -> tuple[list[MetadataRecord], list[CreatedTopic | KafkaError]]:
        """Records and results of CreateTopics."""
        records: list[MetadataRecord] = []
        results: list[CreatedTopic | KafkaError] = []
        for topic in command.topics:
            try:
                created = self._create(topic, placed)
                command.quota(len(created.assignments))
            except KafkaError as error:
                results.append(as_value(error))
                continue
            placed += len(created.assignments)
            results.append(created)
            records += self._records_of(created)
        return [] if command.validate_only else records, results

    def _create(self, topic: NewTopic, placed: int) -> CreatedTopic:
        self._check_name(topic.name)
        configs = _checked_configs(topic, self._config)
        if topic.assignments:
            assignments = self._manual_placement(topic)
        else:
            assignments = self._free_placement(topic, placed)
        return CreatedTopic(topic.name, self._new_id(), assignments, configs)

    def _check_name(self, name: str) -> None:
        check_topic_name(name, self._config.release.text)
        if name in self._image.topics:
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        key = collision_key(name)
        others = self._image.colliding_names.get(key) if key is not None else None
        if others:
            text = self._config.release.text(
                "collision",
                f"Topic '{name}' collides with existing topic: {min(others)}",
                name=name,
                others=", ".join(sorted(others)),
            )
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, text)

    def _new_id(self) -> bytes:
        topic_id = new_uuid()
        while topic_id in _RESERVED_IDS or topic_id in self._image.topics_by_id:
            topic_id = new_uuid()
        return topic_id

    def _records_of(self, topic: CreatedTopic) -> list[MetadataRecord]:
        records: list[MetadataRecord] = [TopicRecord(topic.name, topic.topic_id)]
        records += config_records(self._image, ResourceType.TOPIC, topic.name, {}, topic.configs)
        records += (
            self._new_partition(topic.topic_id, index, replicas) for index, replicas in enumerate(topic.assignments)
        )
        return records

    def _new_partition(self, topic_id: bytes, index: int, replicas: Sequence[int]) -> PartitionRecord:
        isr, copies, directories = self._placed(tuple(replicas))
        return PartitionRecord(
            index,
            topic_id,
            copies,
            isr,
            _NOBODY,
            _NOBODY,
            isr[0] if isr else -1,
            leader_epoch=0,
            partition_epoch=0,
            directories=directories,
        )

    def _placed(self, replicas: tuple[int, ...]) -> tuple[list[int], list[int], list[bytes]]:
        """ISR, replicas and directories of a new partition: one list for all that are placed alike.

        Records are values that nobody changes, and thousands of partitions have few placements.
        """
        known = self._placements.get(replicas)
        if known is None:
            brokers = self._image.brokers
            isr = [node for node in replicas if brokers[node].is_active]
            directories = [directory_of(self._image, node) for node in replicas]
            known = self._placements[replicas] = (isr, list(replicas), directories)
        return known

    # -- growing

    def grow(self, command: CreatePartitions, placed: int) -> tuple[list[MetadataRecord], list[KafkaError | None]]:
        """Records and results of CreatePartitions."""
        records: list[MetadataRecord] = []
        results: list[KafkaError | None] = []
        for topic in command.topics:
            try:
                assignments = self._added(topic, placed, command.quota)
            except KafkaError as error:
                results.append(as_value(error))
                continue
            placed += len(assignments)
            results.append(None)
            image = self._image.topics[topic.name]
            first = len(image.partitions)
            records += (
                self._new_partition(image.topic_id, index, replicas)
                for index, replicas in enumerate(assignments, first)
            )
        return [] if command.validate_only else records, results

    def _added(self, asked: NewPartitions, placed: int, quota: Quota) -> list[list[int]]:
        """Replicas of the partitions that bring a topic to its total."""
        topic = self._image.topics.get(asked.name)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        current, total = len(topic.partitions), asked.total
        if total == current:
            raise KafkaError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {current} partition(s).")
        if total < current:
            text = f"The topic {asked.name} currently has {current} partition(s); {total} would not be an increase."
            raise KafkaError(ErrorCode.INVALID_PARTITIONS, text)
        if asked.assignments is not None and len(asked.assignments) != total - current:
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Attempted to add {total - current} additional partition(s), but only {len(asked.assignments)} "
                "assignment(s) were specified.",
            )
        quota(total - current)
        if asked.assignments is None:
            if total - current > MAX_NEW_PARTITIONS:
                # Kafka's controller stumbles over the size of its own batch and answers with this code and no text.
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
            try:
                return self._spread(total - current, topic.replication_factor, placed)
            except KafkaError as error:
                # Only a new topic is told how often its partitions could not be replicated.
                raise KafkaError(error.code, (error.message or "").rpartition(" time(s): ")[2]) from None
        for replicas in asked.assignments:
            check_replicas(self._image.brokers, replicas, topic.replication_factor)
            self._check_leader_exists(replicas)
        return [list(replicas) for replicas in asked.assignments]

    # -- deleting

    def delete(self, command: DeleteTopics) -> tuple[list[MetadataRecord], list[KafkaError | None]]:
        """Records and results of DeleteTopics."""
        records: list[MetadataRecord] = []
        results: list[KafkaError | None] = []
        for topic_id in command.topic_ids:
            topic = self._image.topics_by_id.get(topic_id)
            try:
                if topic is None:
                    raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
                command.quota(len(topic.partitions))
            except KafkaError as error:
                results.append(as_value(error))
            else:
                records.append(RemoveTopicRecord(topic_id))
                results.append(None)
        return records, results

    # -- placement

    def _free_placement(self, topic: NewTopic, placed: int) -> list[list[int]]:
        partitions, factor = topic.partitions, topic.replication_factor
        if factor == 0 or factor < -1:
            text = "Replication factor must be larger than 0, or -1 to use the default value."
            raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, text)
        if partitions == 0 or partitions < -1:
            newest = "Number of partitions was set to an invalid non-positive value."
            text = self._config.release.text("partitions", newest)
            raise KafkaError(ErrorCode.INVALID_PARTITIONS, text)
        count = self._default("num.partitions") if partitions == -1 else partitions
        copies = self._default("default.replication.factor") if factor == -1 else factor
        return self._spread(count, copies, placed)

    def _default(self, name: str) -> int:
        return self._config.get_int(name, self._controller_id)

    def _spread(self, partitions: int, factor: int, placed: int) -> list[list[int]]:
        level = self._image.feature(METADATA_VERSION)
        brokers = [broker for broker in self._image.brokers.values() if takes_replicas(self._config, broker.id, level)]
        return spread(brokers, partitions, factor, placed, self._config.release)

    def _manual_placement(self, topic: NewTopic) -> list[list[int]]:
        told = "A manual partition assignment was specified, but"
        if topic.replication_factor != -1:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{told} replication factor was not set to -1.")
        if topic.partitions != -1:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{told} numPartitions was not set to -1.")
        placed: dict[int, list[int]] = {}
        factor: int | None = None
        for index, replicas in topic.assignments:
            if index in placed:
                text = f"Found multiple manual partition assignments for partition {index}"
                raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
            check_replicas(self._image.brokers, replicas, factor)
            factor = len(replicas)
            self._check_leader_exists(replicas, index)
            placed[index] = list(replicas)
        for index in range(len(placed)):
            if index not in placed:
                text = "partitions should be a consecutive 0-based integer sequence"
                raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
        return [placed[index] for index in range(len(placed))]

    def _check_leader_exists(self, replicas: Sequence[int], index: int | None = None) -> None:
        if not any(self._image.brokers[node].is_active for node in replicas):
            which = "" if index is None else f" for partition {index}"
            text = (
                f"All brokers specified in the manual partition assignment{which} are fenced or in controlled shutdown."
            )
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)


def _checked_configs(topic: NewTopic, config: BrokerConfig) -> dict[str, str]:
    """Topic settings in normal form; INVALID_CONFIG in Kafka's words otherwise."""
    nulls = [name for name, text in topic.configs.items() if text is None]
    if nulls:
        if config.release.fails_at_null_configs:
            text = f"Null value not supported for topic configs : {','.join(nulls)}"
            raise KafkaError(ErrorCode.INVALID_REQUEST, text)
        text = f"Null value not supported for topic configs: {','.join(nulls)}"
        raise KafkaError(ErrorCode.INVALID_CONFIG, text)
    try:
        given = {name: text for name, text in topic.configs.items() if text is not None}
        checked = TopicConfig.check(given, config.keys.topic)
        if "remote.storage.enable" in checked:
            check_topic(config, {}, checked)
        return checked
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from None
