"""Lists with repeated or no elements, and the order of checks: what a real Kafka 4.4.0 answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.apis import API_BY_NAME
from odradek.protocol.json_form import from_json, to_json
from odradek.protocol.message_codec import codec
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.wire_client import WireClient
from tests.scenarios.odd_requests import completed

pytestmark = pytest.mark.long

Form = dict[str, Any]
NO_ID, SOME_ID = "A" * 22, "AAAAAAAAAAAAAAAAAAAAAQ"


class Talk:
    """A broker with topics a (2 partitions) and b (1), and a client of it."""

    def __init__(self, broker: KafkaBroker) -> None:
        self.ids = {"a": broker.create_topic("a", partitions=2).topic_id}
        self.ids["b"] = broker.create_topic("b", partitions=1).topic_id
        self.client = WireClient.at(broker.bootstrap_servers)

    def ask(self, api: str, version: int, form: Form) -> Form:
        request = API_BY_NAME[api].request
        whole = completed(codec(request, version).construct, form)
        return to_json(self.client.request(from_json(request, version, whole), version), version)


@pytest.fixture(scope="module")
def talk() -> Iterator[Talk]:
    with KafkaBroker() as broker:
        talk = Talk(broker)
        for group in ("g", "c", "s", "z"):
            talk.ask("FindCoordinator", 4, {"coordinatorKeys": [group], "keyType": 0})
        yield talk
        talk.client.close()
        assert broker.bugs == []


def batch(**fields: Any) -> str:
    return build_batch([Record(0, 0, None, b"v", ())], **fields).hex()


# -- offsets


def kept(index: int, metadata: str = "") -> Form:
    return {"partitionIndex": index, "committedOffset": 1, "committedLeaderEpoch": -1, "committedMetadata": metadata}


def test_offset_apis_name_an_unknown_topic_without_partitions(talk: Talk) -> None:
    commit: Form = {"groupId": "g", "generationIdOrMemberEpoch": -1, "memberId": ""}
    named = {"topics": [{"name": "nope", "topicId": SOME_ID, "partitions": []}]}
    unknown = [{"name": "nope", "partitions": []}]
    assert talk.ask("OffsetCommit", 9, {**commit, **named})["topics"] == unknown
    assert talk.ask("OffsetCommit", 10, {**commit, **named})["topics"] == [{"topicId": SOME_ID, "partitions": []}]
    of_producer: Form = {"transactionalId": "x", "producerId": 7, "producerEpoch": 0, **commit}
    assert talk.ask("TxnOffsetCommit", 5, {**of_producer, **named})["topics"] == unknown
    known = {"topics": [{"name": "a", "topicId": talk.ids["a"], "partitions": []}]}
    assert talk.ask("OffsetCommit", 9, {**commit, **known})["topics"] == []
    assert talk.ask("TxnOffsetCommit", 5, {**of_producer, **known})["topics"] == []
    talk.ask("OffsetCommit", 9, {**commit, "topics": [{"name": "a", "partitions": [kept(0)]}]})
    assert talk.ask("OffsetDelete", 0, {"groupId": "g", **named})["topics"] == unknown


def join_consumer_group(talk: Talk, group: str) -> None:
    member: Form = {"groupId": group, "memberId": "m", "memberEpoch": 0, "subscribedTopicNames": ["b"]}
    joined = talk.ask("ConsumerGroupHeartbeat", 1, {**member, "rebalanceTimeoutMs": 60000, "topicPartitions": []})
    assert joined["errorCode"] == 0


def test_too_long_metadata_are_refused_before_the_member_is_asked_for_the_partition(talk: Talk) -> None:
    join_consumer_group(talk, "c")
    commit: Form = {"groupId": "c", "memberId": "m", "generationIdOrMemberEpoch": 0}

    def codes(*partitions: Form) -> list[int]:
        topics = [{"name": "a", "partitions": list(partitions)}]
        (topic,) = talk.ask("OffsetCommit", 9, {**commit, "topics": topics})["topics"]
        return [each["errorCode"] for each in topic["partitions"]]

    assert codes(kept(0)) == [113]
    assert codes(kept(0, "x" * 5000)) == [12]
    assert codes(kept(0, "x" * 5000), kept(1)) == [113, 113]


# -- share groups


def altered(talk: Talk, *topics: tuple[str, list[int]]) -> Form:
    asked = [
        {"topicName": name, "partitions": [{"partitionIndex": index, "startOffset": 1} for index in indexes]}
        for name, indexes in topics
    ]
    return talk.ask("AlterShareGroupOffsets", 0, {"groupId": "s", "topics": asked})


def test_altered_share_offsets_name_all_that_was_asked(talk: Talk) -> None:
    def rows(answer: Form) -> list[tuple[str, list[int]]]:
        return [(t["topicName"], [p["partitionIndex"] for p in t["partitions"]]) for t in answer["responses"]]

    assert rows(altered(talk, ("a", []))) == [("a", [])]
    assert rows(altered(talk, ("nope", []))) == []
    assert rows(altered(talk, ("a", [0, 0]))) == [("a", [0, 0])]
    assert rows(altered(talk, ("a", [0]), ("a", [0, 1]))) == [("a", [0, 0, 1])]
    refused = altered(talk, ("a", [-1]))
    assert (refused["errorCode"], refused["responses"]) == (-1, [])
    text = f"Initialize share group parameters has invalid partitionId - s {talk.ids['a']} -1"
    assert refused["errorMessage"] == text


def test_alter_share_group_offsets_records_all_entries_of_a_topic(talk: Talk) -> None:
    topics = [{"topicName": "b", "partitions": [{"partitionIndex": 0, "startOffset": 1}]}]
    topics += [{"topicName": "a", "partitions": [{"partitionIndex": index, "startOffset": 1}]} for index in (1, 0)]
    assert talk.ask("AlterShareGroupOffsets", 0, {"groupId": "altered", "topics": topics})["errorMessage"] is None
    asked = {"groups": [{"groupId": "altered", "topics": None}]}
    (group,) = talk.ask("DescribeShareGroupOffsets", 1, asked)["groups"]
    recorded = {each["topicName"]: [at["partitionIndex"] for at in each["partitions"]] for each in group["topics"]}
    assert recorded == {"a": [0, 1], "b": [0]}


def test_alter_share_group_offsets_writes_one_state_of_a_partition_named_twice(talk: Talk) -> None:
    def written() -> int:
        asked = [{"partitionIndex": index, "timestamp": -1} for index in range(50)]
        (topic,) = talk.ask("ListOffsets", 7, {"topics": [{"name": "__share_group_state", "partitions": asked}]})[
            "topics"
        ]
        return sum(partition["offset"] for partition in topic["partitions"])

    altered(talk, ("b", [0]))  # which makes the topic of the states
    before = written()
    topics = [{"topicName": "a", "partitions": [{"partitionIndex": 0, "startOffset": start}]} for start in (0, -1)]
    assert talk.ask("AlterShareGroupOffsets", 0, {"groupId": "once", "topics": topics})["errorMessage"] is None
    assert written() == before + 1
    summary = {"groupId": "once", "topics": [{"topicId": talk.ids["a"], "partitions": [{"partition": 0}]}]}
    (told,) = talk.ask("ReadShareGroupStateSummary", 0, summary)["results"]
    assert told["partitions"][0]["startOffset"] == -1


def test_alter_share_group_offsets_says_that_the_initialization_failed(talk: Talk) -> None:
    ahead = {"partition": 0, "stateEpoch": (1 << 31) - 1, "startOffset": 0}
    state = {"groupId": "ahead", "topics": [{"topicId": talk.ids["a"], "partitions": [ahead]}]}
    talk.ask("InitializeShareGroupState", 0, state)
    topics = [{"topicName": "a", "partitions": [{"partitionIndex": 0, "startOffset": 0}]}]
    (topic,) = talk.ask("AlterShareGroupOffsets", 0, {"groupId": "ahead", "topics": topics})["responses"]
    why = "The coordinator rejected the request because the state epoch did not match."
    assert topic["partitions"][0]["errorMessage"] == f"Error in initialize state RPC. {why}"


def test_share_acknowledge_takes_the_last_entry_of_a_partition(talk: Talk) -> None:
    def acknowledged(epoch: int, *partitions: Form) -> list[tuple[int, int]]:
        topics = [{"topicId": talk.ids["a"], "partitions": list(partitions)}]
        asked = {"groupId": "s", "memberId": "A" * 22, "shareSessionEpoch": epoch, "topics": topics}
        rows = talk.ask("ShareAcknowledge", 2, asked)["responses"]
        return [(at["partitionIndex"], at["errorCode"]) for row in rows for at in row["partitions"]]

    session = {"groupId": "s", "memberId": "A" * 22, "shareSessionEpoch": 0, "maxRecords": 1, "batchSize": 1}
    talk.ask("ShareFetch", 1, session)
    empty: Form = {"partitionIndex": 0, "acknowledgementBatches": []}
    wrong = {**empty, "acknowledgementBatches": [{"firstOffset": -1, "lastOffset": 2, "acknowledgeTypes": []}]}
    assert acknowledged(1, wrong, empty) == []
    assert acknowledged(2, empty, wrong) == [(0, 42)]


def test_described_share_offsets_name_a_partition_once(talk: Talk) -> None:
    def described(*topics: tuple[str, list[int]]) -> Any:
        asked = [{"topicName": name, "partitions": indexes} for name, indexes in topics]
        (group,) = talk.ask("DescribeShareGroupOffsets", 1, {"groups": [{"groupId": "s", "topics": asked}]})["groups"]
        if group["errorCode"]:
            return group["errorCode"], group["errorMessage"]
        return [(t["topicName"], [p["partitionIndex"] for p in t["partitions"]]) for t in group["topics"]]

    failure = (-1, "The server experienced an unexpected error when processing the request.")
    assert described(("a", [0, 0])) == [("a", [0])]
    assert described(("a", [1]), ("nope", [3]), ("a", [0])) == [("a", [0, 1]), ("nope", [3])]
    assert described(("a", [])) == described(("a", [0]), ("b", [])) == described(("a", [-1])) == failure
    assert described(("nope", [])) == [("nope", [])]


def test_described_share_offsets_of_the_group_without_a_name(talk: Talk) -> None:
    for name, code in (("a", -1), ("nope", 0)):
        asked = {"groups": [{"groupId": "", "topics": [{"topicName": name, "partitions": [0]}]}]}
        (group,) = talk.ask("DescribeShareGroupOffsets", 1, asked)["groups"]
        assert group["errorCode"] == code


def test_described_share_offsets_of_a_partition_that_does_not_exist_come_at_once(talk: Talk) -> None:
    # Kafka tries for half a minute, and then says the same.
    asked = {"groups": [{"groupId": "s", "topics": [{"topicName": "a", "partitions": [9]}]}]}
    (group,) = talk.ask("DescribeShareGroupOffsets", 1, asked)["groups"]
    (row,) = group["topics"][0]["partitions"]
    assert (row["partitionIndex"], row["startOffset"], row["lag"], row["errorCode"]) == (9, -1, -1, 0)


def test_a_share_partition_whose_state_cannot_be_read_is_told_at_the_end_of_the_wait(talk: Talk) -> None:
    for epoch, wait_ms, codes in ((0, 0, []), (1, 30, [-1])):
        topics = [{"topicId": talk.ids["a"], "partitions": [{"partitionIndex": 0, "acknowledgementBatches": []}]}]
        fetch: Form = {"groupId": "without-state", "memberId": "m", "shareSessionEpoch": epoch, "maxWaitMs": wait_ms}
        answer = talk.ask("ShareFetch", 1, {**fetch, "maxBytes": 1000, "maxRecords": 1, "topics": topics})
        assert [row["errorCode"] for each in answer["responses"] for row in each["partitions"]] == codes


def test_a_topic_that_was_created_anew_has_no_share_state(talk: Talk) -> None:
    new = {"name": "anew", "numPartitions": 1, "replicationFactor": 1, "assignments": [], "configs": []}
    (made,) = talk.ask("CreateTopics", 7, {"topics": [new], "timeoutMs": 1000})["topics"]
    member: Form = {"groupId": "anew", "memberId": "m"}
    talk.ask("ShareGroupHeartbeat", 1, {**member, "memberEpoch": 0, "subscribedTopicNames": ["anew"]})
    named = [{"topicId": made["topicId"], "partitions": [{"partitionIndex": 0, "acknowledgementBatches": []}]}]
    fetch: Form = {**member, "maxWaitMs": 30, "maxBytes": 1000, "maxRecords": 1}

    def codes(epoch: int, topics: list[Form]) -> list[int]:
        answer = talk.ask("ShareFetch", 1, {**fetch, "shareSessionEpoch": epoch, "topics": topics})
        return [row["errorCode"] for each in answer["responses"] for row in each["partitions"]]

    assert codes(0, named) == [0]
    talk.ask("DeleteTopics", 5, {"topicNames": ["anew"], "timeoutMs": 1000})
    assert codes(1, []) == [3]
    talk.ask("CreateTopics", 7, {"topics": [new], "timeoutMs": 1000})
    assert codes(2, []) == [-1]


def test_a_share_state_never_goes_back_to_an_earlier_start(talk: Talk) -> None:
    def asked(**fields: Any) -> Form:
        partition = {"partition": 1, "stateEpoch": 1, "leaderEpoch": 0, **fields}
        return {"groupId": "back", "topics": [{"topicId": talk.ids["a"], "partitions": [partition]}]}

    talk.ask("FindCoordinator", 6, {"coordinatorKeys": [f"back:{talk.ids['a']}:1"], "keyType": 2})
    talk.ask("InitializeShareGroupState", 0, asked(startOffset=2))
    batches = [{"firstOffset": 1, "lastOffset": 4, "deliveryState": 0, "deliveryCount": 1}]
    talk.ask("WriteShareGroupState", 1, asked(startOffset=0, deliveryCompleteCount=-1, stateBatches=batches))
    (read,) = talk.ask("ReadShareGroupState", 0, asked())["results"][0]["partitions"]
    assert (read["errorCode"], read["startOffset"]) == (0, 2)
    assert [(each["firstOffset"], each["lastOffset"]) for each in read["stateBatches"]] == [(2, 4)]


# -- topics


@pytest.mark.parametrize(
    ("topics", "order"),
    [
        ([("nope", [3, 2, 1, 0])], [("nope", [0, 1, 2, 3])]),
        ([("nope", [4, 3, 2, 1, 0])], [("nope", [2, 3, 0, 4, 1])]),
        ([("b", [0]), ("nope", [4, 3, 2, 1, 0])], [("nope", [4, 0, 1, 2, 3]), ("b", [0])]),
        (
            [("zz", [0]), ("nope", [1, 0]), ("x", [0]), ("c", [0]), ("d", [0])],
            [("x", [0]), ("nope", [0, 1]), ("zz", [0]), ("c", [0]), ("d", [0])],
        ),
    ],
)
def test_deleted_records_are_told_in_the_order_of_scalas_maps(talk: Talk, topics: Any, order: Any) -> None:
    asked = [
        {"name": name, "partitions": [{"partitionIndex": at, "offset": 0} for at in indexes]}
        for name, indexes in topics
    ]
    told = talk.ask("DeleteRecords", 2, {"topics": asked, "timeoutMs": 1000})["topics"]
    assert [(each["name"], [row["partitionIndex"] for row in each["partitions"]]) for each in told] == order


def test_produce_tells_unreadable_records_before_an_unknown_topic(talk: Talk) -> None:
    for records, code in (("00" * 68, 2), (batch(), 3)):
        data = [{"name": "nope", "partitionData": [{"index": 0, "records": records}]}]
        answer = talk.ask("Produce", 9, {"transactionalId": None, "acks": 1, "timeoutMs": 1000, "topicData": data})
        (row,) = answer["responses"][0]["partitionResponses"]
        assert row["errorCode"] == code


def test_produce_names_a_topic_once(talk: Talk) -> None:
    def produced(*topics: tuple[str, list[int]], acks: int = 1, **fields: Any) -> list[tuple[str, list[Any]]]:
        asked = [
            {"name": name, "partitionData": [{"index": index, "records": batch(**fields)} for index in indexes]}
            for name, indexes in topics
        ]
        tid = "nobody" if fields else None
        request = {"transactionalId": tid, "acks": acks, "timeoutMs": 1000, "topicData": asked}
        answer = talk.ask("Produce", 9, request)["responses"]
        return [(t["name"], [(p["index"], p["errorCode"]) for p in t["partitionResponses"]]) for t in answer]

    assert produced(("a", [0]), ("a", [1, 9])) == [("a", [(0, 0), (1, 0), (9, 3)])]
    assert produced(("a", []), ("b", [0])) == [("b", [(0, 0)])]
    assert produced(("a", [0]), acks=2) == [("a", [(0, 21)])]
    talk.ask("FindCoordinator", 4, {"coordinatorKeys": ["nobody"], "keyType": 1})
    in_transaction = {"producer_id": 4711, "producer_epoch": 0, "base_sequence": 0, "transactional": True}
    assert produced(("a", [0]), acks=2, **in_transaction) == [("a", [(0, 49)])]


def test_a_partition_with_several_batches_is_in_no_transaction(talk: Talk) -> None:
    talk.ask("FindCoordinator", 4, {"coordinatorKeys": ["several"], "keyType": 1})
    asked: Form = {"transactionalId": "several", "transactionTimeoutMs": 1000, "producerId": -1, "producerEpoch": -1}
    own = {"producer_id": talk.ask("InitProducerId", 4, asked)["producerId"], "producer_epoch": 0, "base_sequence": 0}
    other = batch(producer_id=4711, producer_epoch=0, base_sequence=0, transactional=True)
    good = batch(transactional=True, **own)
    data = [{"name": "a", "partitionData": [{"index": 1, "records": good}, {"index": 0, "records": other + good}]}]
    request = {"transactionalId": "several", "acks": 1, "timeoutMs": 1000, "topicData": data}
    (topic,) = talk.ask("Produce", 6, request)["responses"]
    assert topic["partitionResponses"][1]["errorCode"] == 87


@pytest.mark.parametrize("timestamp", [-3, -4, -5, -6, -7])
def test_an_old_version_refuses_a_special_timestamp_before_it_looks_for_the_partition(
    talk: Talk, timestamp: int
) -> None:
    asked = {"partitionIndex": 0, "timestamp": timestamp, "currentLeaderEpoch": -1}
    for name in ("a", "nope"):
        answer = talk.ask("ListOffsets", 6, {"replicaId": -1, "topics": [{"name": name, "partitions": [asked]}]})
        assert answer["topics"][0]["partitions"][0]["errorCode"] == 35


def test_elections_of_an_unknown_type(talk: Talk) -> None:
    def elected(topics: Any, kind: int = 5) -> Form:
        return talk.ask("ElectLeaders", 2, {"electionType": kind, "topicPartitions": topics, "timeoutMs": 1000})

    assert (elected([])["errorCode"], elected([])["replicaElectionResults"]) == (0, [])
    assert (elected(None)["errorCode"], elected(None)["replicaElectionResults"]) == (42, [])
    (named,) = elected([{"topic": "a", "partitions": [0]}])["replicaElectionResults"]
    assert named["partitionResult"][0]["errorMessage"] == "Unknown election type 5"
    # in the order of creation; Kafka has that of a hash table
    assert [each["topic"] for each in elected(None, 0)["replicaElectionResults"]][:2] == ["a", "b"]


def test_an_empty_reassignment_may_change_the_replication_factor(talk: Talk) -> None:
    asked = {"timeoutMs": 1000, "allowReplicationFactorChange": False, "topics": []}
    answer = talk.ask("AlterPartitionReassignments", 1, asked)
    assert (answer["allowReplicationFactorChange"], answer["errorMessage"]) == (True, "")


# -- configs


@pytest.mark.parametrize(
    ("kind", "name", "key", "operation", "code", "said"),
    [
        (2, "", "retention.ms", 2, 40, "Can't APPEND to key retention.ms because its type is not LIST."),
        (2, "", "retention.ms", 0, 42, "Default topic resources are not allowed."),
        (2, "", "retention.ms", 9, -1, None),
        *(
            (32, "s", "streams.rack.aware.assignment.tags", operation, 40, f"Can't {verb} to key {{}}")
            for operation, verb in ((2, "APPEND"), (3, "SUBTRACT"))
        ),
        *(
            (4, "", f"group.{group}.assignment.interval.ms", 0, 42, "{} must be less than or equal to group.")
            for group in ("consumer", "share", "streams")
        ),
        (
            4,
            "",
            "log.remote.copy.lag.ms",
            0,
            42,
            "Value must not exceed log.local.retention.ms (effective value: 604800000)",
        ),
    ],
)
def test_changes_of_configs_that_kafka_refuses(
    talk: Talk, kind: int, name: str, key: str, operation: int, code: int, said: str | None
) -> None:
    config = {"name": key, "configOperation": operation, "value": "9999999999" if key.endswith("lag.ms") else "15001"}
    resource = {"resourceType": kind, "resourceName": name, "configs": [config]}
    (answer,) = talk.ask("IncrementalAlterConfigs", 1, {"resources": [resource], "validateOnly": True})["responses"]
    assert answer["errorCode"] == code
    assert said is None or said.format(key) in answer["errorMessage"]


@pytest.mark.parametrize(
    ("kind", "names", "said"),
    [
        (2, ["index.interval.bytes", "retention.ms", "segment.bytes"], "segment.bytes"),
        (2, ["a.b", "retention", "zz", ""], "zz"),
        (2, ["foo", "", "a.b", "."], ""),
        (32, ["share.isolation.level", "share.session.timeout.ms", "consumer.session.timeout.ms"], "consumer.session"),
        (32, ["B", "zz", "q.1", "bar"], "zz"),
        (16, ["x", ".", "", "zz"], ""),
        (4, ["num.io.threads", "compression.type", "log.cleaner.threads", "message.max.bytes"], "message.max.bytes"),
        (4, ["max.connections", "num.io.threads", "log.retention.ms"], "num.io.threads"),
    ],
)
@pytest.mark.parametrize("api", ["IncrementalAlterConfigs", "AlterConfigs"])
def test_alter_configs_with_several_wrong_configs_tells_kafkas_first(
    talk: Talk, api: str, kind: int, names: list[str], said: str
) -> None:
    configs = [{"name": name, "configOperation": 0, "value": "bad!"} for name in names]
    resource = {"resourceType": kind, "resourceName": "" if kind == 4 else "a", "configs": configs}
    (answer,) = talk.ask(api, 1, {"resources": [resource], "validateOnly": True})["responses"]
    assert f" {said}" in answer["errorMessage"].replace(": Not", "").replace("name: ", "").replace(
        "configuration: ", ""
    )


def test_an_unknown_operation_fails_all_changes_of_the_request(talk: Talk) -> None:
    def change(kind: int, operation: int) -> Form:
        config = {"name": "log.retention.ms", "configOperation": operation, "value": "5"}
        return {"resourceType": kind, "resourceName": "a" if kind == 2 else "", "configs": [config]}

    metrics: Form = {"resourceType": 16, "resourceName": "s", "configs": []}
    for resources, codes in (([metrics, change(2, 9)], [-1, -1]), ([metrics, change(4, 9)], [0, 42])):
        answer = talk.ask("IncrementalAlterConfigs", 1, {"resources": resources, "validateOnly": False})
        assert [each["errorCode"] for each in answer["responses"]] == codes


# -- transactions


def test_a_transaction_that_is_named_twice_gets_the_last_partitions_and_the_first_answer(talk: Talk) -> None:
    talk.ask("FindCoordinator", 4, {"coordinatorKeys": ["unknown"], "keyType": 1})

    def answers(verify: bool, *topics: list[Form]) -> list[Any]:
        named: Form = {"transactionalId": "unknown", "producerId": 7, "producerEpoch": 0, "verifyOnly": verify}
        asked = {"transactions": [{**named, "topics": each} for each in topics]}
        told = talk.ask("AddPartitionsToTxn", 4, asked)["resultsByTransaction"]
        return [[(t["name"], len(t["resultsByPartition"])) for t in each["topicResults"]] for each in told]

    assert answers(False, [{"name": "a", "partitions": [1]}], [{"name": "b", "partitions": []}]) == [[("a", 1)]] * 2
    assert (
        answers(False, [{"name": "a", "partitions": [1]}], [{"name": "nope", "partitions": [2]}]) == [[("nope", 1)]] * 2
    )
    assert answers(True, [{"name": "a", "partitions": [1]}], []) == [[], []]


def test_markers_are_answered_in_the_order_of_a_hash_map_of_producer_ids(talk: Talk) -> None:
    topics = [{"name": "a", "partitionIndexes": [0]}]
    fields: Form = {"producerEpoch": 0, "transactionResult": True, "topics": topics, "coordinatorEpoch": 0}
    markers = [{"producerId": producer_id, **fields} for producer_id in (4711, 5, 1 << 32)]
    answer = talk.ask("WriteTxnMarkers", 1, {"markers": markers})
    assert [each["producerId"] for each in answer["markers"]] == [1 << 32, 5, 4711]


def marked(talk: Talk, version: int, indexes: list[int], **fields: Any) -> list[tuple[int, int]]:
    """Partitions of topic a and their error codes, as WriteTxnMarkers answers them."""
    topics = [{"name": "a", "partitionIndexes": indexes}]
    marker = {"producerId": 4712, "producerEpoch": 3, "transactionResult": False, "topics": topics, **fields}
    (answer,) = talk.ask("WriteTxnMarkers", version, {"markers": [marker]})["markers"]
    return [(each["partitionIndex"], each["errorCode"]) for each in answer["topics"][0]["partitions"]]


def end_offset(talk: Talk, index: int) -> int:
    asked = {"partitionIndex": index, "currentLeaderEpoch": -1, "timestamp": -1}
    answer = talk.ask("ListOffsets", 7, {"replicaId": -1, "topics": [{"name": "a", "partitions": [asked]}]})
    return int(answer["topics"][0]["partitions"][0]["offset"])


def test_write_txn_markers_writes_one_marker_to_a_partition_named_twice(talk: Talk) -> None:
    before = end_offset(talk, 1)
    assert marked(talk, 1, [1, 1]) == [(1, 0)]
    assert end_offset(talk, 1) == before + 1


def test_write_txn_markers_answers_partitions_that_do_not_exist_first(talk: Talk) -> None:
    assert marked(talk, 1, [0, -(1 << 31)]) == [(-(1 << 31), 3), (0, 0)]


def test_write_txn_markers_refuses_an_unknown_transaction_version(talk: Talk) -> None:
    assert dict(marked(talk, 2, [0, 9], transactionVersion=-1)) == {0: -1, 9: 3}
    assert dict(marked(talk, 2, [0, 9], transactionVersion=-2)) == {0: 0, 9: 3}


def test_alter_client_quotas_with_several_wrong_quotas_tells_kafkas_first(talk: Talk) -> None:
    for names in (["controller_mutation_rate", "request_percentage"], [".", "request_percentage"], ["zz", "yy", "b"]):
        ops = [{"key": name, "value": 0.0, "remove": False} for name in names]
        entry = {"entity": [{"entityType": "user", "entityName": "u"}], "ops": ops}
        (answer,) = talk.ask("AlterClientQuotas", 0, {"entries": [entry], "validateOnly": True})["entries"]
        assert names[0] in answer["errorMessage"].split()


# -- streams groups


def beat(talk: Talk, epoch: int, group: str = "z", **fields: Any) -> Form:
    topology = {"epoch": 0, "subtopologies": [{"subtopologyId": "0", "sourceTopics": ["a"]}]}
    first: Form = {"topology": topology, "activeTasks": [], "standbyTasks": [], "warmupTasks": []}
    living: Form = {"topology": None, "activeTasks": None, "standbyTasks": None, "warmupTasks": None}
    form = {"groupId": group, "memberId": "m", "memberEpoch": epoch, "processId": "p", "rebalanceTimeoutMs": 1000}
    unset = {"taskOffsets": None, "taskEndOffsets": None, "clientTags": None, "userEndpoint": None}
    return talk.ask("StreamsGroupHeartbeat", 1, {**form, **unset, **(living if epoch else first), **fields})


def streams_epoch(talk: Talk, group: str) -> int:
    (described,) = talk.ask("StreamsGroupDescribe", 0, {"groupIds": [group]})["groups"]
    epoch: int = described["groupEpoch"]
    return epoch


TWICE = [{"key": "a", "value": "b"}, {"key": "a", "value": "c"}]


def test_a_streams_members_faults_count_after_its_membership(talk: Talk) -> None:
    assert beat(talk, 0)["errorCode"] == 0
    assert beat(talk, 7, memberId="nobody", clientTags=TWICE)["errorCode"] == 25
    assert beat(talk, 7, clientTags=TWICE)["errorCode"] == 110
    assert beat(talk, 0, clientTags=TWICE)["errorCode"] == -1
    join_consumer_group(talk, "c")
    assert beat(talk, 0, group="c", clientTags=TWICE)["errorCode"] == 69
    assert beat(talk, 0, memberId="", instanceId="")["errorMessage"] == "MemberId can't be empty."
    row = {"subtopologyId": "0", "partition": 0, "offset": 3}
    for name in ("taskOffsets", "taskEndOffsets"):
        repeated: Form = {name: [row, row]}
        refused = beat(talk, 0, **repeated)
        text = "Task offsets contain a duplicate entry for subtopology 0 and partition 0."
        assert (refused["errorCode"], refused["errorMessage"]) == (42, text)


def test_streams_heartbeat_that_joins_again_unchanged_gets_no_new_endpoints(talk: Talk) -> None:
    endpoint: Form = {"userEndpoint": {"host": "h", "port": 1}}
    first = beat(talk, 0, group="endpoints", memberId="n", **endpoint)
    again = beat(talk, 0, group="endpoints", memberId="n", **endpoint)
    assert again["endpointInformationEpoch"] == first["endpointInformationEpoch"]
    assert again["activeTasks"]


@pytest.mark.parametrize(
    ("change", "matters"),
    [
        ({"rebalanceTimeoutMs": 5000}, False),
        ({"userEndpoint": {"host": "h", "port": 1}}, False),
        ({"rackId": "r"}, True),
        ({"clientTags": TWICE[:1]}, True),
        ({"processId": "other"}, True),
    ],
)
def test_streams_heartbeat_that_changes_a_static_member_bumps_the_epoch(
    talk: Talk, change: Form, matters: bool
) -> None:
    for instance, rises in (("i", matters), (None, True)):
        group = f"{instance}-{next(iter(change))}"
        epoch = beat(talk, 0, group=group, instanceId=instance)["memberEpoch"]
        before = streams_epoch(talk, group)
        beat(talk, epoch, group=group, instanceId=instance, **change)
        assert streams_epoch(talk, group) == before + rises


@pytest.mark.parametrize("kind", ["activeTasks", "standbyTasks", "warmupTasks"])
def test_streams_heartbeat_that_names_a_subtopology_twice_fails_only_when_it_changes_something(
    talk: Talk, kind: str
) -> None:
    group = f"twice-{kind}"
    at_once = [{"name": "streams.assignment.interval.ms", "value": "0"}]
    talk.ask(
        "IncrementalAlterConfigs", 1, {"resources": [{"resourceType": 32, "resourceName": group, "configs": at_once}]}
    )
    topology = {"epoch": 0, "subtopologies": [{"subtopologyId": "0", "sourceTopics": ["missing"]}]}
    epoch = beat(talk, 0, group=group, topology=topology)["memberEpoch"]
    twice: Form = {"activeTasks": [], "standbyTasks": [], "warmupTasks": []}
    twice[kind] = [{"subtopologyId": "0", "partitions": []}, {"subtopologyId": "0", "partitions": []}]
    assert beat(talk, epoch, group=group, **twice)["errorCode"] == 0
    refused = beat(talk, epoch, group=group, processId="other", **twice)
    assert (refused["errorCode"], refused["errorMessage"]) == (-1, None)
    assert beat(talk, epoch, group=group)["memberEpoch"] == epoch


# -- classic and consumer groups


def test_the_empty_protocol_is_null_in_newer_versions(talk: Talk) -> None:
    for version, told in ((9, None), (5, "")):
        join: Form = {"groupId": f"empty-{version}", "sessionTimeoutMs": 6000, "rebalanceTimeoutMs": 500}
        join |= {"memberId": "", "groupInstanceId": "i", "protocolType": "consumer"}
        answer = talk.ask("JoinGroup", version, {**join, "protocols": [{"name": "", "metadata": ""}]})
        assert (answer["errorCode"], answer["protocolName"]) == (0, told)


def test_consumer_heartbeat_with_the_default_assignor_changes_no_epoch(talk: Talk) -> None:
    member: Form = {"groupId": "votes", "memberId": "m", "rackId": None, "instanceId": None}
    joined = {"memberEpoch": 0, "rebalanceTimeoutMs": 60000, "subscribedTopicNames": ["a"], "topicPartitions": []}
    epoch = talk.ask("ConsumerGroupHeartbeat", 1, {**member, **joined})["memberEpoch"]
    living: Form = {**member, "memberEpoch": epoch, "subscribedTopicNames": None, "topicPartitions": None}
    for assignor, after in (("uniform", epoch), ("range", epoch + 1)):
        talk.ask("ConsumerGroupHeartbeat", 1, {**living, "serverAssignor": assignor, "rebalanceTimeoutMs": -1})
        (group,) = talk.ask("ConsumerGroupDescribe", 1, {"groupIds": ["votes"]})["groups"]
        assert group["groupEpoch"] == after


def test_topics_of_a_member_are_described_in_the_order_of_a_hash_set(talk: Talk) -> None:
    member: Form = {"groupId": "order", "memberId": "m", "memberEpoch": 0, "rebalanceTimeoutMs": 60000}
    member |= {"subscribedTopicNames": ["x", "q", "m", "z", "aa"], "topicPartitions": []}
    talk.ask("ConsumerGroupHeartbeat", 1, member)
    (group,) = talk.ask("ConsumerGroupDescribe", 1, {"groupIds": ["order"]})["groups"]
    assert group["members"][0]["subscribedTopicNames"] == ["aa", "q", "x", "z", "m"]


def test_offsets_are_not_fetched_for_the_member_null_with_an_epoch(talk: Talk) -> None:
    join_consumer_group(talk, "null")
    for group, code in (("null", -1), ("nobody's", 0)):
        asked: Form = {"groups": [{"groupId": group, "memberId": None, "memberEpoch": 0, "topics": []}]}
        (answer,) = talk.ask("OffsetFetch", 10, asked)["groups"]
        assert answer["errorCode"] == code


def test_a_fetch_answers_unknown_ids_before_unknown_partitions(talk: Talk) -> None:
    def asked(topic_id: str, *indexes: int) -> Form:
        partitions = [{"partition": at, "fetchOffset": 0, "partitionMaxBytes": 1} for at in indexes]
        return {"topicId": topic_id, "partitions": partitions}

    known = talk.ids["a"]
    topics = [asked(known, 100, 101), asked(SOME_ID, 100), asked(known, 0), asked(SOME_ID, 3), asked(known, 2)]
    answer = talk.ask("Fetch", 13, {"maxWaitMs": 0, "sessionEpoch": -1, "maxBytes": 1, "topics": topics})
    told = [(each["topicId"], [row["partitionIndex"] for row in each["partitions"]]) for each in answer["responses"]]
    assert told == [(known, [0]), (SOME_ID, [100, 3]), (known, [100, 101, 2])]


def test_a_first_batch_that_does_not_fit_takes_the_aborted_transactions_along(talk: Talk) -> None:
    named = []
    for name in ("a", "b"):
        data = [{"name": name, "partitionData": [{"index": 0, "records": batch()}]}]
        asked = {"transactionalId": None, "acks": 1, "timeoutMs": 1000, "topicData": data}
        (written,) = talk.ask("Produce", 9, asked)["responses"][0]["partitionResponses"]
        partition = {"partition": 0, "fetchOffset": written["baseOffset"], "partitionMaxBytes": 1}
        named.append({"topic": name, "partitions": [partition]})
    fetch: Form = {"maxWaitMs": 0, "sessionEpoch": -1, "isolationLevel": 1}
    for most, aborted in ((len(batch()) // 2 + 9, None), (1, [])):
        answer = talk.ask("Fetch", 12, {**fetch, "maxBytes": most, "topics": named})
        assert [each["partitions"][0]["abortedTransactions"] for each in answer["responses"]] == [[], aborted]


# -- what Kafka does not answer, or with UNKNOWN_SERVER_ERROR


def test_a_protocol_that_is_listed_twice(talk: Talk) -> None:
    join: Form = {"groupId": "twice", "sessionTimeoutMs": 6000, "rebalanceTimeoutMs": 500, "memberId": ""}
    protocols = [{"name": "range", "metadata": ""}] * 2
    answer = talk.ask("JoinGroup", 3, {**join, "protocolType": "consumer", "protocols": protocols})
    assert (answer["errorCode"], answer["protocolName"]) == (0, "range")


def test_fetches_that_name_the_topic_id_zero_or_a_partition_twice(talk: Talk) -> None:
    partitions = [{"partition": index, "fetchOffset": 0, "partitionMaxBytes": 1} for index in (0, 1)]
    fetch: Form = {"maxWaitMs": 0, "maxBytes": 1, "sessionEpoch": -1}
    answer = talk.ask("Fetch", 13, {**fetch, "topics": [{"topicId": NO_ID, "partitions": partitions}]})
    assert [each["errorCode"] for each in answer["responses"][0]["partitions"]] == [100, 100]
    named = [{"topicId": SOME_ID, "partitions": [{"partitionIndex": 0, "acknowledgementBatches": []}] * 2}]
    share: Form = {"groupId": "s", "memberId": "m", "shareSessionEpoch": 0, "maxBytes": 1, "maxRecords": 1}
    answer = talk.ask("ShareFetch", 1, {**share, "topics": named})
    assert [each["errorCode"] for each in answer["responses"][0]["partitions"]] == [100]
