"""Transactions with the Python clients: commit, abort, isolation, fencing, timeouts, consume-transform-produce."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import aiokafka
import aiokafka.errors
import confluent_kafka
import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from tests.scenarios.fixtures import MakeTopic
from tests.scenarios.python_clients import KITS, Reading, kafka, run_async
from tests.scenarios.target import unique, wait_until

PATIENCE_S = 60.0

Ends = list[tuple[str, bool]]
"""Values, and whether the transaction that writes each is committed."""


# -- reading


def read(bootstrap: str, topic: str, *, isolation: str, partitions: int = 1) -> list[str]:
    """Everything that a reader gets up to the end that it is allowed to see."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": unique("reader"),
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "log_level": 2,
        }
    )
    with contextlib.closing(consumer):
        consumer.assign([TopicPartition(topic, index, 0) for index in range(partitions)])
        values: list[str] = []
        at_end: set[int] = set()
        deadline = time.monotonic() + PATIENCE_S
        while len(at_end) < partitions and time.monotonic() < deadline:
            message = consumer.poll(0.2)
            if message is None:
                continue
            error = message.error()
            if error is None:
                values.append((message.value() or b"").decode())
            elif error.code() == KafkaError._PARTITION_EOF:
                partition = message.partition()
                assert partition is not None
                at_end.add(partition)
        return values


def read_in_the_end(bootstrap: str, topic: str, expected: list[str], partitions: int = 1) -> None:
    """Readers of committed records get these: a commit is answered before a real Kafka has written its markers."""
    deadline = time.monotonic() + PATIENCE_S
    while (found := read(bootstrap, topic, isolation="read_committed", partitions=partitions)) != expected:
        assert time.monotonic() < deadline, found


