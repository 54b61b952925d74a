"""The commands of the controller. Plain values; each declares the type of its reply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.metadata.image import QuotaEntity
from odradek.protocol.errors import KafkaError

if TYPE_CHECKING:
    from odradek.broker.config.changes import Change
    from odradek.broker.metadata.registrations import Endpoint
    from odradek.broker.security.acl import Acl, AclFilter
    from odradek.broker.security.principal import Principal
    from odradek.protocol.message import MetadataRecord

PartitionKey = tuple[str, int]
"""Topic name and index."""


def unlimited(partitions: int) -> None:
    """The charge for mutations without a quota: none."""


Quota = Callable[[int], None]
"""Called with the partitions that a topic's creation, growth or deletion changes; THROTTLING_QUOTA_EXCEEDED refuses."""


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


class CreateTopics:
    """Create topics, all whose description is right; replies for each in order."""

    __slots__ = ("quota", "topics", "validate_only")
    reply: list[CreatedTopic | KafkaError]

    def __init__(self, topics: Sequence[NewTopic], *, validate_only: bool = False, quota: Quota = unlimited) -> None:
        self.topics = topics
        self.validate_only = validate_only
        self.quota = quota


class NewPartitions(NamedTuple):
    """A topic that is to have `total` partitions; `assignments`: replicas of the new ones."""

    name: str
    total: int
    assignments: Sequence[Sequence[int]] | None = None


class CreatePartitions:
    """Let topics grow; replies for each in order."""

    __slots__ = ("quota", "topics", "validate_only")
    reply: list[KafkaError | None]

    def __init__(
        self, topics: Sequence[NewPartitions], *, validate_only: bool = False, quota: Quota = unlimited
    ) -> None:
        self.topics = topics
        self.validate_only = validate_only
        self.quota = quota


class DeleteTopics:
    """Delete topics by id, each at most once; replies UNKNOWN_TOPIC_ID for one that does not exist."""

    __slots__ = ("quota", "topic_ids")
    reply: list[KafkaError | None]

    def __init__(self, topic_ids: Sequence[bytes], *, quota: Quota = unlimited) -> None:
        self.topic_ids = topic_ids
        self.quota = quota


class AlterConfigs:
    """Change the configs of resources that differ from each other; replies for each.

    `node_id`: the broker that was asked, which changes no other broker's; None for a controller, which changes all.
    """

    __slots__ = ("changes", "node_id", "validate_only")
    reply: list[KafkaError | None]

    def __init__(self, changes: Sequence[Change], node_id: int | None, *, validate_only: bool = False) -> None:
        self.changes = changes
        self.node_id = node_id
        self.validate_only = validate_only


class QuotaChange(NamedTuple):
    """New values of an entity's quotas; None removes one.

    `entity`: (type, name or None for the default) as the request has them, `ops`: (key, value). Both may repeat.
    """

    entity: Sequence[tuple[str, str | None]]
    ops: Sequence[tuple[str, float | None]]


class AlterQuotas:
    """Change client quotas; replies for each entity, in Kafka's order.

    `unknown_hosts`: names of ip entities that no address was found for (a decision looks nothing up).
    """

    __slots__ = ("changes", "unknown_hosts", "validate_only")
    reply: list[tuple[QuotaEntity, KafkaError | None]]

    def __init__(
        self,
        changes: Sequence[QuotaChange],
        *,
        unknown_hosts: frozenset[str] = frozenset(),
        validate_only: bool = False,
    ) -> None:
        self.changes = changes
        self.unknown_hosts = unknown_hosts
        self.validate_only = validate_only


class CreateAcls:
    """Make access control entries; replies for each. One that is there already is no error."""

    __slots__ = ("acls",)
    reply: list[KafkaError | None]

    def __init__(self, acls: Sequence[Acl]) -> None:
        self.acls = acls


class DeleteAcls:
    """Delete the access control entries that filters mean; replies for each filter with the entries that it means."""

    __slots__ = ("filters",)
    reply: list[list[Acl] | KafkaError]

    def __init__(self, filters: Sequence[AclFilter]) -> None:
        self.filters = filters


class FeatureUpdate(NamedTuple):
    """A feature and the level to finalize it at. `upgrade_type`: 1 upgrade, 2 safe and 3 unsafe downgrade."""

    name: str
    level: int
    upgrade_type: int = 1


