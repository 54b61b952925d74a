"""What each strictness rule finds, and what becomes of its findings."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import trio

from odradek.broker.facade.open_broker import open_broker
from odradek.broker.facade.report.situation import Situation
from odradek.broker.facade.report.strictness import (
    AT_END,
    OPT_IN,
    RULES,
    Strictness,
    StrictnessError,
    StrictnessFinding,
    StrictnessWarning,
    findings_in,
)
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.requests.recent_requests import MAX_REQUESTS
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.leave_group import LeaveGroupRequest
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import Record, build_batch
from tests.broker.facade.report.test_hints import connected, join, of_group
from tests.fakes.brokers import broker_fixture
from tests.fakes.wire_client import TrioWireClient, WireClient

DAY_MS = 86_400_000
broker = broker_fixture(topics={"orders": 2})


@pytest.fixture
def client(broker: KafkaBroker) -> Iterator[WireClient]:
    with connected(broker) as one:
        yield one


def rules(broker: KafkaBroker) -> list[str]:
    return [each.rule for each in broker.strictness()]


def sentence(broker: KafkaBroker) -> str:
    (finding,) = broker.strictness()
    return finding.sentence


def produce(client: WireClient, topic: str, *, stamp_ms: int | None = None, acks: int = -1) -> None:
    stamp = round(time.time() * 1000) if stamp_ms is None else stamp_ms
    batch = build_batch([Record(0, stamp, None, b"one", ())])
    data = TopicProduceData(topic, partition_data=[PartitionProduceData(0, batch)])
    answer = client.request(ProduceRequest(None, acks, 30_000, [data]), 9)
    assert answer.responses[0].partition_responses[0].error_code == 0


def asks_for_commits(client: WireClient, group: str) -> None:
    topics = [OffsetFetchRequestTopics("orders", partition_indexes=[0, 1])]
    client.request(FindCoordinatorRequest(key=group), 3)
    while (
        client.request(OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=topics)]), 9)
        .groups[0]
        .error_code
    ):
        pass


def fetch(client: WireClient, topic: str = "orders") -> Any:
    return client.request(
        FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            topics=[FetchTopic(topic, partitions=[FetchPartition(0, fetch_offset=0, partition_max_bytes=10_000)])],
        ),
        12,
    )


def test_of_nothing_there_is_nothing_to_say() -> None:
    assert [found for rule in RULES.values() for found in rule(Situation(topics={}, groups={}))] == []
    assert set(RULES) >= AT_END


def test_of_clients_that_do_as_they_should_there_is_nothing_to_say(broker: KafkaBroker, client: WireClient) -> None:
    client.request(MetadataRequest([MetadataRequestTopic(name="orders")], True), 12)
    produce(client, "orders")
    asks_for_commits(client, "g")
    fetch(client)
    offsets = [OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0, 1)])]
    of_group(client, OffsetCommitRequest("g", topics=offsets), 7)
    member = join(client, "g")
    assert of_group(client, LeaveGroupRequest("g", member.member_id), 2).error_code == 0
    assert broker.strictness() == []


def test_a_topic_that_was_created_automatically(broker: KafkaBroker, client: WireClient) -> None:
    client.request(MetadataRequest([MetadataRequestTopic(name="order")], True), 12)
    assert rules(broker) == ["auto-created"]
    said = sentence(broker)
    assert said.startswith("topic 'order' was created automatically, as app asked for it: 'orders' exists")
    assert "auto.create.topics.enable=false" in said


def test_a_topic_that_was_missing_and_was_created_by_the_test(broker: KafkaBroker, client: WireClient) -> None:
    client.request(MetadataRequest([MetadataRequestTopic(name="late")], False), 12)
    broker.create_topic("late")
    assert broker.strictness() == []


@pytest.mark.parametrize(("acks", "replicas", "found"), [(-1, 1, ["one-replica"]), (1, 1, []), (-1, 2, [])])
def test_all_replicas_that_are_one(acks: int, replicas: int, found: list[str]) -> None:
    with KafkaBroker(nodes=2) as broker:
        broker.create_topic("orders", 1, replication_factor=replicas)
        leader = broker.topics["orders"].partitions[0].leader
        with WireClient.at(broker.bootstrap_servers.split(",")[leader - 1], client_id="app") as client:
            produce(client, "orders", acks=acks)
        assert rules(broker) == found
        if found:
            assert "one replica in a cluster of 2 nodes" in sentence(broker)
            assert "replication_factor=2" in sentence(broker)


def test_a_single_node_has_one_replica_of_everything(broker: KafkaBroker, client: WireClient) -> None:
    produce(client, "orders")
    assert broker.strictness() == []


def test_a_group_that_began_at_latest(broker: KafkaBroker, client: WireClient) -> None:
    broker.produce("orders", "one", partition=1)
    asks_for_commits(client, "g")
    ends = [ListOffsetsTopic("orders", [ListOffsetsPartition(index, timestamp=-1) for index in (0, 1)])]
    client.request(ListOffsetsRequest(-1, 0, ends), 7)
    assert rules(broker) == ["began-at-latest"]
    assert "group 'g' has no commits and began at latest, orders-1@1" in sentence(broker)


def test_records_older_than_their_topic_keeps_them(broker: KafkaBroker, client: WireClient) -> None:
    produce(client, "orders", stamp_ms=round(time.time() * 1000) - 6 * DAY_MS)
    assert broker.strictness() == []
    produce(client, "orders", stamp_ms=round(time.time() * 1000) - 8 * DAY_MS)
    assert rules(broker) == ["past-retention"]
    assert "retention.ms=604800000 (168 h)" in sentence(broker)


def test_a_clock_that_the_test_moved_makes_no_record_old(broker: KafkaBroker, client: WireClient) -> None:
    broker.clock.advance(days=30)
    with connected(broker) as again:  # the jump has closed idle connections
        produce(again, "orders")
    assert broker.strictness() == []


def test_records_of_a_topic_that_keeps_all(broker: KafkaBroker, client: WireClient) -> None:
    broker.create_topic("kept", 1, config={"cleanup.policy": "compact"})
    batch_stamp = round(time.time() * 1000) - 800 * DAY_MS
    broker.create_topic("forever", 1, config={"retention.ms": "-1"})
    produce(client, "forever", stamp_ms=batch_stamp)
    assert broker.strictness() == []


def test_a_group_that_reads_and_never_commits(broker: KafkaBroker, client: WireClient) -> None:
    broker.produce("orders", "one", partition=0)
    asks_for_commits(client, "g")
    assert broker.strictness() == []
    fetch(client)
    assert rules(broker) == ["never-committed"]
    assert sentence(broker).startswith("app read records for group 'g', which never committed")


def test_a_reader_without_a_group_need_not_commit(broker: KafkaBroker, client: WireClient) -> None:
    broker.produce("orders", "one", partition=0)
    fetch(client)
    assert broker.strictness() == []


def test_a_member_that_did_not_leave(broker: KafkaBroker, client: WireClient) -> None:
    join(client, "g")
    assert rules(broker) == ["not-closed"]
    assert sentence(broker).startswith("app is still a member of group 'g' at the end: close() it")


def test_a_transaction_that_nobody_ended(broker: KafkaBroker, client: WireClient) -> None:
    broker.produce("orders", "one", transactional_id="till-1", transaction="open")
    assert broker.strictness() == []  # the test itself wanted it open
    client.request(FindCoordinatorRequest(key="till-2", key_type=1), 3)
    while client.request(InitProducerIdRequest("till-2", 60_000), 4).error_code:
        pass
    assert broker.strictness() == []
    from odradek.protocol.generated.messages.add_partitions_to_txn import (
        AddPartitionsToTxnRequest,
        AddPartitionsToTxnTopic,
    )

    own = broker.transactions["till-2"]
    client.request(
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="till-2",
            v3_and_below_producer_id=own.producer_id,
            v3_and_below_producer_epoch=own.producer_epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic("orders", [0])],
        ),
        3,
    )
    assert rules(broker) == ["not-closed"]
    assert sentence(broker).startswith("the transaction of 'till-2' is still open at the end: commit or abort it")


def test_a_transcript_that_is_off_is_told() -> None:
    with KafkaBroker(config={"odradek.transcript": False}) as broker:
        assert rules(broker) == ["transcript"]
        assert "the transcript is off" in sentence(broker)


AUTOMATIC = "topic 'order' was created automatically"
ASK = MetadataRequest([MetadataRequestTopic(name="order")], True)


def test_strictness_takes_its_rules_in_several_forms() -> None:
    assert Strictness.of(False) is None
    assert Strictness.of("") is None
    assert Strictness.of(True) == Strictness.of("fail") == Strictness(True)
    assert Strictness.of("warn -auto-created -one-replica") == Strictness(
        False, frozenset(("auto-created", "one-replica"))
    )
    assert Strictness.of("fail +partitioner-order -auto-created") == Strictness(
        True, frozenset(("auto-created",)), frozenset(("partitioner-order",))
    )


@pytest.mark.parametrize("words", ["yes", "fail auto-created", "warn -no-such-rule", "-auto-created"])
def test_words_that_mean_nothing(words: str) -> None:
    with pytest.raises(ValueError, match="strict="):
        KafkaBroker(strict=words)


def test_a_misspelt_rule_is_told() -> None:
    with pytest.raises(ValueError, match="did you mean '-auto-created'"):
        Strictness.of("fail -auto-create")
    with pytest.raises(ValueError, match=r"did you mean '\+partitioner-order'"):
        Strictness.of("warn +partitoner-order")
    with pytest.raises(ValueError, match=r"did you mean '\+partitioner-order'"):
        Strictness.of("fail partitioner-order")
    with pytest.raises(TypeError, match="strict="):
        Strictness.of(["fail"])  # type: ignore[arg-type]


def test_switches_that_would_change_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match=r"off unless '\+partitioner-order' switches it on"):
        Strictness.of("fail -partitioner-order")
    with pytest.raises(ValueError, match="on unless '-auto-created' switches it off"):
        Strictness.of("fail +auto-created")


def test_rules_that_nobody_asked_for_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def rule(situation: Situation) -> Iterator[str]:
        yield "asked"

    monkeypatch.setitem(OPT_IN, "partitioner-order", rule)
    nothing = Situation(topics={}, groups={})
    assert findings_in(nothing) == []
    assert findings_in(nothing, ["partitioner-order"]) == [StrictnessFinding("partitioner-order", "asked")]


def test_rules_to_ask_for_are_checked() -> None:
    with KafkaBroker() as broker:
        with pytest.raises(ValueError, match=r"did you mean 'partitioner-order'\?"):
            broker.strictness(also="partitioner-orders")
        with pytest.raises(ValueError, match="'auto-created' is not an opt-in rule"):
            broker.strictness(also="auto-created")
        with pytest.raises(TypeError, match="expected text"):
            broker.strictness(also=["partitioner-order"])  # type: ignore[arg-type]


def create(broker: KafkaBroker) -> None:
    with connected(broker) as client:
        client.request(ASK, 12)


def test_a_strict_broker_raises_when_it_is_closed() -> None:
    broker = KafkaBroker(strict=True).start()
    create(broker)
    with pytest.raises(StrictnessError, match=AUTOMATIC):
        broker.close()
    broker.close()  # told once


def test_strictness_can_warn_instead_of_failing() -> None:
    with pytest.warns(StrictnessWarning, match=AUTOMATIC), KafkaBroker(strict="warn") as broker:
        create(broker)


def test_a_rule_that_is_off_and_a_broker_that_is_not_strict() -> None:
    with KafkaBroker(strict="fail -auto-created") as broker:
        create(broker)
        assert [each.rule for each in broker.strictness()] == ["auto-created"]
    with KafkaBroker() as broker:
        create(broker)


def test_a_test_that_failed_says_why_itself() -> None:
    def fail() -> None:
        with KafkaBroker(strict=True) as broker:
            create(broker)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()


def test_in_the_callers_trio_run() -> None:
    async def main() -> None:
        async with open_broker(strict=True) as broker:
            async with await TrioWireClient.at(broker.bootstrap_servers) as client:
                await client.request(ASK, 12)
            assert broker.strictness()[0].rule == "auto-created"

    with pytest.raises(StrictnessError, match=AUTOMATIC):
        trio.run(main)


def test_requests_that_the_transcript_has_lost() -> None:
    with KafkaBroker() as broker:
        create(broker)
        assert [each.rule for each in broker.strictness()] == ["auto-created"]
        entries = broker.cluster.recent.entries
        broker._call(lambda: entries.extend([list(entries[0])] * MAX_REQUESTS))
        assert [each.rule for each in broker.strictness() if "last 10,000 requests" in each.sentence] == ["transcript"]


def test_what_cannot_be_judged_fails_nothing() -> None:
    lost = StrictnessFinding("transcript", "the transcript is off")
    with pytest.warns(StrictnessWarning, match=r"the transcript is off \[transcript\]"):
        assert Strictness(True).judge([lost]) == ""
