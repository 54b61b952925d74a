"""The topics of the cluster: creation, growth, configuration and deletion by Kafka's rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from odradek.broker.config.broker_config import ConfigError, TopicConfig
from odradek.broker.controller.placement import check_replicas, spread
from odradek.broker.partitions.partition import Partition
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.uuids import new_uuid
from odradek.storage.backend import StorageError
from odradek.storage.memory_backend import MemoryBackend
from odradek.storage.partition_log import PartitionLog

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.storage.backend import LogBackend

CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
# What Kafka calls internal; odradek itself writes to the first two only.
CLUSTER_METADATA = "__cluster_metadata"
"""The topic of the controllers, which no client can create."""
INTERNAL_TOPICS = frozenset({CONSUMER_OFFSETS, TRANSACTION_STATE, "__share_group_state"})

MAX_NAME_LENGTH = 249
MAX_NEW_PARTITIONS = 10_000
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+\Z")
# Ids that KIP-516 keeps for Kafka itself: the zero id and the metadata topic's.
_RESERVED_IDS = frozenset({bytes(16), bytes(15) + b"\x01"})


def check_topic_name(name: str) -> None:
    """INVALID_TOPIC_EXCEPTION if ``name`` cannot name a topic."""
    if name == "":
        problem = "the empty string is not allowed"
    elif name in (".", ".."):
        problem = f"'{name}' is not allowed"
    elif len(name) > MAX_NAME_LENGTH:
        problem = f"the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}"
    elif not _LEGAL_NAME.match(name):
        problem = f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    else:
        return
    raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")


class Topic:
    """One topic. Owner: the registry, which alone changes it; in ``cached`` API handlers keep what they show of it.

    ``config`` holds the topic's own settings. ``partitions[i]`` has index i. ``deleted`` stays True for whoever still
    holds the object.
    """

    __slots__ = ("cached", "config", "deleted", "internal", "name", "partitions", "topic_id")

    def __init__(self, name: str, topic_id: bytes, config: TopicConfig, *, internal: bool = False) -> None:
        self.name = name
        self.topic_id = topic_id
        self.config = config
        self.internal = internal
        self.partitions: list[Partition] = []
        self.deleted = False
        self.cached: dict[Any, Any] = {}

    def __repr__(self) -> str:
        return f"Topic({self.name}, {len(self.partitions)} partitions)"

    @property
    def replication_factor(self) -> int:
        """Replicas of the first partition, which is what Kafka calls the topic's factor."""
        return len(self.partitions[0].replicas)


class TopicPlan(NamedTuple):
    """A topic that could be created: replicas for each partition and checked configs."""

    name: str
    assignments: list[list[int]]
    config: TopicConfig


