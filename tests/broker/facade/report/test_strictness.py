"""What each strictness rule finds, and what becomes of its findings."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import trio
from confluent_kafka import Consumer, Producer, TopicPartition

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
    unregistered_schema,
)
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.requests.recent_requests import MAX_REQUESTS
from odradek.broker.schemas.framing import JsonText
from odradek.broker.schemas.record_schemas import Part, Schema
from odradek.protocol.compression import Codec
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
    assert [
        found for rule in (*RULES.values(), *OPT_IN.values()) for found in rule(Situation(topics={}, groups={}))
    ] == []
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
def test_strict_with_unknown_words_is_refused(words: str) -> None:
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


ORDER_RULE = "partitioner-order"
LARGE = bytes(3000)  # of its request the transcript has the header alone


@pytest.fixture
def producer(broker: KafkaBroker) -> Iterator[WireClient]:
    with connected(broker, "till") as one:
        yield one


@pytest.fixture
def consumer(broker: KafkaBroker) -> Iterator[WireClient]:
    with connected(broker, "shipping") as one:
        yield one


def found(broker: KafkaBroker, since: float | None = None) -> list[str]:
    return [each.sentence for each in broker.strictness(since, ORDER_RULE) if each.rule == ORDER_RULE]


def write_request(index: int, key: bytes | None, value: bytes, **batch: Any) -> ProduceRequest:
    records = build_batch([Record(0, round(time.time() * 1000), key, value, ())], **batch)
    data = TopicProduceData("orders", partition_data=[PartitionProduceData(index, records)])
    return ProduceRequest(None, -1, 30_000, [data])


def write(client: WireClient, index: int, key: bytes | None = None, value: bytes = b"one", **batch: Any) -> None:
    answer = client.request(write_request(index, key, value, **batch), 9)
    assert answer.responses[0].partition_responses[0].error_code == 0


def fetch_request(*indexes: int, offset: int = 0) -> FetchRequest:
    partitions = [FetchPartition(index, fetch_offset=offset, partition_max_bytes=100_000) for index in indexes]
    return FetchRequest(max_wait_ms=0, min_bytes=0, topics=[FetchTopic("orders", partitions=partitions)])


def read(client: WireClient, *indexes: int, offset: int = 0) -> None:
    for topic in client.request(fetch_request(*indexes, offset=offset), 12).responses:
        assert [each.error_code for each in topic.partitions] == [0] * len(indexes)


@pytest.mark.parametrize("value", [b"one", LARGE])
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_records_without_keys_in_several_partitions_and_one_reader(
    broker: KafkaBroker, producer: WireClient, consumer: WireClient, value: bytes, codec: Codec
) -> None:
    for index in (0, 1):
        write(producer, index, value=value, codec=codec)
    assert found(broker) == []
    read(consumer, 0)
    assert found(broker) == []
    read(consumer, 1)
    (sentence,) = found(broker)
    assert sentence.startswith(
        "till wrote records without keys to several partitions of 'orders', and shipping read more than one of them"
    )
    assert broker.strictness() == []  # nobody asked for it


@pytest.mark.parametrize("value", [b"one", LARGE])
def test_strict_accepts_records_with_keys(
    broker: KafkaBroker, producer: WireClient, consumer: WireClient, value: bytes
) -> None:
    write(producer, 0, key=b"a", value=value)
    write(producer, 1, key=b"b", value=value)
    write(producer, 1, value=value)  # one partition of them is no spread
    read(consumer, 0, 1)
    assert found(broker) == []


def test_two_producers_of_one_name(broker: KafkaBroker, producer: WireClient, consumer: WireClient) -> None:
    write(producer, 0)
    with connected(broker, "till") as other:
        write(other, 1)
    read(consumer, 0, 1)
    assert found(broker) == []


def test_a_producer_id_on_two_connections(broker: KafkaBroker, producer: WireClient, consumer: WireClient) -> None:
    mine = producer.request(InitProducerIdRequest(None, 60_000), 4).producer_id
    write(producer, 0, producer_id=mine, producer_epoch=0, base_sequence=0)
    with connected(broker, "till") as again:
        write(again, 1, producer_id=mine, producer_epoch=0, base_sequence=0)
    read(consumer, 0, 1)
    assert len(found(broker)) == 1


def test_two_consumers_of_one_name(broker: KafkaBroker, producer: WireClient, consumer: WireClient) -> None:
    for index in (0, 1):
        write(producer, index)
    read(consumer, 0)
    with connected(broker, "shipping") as other:
        read(other, 1)
    assert found(broker) == []


def test_a_reader_of_other_records(broker: KafkaBroker, producer: WireClient, consumer: WireClient) -> None:
    broker.produce("orders", "before", key="k", partition=1)
    read(consumer, 1)
    for index in (0, 1):
        write(producer, index)
    broker.produce("orders", "later", key="k", partition=0)
    read(consumer, 0, offset=1)
    read(consumer, 1, offset=2)
    assert found(broker) == []


def test_records_of_a_topic_that_is_another_now(
    broker: KafkaBroker, producer: WireClient, consumer: WireClient
) -> None:
    for index in (0, 1):
        write(producer, index, key=b"k", value=LARGE)
    read(consumer, 0, 1)
    broker.topic("orders").delete()
    broker.create_topic("orders", 2)
    for index in (0, 1):
        broker.produce("orders", "one", partition=index, timestamp=round(time.time() * 1000) + 5000)
    assert found(broker) == []


def test_what_was_written_before_a_mark(broker: KafkaBroker, producer: WireClient, consumer: WireClient) -> None:
    for index in (0, 1):
        write(producer, index)
    since = broker.mark
    read(consumer, 0, 1)
    assert found(broker, since) == []
    assert len(found(broker)) == 1


def test_a_broker_in_the_callers_run() -> None:
    async def main() -> None:
        async with open_broker(topics={"orders": 2}, strict="fail +partitioner-order") as broker:
            async with await TrioWireClient.at(broker.bootstrap_servers) as client:
                for index in (0, 1):
                    await client.request(write_request(index, None, b"one"), 9)
                await client.request(fetch_request(0, 1), 12)
            assert broker.strictness() == []

    with pytest.raises(StrictnessError, match="read more than one of them"):
        trio.run(main)


@pytest.mark.long
@pytest.mark.parametrize(("keys", "process"), [(False, False), (False, True), (True, False)])
def test_strict_finds_what_a_real_client_does_wrong(keys: bool, process: bool) -> None:
    broker = KafkaBroker(topics={"orders": 2}, strict="fail +partitioner-order", process=process).start()
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "client.id": "till",
            "sticky.partitioning.linger.ms": 0,
            "enable.idempotence": not process,
        }
    )
    for number in range(100):  # two partitions by chance: all in one is as good as impossible
        producer.produce("orders", b"one", key=str(number) if keys else None)
        producer.flush(30)
    assert all(each.high_watermark for each in broker.topics["orders"].partitions)
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "client.id": "shipping", "group.id": "any"})
    consumer.assign([TopicPartition("orders", index, 0) for index in (0, 1)])
    for _ in range(100):
        assert len(consumer.consume(1, timeout=30)) == 1
    consumer.close()
    assert broker.strictness() == []
    if keys:
        broker.close()
        return
    with pytest.raises(StrictnessError, match=r"(?s)till wrote records without keys.*shipping read more than one"):
        broker.close()


SCHEMA_RULE = "unregistered-schema"
GOOD, UNKNOWN, PLAIN = b"\x00\x00\x00\x00\x07{}", b"\x00\x00\x00\x00\x08{}", b"plain"


class Registered:
    """The id 7, and subjects for the values of "orders"."""

    def schema(self, topic: str, part: Part, number: int) -> Schema | None:
        return JsonText("Order") if number == 7 else None

    def expects(self, topic: str, part: Part) -> bool:
        return (topic, part) == ("orders", "value")


class Beside:
    """A registry that nobody asks."""

    url = "http://localhost"

    def stop(self) -> Any:
        raise NotImplementedError

    resume = stop

    def ask(self, method: str, path: str, body: Any) -> Any:
        raise NotImplementedError


@pytest.fixture
def registry_broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(topics=["orders", "others"]) as started:
        started.cluster.schema_registry = Beside()
        started.cluster.record_schemas.registered = Registered()
        yield started
        assert started.bugs == []


def write_with_schema(registry_broker: KafkaBroker, topic: str, *values: bytes | None) -> None:
    records = [Record(0, round(time.time() * 1000), b"key", value, ()) for value in values]
    data = TopicProduceData(topic, partition_data=[PartitionProduceData(0, build_batch(records))])
    with connected(registry_broker, "till") as client:
        answer = client.request(ProduceRequest(None, -1, 30_000, [data]), 9)
    assert answer.responses[0].partition_responses[0].error_code == 0


def schema_findings(registry_broker: KafkaBroker) -> list[str]:
    return [each.sentence for each in registry_broker.strictness(None, SCHEMA_RULE) if each.rule == SCHEMA_RULE]


def test_records_without_a_registered_id(registry_broker: KafkaBroker) -> None:
    write_with_schema(registry_broker, "orders", GOOD, UNKNOWN, PLAIN, None)
    (sentence,) = schema_findings(registry_broker)
    assert sentence.startswith("till wrote 2 values to 'orders' without the id of a schema of the registry")
    assert registry_broker.strictness() == []


@pytest.mark.parametrize(
    ("topic", "value"),
    [("orders", GOOD), ("orders", None), ("others", PLAIN)],
)
def test_strict_leaves_these_records_with_schemas_alone(
    registry_broker: KafkaBroker, topic: str, value: bytes | None
) -> None:
    write_with_schema(registry_broker, topic, value)
    assert schema_findings(registry_broker) == []


def test_without_a_registry_nothing_is_asked(registry_broker: KafkaBroker) -> None:
    write_with_schema(registry_broker, "orders", PLAIN)
    registry_broker.cluster.schema_registry = None
    assert schema_findings(registry_broker) == []


def test_what_the_log_has_no_more_is_not_judged(registry_broker: KafkaBroker) -> None:
    write_with_schema(registry_broker, "orders", PLAIN)
    registry_broker.topic("orders").delete()
    assert schema_findings(registry_broker) == []
    assert list(unregistered_schema(Situation(topics={}, groups={}))) == []
