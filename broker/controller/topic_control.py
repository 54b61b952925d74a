"""Topics: creation, growth and deletion, and Kafka's errors for invalid descriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeAlias

from odradek.broker.config.broker_config import BrokerConfig, ConfigError, TopicConfig
from odradek.broker.config.requirements import check_topic, takes_replicas
from odradek.broker.controller.config_control import config_records
from odradek.broker.controller.machine import Decision, MetadataState, each_by_itself
from odradek.broker.metadata.image import (
    CONSUMER_OFFSETS,
    METADATA_VERSION,
    SHARE_GROUP_STATE,
    TRANSACTION_STATE,
    BrokerRegistration,
    ResourceType,
    check_topic_name,
    collision_key,
    directory_of,
)
from odradek.broker.releases.release import Release, release_of
from odradek.protocol.errors import ErrorCode, KafkaError, as_value
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
from odradek.protocol.generated.metadata_records.partition_record import PartitionRecord
from odradek.protocol.generated.metadata_records.remove_topic_record import RemoveTopicRecord
from odradek.protocol.generated.metadata_records.topic_record import TopicRecord
from odradek.protocol.message import MetadataRecord
from odradek.protocol.uuids import new_uuid

MAX_NEW_PARTITIONS = 10_000
_NOBODY: list[int] = []
_Placement: TypeAlias = tuple[list[int], list[int], list[bytes]]
_Placements = dict[tuple[int, ...], _Placement]
# Ids that KIP-516 keeps for Kafka itself: the zero id and the metadata topic's.
_RESERVED_IDS = frozenset({bytes(16), bytes(15) + b"\x01"})


def check_new_partitions(count: int) -> None:
    """POLICY_VIOLATION for more new partitions than one request may ask for."""
    if count > MAX_NEW_PARTITIONS:
        raise KafkaError(ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request.")


def unlimited(partitions: int) -> None:
    """The charge for mutations without a quota: none."""


Quota = Callable[[int], None]
"""Called with the partitions that a topic's creation, growth or deletion changes; THROTTLING_QUOTA_EXCEEDED refuses."""


# -- creating


class NewTopic(NamedTuple):
    """A topic to create. -1 takes the broker's number of partitions or replication factor.

    `assignments`: (index, replicas) pairs instead of the two numbers. A config of None is refused.
    """

    name: str
    partitions: int = -1
    replication_factor: int = -1
    assignments: Sequence[tuple[int, Sequence[int]]] = ()
    configs: Mapping[str, str | None] = {}


class CreatedTopic(NamedTuple):
    """A topic that was created, or would be: `configs` are checked, in normal form."""

    name: str
    topic_id: bytes
    assignments: list[list[int]]
    configs: dict[str, str]


def create_topics(
    state: MetadataState, topics: Sequence[NewTopic], *, validate_only: bool = False, quota: Quota = unlimited
) -> Decision[list[CreatedTopic | KafkaError]]:
    """Create topics, all whose description is right; replies for each in order."""
    records: list[MetadataRecord] = []
    results: list[CreatedTopic | KafkaError] = []
    placed, placements = state.placed, _Placements()
    for topic in topics:
        try:
            created = _create(state, topic, placed)
            quota(len(created.assignments))
        except KafkaError as error:
            results.append(as_value(error))
            continue
        placed += len(created.assignments)
        results.append(created)
        records += _records_of(state, placements, created)
    return [] if validate_only else records, results


def _create(state: MetadataState, topic: NewTopic, placed: int) -> CreatedTopic:
    _check_name(state, topic.name)
    configs = _checked_configs(topic, state.config)
    if topic.assignments:
        assignments = _manual_placement(state, topic)
    else:
        assignments = _free_placement(state, topic, placed)
    return CreatedTopic(topic.name, _new_id(state), assignments, configs)