class TopicRegistry:
    """All topics of a cluster.

    Owner: the cluster, in the broker's task; all methods are sync. ``version`` grows with everything that Metadata
    shows of topics and empties ``cached``, where API handlers keep answers; ``Partition.set_leader`` reports by
    itself, call :meth:`leadership_changed` after writing replicas or ISR. Listeners are called after the change, in
    the order in which they were added.
    """

    def __init__(self, cluster: Cluster, backend: LogBackend | None = None) -> None:
        self._cluster = cluster
        self._topics: dict[str, Topic] = {}
        self._by_id: dict[bytes, Topic] = {}
        self._collisions: dict[str, set[str]] = {}
        self._next_leader = 0
        self._created: list[Callable[[Topic], None]] = []
        self._deleted: list[Callable[[Topic], None]] = []
        self._grown: list[Callable[[Topic, int], None]] = []
        self._configured: list[Callable[[Topic], None]] = []
        self._led: list[Callable[[Partition], None]] = []
        self.backend: LogBackend = MemoryBackend() if backend is None else backend
        self.on_activity: Callable[[Partition], None] | None = None
        self.version = 0
        self.cached: dict[Any, Any] = {}
        cluster.config.on_change(self._broker_config_changed)

    # -- looking

    def get(self, name: str) -> Topic | None:
        """The topic of that name."""
        return self._topics.get(name)

    def by_id(self, topic_id: bytes) -> Topic | None:
        """The topic of that id."""
        return self._by_id.get(topic_id)

    def all(self) -> list[Topic]:
        """Every topic, oldest first."""
        return list(self._topics.values())

    def __len__(self) -> int:
        return len(self._topics)

    def __contains__(self, name: object) -> bool:
        return name in self._topics

    def __iter__(self) -> Iterator[Topic]:
        return iter(self._topics.values())

    # -- listening

    def on_created(self, callback: Callable[[Topic], None]) -> None:
        """``callback(topic)`` after a topic was created."""
        self._created.append(callback)

    def on_deleted(self, callback: Callable[[Topic], None]) -> None:
        """``callback(topic)`` after a topic was deleted; its partitions are closed by then."""
        self._deleted.append(callback)

    def on_partitions_added(self, callback: Callable[[Topic, int], None]) -> None:
        """``callback(topic, first_new_index)`` after a topic grew."""
        self._grown.append(callback)

    def on_config_changed(self, callback: Callable[[Topic], None]) -> None:
        """``callback(topic)`` after a topic's own settings changed."""
        self._configured.append(callback)

    def on_leader_changed(self, callback: Callable[[Partition], None]) -> None:
        """``callback(partition)`` after a partition got another leader (or none)."""
        self._led.append(callback)

    def leadership_changed(self, topic: Topic | None = None) -> None:
        """Leaders, ISR or replicas of ``topic`` (None: of any) are other ones now."""
        self._changed()
        for changed in self._topics.values() if topic is None else (topic,):
            changed.cached.clear()

    # -- creating

    def plan(
        self,
        name: str,
        *,
        partitions: int = -1,
        replication_factor: int = -1,
        assignments: Mapping[int, Sequence[int]] | None = None,
        configs: Mapping[str, str | None] | None = None,
    ) -> TopicPlan:
        """What :meth:`create` would make; raises KafkaError with Kafka's code and message instead of changing anything.

        -1 takes ``num.partitions`` and ``default.replication.factor``. ``assignments``: replicas by partition index,
        instead of the two numbers.
        """
        check_topic_name(name)
        if name in self._topics:
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        others = self._collisions.get(name.replace(".", "_"))
        if others:
            text = f"Topic '{name}' collides with existing topic: {min(others)}"
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, text)
        config = TopicConfig(self._cluster.config, checked_overrides(configs or {}))
        if assignments:
            placed = self._manual_placement(partitions, replication_factor, assignments)
        else:
            placed = self._free_placement(partitions, replication_factor)
        return TopicPlan(name, placed, config)

    def create(
        self,
        name: str,
        *,
        partitions: int = -1,
        replication_factor: int = -1,
        assignments: Mapping[int, Sequence[int]] | None = None,
        configs: Mapping[str, str | None] | None = None,
    ) -> Topic:
        """Create a topic (arguments as for :meth:`plan`); KafkaError if Kafka would refuse it."""
        plan = self.plan(
            name,
            partitions=partitions,
            replication_factor=replication_factor,
            assignments=assignments,
            configs=configs,
        )
        return self.carry_out(plan)

    def carry_out(self, plan: TopicPlan) -> Topic:
        """Create the planned topic."""
        topic_id = new_uuid()
        while topic_id in _RESERVED_IDS or topic_id in self._by_id:
            topic_id = new_uuid()
        topic = self.restore(plan.name, topic_id, plan.assignments, plan.config.overrides)
        try:
            self._open_logs(topic)
        except StorageError:
            self.delete(topic.name)
            raise
        return topic

    def restore(
        self, name: str, topic_id: bytes, assignments: Sequence[Sequence[int]], overrides: Mapping[str, str]
    ) -> Topic:
        """Add a topic with a known id, replicas and checked settings: one just planned, or one found on disk."""
        config = TopicConfig(self._cluster.config, overrides)
        topic = Topic(name, topic_id, config, internal=name in INTERNAL_TOPICS)
        for replicas in assignments:
            self._add_partition(topic, replicas)
        self._next_leader += len(assignments)
        self._topics[name] = topic
        self._by_id[topic_id] = topic
        self._collisions.setdefault(name.replace(".", "_"), set()).add(name)
        self._changed()
        for callback in list(self._created):
            callback(topic)
        return topic

    def ensure_internal(self, name: str) -> Topic:
        """``__consumer_offsets`` or ``__transaction_state``, created on first use with Kafka's settings for it."""
        existing = self._topics.get(name)
        if existing is not None:
            return existing
        config = self._cluster.config
        available = len(self._cluster.nodes)
        if name == CONSUMER_OFFSETS:
            partitions = config.get_int("offsets.topic.num.partitions")
            factor = config.get_int("offsets.topic.replication.factor")
        elif name == TRANSACTION_STATE:
            partitions = config.get_int("transaction.state.log.num.partitions")
            factor = config.get_int("transaction.state.log.replication.factor")
        else:
            raise ValueError(f"{name} is no internal topic")
        # A cluster of fewer nodes than Kafka's default factor of 3 must work without being told so.
        placed = spread(self._cluster.nodes.values(), partitions, min(factor, available), self._next_leader)
        return self.carry_out(TopicPlan(name, placed, TopicConfig(config, self.internal_overrides(name))))

    def internal_overrides(self, name: str) -> dict[str, str]:
        """The settings with which Kafka makes this topic: its own for internal topics, none for any other."""
        config = self._cluster.config
        if name == CONSUMER_OFFSETS:
            return {
                "cleanup.policy": "compact",
                "compression.type": "producer",
                "segment.bytes": str(config.get_int("offsets.topic.segment.bytes")),
            }
        if name == TRANSACTION_STATE:
            in_sync = min(config.get_int("transaction.state.log.min.isr"), len(self._cluster.nodes))
            return {
                "cleanup.policy": "compact",
                "compression.type": "uncompressed",
                "min.insync.replicas": str(in_sync),
                "segment.bytes": str(config.get_int("transaction.state.log.segment.bytes")),
                "unclean.leader.election.enable": "false",
            }
        return {}

    # -- changing

    def plan_partitions(
        self, name: str, total: int, assignments: Sequence[Sequence[int]] | None = None
    ) -> list[list[int]]:
        """Replicas of the partitions that would bring the topic to ``total``; KafkaError as Kafka answers."""
        topic = self._topics.get(name)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        current = len(topic.partitions)
        if total == current:
            raise KafkaError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {current} partition(s).")
        if total < current:
            raise KafkaError(
                ErrorCode.INVALID_PARTITIONS,
                f"The topic {name} currently has {current} partition(s); {total} would not be an increase.",
            )
        if assignments is None:
            if total - current > MAX_NEW_PARTITIONS:
                # Kafka's controller stumbles over the size of its own batch and answers with this code and no text.
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
            return spread(self._cluster.nodes.values(), total - current, topic.replication_factor, self._next_leader)
        if len(assignments) != total - current:
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Attempted to add {total - current} additional partition(s), but only {len(assignments)} "
                "assignment(s) were specified.",
            )
        for replicas in assignments:
            check_replicas(self._cluster.nodes, replicas, topic.replication_factor)
            self._check_leader_exists(replicas)
        return [list(replicas) for replicas in assignments]

    def add_partitions(self, name: str, total: int, assignments: Sequence[Sequence[int]] | None = None) -> Topic:
        """Let a topic grow to ``total`` partitions; arguments and errors as for :meth:`plan_partitions`."""
        placed = self.plan_partitions(name, total, assignments)
        topic = self._topics[name]
        first_new = len(topic.partitions)
        for replicas in placed:
            self._add_partition(topic, replicas)
        self._next_leader += len(placed)
        self._open_logs(topic, first_new)
        self.leadership_changed(topic)
        for callback in list(self._grown):
            callback(topic, first_new)
        return topic

    def set_overrides(self, topic: Topic, overrides: Mapping[str, str]) -> None:
        """Replace the topic's own settings by checked ones; its logs obey at once."""
        topic.config = TopicConfig(self._cluster.config, overrides)
        self._apply_config(topic)
        for callback in list(self._configured):
            callback(topic)

    def delete(self, name: str) -> Topic:
        """Delete a topic with its data; UNKNOWN_TOPIC_OR_PARTITION if there is none."""
        topic = self._topics.pop(name, None)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        del self._by_id[topic.topic_id]
        collisions = self._collisions[name.replace(".", "_")]
        collisions.discard(name)
        if not collisions:
            del self._collisions[name.replace(".", "_")]
        topic.deleted = True
        self._changed()
        for partition in topic.partitions:
            partition.delete()
        for callback in list(self._deleted):
            callback(topic)
        return topic

    def close(self) -> None:
        """Close every log; the data stay."""
        clean = True
        for topic in self._topics.values():
            for partition in topic.partitions:
                try:
                    partition.close()
                except StorageError:
                    clean = False
        self.backend.close(clean=clean)

    # -- inside

    def _free_placement(self, partitions: int, replication_factor: int) -> list[list[int]]:
        config = self._cluster.config
        if replication_factor == 0 or replication_factor < -1:
            text = "Replication factor must be larger than 0, or -1 to use the default value."
            raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, text)
        if partitions == 0 or partitions < -1:
            text = "Number of partitions was set to an invalid non-positive value."
            raise KafkaError(ErrorCode.INVALID_PARTITIONS, text)
        count = config.get_int("num.partitions") if partitions == -1 else partitions
        factor = config.get_int("default.replication.factor") if replication_factor == -1 else replication_factor
        return spread(self._cluster.nodes.values(), count, factor, self._next_leader)

    def _manual_placement(
        self, partitions: int, replication_factor: int, assignments: Mapping[int, Sequence[int]]
    ) -> list[list[int]]:
        told = "A manual partition assignment was specified, but"
        if replication_factor != -1:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{told} replication factor was not set to -1.")
        if partitions != -1:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{told} numPartitions was not set to -1.")
        factor: int | None = None
        for replicas in assignments.values():
            check_replicas(self._cluster.nodes, replicas, factor)
            factor = len(replicas)
            self._check_leader_exists(replicas)
        for index in range(len(assignments)):
            if index not in assignments:
                text = "partitions should be a consecutive 0-based integer sequence"
                raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
        return [list(assignments[index]) for index in range(len(assignments))]

    def _check_leader_exists(self, replicas: Sequence[int]) -> None:
        if not any(self._cluster.nodes[node].up for node in replicas):
            text = "All brokers specified in the manual partition assignment are fenced or in controlled shutdown."
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)

    def _add_partition(self, topic: Topic, replicas: Sequence[int]) -> None:
        nodes = self._cluster.nodes
        in_sync = [node for node in replicas if node in nodes and nodes[node].up]
        index = len(topic.partitions)

        def open_log() -> PartitionLog:
            return PartitionLog(
                topic.name,
                index,
                topic.config.log_config(),
                self.backend,
                now_ms=self._cluster.clock.now_ms(),
                topic_id=topic.topic_id,
            )

        partition = Partition(
            topic,
            index,
            open_log,
            replicas=replicas,
            leader_id=in_sync[0] if in_sync else -1,
            isr=in_sync,
            on_activity=self._note_activity,
            on_leadership=self._note_leadership,
        )
        partition.durability = self._cluster.durability
        topic.partitions.append(partition)

    def _open_logs(self, topic: Topic, first: int = 0) -> None:
        """On disk a new partition's folder must exist; in memory a log costs nothing until it is used."""
        if not isinstance(self.backend, MemoryBackend):
            for partition in topic.partitions[first:]:
                _ = partition.log

    def _note_activity(self, partition: Partition) -> None:
        if self.on_activity is not None:
            self.on_activity(partition)

    def _changed(self) -> None:
        self.version += 1
        self.cached.clear()

    def _note_leadership(self, partition: Partition) -> None:
        self.leadership_changed(partition.topic)
        for callback in list(self._led):
            callback(partition)

    def _apply_config(self, topic: Topic) -> None:
        config = topic.config.log_config()
        for partition in topic.partitions:
            if partition.opened and partition.log.config is not config:
                partition.log.config = config
                partition.config_changed()

    def _broker_config_changed(self, names: frozenset[str]) -> None:
        for topic in self._topics.values():
            self._apply_config(topic)


def checked_overrides(configs: Mapping[str, str | None]) -> dict[str, str]:
    """Topic settings in normal form; INVALID_CONFIG in Kafka's words otherwise."""
    for name, text in configs.items():
        if text is None:
            raise KafkaError(ErrorCode.INVALID_CONFIG, f"Null value not supported for topic configs: {name}")
    try:
        return TopicConfig.check({name: text for name, text in configs.items() if text is not None})
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from None