def committed_offset(bootstrap: str, group: str, topic: str) -> int:
    """The group's offset in partition 0, -1001 if it has none."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap, "group.id": group, "log_level": 2})
    with contextlib.closing(consumer):
        return int(consumer.committed([TopicPartition(topic, 0)], timeout=PATIENCE_S)[0].offset)


# -- writing


def confluent_producer(bootstrap: str, transactional_id: str, **extra: Any) -> confluent_kafka.Producer:
    """A producer that has taken the id over."""
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": bootstrap, "transactional.id": transactional_id, "log_level": 0, **extra}
    )
    producer.init_transactions(PATIENCE_S)
    return producer


def with_confluent(bootstrap: str, topic: str, transactional_id: str, ends: Ends) -> None:
    producer = confluent_producer(bootstrap, transactional_id)
    for value, commit in ends:
        producer.begin_transaction()
        producer.produce(topic, value.encode(), partition=0)
        assert (
            producer.flush(PATIENCE_S) == 0
        )  # a record of an aborted transaction may never leave the client otherwise
        (producer.commit_transaction if commit else producer.abort_transaction)(PATIENCE_S)


def with_kafka_python(bootstrap: str, topic: str, transactional_id: str, ends: Ends) -> None:
    with contextlib.closing(
        kafka.KafkaProducer(bootstrap_servers=bootstrap, transactional_id=transactional_id)
    ) as producer:
        producer.init_transactions()
        for value, commit in ends:
            producer.begin_transaction()
            producer.send(topic, value.encode(), partition=0).get(PATIENCE_S)
            (producer.commit_transaction if commit else producer.abort_transaction)()


def with_aiokafka(bootstrap: str, topic: str, transactional_id: str, ends: Ends) -> None:
    async def work() -> None:
        async with aiokafka.AIOKafkaProducer(
            bootstrap_servers=bootstrap, transactional_id=transactional_id
        ) as producer:
            for value, commit in ends:
                await producer.begin_transaction()
                await producer.send_and_wait(topic, value.encode(), partition=0)
                await (producer.commit_transaction() if commit else producer.abort_transaction())

    run_async(work())


WRITERS: dict[str, Callable[[str, str, str, Ends], None]] = {
    "confluent-kafka": with_confluent,
    "kafka-python": with_kafka_python,
    "aiokafka": with_aiokafka,
}


# -- the scenarios


@pytest.mark.round
@pytest.mark.parametrize("writer", WRITERS)
def test_readers_of_committed_records_see_no_aborted_transaction(
    writer: str, bootstrap: str, make_topic: MakeTopic
) -> None:
    topic = make_topic()
    WRITERS[writer](bootstrap, topic, unique("txn"), [("kept", True), ("dropped", False), ("kept too", True)])
    for kit in KITS:
        committed = kit.consume(bootstrap, topic, 2, Reading(isolation="read_committed"))
        assert [(each.offset, each.value) for each in committed] == [(0, b"kept"), (4, b"kept too")]
        everything = kit.consume(bootstrap, topic, 3, Reading())
        assert [each.value for each in everything] == [b"kept", b"dropped", b"kept too"]


def test_an_open_transaction_holds_readers_back(bootstrap: str, make_topic: MakeTopic) -> None:
    topic = make_topic("open")
    with_confluent(bootstrap, topic, unique("before"), [("before", True)])
    producer = confluent_producer(bootstrap, unique("open"))
    producer.begin_transaction()
    producer.produce(topic, b"open", partition=0)
    producer.flush(PATIENCE_S)
    with_confluent(bootstrap, topic, unique("behind"), [("behind", True)])
    read_in_the_end(bootstrap, topic, ["before"])
    for kit in KITS:
        assert len(kit.consume(bootstrap, topic, 2, Reading(isolation="read_committed", timeout=0.5))) == 1
        assert len(kit.consume(bootstrap, topic, 3, Reading())) == 3
    assert read(bootstrap, topic, isolation="read_uncommitted") == ["before", "open", "behind"]
    producer.commit_transaction(PATIENCE_S)
    wait_until("the commit", lambda: len(read(bootstrap, topic, isolation="read_committed")) == 3)


def test_one_transaction_over_many_partitions(bootstrap: str, make_topic: MakeTopic) -> None:
    topics = [make_topic(name, partitions=3) for name in ("many-a", "many-b")]
    producer = confluent_producer(bootstrap, unique("many"))
    for commit in (False, True):
        producer.begin_transaction()
        for topic in topics:
            for partition in range(3):
                producer.produce(topic, str(commit).encode(), partition=partition)
        producer.flush(PATIENCE_S)
        (producer.commit_transaction if commit else producer.abort_transaction)(PATIENCE_S)
    for topic in topics:
        read_in_the_end(bootstrap, topic, ["True"] * 3, partitions=3)


def test_a_second_producer_fences_the_first(bootstrap: str, make_topic: MakeTopic) -> None:
    topic, transactional_id = make_topic("fence"), unique("fence")
    first = confluent_producer(bootstrap, transactional_id)
    first.begin_transaction()
    first.produce(topic, b"first", partition=0)
    first.flush(PATIENCE_S)
    second = confluent_producer(bootstrap, transactional_id)
    second.begin_transaction()
    second.produce(topic, b"second", partition=0)
    second.commit_transaction(PATIENCE_S)
    with pytest.raises(KafkaException) as caught:
        first.commit_transaction(PATIENCE_S)
    error = caught.value.args[0]
    assert error.fatal()
    assert error.code() == KafkaError._FENCED
    read_in_the_end(bootstrap, topic, ["second"])


def test_a_fenced_producer_that_goes_on_does_not_hold_up_its_successor(bootstrap: str, make_topic: MakeTopic) -> None:
    topic, transactional_id = make_topic("late"), unique("late")
    old = confluent_producer(bootstrap, transactional_id)
    old.begin_transaction()
    old.produce(topic, b"old-0", partition=0)
    old.flush(PATIENCE_S)
    new = confluent_producer(bootstrap, transactional_id)
    new.begin_transaction()
    for value in (b"new-0", b"new-1"):
        new.produce(topic, value, partition=0)
        new.flush(PATIENCE_S)
    old.produce(topic, b"old-1", partition=0)
    with pytest.raises(KafkaException) as caught:
        old.flush(PATIENCE_S)
    assert caught.value.args[0].code() == KafkaError._FENCED
    new.produce(topic, b"new-2", partition=0)
    new.commit_transaction(PATIENCE_S)
    read_in_the_end(bootstrap, topic, ["new-0", "new-1", "new-2"])


def test_a_second_aiokafka_producer_fences_the_first(bootstrap: str, make_topic: MakeTopic) -> None:
    topic, transactional_id = make_topic("afence"), unique("afence")

    async def work() -> None:
        first = aiokafka.AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=transactional_id)
        second = aiokafka.AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=transactional_id)
        await first.start()
        await first.begin_transaction()
        await first.send_and_wait(topic, b"first", partition=0)
        await second.start()
        async with second.transaction():
            await second.send_and_wait(topic, b"second", partition=0)
        with pytest.raises(aiokafka.errors.ProducerFenced):
            await first.commit_transaction()
        await second.stop()
        with contextlib.suppress(aiokafka.errors.KafkaError):
            await first.stop()

    run_async(work())
    read_in_the_end(bootstrap, topic, ["second"])


def test_a_transaction_that_takes_too_long_is_aborted(bootstrap: str, make_topic: MakeTopic) -> None:
    topic = make_topic("late")
    producer = confluent_producer(bootstrap, unique("late"), **{"transaction.timeout.ms": 1000})
    producer.begin_transaction()
    producer.produce(topic, b"late", partition=0)
    producer.flush(PATIENCE_S)
    with_confluent(bootstrap, topic, unique("other"), [("other", True)])
    wait_until("the abort", lambda: read(bootstrap, topic, isolation="read_committed") == ["other"])
    with pytest.raises(KafkaException):
        producer.commit_transaction(PATIENCE_S)
    assert read(bootstrap, topic, isolation="read_committed") == ["other"]


def _has_committed(bootstrap: str, group: str, topic: str, offset: int) -> bool:
    return committed_offset(bootstrap, group, topic) == offset


def test_offsets_are_committed_with_the_transaction(bootstrap: str, make_topic: MakeTopic) -> None:
    topic, group = make_topic("offsets"), unique("group")
    producer = confluent_producer(bootstrap, unique("offsets"))
    member = confluent_kafka.Consumer({"bootstrap.servers": bootstrap, "group.id": group, "log_level": 2})
    with contextlib.closing(member):
        for offset, commit in ((3, False), (5, True)):
            producer.begin_transaction()
            places = [TopicPartition(topic, 0, offset)]
            producer.send_offsets_to_transaction(places, member.consumer_group_metadata(), PATIENCE_S)
            (producer.commit_transaction if commit else producer.abort_transaction)(PATIENCE_S)
            expected = 5 if commit else confluent_kafka.OFFSET_INVALID
            wait_until("the offset", partial(_has_committed, bootstrap, group, topic, expected))


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


# -- consume, transform, produce; killed at every step


class Killed(Exception):
    """The worker dies here."""


KILLED = 9
"""The status of a worker's process that dies with its transaction open."""