def _check_name(state: MetadataState, name: str) -> None:
    check_topic_name(name, state.config.release.text)
    if name in state.image.topics:
        raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    key = collision_key(name)
    others = state.image.colliding_names.get(key) if key is not None else None
    if others:
        text = state.config.release.text(
            "collision",
            f"Topic '{name}' collides with existing topic: {min(others)}",
            name=name,
            others=", ".join(sorted(others)),
        )
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, text)


def _new_id(state: MetadataState) -> bytes:
    topic_id = new_uuid()
    while topic_id in _RESERVED_IDS or topic_id in state.image.topics_by_id:
        topic_id = new_uuid()
    return topic_id


def _records_of(state: MetadataState, placements: _Placements, topic: CreatedTopic) -> list[MetadataRecord]:
    records: list[MetadataRecord] = [TopicRecord(topic.name, topic.topic_id)]
    records += config_records(state.image, ResourceType.TOPIC, topic.name, {}, topic.configs, topic.configs)
    records += (
        _new_partition(state, placements, topic.topic_id, index, replicas)
        for index, replicas in enumerate(topic.assignments)
    )
    return records


def _new_partition(
    state: MetadataState, placements: _Placements, topic_id: bytes, index: int, replicas: Sequence[int]
) -> PartitionRecord:
    isr, copies, directories = _placed(state, placements, tuple(replicas))
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


def _placed(state: MetadataState, placements: _Placements, replicas: tuple[int, ...]) -> _Placement:
    """ISR, replicas and directories of a new partition: one list for all that are placed alike.

    Records are values that nobody changes, and thousands of partitions have few placements.
    """
    known = placements.get(replicas)
    if known is None:
        brokers = state.image.brokers
        isr = [node for node in replicas if brokers[node].is_active]
        directories = [directory_of(state.image, node) for node in replicas]
        known = placements[replicas] = (isr, list(replicas), directories)
    return known


# -- growing


class NewPartitions(NamedTuple):
    """A topic that is to have `total` partitions; `assignments`: replicas of the new ones."""

    name: str
    total: int
    assignments: Sequence[Sequence[int]] | None = None


def create_partitions(
    state: MetadataState, topics: Sequence[NewPartitions], *, validate_only: bool = False, quota: Quota = unlimited
) -> Decision[list[KafkaError | None]]:
    """Let topics grow; replies for each in order."""
    placed, placements = state.placed, _Placements()

    def grown(asked: NewPartitions) -> list[MetadataRecord]:
        nonlocal placed
        assignments = _added(state, asked, placed, quota)
        placed += len(assignments)
        topic = state.image.topics[asked.name]
        return [
            _new_partition(state, placements, topic.topic_id, index, replicas)
            for index, replicas in enumerate(assignments, len(topic.partitions))
        ]

    records, results = each_by_itself(topics, grown)
    return [] if validate_only else records, results


def _added(state: MetadataState, asked: NewPartitions, placed: int, quota: Quota) -> list[list[int]]:
    """Replicas of the partitions that bring a topic to its total."""
    topic = state.image.topics.get(asked.name)
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
            return _spread(state, total - current, topic.replication_factor, placed)
        except KafkaError as error:
            # Only a new topic is told how often its partitions could not be replicated.
            raise KafkaError(error.code, (error.message or "").rpartition(" time(s): ")[2]) from None
    for replicas in asked.assignments:
        check_replicas(state.image.brokers, replicas, topic.replication_factor)
        _check_leader_exists(state, replicas)
    return [list(replicas) for replicas in asked.assignments]


# -- deleting


def delete_topics(
    state: MetadataState, topic_ids: Sequence[bytes], *, quota: Quota = unlimited
) -> Decision[list[KafkaError | None]]:
    """Delete topics by id, each at most once; replies UNKNOWN_TOPIC_ID for one that does not exist."""

    def deleted(topic_id: bytes) -> list[MetadataRecord]:
        topic = state.image.topics_by_id.get(topic_id)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
        quota(len(topic.partitions))
        return [RemoveTopicRecord(topic_id)]

    return each_by_itself(topic_ids, deleted)


