"""Topics: specs to create them, snapshots of them, and changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from odradek.broker.facade.names import Found, Named
from odradek.broker.mistakes import NearNames, did_you_mean
from odradek.broker.partitions.lookups import check_leader, check_name, find_partitions, find_topic
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.uuids import uuid_to_text

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.thread_bridge import Call
    from odradek.broker.metadata.image import MetadataImage, PartitionRegistration
    from odradek.broker.partitions.partition import Partition, Topic


_KEYS = {"partitions", "replication_factor", "config"}


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """A topic to create. A ``replication_factor`` of -1 means the broker's default."""

    partitions: int = 1
    replication_factor: int = -1
    config: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """TypeError unless the numbers are whole ones."""
        for name, number in (("partitions", self.partitions), ("replication_factor", self.replication_factor)):
            if isinstance(number, bool) or not isinstance(number, int):
                raise TypeError(f"{name}={number!r}: expected a whole number")

    @classmethod
    def of(cls, value: int | Mapping[str, Any] | TopicSpec) -> TopicSpec:
        """Make a spec of a number of partitions, or a mapping with ``partitions``, ``replication_factor``, ``config``.

        Raises TypeError or ValueError for anything else.
        """
        if isinstance(value, TopicSpec):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return cls(partitions=value)
        if not isinstance(value, Mapping):
            raise TypeError(f"expected a number of partitions, a mapping or a TopicSpec, not {value!r}")
        if unknown := set(value) - _KEYS:
            raise ValueError(f"a topic has {', '.join(sorted(_KEYS))}; not {', '.join(sorted(unknown))}")
        return cls(
            partitions=value.get("partitions", 1),
            replication_factor=value.get("replication_factor", -1),
            config=config_texts(value.get("config", {})),
        )


Topics = Mapping[str, "int | Mapping[str, Any] | TopicSpec"] | Collection[str]
"""Topics to create: a mapping from names to what :meth:`TopicSpec.of` takes, or names of single-partition topics."""


def topic_specs(topics: Topics) -> dict[str, TopicSpec]:
    """The specs by topic name. Raises TypeError or ValueError, which name the topic, for a bad spec."""
    given: object = topics
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"topics={topics!r}: expected names in a list, or a mapping from names to partitions")
    if not isinstance(topics, Mapping):
        names = list(topics)
        if len(set(names)) < len(names):
            raise ValueError(f"topics={names}: a topic is named twice")
        return {name: TopicSpec() for name in names}
    specs = {}
    for name, value in topics.items():
        try:
            specs[name] = TopicSpec.of(value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"topic {name!r}: {error}") from None
    return specs


def config_texts(config: Mapping[str, Any]) -> dict[str, str]:
    """Config values as text, as in Kafka's files: ``True`` becomes ``true``, a list is joined by commas.

    Raises TypeError for anything but a mapping, ValueError for None.
    """
    if not isinstance(config, Mapping):
        raise TypeError(f"config={config!r}: expected values by name")
    for name, value in config.items():
        if value is None:
            raise ValueError(f"config {name} is None: leave it out for its default")
    return {name: _config_text(value) for name, value in config.items()}


def _config_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple | set | frozenset):
        return ",".join(_config_text(each) for each in value)
    return str(value)


def create_topic(cluster: Cluster, name: str, spec: TopicSpec) -> Topic:
    """Create a topic, in the broker's thread. Raises KafkaError, which names the topic, if Kafka would refuse it."""
    check_name("topic", name)
    try:
        return cluster.create_topic(
            name,
            partitions=spec.partitions,
            replication_factor=spec.replication_factor,
            configs=dict(spec.config),
        )
    except KafkaError as error:
        raise KafkaError(
            error.code, f"topic {name!r}: {error.message or 'refused'}{_config_hint(spec, cluster)}"
        ) from None


def _config_hint(spec: TopicSpec, cluster: Cluster) -> str:
    """Suggestions for misspelt configs of the topic."""
    known = cluster.config.keys.topic
    return "".join(did_you_mean(name, known) for name in spec.config if name not in known)


