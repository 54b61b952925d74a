"""Requests as clients send them: per API the fields that belong together. All others get a value by their name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.conformance.duel.meaning import CONFIGS
from tests.conformance.duel.nodes import assignments
from tests.conformance.duel.pairing import Form
from tests.conformance.duel.taming import SHORT_SESSION_MS
from tests.conformance.duel.world import GROUPS, MORE_TOPICS, TOPICS, TRANSACTIONAL_IDS, Member, Producer, World

Recipe = Callable[[World, int], Form]
_NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"
PATIENT = "g1-${run}"
"""The classic group whose rebalances wait for all members, however long that takes."""
_LONG_MS = 60_000


# -- records


def _row(world: World, at: int) -> Form:
    row: Form = {
        "at": world.one((at, at, 1000 - at, None)) if world.chance(0.2) else at,
        "key": world.one((f"k{at % 3}", "k", None)),
        "value": world.one((f"v{at}", "v" * 30, None, "")),
    }
    if world.chance(0.2):
        row["headers"] = [["h", world.one(("1", None))]] * world.one((1, 2))
    return row


def batch(world: World, producer: Producer | None, place: tuple[str, int]) -> Form:
    """A batch by a real producer's rules."""
    made: Form = {"records": [_row(world, at) for at in range(world.one((1, 1, 2, 5)))]}
    if world.chance(0.25):
        made["codec"] = world.one((1, 2, 3, 4))
    if producer:
        made |= {
            "producerId": producer.id,
            "producerEpoch": producer.epoch,
            "baseSequence": producer.sequences.get(place, 0),
            "transactional": producer.transactional_id is not None,
        }
    return made


def _produce(world: World, version: int) -> Form:
    producer = world.producer() if world.chance(0.6) else None
    topic = world.topic()
    index = world.partition(topic)
    data = {"index": index, "records": {"batches": [batch(world, producer, (topic, index))]}}
    named = {"topicId": world.topic_ids[topic]} if version >= 13 else {"name": topic}
    return {
        "transactionalId": producer.transactional_id if producer else None,
        "acks": -1 if producer else world.one((-1, -1, 1, 0)),
        "topicData": [{**named, "partitionData": [data]}],
    }


def _topic_partitions(world: World, by_id: bool, partitions: str, makes: Callable[[int], Any]) -> list[Form]:
    topic = world.topic()
    named = {"topicId": world.topic_ids[topic]} if by_id else {"name": topic}
    return [{**named, partitions: [makes(world.partition(topic))]}]


