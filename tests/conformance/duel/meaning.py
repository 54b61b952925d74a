"""What a field means, by its name: the values that a client sends in it, and the odd ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from construct import Construct

from odradek.protocol import primitives as p
from tests.conformance.duel.world import MORE_TOPICS, TRANSACTIONAL_IDS, World

Value = Callable[[World], Any]
_NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"
_NEVER_MADE = "MDEyMzQ1Njc4OWFiY2RlZg"
_TOPIC_CONFIGS = (
    ("cleanup.policy", ("delete", "compact", "compact,delete")),
    ("retention.ms", ("604800000", "-1", "86400000")),
    ("retention.bytes", ("-1", "1048576")),
    ("segment.bytes", ("1048576", "16384")),
    ("max.message.bytes", ("1048588", "300")),
    ("message.timestamp.type", ("CreateTime", "LogAppendTime")),
    ("message.timestamp.after.max.ms", ("3600000", "1")),
    ("message.timestamp.before.max.ms", ("9223372036854775807", "1000")),
    ("compression.type", ("producer", "gzip", "lz4", "uncompressed", "zstd", "snappy")),
    ("min.insync.replicas", ("1", "2")),
    ("index.interval.bytes", ("0", "4096")),
    ("delete.retention.ms", ("86400000",)),
    ("flush.messages", ("1",)),
    ("unclean.leader.election.enable", ("true", "false")),
)
_GROUP_CONFIGS = (
    ("consumer.session.timeout.ms", ("45000", "50000")),
    ("consumer.heartbeat.interval.ms", ("5000", "6000")),
    ("share.auto.offset.reset", ("earliest", "latest")),
    ("share.isolation.level", ("read_committed", "read_uncommitted")),
    ("share.record.lock.duration.ms", ("30000", "45000")),
    ("share.delivery.count.limit", ("2", "5")),
    ("streams.num.standby.replicas", ("0", "1")),
    ("streams.heartbeat.interval.ms", ("5000",)),
)
_BROKER_CONFIGS = (("log.cleaner.threads", ("1", "2")), ("background.threads", ("10", "8")))
_METRICS_CONFIGS = (("interval.ms", ("100", "60000")), ("metrics", ("org.apache.kafka.", "*", "")), ("match", ("",)))
CONFIGS = {2: _TOPIC_CONFIGS, 4: _BROKER_CONFIGS, 8: (), 16: _METRICS_CONFIGS, 32: _GROUP_CONFIGS}
"""Type of resource -> its configs and their values."""
_STATES = ("Stable", "Empty", "Dead", "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")
_PRINCIPALS = ("User:alice", "User:bob", "User:*")


def _of(*values: Any) -> Value:
    return lambda world: world.one(values)


def _mostly(value: Any, *others: Any) -> Value:
    return lambda world: value if world.chance(0.8) else world.one(others)


def _hmac(world: World) -> Any:
    return world.one(world.hmacs) if world.hmacs else "aGVsbG8="


def _offset(world: World) -> int:
    return world.one((0, 0, 1, 2, max([0, *world.ends.values()])))


def _producer_id(world: World) -> Any:
    producer = world.producer()
    return producer.id if producer else -1


def _member_id(world: World) -> str:
    members = [each.id for group in world.members.values() for each in group]
    return world.one(members) if members else "nobody"


_PARTITION: Value = lambda world: world.one((0, 0, 0, 1, 2))  # noqa: E731
_TOPIC: Value = World.topic
_TOPIC_ID: Value = World.topic_id
_GROUP: Value = World.any_group

_BY_NAME: dict[str, Value] = {
    "groupId": _GROUP,
    "groups": _GROUP,
    "groupIds": _GROUP,
    "groupsNames": _GROUP,
    "memberId": _member_id,
    "generationId": _of(1, 2, -1),
    "generationIdOrMemberEpoch": _of(-1, 1, 2),
    "memberEpoch": _of(0, 1, 2, -1),
    "groupInstanceId": _mostly(None, "i1-${run}"),
    "instanceId": _mostly(None, "i1-${run}"),
    "rackId": _of(None, "a", "b"),
    "protocolType": _mostly("consumer", "connect"),
    "transactionalId": _of(*TRANSACTIONAL_IDS),
    "transactionalIds": _of(*TRANSACTIONAL_IDS),
    "transactionTimeoutMs": _of(60_000),
    "producerId": _producer_id,
    "producerIdFilters": _producer_id,
    "producerEpoch": _of(0, 0, 1),
    "timeoutMs": _of(5000),
    "topicId": _TOPIC_ID,
    "topic": _TOPIC,
    "topics": _TOPIC,
    "topicName": _TOPIC,
    "topics.name": _TOPIC,
    "partition": _PARTITION,
    "partitions": _PARTITION,
    "partitionIndex": _PARTITION,
    "partitionIndexes": _PARTITION,
    "index": _PARTITION,
    "brokerIds": lambda world: world.one(world.nodes),
    "replicas": lambda world: world.one(world.nodes),
    "brokerId": _of(97),
    "controllerId": _of(97),
    "voterId": _of(97),
    "numPartitions": _of(1, 2, 3, -1),
    "replicationFactor": _of(1, -1),
    "count": _of(2, 3, 4),
    "offset": _offset,
    "fetchOffset": _offset,
    "committedOffset": _offset,
    "startOffset": _offset,
    "firstOffset": _offset,
    "lastOffset": _offset,
    "timestamp": _of(-1, -2, -3, -4, -5, 0),
    "committedMetadata": _of("", "m", None),
    "committedLeaderEpoch": _of(-1, 0),
    "commitTimestamp": _of(-1),
    "retentionTimeMs": _of(-1),
    "currentLeaderEpoch": _of(-1, 0),
    "leaderEpoch": _of(0, -1),
    "lastFetchedEpoch": _of(-1),
    "logStartOffset": _of(-1),
    "replicaId": _of(-1),
    "replicaEpoch": _of(-1),
    "highWatermark": _of(9223372036854775807),
    "isolationLevel": _of(0, 1),
    "maxWaitMs": _of(0, 0, 1, 50),
    "minBytes": _of(0, 1),
    "maxBytes": _of(1 << 20, 1 << 20, 100),
    "partitionMaxBytes": _of(1 << 20, 1 << 20, 100, 200),
    "sessionId": _of(0),
    "sessionEpoch": _of(-1),
    "acks": _mostly(-1, 1, 0),
    "keyType": _of(0, 0, 1, 2),
    "electionType": _of(0, 1),
    "validateOnly": _mostly(False, True),
    "allowReplicationFactorChange": _of(True, False),
    "requireStable": _of(False, True),
    "allowAutoTopicCreation": _of(False, True),
    "includeSynonyms": _of(False, True),
    "includeDocumentation": _of(False),
    "statesFilter": _of(*_STATES),
    "typesFilter": _of("classic", "consumer", "share", "streams"),
    "stateFilters": _of("Ongoing", "Empty", "CompleteCommit", "CompleteAbort", "Dead"),
    "durationFilter": _of(-1, 0),
    "transactionalIdPattern": _of(None, "x.*", ".*0.*"),
    "resourceTypes": _of(2, 4, 8, 16, 32),
    "endpointType": _mostly(1, 2),
    "mechanism": _of(1, 2),
    "iterations": _of(4096),
    "salt": _of("c2FsdA=="),
    "saltedPassword": _of("cGFzc3dvcmQ="),
    "users.name": _of("alice-${run}", "bob-${run}"),
    "deletions.name": _of("alice-${run}", "bob-${run}"),
    "upsertions.name": _of("alice-${run}", "bob-${run}"),
    "ownerPrincipalType": _of(None, "User"),
    "ownerPrincipalName": _of(None, "alice"),
    "principalType": _of("User"),
    "principalName": _of("alice", "bob", "ANONYMOUS"),
    "hmac": _hmac,
    "maxLifetimeMs": _of(-1, 86_400_000),
    "renewPeriodMs": _of(-1, 3_600_000),
    "expiryTimePeriodMs": _of(-1, 3_600_000),
    "entityType": _of("user", "client-id"),
    "entityName": _of("u-${run}", "v-${run}"),
    "matchType": _of(0, 2),
    "match": _of("u-${run}", None),
    "strict": _of(False, True),
    "ops.key": _of("producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate"),
    "ops.value": _of(1000.0, 1e9, 0.5),
    "ops.remove": _of(False, False, True),
    "entity.entityType": _of("user"),
    "resourceType": _of(2, 3, 5),
    "resourceTypeFilter": _of(1, 2, 3, 5),
    "resourceName": lambda world: world.one((world.topic(), world.any_group(), "a-${run}")),
    "resourceNameFilter": lambda world: world.one((None, world.topic(), "a-${run}")),
    "patternTypeFilter": _of(1, 2, 3, 4),
    "resourcePatternType": _of(3, 3, 4),
    "principal": _of(*_PRINCIPALS),
    "principalFilter": _of(None, *_PRINCIPALS),
    "host": _of("*", "127.0.0.1"),
    "hostFilter": _of(None, "*"),
    "operation": _of(3, 4, 8),
    "permissionType": _of(3, 2),
    "filters.operation": _of(1, 3),
    "filters.permissionType": _of(1, 3),
    "feature": _of("transaction.version", "group.version", "share.version", "streams.version", "kraft.version"),
    "maxVersionLevel": _of(1, 2),
    "upgradeType": _of(1, 2, 3),
    "clientSoftwareName": _of("duel"),
    "clientSoftwareVersion": _of("1.0"),
    "cluster": _of(None),
    "clusterId": _of(None),
    "nodeId": _of(-1),
    "path": _of("/nowhere"),
    "responsePartitionLimit": _of(2000, 1, 2),
    "subscriptionId": _of(1),
    "compressionType": _of(0),
    "metrics": _of(""),
    "deliveryState": _of(0, 2),
    "deliveryCount": _of(1),
    "stateEpoch": _of(0, 1),
    "deliveryCompleteCount": _of(-1, 0),
    "coordinatorEpoch": _of(0),
    "transactionVersion": _of(0, 1, 2),
    "authBytes": _of("AGFsaWNlAGFsaWNl"),
    "SaslHandshake.mechanism": _of("PLAIN", "SCRAM-SHA-256"),
    "DescribeQuorum.topicName": _mostly("__cluster_metadata", "t0-${run}"),
    "topology.epoch": _of(0),
    "nodeType": _of(1, 2, 3),
    "subtopologyId": _of("0", "1"),
    "sourceTopicRegex": _of("t0.*"),
}
_TEXTS: tuple[str, ...] = (
    "",
    ".",
    "..",
    "nope",
    "bad name",
    "*",
    "x" * 250,
    "é",
    "__consumer_offsets",
    "__share_group_state",
    "t0-${run}",
    "g0-${run}",
    "c0-${run}",
    "x0-${run}",
)
_NUMBERS = (0, 1, -1, 2, -2, 3, 5, 100)


def meant(world: World, path: tuple[str, ...], body: Construct) -> Any:
    """A value that a client sends in a field: by its path's last two names or its last one, else by its type."""
    for key in (".".join(path[-2:]), f"{path[0]}.{path[-1]}", path[-1]):
        if key in _BY_NAME:
            value = _BY_NAME[key](world)
            if _fits(value, body):
                return value
    return plain(body)