@dataclass(frozen=True, slots=True)
class PartitionInfo(NearNames):
    """A snapshot of a partition: its leader, its replicas, and the offsets of its log.

    Records below ``high_watermark`` are committed. ``replica_ends`` maps node ids to the end of their replica, which is
    ``log_end_offset`` unless a node is down or a test keeps records from it. ``adding`` and ``removing`` are the
    replicas that a reassignment adds and removes. ``elr`` lists the eligible leader replicas, which left the ISR when
    it fell below ``min.insync.replicas`` and have all committed records; ``last_known_elr`` lists the last leader while
    there is none (KIP-966).
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
class TopicInfo(Found):
    """A snapshot of a topic: its id (as Kafka prints it), its partitions, and the configs that were set on it."""

    name: str
    topic_id: str
    internal: bool
    partitions: tuple[PartitionInfo, ...]
    config: Mapping[str, str] = field(default_factory=dict)


def topic_info(topic: Topic, image: MetadataImage) -> TopicInfo:
    """A snapshot of a topic, in the broker's thread."""
    known = image.topics_by_id.get(topic.topic_id)
    registrations = () if known is None else known.partitions
    return TopicInfo(
        name=topic.name,
        topic_id=uuid_to_text(topic.topic_id),
        internal=topic.internal,
        partitions=tuple(
            _partition_info(partition, place) for partition, place in zip(topic.partitions, registrations, strict=False)
        ),
        config=dict(topic.config.overrides),
    )


def _partition_info(partition: Partition, place: PartitionRegistration) -> PartitionInfo:
    log = partition.log_if_any
    return PartitionInfo(
        index=partition.index,
        leader=partition.leader_id,
        leader_epoch=partition.leader_epoch,
        replicas=tuple(partition.replicas),
        isr=tuple(partition.isr),
        log_start_offset=0 if log is None else log.log_start_offset,
        high_watermark=0 if log is None else log.high_watermark,
        last_stable_offset=0 if log is None else log.last_stable_offset,
        size_bytes=0 if log is None else log.size_bytes,
        log_end_offset=0 if log is None else log.log_end_offset,
        replica_ends=_replica_ends(partition, 0 if log is None else log.log_end_offset),
        adding=place.adding,
        removing=place.removing,
        elr=place.elr,
        last_known_elr=place.last_known_elr,
    )


class TopicView(Named):
    """The part of a topic's handle that only looks. Every property takes a new snapshot.

    Looks raise KafkaError (UNKNOWN_TOPIC_OR_PARTITION) while the topic does not exist.
    """

    def __init__(self, name: str, cluster: Cluster, look: Call) -> None:
        check_name("topic", name)
        self.name = name
        self._cluster = cluster
        self._look = look

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    @property
    def info(self) -> TopicInfo:
        """A snapshot of the topic."""

        def look() -> TopicInfo:
            return topic_info(find_topic(self._cluster.topics, self.name), self._cluster.image)

        return self._look(look)

    @property
    def topic_id(self) -> str:
        """The id, as Kafka prints it."""
        return self.info.topic_id

    @property
    def partitions(self) -> tuple[PartitionInfo, ...]:
        """The partitions: leaders, replicas and offsets."""
        return self.info.partitions

    @property
    def config(self) -> Mapping[str, str]:
        """The configs that were set on the topic."""
        return self.info.config


def _replica_ends(partition: Partition, leaders_end: int) -> dict[int, int]:
    copies = {node: partition.copy_on(node) for node in partition.replicas}
    return {node: leaders_end if copy is None else copy.end for node, copy in copies.items()}


def delete_topic(cluster: Cluster, name: str) -> None:
    """Delete a topic with its records and committed offsets."""
    find_topic(cluster.topics, name)
    cluster.delete_topic(name)


def delete_records(cluster: Cluster, name: str, index: int | None, before: int) -> dict[int, int]:
    """Delete records; return the first offset left in each partition. Checks all partitions before it changes one."""
    chosen = find_partitions(cluster.topics, name, index)
    for partition in chosen:
        _check_deletable(partition, before)
    return {partition.index: partition.delete_records(before) for partition in chosen}


def _check_deletable(partition: Partition, before: int) -> None:
    name = partition.topic.name
    if partition.topic.internal:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name!r} is a topic of Kafka's own")
    check_leader(partition)
    if not partition.log.config.delete:
        raise KafkaError(ErrorCode.POLICY_VIOLATION, f"topic {name!r} is compacted only (cleanup.policy)")
    if not -1 <= before <= partition.log.high_watermark:
        message = f"{name}-{partition.index} ends at {partition.log.high_watermark}: nothing can be deleted to {before}"
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, message)
