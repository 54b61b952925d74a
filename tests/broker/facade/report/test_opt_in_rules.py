"""The strictness rules that a test asks for by name."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import trio
from confluent_kafka import Consumer, Producer, TopicPartition

from odradek.broker.facade.open_broker import open_broker
from odradek.broker.facade.report.opt_in_rules import partitioner_order, unregistered_schema
from odradek.broker.facade.report.situation import Situation
from odradek.broker.facade.report.strictness import StrictnessError
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.schemas.framing import JsonText
from odradek.broker.schemas.record_schemas import Part, Schema
from odradek.protocol.compression import Codec
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import Record, build_batch
from tests.broker.facade.report.test_hints import connected
from tests.fakes.brokers import broker_fixture
from tests.fakes.wire_client import TrioWireClient, WireClient

ORDER_RULE = "partitioner-order"
LARGE = bytes(3000)  # of its request the transcript has the header alone
broker = broker_fixture(topics={"orders": 2})


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


def test_of_nothing_there_is_nothing_to_say() -> None:
    assert list(partitioner_order(Situation(topics={}, groups={}))) == []


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
def test_records_with_keys(broker: KafkaBroker, producer: WireClient, consumer: WireClient, value: bytes) -> None:
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
def test_a_real_client(keys: bool, process: bool) -> None:
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

    def stop(self) -> None:
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
def test_what_is_left_alone(registry_broker: KafkaBroker, topic: str, value: bytes | None) -> None:
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