def _fetch(world: World, version: int) -> Form:
    topic = world.topic()
    index = world.partition(topic)
    end = world.ends.get((topic, index), 0)
    partition = {"partition": index, "fetchOffset": world.one((0, 0, end, max(end - 1, 0), end // 2))}
    named = {"topicId": world.topic_ids[topic]} if version >= 13 else {"topic": topic}
    body: Form = {"topics": [{**named, "partitions": [partition]}], "forgottenTopicsData": []}
    if version >= 7 and world.chance(0.3):
        if world.sessions and world.chance(0.7):
            session, epoch = world.one(world.sessions)
            body |= {"sessionId": session, "sessionEpoch": epoch}
            if world.chance(0.6):
                body["topics"] = []
        else:
            body |= {"sessionId": 0, "sessionEpoch": 0}
    return body


def _metadata(world: World, version: int) -> Form:
    topic = world.topic()
    if version >= 12 and world.chance(0.4):
        return {"topics": [{"topicId": world.topic_ids[topic], "name": None}]}
    return {"topics": [{"topicId": _NO_ID, "name": topic}], "allowAutoTopicCreation": False}


_SPECIAL_SINCE = {-1: 0, -2: 0, -3: 7, -4: 8, -5: 9, -6: 11}
"""Special timestamp of ListOffsets -> the first version that has it."""


def _list_offsets(world: World, version: int) -> Form:
    times = [special for special, since in _SPECIAL_SINCE.items() if version >= since] + [0, 1_700_000_000_000]
    return {
        "topics": _topic_partitions(
            world, False, "partitions", lambda at: {"partitionIndex": at, "timestamp": world.one(times)}
        )
    }


# -- classic groups


def _join_group(world: World, version: int) -> Form:
    group = world.group("classic")
    member = world.member(group, missing=0.35)
    topics = [world.topic()]
    names = ["range", "roundrobin"] if world.chance(0.3) else [member.protocol if member else "range"]
    return {
        "groupId": group,
        "sessionTimeoutMs": SHORT_SESSION_MS if group != PATIENT and world.chance(0.1) else 30_000,
        "rebalanceTimeoutMs": _LONG_MS if group == PATIENT else 300,
        "memberId": member.id if member else "",
        "groupInstanceId": member.instance if member else world.one((None, None, None, "i1-${run}", "i2-${run}")),
        "protocolType": "consumer",
        "protocols": [{"name": name, "metadata": {"subscription": topics}} for name in names],
    }


def _member_of(world: World, kind: str) -> tuple[str, Member]:
    group = world.group(kind)
    return group, world.member(group, missing=0.03) or Member("nobody", 1)


def _sync_group(world: World, version: int) -> Form:
    group, member = _member_of(world, "classic")
    ids = [member.id, *(each for each in member.owned or () if each != member.id)] if member.leads else []
    topic = world.topic()
    assigned = {topic: [world.partition(topic)]}
    return {
        "groupId": group,
        "generationId": member.epoch,
        "memberId": member.id,
        "groupInstanceId": member.instance,
        "protocolType": "consumer",
        "protocolName": member.protocol,
        "assignments": [{"memberId": each, "assignment": {"assigned": assigned}} for each in ids],
    }


def _heartbeat(world: World, version: int) -> Form:
    group, member = _member_of(world, "classic")
    return {
        "groupId": group,
        "generationId": member.epoch,
        "memberId": member.id,
        "groupInstanceId": member.instance,
    }


def _leave_group(world: World, version: int) -> Form:
    group, member = _member_of(world, "classic")
    leaver = {"memberId": member.id, "groupInstanceId": member.instance}
    return {"groupId": group, "memberId": member.id, "members": [leaver]}


def _offset_commit(world: World, version: int) -> Form:
    group, member = _member_of(world, world.one(("classic", "consumer", "streams")))
    if world.chance(0.2):
        member = Member("", -1)
    return {
        "groupId": group,
        "generationIdOrMemberEpoch": member.epoch,
        "memberId": member.id,
        "groupInstanceId": member.instance,
        "topics": _topic_partitions(world, version >= 10, "partitions", lambda at: {"partitionIndex": at}),
    }


def _offset_fetch(world: World, version: int) -> Form:
    group, member = _member_of(world, world.one(("classic", "consumer", "streams")))
    topics = _topic_partitions(world, version >= 10, "partitionIndexes", lambda at: at)
    if world.chance(0.4) and version >= 2:
        topics = None  # type: ignore[assignment]
    asked: Form = {"groupId": group, "topics": topics, "memberId": None, "memberEpoch": -1}
    if version >= 9 and world.chance(0.5):
        asked |= {"memberId": member.id, "memberEpoch": member.epoch}
    return {"groups": [asked], "groupId": group, "topics": topics}


# -- groups of the other protocols


def _consumer_heartbeat(world: World, version: int) -> Form:
    group = world.group("consumer")
    member = world.member(group, missing=0.25)
    body: Form = {"groupId": group, "rebalanceTimeoutMs": _LONG_MS, "subscribedTopicRegex": None}
    if member is None:
        names = sorted({world.topic() for _ in range(world.one((1, 1, 2)))})
        joins = {
            "memberId": f"m{world.new_name()}-${{run}}" if version else "",
            "memberEpoch": 0,
            "topicPartitions": [],
        }
        instance = world.one((None, None, None, "i1-${run}"))
        return body | joins | {"instanceId": instance, "subscribedTopicNames": names}
    body |= {"memberId": member.id, "instanceId": member.instance, "memberEpoch": member.epoch}
    if world.chance(0.1):
        return body | {"memberEpoch": -2 if member.instance and world.chance(0.5) else -1, "topicPartitions": None}
    changes: Form = {"subscribedTopicNames": None, "topicPartitions": None, "rackId": None, "serverAssignor": None}
    if world.chance(0.3):
        changes["subscribedTopicNames"] = [world.topic()]
    if world.chance(0.6) and member.owned is not None:
        changes["topicPartitions"] = member.owned
    if world.chance(0.1):
        changes["serverAssignor"] = world.one(("uniform", "range"))
    return body | changes | {"rebalanceTimeoutMs": -1}


def _share_heartbeat(world: World, version: int) -> Form:
    group = world.group("share")
    member = world.member(group, missing=0.25)
    if member is None:
        identity = {"memberId": f"${{uuid {world.new_name()}}}", "memberEpoch": 0}
        return {"groupId": group, **identity, "subscribedTopicNames": [world.topic()]}
    epoch = -1 if world.chance(0.1) else member.epoch
    names = [world.topic()] if world.chance(0.2) else None
    return {
        "groupId": group,
        "memberId": member.id,
        "memberEpoch": epoch,
        "subscribedTopicNames": names,
        "rackId": None,
    }


def _acknowledged(world: World, member: Member, only: bool) -> list[Form]:
    """Topics of a share request; `only`: those that acknowledge something."""
    topics: list[Form] = []
    for (topic, index), ranges in list(member.acquired.items()):
        if not ranges or world.chance(0.3):
            continue
        first, last = ranges.pop(0)
        kinds = (
            [world.one((1, 1, 2, 3))]
            if world.chance(0.7)
            else [world.one((0, 1, 2, 3)) for _ in range(first, last + 1)]
        )
        acknowledged = {"firstOffset": first, "lastOffset": last, "acknowledgeTypes": kinds}
        place = {"partitionIndex": index, "acknowledgementBatches": [acknowledged]}
        topics.append({"topicId": world.topic_ids.get(topic, topic), "partitions": [place]})
    if not topics and not only:
        topic = world.topic()
        place = {"partitionIndex": world.partition(topic), "acknowledgementBatches": []}
        topics.append({"topicId": world.topic_ids[topic], "partitions": [place]})
    return topics


def _share_session(world: World) -> tuple[Member, Form]:
    group, member = _member_of(world, "share")
    if member.id == "nobody":
        member = Member("${uuid nobody}")
    epoch = -1 if member.session > 1 and world.chance(0.05) else member.session
    return member, {"groupId": group, "memberId": member.id, "shareSessionEpoch": epoch, "isRenewAck": False}


def _share_fetch(world: World, version: int) -> Form:
    member, body = _share_session(world)
    if body["shareSessionEpoch"] == 0:
        member.acquired.clear()
    limits = {"maxBytes": 1 << 20, "maxRecords": world.one((500, 1, 3)), "batchSize": world.one((500, 1))}
    mode = world.one((0, 0, 1))
    topics = _acknowledged(world, member, only=body["shareSessionEpoch"] == -1)
    limits["maxWaitMs"] = world.one((0, 0, 0, 300))
    return body | limits | {"shareAcquireMode": mode, "topics": topics, "forgottenTopicsData": []}


def _share_acknowledge(world: World, version: int) -> Form:
    member, body = _share_session(world)
    return body | {"topics": _acknowledged(world, member, only=True)}


def _streams_heartbeat(world: World, version: int) -> Form:
    group = world.group("streams")
    member = world.member(group, missing=0.25)
    nothing: Form = dict.fromkeys(
        ("topology", "activeTasks", "standbyTasks", "warmupTasks", "processId", "userEndpoint", "clientTags"), None
    )
    nothing |= {"taskOffsets": None, "taskEndOffsets": None, "shutdownApplication": False, "rackId": None}
    body: Form = {"groupId": group, "endpointInformationEpoch": 0, **nothing}
    if member is None:
        subtopology = {
            "subtopologyId": "0",
            "sourceTopics": [TOPICS[world.one((1, 2))]],
            "sourceTopicRegex": [],
            "stateChangelogTopics": _changelogs(world),
            "repartitionSinkTopics": [],
            "repartitionSourceTopics": [],
            "copartitionGroups": [],
        }
        return body | {
            "memberId": f"m{world.new_name()}-${{run}}",
            "memberEpoch": 0,
            "instanceId": None,
            "rebalanceTimeoutMs": _LONG_MS,
            "topology": {"epoch": 0, "subtopologies": [subtopology]},
            "activeTasks": [],
            "standbyTasks": [],
            "warmupTasks": [],
            "processId": world.one(("p1", "p2")),
            "clientTags": [],
        }
    body |= {
        "memberId": member.id,
        "memberEpoch": member.epoch,
        "instanceId": member.instance,
        "rebalanceTimeoutMs": -1,
    }
    if world.chance(0.1):
        return body | {"memberEpoch": -1}
    return body | member.owned if member.owned and world.chance(0.6) else body


def _changelogs(world: World) -> list[Form]:
    if world.chance(0.7):
        return []
    return [{"name": "${run}-store-changelog", "partitions": 0, "replicationFactor": 1, "topicConfigs": []}]


# -- transactions


def _identity(world: World) -> Form:
    producer = world.producer(True)
    if producer is None:
        return {"transactionalId": world.one(TRANSACTIONAL_IDS), "producerId": -1, "producerEpoch": -1}
    return {
        "transactionalId": producer.transactional_id,
        "producerId": producer.id,
        "producerEpoch": producer.epoch,
    }


def _init_producer_id(world: World, version: int) -> Form:
    body: Form = {"transactionalId": None, "transactionTimeoutMs": 60_000, "producerId": -1, "producerEpoch": -1}
    if world.chance(0.7):
        body["transactionalId"] = world.one(TRANSACTIONAL_IDS)
        if version >= 3 and world.chance(0.3):
            return body | _identity(world)
    return body


def _add_partitions(world: World, version: int) -> Form:
    identity = _identity(world)
    topics = _topic_partitions(world, False, "partitions", lambda at: at)
    old = {f"v3AndBelow{name[0].upper()}{name[1:]}": value for name, value in identity.items()}
    return {
        **old,
        "v3AndBelowTopics": topics,
        "transactions": [{**identity, "verifyOnly": world.chance(0.5), "topics": topics}],
    }


def _txn_offset_commit(world: World, version: int) -> Form:
    group, member = _member_of(world, world.one(("classic", "consumer")))
    if world.chance(0.3):
        member = Member("", -1)
    return {
        **_identity(world),
        "groupId": group,
        "generationIdOrMemberEpoch": member.epoch,
        "memberId": member.id,
        "groupInstanceId": member.instance,
        "topics": _topic_partitions(world, version >= 6, "partitions", lambda at: {"partitionIndex": at}),
    }


def _add_offsets(world: World, version: int) -> Form:
    return {**_identity(world), "groupId": world.group(world.one(("classic", "consumer")))}


def _end_txn(world: World, version: int) -> Form:
    return {**_identity(world), "committed": world.chance(0.6)}


def _write_markers(world: World, version: int) -> Form:
    producer = world.producer()
    topics = [{"name": topic, "partitionIndexes": [world.partition(topic)]} for topic in [world.topic()]]
    marker: Form = {"producerId": producer.id if producer else 4711, "producerEpoch": producer.epoch if producer else 0}
    return {"markers": [{**marker, "topics": topics, "transactionResult": world.chance(0.5)}]}


# -- administration


def _create_topics(world: World, version: int) -> Form:
    wanted: Form = {"name": world.one(MORE_TOPICS), "numPartitions": world.one((1, 2)), "replicationFactor": 1}
    configs = [_config(world, 2)] if world.chance(0.5) else []
    if len(world.nodes) > 1:  # Kafka would choose the nodes by chance
        wanted |= {"numPartitions": -1, "replicationFactor": -1, "assignments": assignments(wanted["numPartitions"])}
    return {"topics": [{"assignments": [], **wanted, "configs": configs}]}


def _delete_topics(world: World, version: int) -> Form:
    name = world.one(MORE_TOPICS)
    by_id = version >= 6 and name in world.topic_ids and world.chance(0.5)
    one = {"name": None, "topicId": world.topic_ids[name]} if by_id else {"name": name, "topicId": _NO_ID}
    return {"topics": [one], "topicNames": [name]}


def _create_partitions(world: World, version: int) -> Form:
    topic = world.topic()
    count = world.topics[topic] + 1
    placed = [{"brokerIds": _some_nodes(world)}] if len(world.nodes) > 1 else None
    return {"topics": [{"name": topic, "count": count, "assignments": placed}]}


def _some_nodes(world: World) -> list[int]:
    return world.rng.sample(list(world.nodes), len(world.nodes))


def _config(world: World, kind: int) -> Form:
    name, values = world.one(CONFIGS[kind])
    return {"name": name, "value": world.one(values)}


def _resource(world: World) -> Form:
    kind = world.one((2, 2, 2, 32, 16))
    names = {2: world.topic(), 32: world.any_group(), 16: "metrics-${run}"}
    return {"resourceType": kind, "resourceName": names[kind]}


def _alter_configs(world: World, version: int) -> Form:
    resource = _resource(world)
    return {"resources": [{**resource, "configs": [_config(world, resource["resourceType"])]}]}


def _incremental_alter_configs(world: World, version: int) -> Form:
    resource = _resource(world)
    change = {**_config(world, resource["resourceType"]), "configOperation": world.one((0, 0, 1))}
    return {"resources": [{**resource, "configs": [change]}]}


def _describe_configs(world: World, version: int) -> Form:
    return {"resources": [{**_resource(world), "configurationKeys": None}]}


def _update_features(world: World, version: int) -> Form:
    return {"validateOnly": True, "featureUpdates": world.one(([], [_feature(world)]))}


def _feature(world: World) -> Form:
    return {
        "feature": world.one(("transaction.version", "group.version")),
        "maxVersionLevel": 1,
        "allowDowngrade": True,
    }


def _reassign(world: World, version: int) -> Form:
    topic = world.topic()
    moved = {"partitionIndex": world.partition(topic), "replicas": world.one((_some_nodes(world), None))}
    return {"topics": [{"name": topic, "partitions": [moved]}]}


def _elect(world: World, version: int) -> Form:
    topic = world.topic()
    return {"topicPartitions": [{"topic": topic, "partitions": [world.partition(topic)]}]}


def _quotas(world: World, version: int) -> Form:
    entity = [{"entityType": "user", "entityName": "u-${run}"}]
    if world.chance(0.3):
        entity.append({"entityType": "client-id", "entityName": "v-${run}"})
    return {"entries": [{"entity": entity, "ops": [_quota(world)]}]}


def _quota(world: World) -> Form:
    return {"key": world.one(("producer_byte_rate", "consumer_byte_rate")), "value": 1e6, "remove": world.chance(0.2)}


def _describe_quotas(world: World, version: int) -> Form:
    return {"components": [{"entityType": "user", "matchType": 0, "match": "u-${run}"}]}


def _scram(world: World, version: int) -> Form:
    name, mechanism = world.one(("alice-${run}", "bob-${run}")), world.one((1, 2))
    if world.chance(0.3):
        return {"deletions": [{"name": name, "mechanism": mechanism}], "upsertions": []}
    return {"deletions": [], "upsertions": [{"name": name, "mechanism": mechanism}]}


def _describe_scram(world: World, version: int) -> Form:
    return {"users": [{"name": "alice-${run}"}, {"name": "bob-${run}"}]}


def _acls(world: World, version: int) -> Form:
    kind = world.one((2, 2, 3, 3, 4, 5))
    names = {2: world.topic(), 3: world.any_group(), 4: "kafka-cluster", 5: world.one(TRANSACTIONAL_IDS)}
    name, pattern = names[kind], 3
    if kind != 4 and world.chance(0.25):
        name, pattern = ("*", 3) if world.chance(0.5) else (name[:1], 4)
    operations = {2: (2, 3, 4, 6, 7, 8, 10, 11), 3: (2, 3, 6, 8, 10, 11), 4: (2, 5, 7, 8, 9, 12), 5: (2, 4, 8)}
    return {
        "creations": [
            {
                "resourceType": kind,
                "resourceName": name,
                "resourcePatternType": pattern,
                "principal": world.one(("User:alice", "User:bob", "User:carol", "User:*")),
                "host": world.one(("*", "*", "*", "127.0.0.1", "10.0.0.1")),
                "operation": world.one(operations[kind]),
                "permissionType": world.one((3, 3, 3, 3, 2)),
            }
        ]
    }


def _describe_acls(world: World, version: int) -> Form:
    return {"resourceNameFilter": world.topic(), "patternTypeFilter": 3}


def _delete_acls(world: World, version: int) -> Form:
    return {"filters": [{"resourceNameFilter": world.topic(), "patternTypeFilter": 3}]}


def _push_telemetry(world: World, version: int) -> Form:
    if not world.instances:
        return {}
    instance, subscription = world.one(world.instances)
    return {"clientInstanceId": instance, "subscriptionId": subscription}


def _describe_groups_of(kind: str) -> Recipe:
    return lambda world, version: {"groups": [world.group(kind)], "groupIds": [world.group(kind)]}


def _in_share_group(world: World, version: int) -> Form:
    topic = world.topic()
    topics = [{"topicName": topic, "partitions": [world.partition(topic)]}]
    return {"groups": [{"groupId": world.group("share"), "topics": topics}]}


def _alter_share_offsets(world: World, version: int) -> Form:
    topic = world.topic()
    place = {"partitionIndex": world.partition(topic), "startOffset": world.ends.get((topic, 0), 0)}
    return {"groupId": world.group("share"), "topics": [{"topicName": topic, "partitions": [place]}]}


def _delete_share_offsets(world: World, version: int) -> Form:
    return {"groupId": world.group("share"), "topics": [{"topicName": world.topic()}]}


def _find_coordinator(world: World, version: int) -> Form:
    kind = world.one((0, 0, 1))
    key = world.any_group() if kind == 0 else world.one(TRANSACTIONAL_IDS)
    return {"key": key, "keyType": kind, "coordinatorKeys": [key]}


def _describe_groups_topology(world: World, version: int) -> Form:
    group, member = _member_of(world, "streams")
    source = {"name": "a", "nodeType": 1, "sourceTopics": ["t1-${run}"], "sinkTopic": None, "stores": []}
    nodes = [{**source, "successors": []}]
    topology = {"subtopologies": [{"subtopologyId": "0", "nodes": nodes}], "globalStores": []}
    return {"groupId": group, "memberId": member.id, "topologyEpoch": 0, "topologyDescription": topology}


RECIPES: dict[str, Recipe] = {
    "Produce": _produce,
    "Fetch": _fetch,
    "ListOffsets": _list_offsets,
    "Metadata": _metadata,
    "JoinGroup": _join_group,
    "SyncGroup": _sync_group,
    "Heartbeat": _heartbeat,
    "LeaveGroup": _leave_group,
    "OffsetCommit": _offset_commit,
    "OffsetFetch": _offset_fetch,
    "DescribeGroups": _describe_groups_of("classic"),
    "FindCoordinator": _find_coordinator,
    "ConsumerGroupHeartbeat": _consumer_heartbeat,
    "ConsumerGroupDescribe": _describe_groups_of("consumer"),
    "ShareGroupHeartbeat": _share_heartbeat,
    "ShareGroupDescribe": _describe_groups_of("share"),
    "ShareFetch": _share_fetch,
    "ShareAcknowledge": _share_acknowledge,
    "DescribeShareGroupOffsets": _in_share_group,
    "AlterShareGroupOffsets": _alter_share_offsets,
    "DeleteShareGroupOffsets": _delete_share_offsets,
    "StreamsGroupHeartbeat": _streams_heartbeat,
    "StreamsGroupDescribe": _describe_groups_of("streams"),
    "StreamsGroupTopologyDescriptionUpdate": _describe_groups_topology,
    "InitProducerId": _init_producer_id,
    "AddPartitionsToTxn": _add_partitions,
    "AddOffsetsToTxn": _add_offsets,
    "TxnOffsetCommit": _txn_offset_commit,
    "EndTxn": _end_txn,
    "WriteTxnMarkers": _write_markers,
    "CreateTopics": _create_topics,
    "DeleteTopics": _delete_topics,
    "CreatePartitions": _create_partitions,
    "AlterConfigs": _alter_configs,
    "IncrementalAlterConfigs": _incremental_alter_configs,
    "DescribeConfigs": _describe_configs,
    "UpdateFeatures": _update_features,
    "AlterPartitionReassignments": _reassign,
    "ElectLeaders": _elect,
    "AlterClientQuotas": _quotas,
    "DescribeClientQuotas": _describe_quotas,
    "AlterUserScramCredentials": _scram,
    "DescribeUserScramCredentials": _describe_scram,
    "CreateAcls": _acls,
    "DescribeAcls": _describe_acls,
    "DeleteAcls": _delete_acls,
    "PushTelemetry": _push_telemetry,
}
assert set(GROUPS) == {"classic", "consumer", "share", "streams"}
