"""The image: all that the metadata log says, as of one offset. Read-only for everybody but the `ImageWriter`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.message import ZERO_UUID

if TYPE_CHECKING:
    from odradek.protocol.generated.metadata_records.access_control_entry_record import AccessControlEntryRecord
    from odradek.protocol.generated.metadata_records.delegation_token_record import DelegationTokenRecord
    from odradek.protocol.generated.metadata_records.user_scram_credential_record import UserScramCredentialRecord


METADATA_VERSION = "metadata.version"
ELR_VERSION = "eligible.leader.replicas.version"
TRANSACTION_VERSION = "transaction.version"

_NO_CONFIGS: Mapping[str, str] = MappingProxyType({})


class ResourceType(IntEnum):
    """Kinds of configured things, as the protocol and the metadata log number them."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


ConfigResource = tuple[int, str]
"""`ResourceType` and name; an empty name is the cluster-wide default of brokers."""
AclContent = tuple[int, str, int, str, str, int, int]
"""The fields of an access control entry: resource type, name and pattern, principal, host, operation, permission."""


def acl_content(record: AccessControlEntryRecord) -> AclContent:
    """The content of an entry without its id."""
    return (
        record.resource_type,
        record.resource_name,
        record.pattern_type,
        record.principal,
        record.host,
        record.operation,
        record.permission_type,
    )


QuotaEntity = tuple[tuple[str, str | None], ...]
"""(entity type, entity name or None for the default), sorted by type."""