class UpdateFeatures:
    """Finalize feature levels, all of them or none; INVALID_UPDATE_VERSION (KIP-584).

    Up to Kafka 3.9 each of them that is valid is finalized; the reply has the errors of the others.
    """

    __slots__ = ("updates", "validate_only")
    reply: Mapping[str, KafkaError]

    def __init__(self, updates: Sequence[FeatureUpdate], *, validate_only: bool = False) -> None:
        self.updates = updates
        self.validate_only = validate_only


class ScramDeletion(NamedTuple):
    """A user's credential to delete. `mechanism`: its number."""

    name: str
    mechanism: int


class ScramUpsertion(NamedTuple):
    """A credential to set: the password comes salted."""

    name: str
    mechanism: int
    iterations: int
    salt: bytes
    salted_password: bytes

    def __repr__(self) -> str:
        return f"ScramUpsertion({self.name!r}, {self.mechanism})"


class ScramOutcome(NamedTuple):
    """The result of a user's change."""

    name: str
    error: KafkaError | None


class AlterScramUsers:
    """Set and delete SCRAM credentials, each for itself; replies for each user once."""

    __slots__ = ("deletions", "upsertions")
    reply: list[ScramOutcome]

    def __init__(self, deletions: Sequence[ScramDeletion], upsertions: Sequence[ScramUpsertion]) -> None:
        self.deletions = deletions
        self.upsertions = upsertions


class NewToken(NamedTuple):
    """A token that was made. Times in milliseconds since 1970."""

    token_id: str
    hmac: bytes
    issued_ms: int
    expires_ms: int
    ends_ms: int

    def __repr__(self) -> str:
        return f"NewToken({self.token_id})"


class CreateToken:
    """Make a delegation token for `owner`. `max_lifetime_ms`: 0 and less take the broker's."""

    __slots__ = ("max_lifetime_ms", "owner", "renewers", "requester")
    reply: NewToken

    def __init__(
        self, owner: Principal, requester: Principal, renewers: Sequence[Principal], max_lifetime_ms: int
    ) -> None:
        self.owner = owner
        self.requester = requester
        self.renewers = renewers
        self.max_lifetime_ms = max_lifetime_ms


class RenewToken:
    """Let the token of an HMAC live longer, as its owner or a renewer; replies when it expires."""

    __slots__ = ("hmac", "period_ms", "principal")
    reply: int

    def __init__(self, hmac: bytes, principal: Principal, period_ms: int) -> None:
        self.hmac = hmac
        self.principal = principal
        self.period_ms = period_ms


class ExpireToken(RenewToken):
    """Let it expire in `period_ms`, or end at once (less than 0); replies when."""

    __slots__ = ()


class SweepTokens:
    """Remove tokens that have expired; replies whether there may be more of them."""

    __slots__ = ()
    reply: bool


class AllocateProducerIds:
    """A block of producer ids for a broker (KIP-730); replies the first of `BLOCK_SIZE` ids."""

    __slots__ = ("node_id",)
    reply: int

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id


class ElectLeaders:
    """Elect the preferred replicas, or (`unclean`) any live ones where there is no leader; replies for each."""

    __slots__ = ("partitions", "unclean")
    reply: list[KafkaError | None]

    def __init__(self, partitions: Sequence[PartitionKey], *, unclean: bool = False) -> None:
        self.partitions = partitions
        self.unclean = unclean


class MoveLeader:
    """Let `node_id`, which is in sync, lead a partition.

    `unclean`: a partition without a leader also takes one that is not in sync. KafkaError if it cannot lead.
    """

    __slots__ = ("node_id", "partition", "unclean")
    reply: None

    def __init__(self, partition: PartitionKey, node_id: int, *, unclean: bool = False) -> None:
        self.partition = partition
        self.node_id = node_id
        self.unclean = unclean


class BalanceLeaders:
    """Hand partitions to their preferred replicas where those are in sync; replies whether there may be more."""

    __slots__ = ()
    reply: bool


class ElectUncleanly:
    """Elect a live replica for each partition without a leader whose topic permits it. The reply says whether there may
    be more.
    """

    __slots__ = ()
    reply: bool