STEPS = ["polled", "begun", "produced", "flushed", "offsets sent", "committed"]


def transform(bootstrap: str, source: str, sink: str, name: str, die_at: str | None, wanted: int) -> None:
    """Read numbers, write their squares, in transactions of five; ends when all are done, or dies at a step."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": name,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "log_level": 2,
        }
    )
    producer = confluent_producer(bootstrap, name)

    def step(reached: str) -> None:
        if reached == die_at:
            raise Killed(reached)

    with contextlib.closing(consumer):
        consumer.subscribe([source])
        deadline = time.monotonic() + 2 * PATIENCE_S
        while time.monotonic() < deadline:
            messages = [message for message in consumer.consume(5, timeout=0.5) if not message.error()]
            if not messages:
                if committed_offset(bootstrap, name, source) >= wanted:
                    return
                continue
            step("polled")
            producer.begin_transaction()
            step("begun")
            for message in messages:
                producer.produce(sink, str(int(message.value() or b"") ** 2).encode(), partition=0)
            step("produced")
            producer.flush(PATIENCE_S)
            step("flushed")
            places = consumer.position(consumer.assignment())
            producer.send_offsets_to_transaction(places, consumer.consumer_group_metadata(), PATIENCE_S)
            step("offsets sent")
            producer.commit_transaction(PATIENCE_S)
            step("committed")
        raise AssertionError("not done within two minutes")


def work(*arguments: Any) -> NoReturn:
    """`transform` in a process of its own, which ends without tidying up its producer, as one that is killed."""
    try:
        transform(*arguments)
    except Killed:
        os._exit(KILLED)
    os._exit(0)


def status_of_a_worker(
    bootstrap: str, source: str, sink: str, name: str, die_at: str | None, wanted: int
) -> int | None:
    process = multiprocessing.get_context("spawn").Process(
        target=work, args=(bootstrap, source, sink, name, die_at, wanted)
    )
    process.start()
    process.join()
    return process.exitcode


def test_each_input_counts_once_whenever_the_worker_dies(bootstrap: str, make_topic: MakeTopic) -> None:
    source, sink, name = make_topic("source"), make_topic("sink"), unique("worker")
    numbers = range(40)
    with_confluent(bootstrap, source, unique("numbers"), [(str(number), True) for number in numbers])
    wanted = source_end(bootstrap, source)
    for die_at in STEPS:
        assert status_of_a_worker(bootstrap, source, sink, name, die_at, wanted) == KILLED
    assert status_of_a_worker(bootstrap, source, sink, name, None, wanted) == 0
    read_in_the_end(bootstrap, sink, [str(number**2) for number in numbers])


def source_end(bootstrap: str, topic: str) -> int:
    """The position of a consumer that has read all records (behind the last marker, or before it)."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": bootstrap, "group.id": unique("end"), "log_level": 2})
    with contextlib.closing(consumer):
        return int(consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=PATIENCE_S)[1]) - 1
