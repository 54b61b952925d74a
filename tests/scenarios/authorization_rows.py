"""The questions of `tests/scenarios/authorization.py`: API, versions, a request, and the rights that it may need.

A request names things that exist and, where an answer could tell whether they do, one that does not. With all rights
it changes nothing, or the same each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record

Form = dict[str, Any]
Sets = tuple[tuple[str, ...], ...]

NO_ID = "MDEyMzQ1Njc4OWFiY2RlZg"
FIXED_MS = 1_700_000_000_000


@dataclass(frozen=True)
class Row:
    """One request in some versions.

    `rights`: what may be needed, as `OPERATION RESOURCE_TYPE name`; a leading `-` denies. It is asked with none, each
    alone, all but each, and all; and with each set of `more`. `before` and `after` name what the super user does.
    `brief`: only error codes and messages are noted, for answers that tell of the machine. `only`: it is asked with
    these sets and no others.
    """

    api: str
    versions: tuple[int, ...]
    form: Form
    rights: tuple[str, ...] = ()
    more: tuple[tuple[str, ...], ...] = ()
    label: str = ""
    before: str = ""
    after: str = ""
    brief: bool = False
    only: Sets = ()

    def right_sets(self) -> list[tuple[str, ...]]:
        """Each once, fewest first."""
        if self.only:
            return list(self.only)
        rights = self.rights
        alone = [(right,) for right in rights]
        but_one = [tuple(other for other in rights if other != right) for right in rights]
        return list(dict.fromkeys([(), *alone, *but_one, rights, *self.more]))


@dataclass
class World:
    """What the super user has made: ids that only the broker knows."""

    ids: dict[str, str] = field(default_factory=dict)
    node: int = 0
    token_id: str = "token"
    hmac: str = "aG1hYw=="

    def id(self, name: str) -> str:
        return self.ids.get(name, NO_ID)


def rows(world: World) -> Iterator[Row]:
    """Everything that is asked, in order."""
    yield from _share_groups(world)  # while there are no records to acquire
    yield from _records(world)
    yield from _topics(world)
    yield from _offsets(world)
    yield from _classic_groups()
    yield from _consumer_groups()
    yield from _share_states(world)
    yield from _streams_groups()
    yield from _transactions()
    yield from _security(world)
    yield from _configs(world)
    yield from _cluster()


# -- records


def batch(**producer: Any) -> str:
    return build_batch([Record(0, FIXED_MS, b"k", b"v", ())], **producer).hex()


def _records(world: World) -> Iterator[Row]:
    names = ("az-a", "az-b", "az-none")
    writes = tuple(f"WRITE TOPIC {name}" for name in names)
    reads = tuple(f"READ TOPIC {name}" for name in names[:2])
    stored = [
        {"name": name, "topicId": world.id(name), "partitionData": [{"index": 0, "records": batch()}]} for name in names
    ]
    produced: Form = {"acks": -1, "timeoutMs": 3000, "topicData": stored}
    yield Row("Produce", (3, 8, 13), produced, writes, (("DESCRIBE TOPIC az-a", "READ TOPIC az-b"),))
    yield Row("Produce", (3,), {**produced, "acks": 0, "topicData": stored[:1]}, writes[:1], label="acks=0")
    numbered = batch(producer_id=4242, producer_epoch=0, base_sequence=0)
    one: Form = {"acks": -1, "timeoutMs": 3000}
    one["topicData"] = [{**stored[0], "partitionData": [{"index": 1, "records": numbered}]}]
    yield Row("Produce", (9,), one, writes[:1], (("IDEMPOTENT_WRITE CLUSTER kafka-cluster",),), label="idempotent")
    in_transaction = batch(producer_id=4243, producer_epoch=0, base_sequence=0, transactional=True)
    two: Form = {"acks": -1, "timeoutMs": 3000, "transactionalId": "az-txn"}
    two["topicData"] = [{**stored[0], "partitionData": [{"index": 1, "records": in_transaction}]}]
    both = ("WRITE TRANSACTIONAL_ID az-txn", writes[0])
    yield Row("Produce", (3, 8, 9, 12), two, both, label="transactional")
    fetched = {"partition": 0, "currentLeaderEpoch": -1, "fetchOffset": 0, "partitionMaxBytes": 1 << 20}
    reading: Form = {"maxBytes": 1 << 20, "replicaId": -1, "sessionEpoch": -1}
    reading["topics"] = [
        {"topic": name, "topicId": world.id(name), "partitions": [fetched]} for name in ("az-a", "az-b", "az-none")
    ]
    yield Row("Fetch", (4, 7, 12, 13, 18), reading, reads, (("DESCRIBE TOPIC az-a", "WRITE TOPIC az-b"),))
    follower: Form = {**reading, "replicaId": 5}
    yield Row("Fetch", (4, 12, 13), follower, (), (reads,), label="as a replica")
    asked = {"partitionIndex": 0, "currentLeaderEpoch": -1, "timestamp": -2}
    listed: Form = {"replicaId": -1, "topics": [{"name": name, "partitions": [asked]} for name in names]}
    describes = tuple(f"DESCRIBE TOPIC {name}" for name in names)
    yield Row("ListOffsets", (1, 2, 7, 11), listed, describes, (("READ TOPIC az-a",), ("CREATE TOPIC az-a",)))
    ends = [{"topic": name, "partitions": [{"partition": 0, "leaderEpoch": 0}]} for name in names]
    describes += ("CLUSTER_ACTION CLUSTER kafka-cluster",)
    yield Row("OffsetForLeaderEpoch", (2, 4), {"replicaId": -1, "topics": ends}, describes)
    gone = [{"name": name, "partitions": [{"partitionIndex": 0, "offset": 0}]} for name in names]
    deletes = tuple(f"DELETE TOPIC {name}" for name in names)
    yield Row("DeleteRecords", (0, 2), {"topics": gone, "timeoutMs": 5000}, deletes)
    many: Form = {"topics": [{"name": name, "partitionIndexes": [0]} for name in names]}
    yield Row("DescribeProducers", (0,), many, (*reads, "READ TOPIC az-none"), brief=True)


# -- topics


def _topics(world: World) -> Iterator[Row]:
    names = ("az-a", "az-b", "az-none")
    describes = tuple(f"DESCRIBE TOPIC {name}" for name in names)
    cluster = "DESCRIBE CLUSTER kafka-cluster"
    wanted: Form = {"topics": [{"name": name} for name in names], "allowAutoTopicCreation": False}
    wanted |= {"includeClusterAuthorizedOperations": True, "includeTopicAuthorizedOperations": True}
    implied = (("READ TOPIC az-a", "ALTER_CONFIGS TOPIC az-b"), ("WRITE TOPIC az-a", "-DESCRIBE TOPIC az-a"))
    yield Row("Metadata", (4, 8, 10, 13), wanted, (*describes, cluster), implied)
    yield Row("Metadata", (0, 1), wanted, describes, (("DESCRIBE TOPIC az-none", "CREATE TOPIC az-b"),))
    yield Row("Metadata", (1, 8, 13), {**wanted, "topics": None}, describes[:2], label="all topics")
    yield Row("Metadata", (0,), {"topics": []}, describes[:2], label="all topics")
    by_id = [{"name": None, "topicId": world.id(name)} for name in names]
    yield Row("Metadata", (12, 13), {**wanted, "topics": by_id}, describes[:2], label="by id")
    made = ("DESCRIBE TOPIC az-auto", "CREATE TOPIC az-auto", "CREATE CLUSTER kafka-cluster")
    auto: Form = {**wanted, "topics": [{"name": "az-auto"}], "allowAutoTopicCreation": True}
    yield Row("Metadata", (3, 4, 9, 13), auto, made, label="auto-creation", after="no az-auto")
    pages: Form = {"topics": [{"name": name} for name in names], "responsePartitionLimit": 10}
    yield Row("DescribeTopicPartitions", (0,), pages, describes)
    yield Row("DescribeTopicPartitions", (0,), {**pages, "topics": []}, describes[:2], label="all topics")
    new = [{"name": name, "numPartitions": 1, "replicationFactor": 1} for name in ("az-new-a", "az-new-b", "az-a")]
    create: Form = {"topics": new, "timeoutMs": 5000, "validateOnly": True}
    create_rights = ("CREATE CLUSTER kafka-cluster", "CREATE TOPIC az-new-a", "CREATE TOPIC az-new-b")
    create_more = (("CREATE CLUSTER kafka-cluster", "DESCRIBE_CONFIGS TOPIC az-new-a"), ("CREATE TOPIC az-a",))
    yield Row("CreateTopics", (2, 5, 7), create, create_rights, create_more)
    gone = ("az-gone-a", "az-gone-b", "az-none")
    delete_rights = tuple(f"DELETE TOPIC {name}" for name in gone)
    delete_more = (("DESCRIBE TOPIC az-gone-a", "DESCRIBE TOPIC az-none"), ("DELETE CLUSTER kafka-cluster",))
    named: Form = {"topicNames": list(gone), "topics": [{"name": name} for name in gone], "timeoutMs": 5000}
    yield Row("DeleteTopics", (1, 5, 6), named, delete_rights, delete_more, before="az-gone")
    identified: Form = {"topics": [{"name": None, "topicId": f"id of {name}"} for name in gone], "timeoutMs": 5000}
    yield Row("DeleteTopics", (6,), identified, delete_rights[:2], delete_more, label="by id", before="az-gone")
    more: Form = {"timeoutMs": 5000, "validateOnly": True}
    more["topics"] = [{"name": name, "count": 4, "assignments": None} for name in names]
    alters = tuple(f"ALTER TOPIC {name}" for name in names)
    yield Row("CreatePartitions", (0, 3), more, alters, (("ALTER CLUSTER kafka-cluster",),))


# -- groups


def _offsets(world: World) -> Iterator[Row]:
    names = ("az-a", "az-b", "az-none")
    reads = tuple(f"READ TOPIC {name}" for name in names)
    kept = {"partitionIndex": 0, "committedOffset": 1, "committedMetadata": "m"}
    places = [{"name": name, "topicId": world.id(name), "partitions": [kept]} for name in names]
    commit: Form = {"groupId": "az-free", "generationIdOrMemberEpoch": -1, "memberId": "", "topics": places}
    commit |= {"retentionTimeMs": -1}
    more: Sets = (("READ GROUP az-free", "DESCRIBE TOPIC az-a"), ("WRITE GROUP az-free", "READ TOPIC az-a"))
    yield Row("OffsetCommit", (2, 6, 8, 9, 10), commit, ("READ GROUP az-free", *reads), more)
    asked = [{"name": name, "topicId": world.id(name), "partitionIndexes": [0]} for name in names]
    describes = ("DESCRIBE GROUP az-offsets", *(f"DESCRIBE TOPIC {name}" for name in names))
    more = (("READ GROUP az-offsets", "READ TOPIC az-a"), ("DELETE GROUP az-offsets",))
    yield Row("OffsetFetch", (1, 2, 7), {"groupId": "az-offsets", "topics": asked}, describes, more)
    every: Form = {"groupId": "az-offsets", "topics": None}
    yield Row("OffsetFetch", (2, 7), every, describes[:3], label="all topics")
    one = {"groupId": "az-offsets", "memberEpoch": -1, "topics": asked}
    all_of_it = {"groupId": "az-offsets", "memberEpoch": -1, "topics": None}
    nobody = {"groupId": "az-nobody", "memberEpoch": -1, "topics": asked[:1]}
    yield Row("OffsetFetch", (8, 9, 10), {"groups": [one]}, describes)
    yield Row("OffsetFetch", (8, 10), {"groups": [all_of_it]}, describes[:3], label="all topics")
    two_groups = (*describes[:2], "DESCRIBE GROUP az-nobody")
    yield Row("OffsetFetch", (8, 10), {"groups": [one, nobody]}, two_groups, label="two groups")
    forgotten: Form = {"groupId": "az-classic"}
    forgotten["topics"] = [{"name": name, "partitions": [{"partitionIndex": 0}]} for name in names]
    more = (("DELETE GROUP az-classic", "DELETE TOPIC az-a"),)
    yield Row("OffsetDelete", (0,), forgotten, ("DELETE GROUP az-classic", *reads), more)


def _classic_groups() -> Iterator[Row]:
    group = "DESCRIBE GROUP az-classic"
    implied = (("READ GROUP az-classic",), ("DELETE GROUP az-classic",), ("WRITE GROUP az-classic",))
    yield Row("FindCoordinator", (0, 1, 3), {"key": "az-classic", "keyType": 0}, (group,), implied, label="group")
    keys: Form = {"coordinatorKeys": ["az-classic", "az-nobody"], "keyType": 0}
    yield Row("FindCoordinator", (4, 6), keys, (group, "DESCRIBE GROUP az-nobody"), label="groups")
    id_right = "DESCRIBE TRANSACTIONAL_ID az-txn"
    yield Row("FindCoordinator", (1, 3), {"key": "az-txn", "keyType": 1}, (id_right,), label="transaction")
    keys = {"coordinatorKeys": ["az-txn", "az-nobody"], "keyType": 1}
    more: Sets = (("WRITE TRANSACTIONAL_ID az-txn",), ("DESCRIBE GROUP az-txn",))
    yield Row("FindCoordinator", (4, 6), keys, (id_right,), more, label="transactions")
    keys = {"coordinatorKeys": [f"az-share:{NO_ID}:0", "odd"], "keyType": 2}
    yield Row("FindCoordinator", (5, 6), keys, ("CLUSTER_ACTION CLUSTER kafka-cluster",), label="share")
    read = ("READ GROUP az-classic",)
    more = (("DESCRIBE GROUP az-classic",), ("READ GROUP az-classic", "-READ GROUP az-classic"))
    join: Form = {"groupId": "az-classic", "sessionTimeoutMs": 10_000, "rebalanceTimeoutMs": 10_000}
    join |= {"memberId": "ghost", "protocolType": "consumer", "protocols": [{"name": "range", "metadata": ""}]}
    yield Row("JoinGroup", (0, 1, 5, 7, 9), join, read, more)
    member: Form = {"groupId": "az-classic", "generationId": 1, "memberId": "ghost"}
    named: Form = {**member, "protocolType": "consumer", "protocolName": "range"}
    yield Row("SyncGroup", (0, 3, 5), named, read, more)
    yield Row("Heartbeat", (0, 3, 4), member, read, more)
    leaving: Form = {**member, "members": [{"memberId": "ghost"}, {"memberId": "", "groupInstanceId": "ghost"}]}
    yield Row("LeaveGroup", (0, 2, 3, 5), leaving, read, more)
    shown: Form = {"groups": ["az-classic", "az-nobody", ""], "includeAuthorizedOperations": True}
    rights = (group, "DESCRIBE GROUP az-nobody")
    yield Row("DescribeGroups", (0, 3, 5, 6), shown, rights, (*implied, ("READ GROUP az-classic", "-DELETE GROUP *")))
    listing = (group, "DESCRIBE GROUP az-share", "DESCRIBE CLUSTER kafka-cluster")
    yield Row("ListGroups", (0, 3, 5), {"statesFilter": [], "typesFilter": []}, listing, implied)
    deletes = ("DELETE GROUP az-classic", "DELETE GROUP az-nobody")
    yield Row("DeleteGroups", (0, 2), {"groupsNames": ["az-classic", "az-nobody"]}, deletes, implied)


def _consumer_groups() -> Iterator[Row]:
    describes = ("DESCRIBE TOPIC az-a", "DESCRIBE TOPIC az-b")
    ghost: Form = {"groupId": "az-consumer", "memberId": "ghost", "memberEpoch": 5, "rebalanceTimeoutMs": -1}
    ghost |= {"subscribedTopicNames": ["az-a", "az-b"]}
    read = "READ GROUP az-consumer"
    yield Row("ConsumerGroupHeartbeat", (0, 1), ghost, (read, *describes), (("DESCRIBE GROUP az-consumer",),))
    unchanged: Form = {**ghost, "subscribedTopicNames": None}
    yield Row("ConsumerGroupHeartbeat", (0, 1), unchanged, (read,), label="no topics")
    joining: Form = {"groupId": "az-pattern", "memberId": "m-pattern", "memberEpoch": 0, "rebalanceTimeoutMs": 10_000}
    joining |= {"subscribedTopicNames": [], "subscribedTopicRegex": "az-[ab]", "topicPartitions": []}
    reader = "READ GROUP az-pattern"
    sets: Sets = (("DESCRIBE TOPIC az-a",), (reader, "READ TOPIC az-a"), (reader, "DESCRIBE TOPIC az-b"))
    sets += ((reader, *describes),)
    yield Row("ConsumerGroupHeartbeat", (1,), joining, only=sets, label="by pattern", after="pattern")
    shown: Form = {"groupIds": ["az-consumer", "az-nobody", ""], "includeAuthorizedOperations": True}
    rights = ("DESCRIBE GROUP az-consumer", *describes, "DESCRIBE GROUP az-nobody")
    more: Sets = ((read, "READ TOPIC az-a", "READ TOPIC az-b"),)
    yield Row("ConsumerGroupDescribe", (0, 1), shown, rights, more)
    listed: Form = {"statesFilter": [], "typesFilter": ["consumer", "streams"]}
    yield Row("ListGroups", (5,), listed, ("DESCRIBE GROUP az-consumer",), label="types")


def _share_groups(world: World) -> Iterator[Row]:
    topics = ("az-a", "az-b")
    describes = tuple(f"DESCRIBE TOPIC {name}" for name in topics)
    reads = tuple(f"READ TOPIC {name}" for name in topics)
    read = "READ GROUP az-share"
    ghost: Form = {"groupId": "az-share", "memberId": "ghost", "memberEpoch": 5, "subscribedTopicNames": list(topics)}
    yield Row("ShareGroupHeartbeat", (1,), ghost, (read, *describes), (("DESCRIBE GROUP az-share",),))
    unchanged: Form = {**ghost, "subscribedTopicNames": None}
    yield Row("ShareGroupHeartbeat", (1,), unchanged, (read,), label="no topics")
    shown: Form = {"groupIds": ["az-share", "az-nobody", ""], "includeAuthorizedOperations": True}
    rights = ("DESCRIBE GROUP az-share", *describes, "DESCRIBE GROUP az-nobody")
    yield Row("ShareGroupDescribe", (1,), shown, rights, ((read, *reads),))
    fetch: Form = {"groupId": "az-share", "memberId": "sharer", "maxBytes": 1 << 20, "maxRecords": 10, "batchSize": 10}
    fetch["topics"] = [
        {"topicId": world.id(name), "partitions": [{"partitionIndex": 0, "partitionMaxBytes": 1 << 20}]}
        for name in topics
    ]
    lesser = ((read, *describes), ("DESCRIBE GROUP az-share", *reads))
    yield Row("ShareFetch", (1, 2), {**fetch, "shareSessionEpoch": 0}, (read, *reads), lesser)
    done = {"firstOffset": 9, "lastOffset": 9, "acknowledgeTypes": [1]}
    acknowledged = [
        {"topicId": world.id(name), "partitions": [{"partitionIndex": 0, "acknowledgementBatches": [done]}]}
        for name in topics
    ]
    going_on: Form = {**fetch, "memberId": "the sharer", "shareSessionEpoch": 1, "topics": acknowledged}
    session = "share session"
    yield Row(
        "ShareFetch", (1, 2), going_on, (read, *reads), lesser, label="acknowledging", before=session, after=session
    )
    final: Form = {**going_on, "shareSessionEpoch": -1, "maxBytes": 0, "maxRecords": 0}
    yield Row("ShareFetch", (1, 2), final, (read, *reads), label="last", before=session, after=session)
    only: Form = {"groupId": "az-share", "memberId": "the sharer", "shareSessionEpoch": 1, "topics": acknowledged}
    yield Row("ShareAcknowledge", (1, 2), only, (read, *reads), lesser, before=session, after=session)
    yield Row("ShareAcknowledge", (1, 2), {**only, "memberId": "x"}, (read, *reads), label="without a session")
    yield from _share_offsets(topics)


def _share_offsets(topics: tuple[str, ...]) -> Iterator[Row]:
    describes = tuple(f"DESCRIBE TOPIC {name}" for name in topics)
    reads = tuple(f"READ TOPIC {name}" for name in topics)
    named = [{"topicName": name, "partitions": [0]} for name in (*topics, "az-none")]
    groups: Form = {"groups": [{"groupId": "az-share", "topics": named}, {"groupId": "", "topics": []}]}
    rights = ("DESCRIBE GROUP az-share", *describes)
    yield Row("DescribeShareGroupOffsets", (0, 1), groups, rights, (("READ GROUP az-share", *reads),))
    every: Form = {"groups": [{"groupId": "az-share", "topics": None}, {"groupId": "az-nobody", "topics": []}]}
    rights += ("DESCRIBE GROUP az-nobody",)
    yield Row("DescribeShareGroupOffsets", (0, 1), every, rights, label="all topics")
    moved = [{"topicName": name, "partitions": [{"partitionIndex": 0, "startOffset": 1}]} for name in topics]
    nowhere = {"topicName": "az-none", "partitions": [{"partitionIndex": 0, "startOffset": 1}]}
    alter: Form = {"groupId": "az-share-2", "topics": [*moved, nowhere]}
    lesser = (("ALTER GROUP az-share-2", *reads), ("READ GROUP az-share-2", *describes))
    yield Row("AlterShareGroupOffsets", (0,), alter, ("READ GROUP az-share-2", *reads, "READ TOPIC az-none"), lesser)
    gone: Form = {"groupId": "az-share-2", "topics": [{"topicName": name} for name in (*topics, "az-none")]}
    lesser = (("READ GROUP az-share-2", *reads), ("DELETE GROUP az-share-2", "DELETE TOPIC az-a"))
    rights = ("DELETE GROUP az-share-2", *reads, "READ TOPIC az-none")
    yield Row("DeleteShareGroupOffsets", (0,), gone, rights, lesser, before="share offsets")


def _share_states(world: World) -> Iterator[Row]:
    right = ("CLUSTER_ACTION CLUSTER kafka-cluster",)
    lesser = (("READ GROUP az-state", "READ TOPIC az-a", "ALTER CLUSTER kafka-cluster"),)

    def of(**fields: Any) -> Form:
        return {"groupId": "az-state", "topics": [{"topicId": world.id("az-a"), "partitions": [fields]}]}

    yield Row("InitializeShareGroupState", (0,), of(partition=0, stateEpoch=1, startOffset=0), right, lesser)
    yield Row("ReadShareGroupState", (0,), of(partition=0, leaderEpoch=0), right, lesser)
    state = {"firstOffset": 0, "lastOffset": 0, "deliveryState": 2, "deliveryCount": 1}
    written = of(partition=0, stateEpoch=1, leaderEpoch=0, startOffset=0, stateBatches=[state])
    yield Row("WriteShareGroupState", (0, 1), written, right, lesser)
    yield Row("ReadShareGroupStateSummary", (0, 1), of(partition=0, leaderEpoch=0), right, lesser)
    yield Row("DeleteShareGroupState", (0,), of(partition=0), right, lesser)


def _streams_groups() -> Iterator[Row]:
    beat: Form = {"groupId": "az-streams-2", "memberId": "ghost", "memberEpoch": 5, "rebalanceTimeoutMs": -1}
    beat |= dict.fromkeys(("activeTasks", "standbyTasks", "warmupTasks"))
    read = "READ GROUP az-streams-2"
    yield Row("StreamsGroupHeartbeat", (0,), beat, (read,), (("DESCRIBE GROUP az-streams-2",),), label="no topology")
    yield _streams_join(beat, "az-streams-2", "CREATE TOPIC az-streams-2-store-changelog")
    yield _streams_join(beat, "az-streams-3", "CREATE CLUSTER kafka-cluster", label="may create topics")
    shown: Form = {"groupIds": ["az-streams", "az-nobody", ""], "includeAuthorizedOperations": True}
    rights = ("DESCRIBE GROUP az-streams", "DESCRIBE TOPIC az-a", "DESCRIBE TOPIC az-b", "DESCRIBE GROUP az-nobody")
    yield Row("StreamsGroupDescribe", (0,), shown, rights)


def _streams_join(beat: Form, group: str, create: str, label: str = "") -> Row:
    """A member with an internal topic joins; the last user may have it created."""
    name = f"{group}-store-changelog"
    store = {"name": name, "partitions": 0, "replicationFactor": 1, "topicConfigs": []}
    part = {"subtopologyId": "0", "sourceTopics": ["az-a"], "sourceTopicRegex": [], "stateChangelogTopics": [store]}
    part |= {"repartitionSinkTopics": [], "repartitionSourceTopics": [], "copartitionGroups": []}
    join: Form = {**beat, "groupId": group, "memberId": "streamer", "memberEpoch": 0, "rebalanceTimeoutMs": 10_000}
    join |= {"topology": {"epoch": 0, "subtopologies": [part]}, "processId": "process", "clientTags": []}
    join |= {"activeTasks": [], "standbyTasks": [], "warmupTasks": []}
    rights = (f"READ GROUP {group}", "DESCRIBE TOPIC az-a", f"DESCRIBE TOPIC {name}", create)
    return Row("StreamsGroupHeartbeat", (0,), join, rights, label=label, after="no streams")


# -- transactions


def _transactions() -> Iterator[Row]:
    write = "WRITE TRANSACTIONAL_ID az-txn"
    lesser = ("DESCRIBE TRANSACTIONAL_ID az-txn",)
    names = ("az-a", "az-b", "az-none")
    writes = tuple(f"WRITE TOPIC {name}" for name in names)
    nobody: Form = {"transactionalId": "az-txn", "producerId": 7777, "producerEpoch": 0}
    old: Form = {f"v3AndBelow{key[0].upper()}{key[1:]}": value for key, value in nobody.items()}
    both = [{"name": name, "partitions": [0]} for name in names[:2]]
    three: Form = {**old, "v3AndBelowTopics": [*both, {"name": "az-none", "partitions": [0]}]}
    more: Sets = (lesser, (write, "DESCRIBE TOPIC az-a", "DESCRIBE TOPIC az-b"))
    rights = (write, *writes)
    yield Row("AddPartitionsToTxn", (0, 3), {**old, "v3AndBelowTopics": both}, rights[:3], more)
    yield Row("AddPartitionsToTxn", (0, 3), three, rights, label="one unknown")
    added: Form = {"transactions": [{**nobody, "verifyOnly": False, "topics": both}]}
    cluster = "CLUSTER_ACTION CLUSTER kafka-cluster"
    yield Row("AddPartitionsToTxn", (4, 5), added, (cluster,), (rights, (cluster, *rights)))
    yield Row("AddOffsetsToTxn", (0, 4), {**nobody, "groupId": "az-free"}, (write, "READ GROUP az-free"), (lesser,))
    yield Row("EndTxn", (0, 2, 5), {**nobody, "committed": True}, (write,), (lesser,))
    kept = {"partitionIndex": 0, "committedOffset": 5, "committedMetadata": "m"}
    commit: Form = {**nobody, "groupId": "az-free", "generationId": -1, "memberId": ""}
    commit["topics"] = [{"name": name, "partitions": [kept]} for name in names]
    rights = (write, "READ GROUP az-free", *(f"READ TOPIC {name}" for name in names))
    yield Row("TxnOffsetCommit", (0, 3, 5), commit, rights, (lesser,))
    marker: Form = {"producerId": 7777, "producerEpoch": 0, "topics": [{"name": "az-none", "partitionIndexes": [0]}]}
    alter = "ALTER CLUSTER kafka-cluster"
    yield Row("WriteTxnMarkers", (1, 2), {"markers": [marker]}, (alter, cluster), (writes,))
    describes = ("DESCRIBE TRANSACTIONAL_ID az-txn", "DESCRIBE TOPIC az-a", "DESCRIBE TOPIC az-b")
    shown: Form = {"transactionalIds": ["az-txn", "az-nobody", ""]}
    rights = (*describes, "DESCRIBE TRANSACTIONAL_ID az-nobody")
    yield Row("DescribeTransactions", (0,), shown, rights, ((write, "READ TOPIC az-a"),))
    listed = (describes[0], "DESCRIBE TRANSACTIONAL_ID az-init")
    more = (("WRITE TRANSACTIONAL_ID az-txn",), ("DESCRIBE CLUSTER kafka-cluster",))
    yield Row("ListTransactions", (0, 2), {"durationFilter": -1}, listed, more)
    begun: Form = {"transactionalId": None, "transactionTimeoutMs": 1000, "producerId": -1, "producerEpoch": -1}
    any_topic = (("WRITE TOPIC az-none",), ("READ TOPIC az-a",), ("WRITE TOPIC az-a", "-WRITE TOPIC *"))
    yield Row("InitProducerId", (0, 2, 5), begun, ("IDEMPOTENT_WRITE CLUSTER kafka-cluster",), any_topic)
    named: Form = {**begun, "transactionalId": "az-init"}
    more = (("IDEMPOTENT_WRITE CLUSTER kafka-cluster",), ("DESCRIBE TRANSACTIONAL_ID az-init",))
    right = ("WRITE TRANSACTIONAL_ID az-init",)
    yield Row("InitProducerId", (0, 2, 5), named, right, more, label="transactional")


# -- security


def _security(world: World) -> Iterator[Row]:
    alter, describe = "ALTER CLUSTER kafka-cluster", "DESCRIBE CLUSTER kafka-cluster"
    wanted: Form = {"resourceTypeFilter": 2, "resourceNameFilter": "az-acl", "patternTypeFilter": 3}
    wanted |= {"principalFilter": None, "hostFilter": None, "operation": 1, "permissionType": 1}
    yield Row("DescribeAcls", (1, 3), wanted, (describe,), ((alter,),))
    acl = {"resourceType": 2, "resourceName": "az-acl-2", "resourcePatternType": 3, "principal": "User:nobody"}
    acl |= {"host": "*", "operation": 3, "permissionType": 3}
    yield Row("CreateAcls", (1, 3), {"creations": [acl]}, (alter,), ((describe,),))
    gone: Form = {"filters": [{**wanted, "resourceNameFilter": "az-acl-2"}]}
    yield Row("DeleteAcls", (1, 3), gone, (alter,), ((describe,),))
    yield Row("CreateDelegationToken", (1, 3), {"maxLifetimeMs": -1, "renewers": []}, brief=True)
    foreign: Form = {"ownerPrincipalType": "User", "ownerPrincipalName": "admin", "maxLifetimeMs": -1, "renewers": []}
    right = ("CREATE_TOKENS USER User:admin",)
    yield Row("CreateDelegationToken", (3,), foreign, right, ((alter,),), label="of another", brief=True)
    yield Row("RenewDelegationToken", (1, 2), {"hmac": world.hmac, "renewPeriodMs": 1000}, brief=True)
    yield Row("ExpireDelegationToken", (1, 2), {"hmac": world.hmac, "expiryTimePeriodMs": 1000}, brief=True)
    owners: Form = {"owners": [{"principalType": "User", "principalName": "owner"}]}
    rights = ("DESCRIBE DELEGATION_TOKEN {token}", "DESCRIBE_TOKENS USER User:owner")
    yield Row("DescribeDelegationToken", (1, 3), owners, rights)
    users: Form = {"users": [{"name": "az-nobody"}]}
    yield Row("DescribeUserScramCredentials", (0,), users, (describe,), ((alter,),))
    dropped: Form = {"deletions": [{"name": "az-nobody", "mechanism": 1}], "upsertions": []}
    yield Row("AlterUserScramCredentials", (0,), dropped, (alter,), ((describe,),))


def _configs(world: World) -> Iterator[Row]:
    cluster = "CLUSTER kafka-cluster"
    asked = [(2, "az-a", "retention.ms"), (2, "az-none", "retention.ms"), (4, str(world.node), "log.retention.ms")]
    asked += [(4, "", "log.retention.ms"), (32, "az-share", "share.session.timeout.ms"), (16, "az-metrics", "match")]
    resources = [{"resourceType": kind, "resourceName": name, "configurationKeys": [key]} for kind, name, key in asked]
    things = ("TOPIC az-a", "TOPIC az-none", cluster, "GROUP az-share")
    rights = tuple(f"DESCRIBE_CONFIGS {thing}" for thing in things)
    more: Sets = (tuple(f"ALTER_CONFIGS {thing}" for thing in things), tuple(f"DESCRIBE {thing}" for thing in things))
    yield Row("DescribeConfigs", (1, 4), {"resources": resources}, rights, more)
    logger = {"resourceType": 8, "resourceName": str(world.node), "configurationKeys": []}
    yield Row("DescribeConfigs", (1, 4), {"resources": [logger]}, rights[2:3], label="loggers", brief=True)
    values = {"match": None, "retention.ms": "1000", "log.retention.ms": "604800000"}
    values |= {"share.session.timeout.ms": "45000"}
    altered = [
        {"resourceType": kind, "resourceName": name, "configs": [{"name": key, "value": values[key]}]}
        for kind, name, key in asked
        if name not in ("", "az-metrics")
    ]
    rights = tuple(f"ALTER_CONFIGS {thing}" for thing in things)
    more = (tuple(f"ALTER {thing}" for thing in things),)
    yield Row("AlterConfigs", (0, 2), {"resources": altered, "validateOnly": True}, rights, more)
    yield Row("IncrementalAlterConfigs", (0, 1), {"resources": altered, "validateOnly": True}, rights, more)
    level = {"name": "kafka.server.KafkaApis", "configOperation": 0, "value": "INFO"}
    loggers: Form = {"resources": [{"resourceType": 8, "resourceName": str(world.node), "configs": [level]}]}
    loggers |= {"validateOnly": True}
    yield Row("IncrementalAlterConfigs", (1,), loggers, rights[2:3], more, label="loggers")
    right = (f"DESCRIBE_CONFIGS {cluster}",)
    lesser = ((f"DESCRIBE {cluster}",),)
    yield Row("ListConfigResources", (0, 1), {"resourceTypes": []}, right, lesser, brief=True)
    quotas: Form = {"components": [{"entityType": "user", "matchType": 0, "match": "az-nobody"}], "strict": True}
    yield Row("DescribeClientQuotas", (0, 1), quotas, right, lesser)
    entry: Form = {"entity": [{"entityType": "user", "entityName": "az-nobody"}]}
    entry["ops"] = [{"key": "producer_byte_rate", "value": 1000.0, "remove": False}]
    changed: Form = {"entries": [entry], "validateOnly": True}
    yield Row("AlterClientQuotas", (0, 1), changed, (f"ALTER_CONFIGS {cluster}",), ((f"ALTER {cluster}",),))


# -- the cluster


def _cluster() -> Iterator[Row]:
    alter, describe = ("ALTER CLUSTER kafka-cluster",), ("DESCRIBE CLUSTER kafka-cluster",)
    configs = (("ALTER_CONFIGS CLUSTER kafka-cluster", "CLUSTER_ACTION CLUSTER kafka-cluster"),)
    shown: Form = {"includeClusterAuthorizedOperations": True}
    yield Row("DescribeCluster", (0, 2), shown, (*describe, *alter), configs)
    paths: Form = {"dirs": [{"path": "/nonesuch", "topics": [{"name": "az-a", "partitions": [0]}]}]}
    yield Row("AlterReplicaLogDirs", (1, 2), paths, alter, (describe, ("ALTER TOPIC az-a",)))
    logs: Form = {"topics": [{"topic": "az-none", "partitions": [0]}]}
    yield Row("DescribeLogDirs", (1, 3, 5), logs, describe, (alter, ("DESCRIBE TOPIC az-none",)), brief=True)
    elected: Form = {"topicPartitions": [{"topic": "az-a", "partitions": [0]}], "timeoutMs": 3000}
    yield Row("ElectLeaders", (0, 2), elected, alter, (describe, ("ALTER TOPIC az-a",)))
    moved: Form = {"timeoutMs": 3000, "topics": [{"name": "az-a", "partitions": [{"partitionIndex": 0}]}]}
    moved["topics"][0]["partitions"][0]["replicas"] = None
    yield Row("AlterPartitionReassignments", (0, 1), moved, alter, (describe, ("ALTER TOPIC az-a",)))
    yield Row("ListPartitionReassignments", (0,), {"timeoutMs": 3000, "topics": None}, describe, (alter,))
    quorum: Form = {"topics": [{"topicName": "__cluster_metadata", "partitions": [{"partitionIndex": 0}]}]}
    yield Row("DescribeQuorum", (0, 2), quorum, describe, (alter,), brief=True)
    level = {"feature": "nonesuch", "maxVersionLevel": 1, "upgradeType": 1}
    feature: Form = {"timeoutMs": 3000, "featureUpdates": [level], "validateOnly": True}
    yield Row("UpdateFeatures", (0, 1, 2), feature, alter, (describe,))
    yield Row("UnregisterBroker", (0,), {"brokerId": 99}, alter, (describe,))
    yield Row("ApiVersions", (0, 3, 4), {"clientSoftwareName": "az", "clientSoftwareVersion": "1"}, brief=True)