class NewIsr(NamedTuple):
    """The replicas in sync, as the leader that knows `partition_epoch` sees them."""

    topic_id: bytes
    partition: int
    partition_epoch: int
    isr: Sequence[int]


class ChangeIsr:
    """Leaders report the replicas in sync. A report of an older epoch, or of a deleted topic, is ignored."""

    __slots__ = ("changes",)
    reply: None

    def __init__(self, changes: Sequence[NewIsr]) -> None:
        self.changes = changes


class Reassignment(NamedTuple):
    """New replicas for a partition; None cancels what is under way."""

    partition: PartitionKey
    replicas: Sequence[int] | None


class AssignReplicas:
    """A broker says in which of its log directories replicas are: (topic id, index, directory id)."""

    __slots__ = ("node_id", "replicas")
    reply: None

    def __init__(self, node_id: int, replicas: Sequence[tuple[bytes, int, bytes]]) -> None:
        self.node_id = node_id
        self.replicas = replicas


class ReassignPartitions:
    """Give partitions other replicas; replies for each in order."""

    __slots__ = ("allow_factor_change", "reassignments")
    reply: list[KafkaError | None]

    def __init__(self, reassignments: Sequence[Reassignment], *, allow_factor_change: bool = True) -> None:
        self.reassignments = reassignments
        self.allow_factor_change = allow_factor_change


class RegisterBroker:
    """A broker has started; it is fenced until `UnfenceBrokers`. Replies its epoch.

    `epoch`: the end of the log. An `incarnation` that is registered already keeps its own and its state, and only
    has other endpoints. `crashed`: the incarnation before did not stop in order.
    """

    __slots__ = ("crashed", "directories", "endpoints", "epoch", "incarnation", "node_id", "rack")
    reply: int

    def __init__(
        self,
        node_id: int,
        incarnation: bytes,
        epoch: int,
        endpoints: Sequence[Endpoint],
        rack: str | None,
        directories: Sequence[bytes],
        *,
        crashed: bool = False,
    ) -> None:
        self.crashed = crashed
        self.node_id = node_id
        self.incarnation = incarnation
        self.epoch = epoch
        self.endpoints = endpoints
        self.rack = rack
        self.directories = directories


class RegisterController:
    """A controller has started."""

    __slots__ = ("endpoints", "incarnation", "node_id")
    reply: None

    def __init__(self, node_id: int, incarnation: bytes, endpoints: Sequence[Endpoint]) -> None:
        self.node_id = node_id
        self.incarnation = incarnation
        self.endpoints = endpoints


class UnfenceBrokers:
    """Brokers are up: they may lead partitions without a leader, and their replicas are in sync again."""

    __slots__ = ("node_ids",)
    reply: None

    def __init__(self, node_ids: Sequence[int]) -> None:
        self.node_ids = node_ids


class FenceBroker:
    """A broker is gone: other replicas lead its partitions where they can."""

    __slots__ = ("node_id",)
    reply: None

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id


class UnregisterBroker:
    """Forget a broker, up or not; BROKER_ID_NOT_REGISTERED. One that is up leads nothing any more."""

    __slots__ = ("node_id",)
    reply: None

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id


class UnregisterController:
    """Forget a controller that is not the active one (KIP-1312)."""

    __slots__ = ("controller_id",)
    reply: None

    def __init__(self, controller_id: int) -> None:
        self.controller_id = controller_id


class ShutDownBrokers:
    """Brokers stop in order, all of them at once: they lead nothing any more and are fenced."""

    __slots__ = ("node_ids",)
    reply: None

    def __init__(self, node_ids: Sequence[int]) -> None:
        self.node_ids = node_ids


class Adopt:
    """Take over records that were made elsewhere: from a directory of an older format, from another cluster."""

    __slots__ = ("records",)
    reply: None

    def __init__(self, records: Sequence[MetadataRecord]) -> None:
        self.records = records


class AbandonTransaction:
    """End the metadata transaction that a controller which died has left open, without its records."""

    __slots__ = ()
    reply: None


class Bootstrap:
    """Give a new cluster its first records: feature levels, what goes with them, and what is known of it already."""

    __slots__ = ("adopted",)
    reply: None

    def __init__(self, adopted: Sequence[MetadataRecord] = ()) -> None:
        self.adopted = adopted