class TopicImage:
    """A topic: name, id and the registrations of its partitions, by index.

    `version` is the offset of the last record that concerned it, so that whoever keeps something made of a topic sees
    whether it is still true.
    """

    __slots__ = ("internal", "name", "partitions", "topic_id", "version")

    def __init__(
        self, name: str, topic_id: bytes, partitions: Sequence[PartitionRegistration] = (), version: int = 0
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.internal = name in INTERNAL_TOPICS
        self.partitions: Sequence[PartitionRegistration] = partitions
        self.version = version

    def __repr__(self) -> str:
        return f"TopicImage({self.name}, {len(self.partitions)} partitions)"

    @property
    def replication_factor(self) -> int:
        """The number of replicas of the first partition, which Kafka calls the topic's replication factor."""
        return len(self.partitions[0].replicas)


class MetadataImage:
    """The cluster as the metadata log has it up to `offset` (that of the last record; -1 before the first).

    `epoch`: the controller's, of that record. `topics_version` is the offset of the last record that changed
    anything that Metadata answers: topics, partitions, nodes. Lookups are by dictionary; a change replaces the values
    it concerns and costs the same however many others there are. `acl_ids` has the ids of `acls` by what the entries
    say. Values are never changed after they were put here.
    """

    def __init__(self) -> None:
        self.topics: Mapping[str, TopicImage] = {}
        self.topics_by_id: Mapping[bytes, TopicImage] = {}
        self.colliding_names: Mapping[str, set[str]] = {}
        self.configs: Mapping[ConfigResource, Mapping[str, str]] = {}
        self.brokers: Mapping[int, BrokerRegistration] = {}
        self.controllers: Mapping[int, ControllerRegistration] = {}
        self.features: Mapping[str, int] = {}
        self.acls: Mapping[bytes, AccessControlEntryRecord] = {}
        self.acl_ids: Mapping[AclContent, bytes] = {}
        self.scram: Mapping[tuple[str, int], UserScramCredentialRecord] = {}
        self.delegation_tokens: Mapping[str, DelegationTokenRecord] = {}
        self.quotas: Mapping[QuotaEntity, Mapping[str, float]] = {}
        self.next_producer_id = 0
        self.offset = -1
        self.epoch = 0
        self.topics_version = -1

    def __repr__(self) -> str:
        return f"MetadataImage({len(self.topics)} topics, {len(self.brokers)} brokers, offset {self.offset})"

    def partition(self, name: str, index: int) -> PartitionRegistration | None:
        """The registration of a partition; None if there is none."""
        topic = self.topics.get(name)
        return topic.partitions[index] if topic is not None and 0 <= index < len(topic.partitions) else None

    def configs_of(self, resource_type: int, name: str) -> Mapping[str, str]:
        """A resource's own configs; empty if it has none."""
        return self.configs.get((resource_type, name), _NO_CONFIGS)

    def names_with_configs(self, resource_type: int) -> list[str]:
        """The resources of a kind that set anything, in the order in which they first did."""
        return [name for kind, name in self.configs if kind == resource_type]

    def feature(self, name: str) -> int:
        """The finalized level of a feature; 0 if it has none."""
        return self.features.get(name, 0)

    def active_brokers(self) -> Iterator[BrokerRegistration]:
        """The brokers that may lead partitions."""
        return (broker for broker in self.brokers.values() if broker.is_active)


UNASSIGNED_DIRECTORY = bytes(15) + b"\x01"
"""Stands in partition records until the broker says in which of its log directories the replica is."""


def directory_of(image: MetadataImage, node: int) -> bytes:
    """The log directory of a broker as new partition records name it: not assigned where it has several.

    The zero id stands for a broker that tells none.
    """
    broker = image.brokers.get(node)
    if broker is None or not broker.directories:
        return ZERO_UUID
    return broker.directories[0] if len(broker.directories) == 1 else UNASSIGNED_DIRECTORY


# -- The changes of the image by one command. Publishers get it after the image has changed.


class MetadataDelta:
    """The resources that changed; the image says what they are now.

    `created`, `deleted`: topics by id. `grown`: topic id -> first new index, for topics that were there before.
    `moved`: (topic id, index) -> the registration before, for partitions that were there before. `configs`: resource ->
    its settings before. `brokers`: id -> the registration before (None: a new one). `acls`: id -> the entry before
    (None: a new one).
    """

    __slots__ = ("acls", "brokers", "configs", "created", "deleted", "features", "grown", "moved", "quotas", "security")

    def __init__(self) -> None:
        self.created: dict[bytes, TopicImage] = {}
        self.deleted: dict[bytes, TopicImage] = {}
        self.grown: dict[bytes, int] = {}
        self.moved: dict[tuple[bytes, int], PartitionRegistration] = {}
        self.configs: dict[ConfigResource, Mapping[str, str]] = {}
        self.brokers: dict[int, BrokerRegistration | None] = {}
        self.acls: dict[bytes, AccessControlEntryRecord | None] = {}
        self.features = False
        self.security = False
        """Whether ACLs, SCRAM credentials, delegation tokens or quotas changed."""
        self.quotas = False
        """Whether quotas did."""

    @classmethod
    def of_everything(cls, image: MetadataImage) -> MetadataDelta:
        """The delta of a start: from an empty image to `image`."""
        delta = cls()
        delta.created = dict(image.topics_by_id)
        delta.configs = {resource: {} for resource in image.configs}
        delta.brokers = dict.fromkeys(image.brokers)
        delta.acls = dict.fromkeys(image.acls)
        delta.features = delta.security = delta.quotas = True
        return delta

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed that anybody could see."""
        return not (
            self.created
            or self.deleted
            or self.grown
            or self.moved
            or self.configs
            or self.brokers
            or self.features
            or self.security
        )


# -- Registrations: what the image has of a partition, a broker and a controller.


NO_LEADER = -1
Ids = tuple[int, ...]
LOST_DIRECTORY = bytes(15) + b"\x02"
"""Stands in partition records for the log directory of a replica whose disk has failed (KIP-858)."""


class PartitionRegistration(NamedTuple):
    """A partition. `directories`: of each replica, the id of its log directory.

    `adding` and `removing` are a reassignment under way. `elr`: replicas that left the ISR below
    `min.insync.replicas` and have all that is committed (KIP-966); `last_known_elr`: who led last, while nobody
    does. `recovering`: an unclean election chose the leader.
    """

    replicas: Ids
    isr: Ids
    leader: int
    leader_epoch: int
    partition_epoch: int
    directories: tuple[bytes, ...]
    adding: Ids = ()
    removing: Ids = ()
    elr: Ids = ()
    last_known_elr: Ids = ()
    recovering: bool = False

    @property
    def is_reassigned(self) -> bool:
        """Whether a reassignment is under way."""
        return bool(self.adding or self.removing)

    def is_lost(self, node_id: int) -> bool:
        """Whether the disk of a replica has failed."""
        if LOST_DIRECTORY not in self.directories:
            return False
        return self.directories[self.replicas.index(node_id)] == LOST_DIRECTORY if node_id in self.replicas else False


class Endpoint(NamedTuple):
    """A listener. `security_protocol`: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL."""

    name: str
    host: str
    port: int
    security_protocol: int = 0


class BrokerRegistration(NamedTuple):
    """A broker. `epoch`: offset of the record that registered this `incarnation`. `features`: name -> range."""

    id: int
    epoch: int
    incarnation: bytes
    endpoints: tuple[Endpoint, ...]
    features: dict[str, tuple[int, int]]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    directories: tuple[bytes, ...]
    cordoned: tuple[bytes, ...] | None = None

    @property
    def is_active(self) -> bool:
        """Whether it may lead partitions."""
        return not self.fenced and not self.in_controlled_shutdown


class ControllerRegistration(NamedTuple):
    """A controller, with the features that it supports."""

    id: int
    incarnation: bytes
    endpoints: tuple[Endpoint, ...]
    features: dict[str, tuple[int, int]]
    zk_migration_ready: bool = False


# -- names of topics: Kafka's own ones, and which are valid


CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_GROUP_STATE = "__share_group_state"
CLUSTER_METADATA = "__cluster_metadata"
"""The topic of the controllers, which no client can create."""
INTERNAL_TOPICS = frozenset({CONSUMER_OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE})

MAX_NAME_LENGTH = 249
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+\Z")


def _as_ever(refusal: str, default: str, /, **values: object) -> str:
    return default


def check_topic_name(name: str, wording: Callable[..., str] = _as_ever) -> None:
    """INVALID_TOPIC_EXCEPTION if `name` cannot name a topic. `wording`: see `Release.text`."""
    if name == "":
        refusal, problem = "empty name", "the empty string is not allowed"
    elif name in (".", ".."):
        refusal, problem = "name of dots", f"'{name}' is not allowed"
    elif len(name) > MAX_NAME_LENGTH:
        refusal = "long name"
        problem = f"the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}"
    elif not _LEGAL_NAME.match(name):
        refusal = "characters of a name"
        problem = f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    else:
        return
    text = wording(refusal, f"Topic name is invalid: {problem}", name=name)
    raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, text)


def is_topic_name(name: str) -> bool:
    """Whether clients can create a topic of that name, or brokers for themselves."""
    try:
        check_topic_name(name)
    except KafkaError:
        return False
    return name != CLUSTER_METADATA


def collision_key(name: str) -> str | None:
    """The form that names share which metrics cannot distinguish (`a.b` and `a_b`); None for a name without either."""
    return name.replace(".", "_") if "." in name or "_" in name else None