# -- placement


def _free_placement(state: MetadataState, topic: NewTopic, placed: int) -> list[list[int]]:
    partitions, factor = topic.partitions, topic.replication_factor
    if factor == 0 or factor < -1:
        text = "Replication factor must be larger than 0, or -1 to use the default value."
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, text)
    if partitions == 0 or partitions < -1:
        newest = "Number of partitions was set to an invalid non-positive value."
        text = state.config.release.text("partitions", newest)
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, text)
    count = _default(state, "num.partitions") if partitions == -1 else partitions
    copies = _default(state, "default.replication.factor") if factor == -1 else factor
    return _spread(state, count, copies, placed)


def _default(state: MetadataState, name: str) -> int:
    return state.config.get_int(name, state.controller_id)


def _spread(state: MetadataState, partitions: int, factor: int, placed: int) -> list[list[int]]:
    level = state.image.feature(METADATA_VERSION)
    brokers = [broker for broker in state.image.brokers.values() if takes_replicas(state.config, broker.id, level)]
    return spread(brokers, partitions, factor, placed, state.config.release)


def _manual_placement(state: MetadataState, topic: NewTopic) -> list[list[int]]:
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
        check_replicas(state.image.brokers, replicas, factor)
        factor = len(replicas)
        _check_leader_exists(state, replicas, index)
        placed[index] = list(replicas)
    for index in range(len(placed)):
        if index not in placed:
            text = "partitions should be a consecutive 0-based integer sequence"
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
    return [placed[index] for index in range(len(placed))]


def _check_leader_exists(state: MetadataState, replicas: Sequence[int], index: int | None = None) -> None:
    if not any(state.image.brokers[node].is_active for node in replicas):
        which = "" if index is None else f" for partition {index}"
        text = f"All brokers specified in the manual partition assignment{which} are fenced or in controlled shutdown."
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


# -- Which nodes hold which partition of a new topic, and what Kafka says of a placement given by hand.

_DEFAULT = release_of()


def spread(
    brokers: Iterable[BrokerRegistration],
    partitions: int,
    replication_factor: int,
    start: int,
    release: Release = _DEFAULT,
) -> list[list[int]]:
    """Replicas of `partitions` new partitions: leaders go round the nodes from `start`, replicas over the racks.

    Nodes that are down come last, so they lead nothing. INVALID_REPLICATION_FACTOR, in the words of the release, if
    there are too few nodes.
    """
    ordered = list(brokers)
    up = _alternate_racks([broker for broker in ordered if broker.is_active])
    down = _alternate_racks([broker for broker in ordered if not broker.is_active])
    if not up:
        text = (
            f"Unable to replicate the partition {replication_factor} time(s): All brokers are currently fenced, or "
            "have all their log directories cordoned."
        )
        told = release.text("no brokers", text, factor=replication_factor)
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, told)
    if replication_factor > len(ordered):
        text = (
            f"Unable to replicate the partition {replication_factor} time(s): The target replication factor of "
            f"{replication_factor} cannot be reached because only {len(ordered)} broker(s) are registered or some "
            "brokers have all their log directories cordoned."
        )
        told = release.text("replication factor", text, factor=replication_factor, brokers=len(ordered))
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, told)
    placed: list[list[int]] = []
    for partition in range(partitions):
        lap, turn = divmod(start + partition, len(up))
        # After each lap the followers move on by one, so that no pair of nodes shares everything.
        rest = up[turn + 1 :] + up[:turn]
        shift = lap % len(rest) if rest else 0
        candidates = [up[turn], *rest[shift:], *rest[:shift], *down]
        placed.append(_over_racks(candidates, replication_factor))
    return placed


def _alternate_racks(nodes: Sequence[BrokerRegistration]) -> list[BrokerRegistration]:
    racks: dict[str | None, list[BrokerRegistration]] = {}
    for node in nodes:
        racks.setdefault(node.rack, []).append(node)
    return [node for row in zip_longest(*racks.values()) for node in row if node is not None]