def _fits(value: Any, body: Construct) -> bool:
    """Fields of one name may have several types."""
    if value is None:
        return bool(getattr(body, "nullable", False))
    if isinstance(body, p.LengthPrefixed) or body is p.UUID:
        return isinstance(value, str)
    if body is p.BOOLEAN:
        return isinstance(value, bool)
    return isinstance(value, int | float) or value.startswith("${")


def plain(body: Construct) -> Any:
    """A value of a type that means nothing."""
    if body is p.UUID:
        return _NO_ID
    if body is p.BOOLEAN:
        return False
    if body is p.FLOAT64:
        return 0.0
    return "" if isinstance(body, p.Text | p.Blob | p.RecordData) else 0


def odd(world: World, path: tuple[str, ...], body: Construct) -> Any:
    """Anything that the type can say, and what other fields mean."""
    if getattr(body, "nullable", False) and world.chance(0.15):
        return None
    if world.chance(0.3):
        return meant(world, path, body)
    if body is p.UUID:
        return world.one((_NO_ID, _NEVER_MADE, "AAAAAAAAAAAAAAAAAAAAAQ", world.topic_id()))
    if body is p.BOOLEAN:
        return world.chance(0.5)
    if body is p.FLOAT64:
        return world.one((0.0, -1.0, 1.5, "NaN", "Infinity", 1e300))
    if isinstance(body, p.Text):
        return world.one((*_TEXTS, world.topic(), world.any_group(), *MORE_TOPICS, _member_id(world)))
    if isinstance(body, p.Blob):
        return world.one(("", "AAA=", "AAAAAAAA", "/////w=="))
    if body.fmtstr.isupper():
        return world.one((0, 1, 9092))
    highest = (1 << 8 * body.sizeof() - 1) - 1
    return world.one((*_NUMBERS, highest, -highest - 1))
