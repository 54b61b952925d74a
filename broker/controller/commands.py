"""What the controller can be asked for. Plain values; each says what it replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.runtime.machine import Command
from odradek.protocol.errors import KafkaError

if TYPE_CHECKING:
    from odradek.broker.config.changes import Change
    from odradek.broker.metadata.registrations import Endpoint
    from odradek.protocol.message import MetadataRecord

PartitionKey = tuple[str, int]
"""Topic name and index."""


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


class CreateTopics(Command[list[CreatedTopic | KafkaError]]):
    """Create topics, all whose description is right; replies for each in order."""

    __slots__ = ("topics", "validate_only")

    def __init__(self, topics: Sequence[NewTopic], *, validate_only: bool = False) -> None:
        self.topics = topics
        self.validate_only = validate_only


class NewPartitions(NamedTuple):
    """A topic that is to have `total` partitions; `assignments`: replicas of the new ones."""

    name: str
    total: int
    assignments: Sequence[Sequence[int]] | None = None


class CreatePartitions(Command[list[KafkaError | None]]):
    """Let topics grow; replies for each in order."""

    __slots__ = ("topics", "validate_only")

    def __init__(self, topics: Sequence[NewPartitions], *, validate_only: bool = False) -> None:
        self.topics = topics
        self.validate_only = validate_only


class DeleteTopics(Command[list[KafkaError | None]]):
    """Delete topics by id, each at most once; replies UNKNOWN_TOPIC_ID where there is none."""

    __slots__ = ("topic_ids",)

    def __init__(self, topic_ids: Sequence[bytes]) -> None:
        self.topic_ids = topic_ids


class AlterConfigs(Command[list[KafkaError | None]]):
    """Change the configs of resources that differ from each other, as asked of node `node_id`; replies for each."""

    __slots__ = ("changes", "node_id", "validate_only")

    def __init__(self, changes: Sequence[Change], node_id: int, *, validate_only: bool = False) -> None:
        self.changes = changes
        self.node_id = node_id
        self.validate_only = validate_only


class FeatureUpdate(NamedTuple):
    """A feature and the level to finalize it at. `upgrade_type`: 1 upgrade, 2 safe and 3 unsafe downgrade."""

    name: str
    level: int
    upgrade_type: int = 1


class UpdateFeatures(Command[None]):
    """Finalize feature levels, all of them or none; INVALID_UPDATE_VERSION (KIP-584)."""

    __slots__ = ("updates", "validate_only")

    def __init__(self, updates: Sequence[FeatureUpdate], *, validate_only: bool = False) -> None:
        self.updates = updates
        self.validate_only = validate_only


class AllocateProducerIds(Command[int]):
    """A block of producer ids for a broker (KIP-730); replies the first of `BLOCK_SIZE` ids."""

    __slots__ = ("node_id",)

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id


class ElectLeaders(Command[list[KafkaError | None]]):
    """Elect the preferred replicas, or (`unclean`) any live ones where there is no leader; replies for each."""

    __slots__ = ("partitions", "unclean")

    def __init__(self, partitions: Sequence[PartitionKey], *, unclean: bool = False) -> None:
        self.partitions = partitions
        self.unclean = unclean


class MoveLeader(Command[None]):
    """Let `node_id`, which is in sync, lead a partition. KafkaError where it cannot."""

    __slots__ = ("node_id", "partition")

    def __init__(self, partition: PartitionKey, node_id: int) -> None:
        self.partition = partition
        self.node_id = node_id


class Reassignment(NamedTuple):
    """New replicas for a partition; None cancels what is under way."""

    partition: PartitionKey
    replicas: Sequence[int] | None


class ReassignPartitions(Command[list[KafkaError | None]]):
    """Give partitions other replicas; replies for each in order."""

    __slots__ = ("allow_factor_change", "reassignments")

    def __init__(self, reassignments: Sequence[Reassignment], *, allow_factor_change: bool = True) -> None:
        self.reassignments = reassignments
        self.allow_factor_change = allow_factor_change


class RegisterBroker(Command[int]):
    """A broker has started; it is fenced until `UnfenceBrokers`. Replies its epoch.

    `epoch`: the end of the log. An `incarnation` that is registered already keeps its own and its state, and only
    has other endpoints.
    """

    __slots__ = ("directories", "endpoints", "epoch", "incarnation", "node_id", "rack")

    def __init__(
        self,
        node_id: int,
        incarnation: bytes,
        epoch: int,
        endpoints: Sequence[Endpoint],
        rack: str | None,
        directories: Sequence[bytes],
    ) -> None:
        self.node_id = node_id
        self.incarnation = incarnation
        self.epoch = epoch
        self.endpoints = endpoints
        self.rack = rack
        self.directories = directories


class RegisterController(Command[None]):
    """A controller has started."""

    __slots__ = ("endpoints", "incarnation", "node_id")

    def __init__(self, node_id: int, incarnation: bytes, endpoints: Sequence[Endpoint]) -> None:
        self.node_id = node_id
        self.incarnation = incarnation
        self.endpoints = endpoints


class UnfenceBrokers(Command[None]):
    """Brokers are up: they may lead what nobody leads, and their replicas are in sync again."""

    __slots__ = ("node_ids",)

    def __init__(self, node_ids: Sequence[int]) -> None:
        self.node_ids = node_ids


class FenceBroker(Command[None]):
    """A broker is gone: other replicas lead its partitions where they can."""

    __slots__ = ("node_id",)

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id


class ShutDownBrokers(Command[None]):
    """Brokers stop in order, all of them at once: they lead nothing any more and are fenced."""

    __slots__ = ("node_ids",)

    def __init__(self, node_ids: Sequence[int]) -> None:
        self.node_ids = node_ids


class Adopt(Command[None]):
    """Take over records that were made elsewhere: from a directory of an older format, from another cluster."""

    __slots__ = ("records",)

    def __init__(self, records: Sequence[MetadataRecord]) -> None:
        self.records = records


class AbandonTransaction(Command[None]):
    """End the metadata transaction that a controller which died has left open, without its records."""

    __slots__ = ()


class Bootstrap(Command[None]):
    """Give a new cluster its first records: feature levels, what goes with them, and what is known of it already."""

    __slots__ = ("adopted",)

    def __init__(self, adopted: Sequence[MetadataRecord] = ()) -> None:
        self.adopted = adopted