def _over_racks(candidates: Sequence[BrokerRegistration], count: int) -> list[int]:
    """The first `count` candidates, taking no rack twice before each has been taken once."""
    chosen: list[BrokerRegistration] = []
    waiting = list(candidates)
    while len(chosen) < count:
        used: set[str | None] = set()
        for node in list(waiting):
            if len(chosen) < count and (node.rack is None or node.rack not in used):
                used.add(node.rack)
                chosen.append(node)
                waiting.remove(node)
    return [node.id for node in chosen]


def check_replicas(
    nodes: Mapping[int, BrokerRegistration], replicas: Sequence[int], replication_factor: int | None
) -> None:
    """INVALID_REPLICA_ASSIGNMENT if `replicas` cannot be the replicas of one partition."""
    code = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    if not replicas:
        raise KafkaError(code, "The manual partition assignment includes an empty replica list.")
    ordered = sorted(replicas)
    for previous, current in zip([None, *ordered], ordered, strict=False):
        if current == previous:
            text = f"The manual partition assignment includes the broker {current} more than once."
            raise KafkaError(code, text)
        if current not in nodes:
            text = f"The manual partition assignment includes broker {current}, but no such broker is registered."
            raise KafkaError(code, text)
    if replication_factor is not None and len(replicas) != replication_factor:
        raise KafkaError(
            code,
            f"The manual partition assignment includes a partition with {len(replicas)} replica(s), but this is not "
            f"consistent with previous partitions, which have {replication_factor} replica(s).",
        )


# -- Kafka's own topics: what they look like when they are first needed.


def internal_topic(name: str, config: BrokerConfig, brokers: int) -> NewTopic:
    """The topic of that name in a cluster of so many brokers; ValueError for one that odradek does not write to.

    A cluster of fewer brokers than Kafka's default factor of 3 must work without being told so.
    """
    if name == CONSUMER_OFFSETS:
        partitions = config.get_int("offsets.topic.num.partitions")
        factor = config.get_int("offsets.topic.replication.factor")
    elif name == TRANSACTION_STATE:
        partitions = config.get_int("transaction.state.log.num.partitions")
        factor = config.get_int("transaction.state.log.replication.factor")
    elif name == SHARE_GROUP_STATE:
        partitions = config.get_int("share.coordinator.state.topic.num.partitions")
        factor = config.get_int("share.coordinator.state.topic.replication.factor")
    else:
        raise ValueError(f"{name} is not an internal topic")
    return NewTopic(name, partitions, min(factor, brokers), configs=internal_configs(name, config, brokers))


def internal_configs(name: str, config: BrokerConfig, brokers: int) -> dict[str, str | None]:
    """The settings with which Kafka makes this topic: its own for internal topics, none for any other."""
    if name == CONSUMER_OFFSETS:
        return {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": str(config.get_int("offsets.topic.segment.bytes")),
        }
    if name == TRANSACTION_STATE:
        in_sync = min(config.get_int("transaction.state.log.min.isr"), brokers)
        return {
            "cleanup.policy": "compact",
            "compression.type": "uncompressed",
            "min.insync.replicas": str(in_sync),
            "segment.bytes": str(config.get_int("transaction.state.log.segment.bytes")),
            "unclean.leader.election.enable": "false",
        }
    if name == SHARE_GROUP_STATE:
        in_sync = min(config.get_int("share.coordinator.state.topic.min.isr"), brokers)
        return {
            "cleanup.policy": "delete",
            "compression.type": "producer",
            "min.insync.replicas": str(in_sync),
            "retention.ms": "-1",
            "segment.bytes": str(config.get_int("share.coordinator.state.topic.segment.bytes")),
        }
    return {}


# -- The records of a topic that exists already: in partition folders, in an older format, in another cluster.


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
