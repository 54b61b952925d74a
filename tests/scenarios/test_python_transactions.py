"""Transactions of librdkafka, kafka-python and aiokafka, read with both isolation levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import aiokafka
import aiokafka.errors
import confluent_kafka
import pytest

from tests.scenarios.fixtures import MakeTopic
from tests.scenarios.python_clients import KITS, Reading, confluent_consumer, kafka, run_async
from tests.scenarios.target import unique, wait_until

Story = Sequence[tuple[str, bool]]
STORY: Story = (("kept", True), ("dropped", False), ("kept too", True))


def _confluent(bootstrap: str, name: str, **more: Any) -> Any:
    config = {"bootstrap.servers": bootstrap, "transactional.id": name, "linger.ms": 0, "log_level": 1}
    producer = confluent_kafka.Producer({**config, **more})
    producer.init_transactions(60)
    return producer


def _tell_confluent(bootstrap: str, name: str, topic: str) -> None:
    producer = _confluent(bootstrap, name)
    for text, commit in STORY:
        producer.begin_transaction()
        producer.produce(topic, text.encode(), partition=0)
        if commit:
            producer.commit_transaction(60)
        else:
            assert producer.flush(60) == 0
            producer.abort_transaction(60)


def _tell_kafka_python(bootstrap: str, name: str, topic: str) -> None:
    producer = kafka.KafkaProducer(bootstrap_servers=bootstrap, transactional_id=name)
    producer.init_transactions()
    for text, commit in STORY:
        producer.begin_transaction()
        producer.send(topic, text.encode(), partition=0).get(60)
        if commit:
            producer.commit_transaction()
        else:
            producer.abort_transaction()
    producer.close(60)


def _tell_aiokafka(bootstrap: str, name: str, topic: str) -> None:
    async def tell() -> None:
        async with aiokafka.AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=name) as producer:
            for text, commit in STORY:
                await producer.begin_transaction()
                await producer.send_and_wait(topic, text.encode(), partition=0)
                if commit:
                    await producer.commit_transaction()
                else:
                    await producer.abort_transaction()

    run_async(tell())


TELLERS: dict[str, Callable[[str, str, str], None]] = {
    "confluent-kafka": _tell_confluent,
    "kafka-python": _tell_kafka_python,
    "aiokafka": _tell_aiokafka,
}


@pytest.mark.round
@pytest.mark.parametrize("teller", TELLERS)
def test_readers_see_what_was_committed(teller: str, bootstrap: str, make_topic: MakeTopic) -> None:
    topic = make_topic()
    TELLERS[teller](bootstrap, unique("txn"), topic)
    for kit in KITS:
        committed = kit.consume(bootstrap, topic, 2, Reading(isolation="read_committed"))
        assert [(each.offset, each.value) for each in committed] == [(0, b"kept"), (4, b"kept too")]
        everything = kit.consume(bootstrap, topic, 3, Reading())
        assert [each.value for each in everything] == [b"kept", b"dropped", b"kept too"]


def test_an_open_transaction_holds_back_committed_readers(bootstrap: str, make_topic: MakeTopic) -> None:
    topic = make_topic()
    producer = _confluent(bootstrap, unique("txn"))
    producer.begin_transaction()
    producer.produce(topic, b"open", partition=0)
    assert producer.flush(60) == 0
    for kit in KITS:
        assert kit.consume(bootstrap, topic, 1, Reading(isolation="read_committed", timeout=0.5)) == []
        assert len(kit.consume(bootstrap, topic, 1, Reading())) == 1
    producer.abort_transaction(60)


def test_a_second_producer_fences_the_first(bootstrap: str, make_topic: MakeTopic) -> None:
    topic, name = make_topic(), unique("txn")
    first = _confluent(bootstrap, name)
    first.begin_transaction()
    first.produce(topic, b"lost", partition=0)
    assert first.flush(60) == 0
    second = _confluent(bootstrap, name)
    with pytest.raises(confluent_kafka.KafkaException) as fenced:
        first.commit_transaction(60)
    assert fenced.value.args[0].fatal()
    assert fenced.value.args[0].code() == confluent_kafka.KafkaError._FENCED
    second.begin_transaction()
    second.produce(topic, b"kept", partition=0)
    second.commit_transaction(60)
    (seen,) = KITS[0].consume(bootstrap, topic, 1, Reading(isolation="read_committed"))
    assert seen.value == b"kept"


def test_a_second_aiokafka_producer_fences_the_first(bootstrap: str, make_topic: MakeTopic) -> None:
    topic, name = make_topic(), unique("txn")

    async def fence() -> None:
        first = aiokafka.AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=name)
        await first.start()
        await first.begin_transaction()
        await first.send_and_wait(topic, b"lost")
        async with aiokafka.AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=name):
            with pytest.raises(aiokafka.errors.KafkaError) as fenced:
                await first.commit_transaction()
            assert isinstance(fenced.value, aiokafka.errors.ProducerFenced | aiokafka.errors.InvalidProducerEpoch)
        await first.stop()

    run_async(fence())


def test_a_transaction_that_takes_too_long_is_aborted(bootstrap: str, make_topic: MakeTopic) -> None:
    topic = make_topic()
    # librdkafka gives up sending after that time, too: the record must be there by then
    producer = _confluent(bootstrap, unique("txn"), **{"transaction.timeout.ms": 6000})
    producer.begin_transaction()
    producer.produce(topic, b"late", partition=0)
    assert producer.flush(60) == 0
    wait_until("marker", lambda: KITS[0].watermarks(bootstrap, topic, 0) == (0, 2))
    with pytest.raises(confluent_kafka.KafkaException):
        producer.commit_transaction(60)


def test_offsets_are_committed_with_the_transaction(bootstrap: str, make_topic: MakeTopic) -> None:
    topic, output, group = make_topic(), make_topic(), unique("group")
    # with read_committed, asking for offsets waits until no transaction holds them
    consumer = confluent_consumer(bootstrap, isolation="read_committed", **{"group.id": group})
    consumer.subscribe([topic])
    wait_until("assignment", lambda: consumer.poll(0.1) is None and consumer.assignment())
    producer = _confluent(bootstrap, unique("txn"))
    for offset, commit in ((3, True), (9, False)):
        producer.begin_transaction()
        producer.produce(output, b"%d" % offset, partition=0)
        place = confluent_kafka.TopicPartition(topic, 0, offset)
        producer.send_offsets_to_transaction([place], consumer.consumer_group_metadata(), 60)
        if commit:
            producer.commit_transaction(60)
        else:
            producer.abort_transaction(60)
        (found,) = consumer.committed([confluent_kafka.TopicPartition(topic, 0)], timeout=60)
        assert found.offset == 3
    consumer.close()


def test_aiokafka_commits_offsets_with_the_transaction(bootstrap: str, make_topic: MakeTopic) -> None:
    topic, group = make_topic(), unique("group")
    place = aiokafka.TopicPartition(topic, 0)

    async def commit() -> int | None:
        producer = aiokafka.AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=unique("txn"))
        async with producer, producer.transaction():
            await producer.send_offsets_to_transaction({place: 7}, group)
        async with aiokafka.AIOKafkaConsumer(bootstrap_servers=bootstrap, group_id=group) as consumer:
            consumer.assign([place])
            found: int | None = await consumer.committed(place)
            return found

    wait_until("the offset", lambda: run_async(commit()) == 7)
