"""Clients write and read while three nodes go from Kafka 3.6 to 4.4, one by one: each record is there once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import confluent_kafka
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from odradek import KafkaBroker
from odradek.control.server import ControlServer
from odradek.protocol.generated.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from odradek.wire_client import WireConnection
from tests.fakes.brokers import broker_fixture
from tests.scenarios.java_host import JavaHost, scenario_names
from tests.scenarios.target import wait_until

TOPICS = {"t": {"partitions": 3, "replication_factor": 3}}
STEP = 60
"""The least records that are written between two changes."""


class Seen(NamedTuple):
    """The values that were acknowledged, and those that were read."""

    written: list[bytes]
    read: list[bytes]


def confluent(bootstrap: str, finished: threading.Event) -> Seen:
    """An idempotent producer and a member of a group, on librdkafka."""
    written: list[bytes] = []

    def acknowledged(error: object, message: confluent_kafka.Message) -> None:
        assert error is None, error
        written.append(message.value() or b"")

    def read_all(count: Callable[[], int | None]) -> list[bytes]:
        settings = {"bootstrap.servers": bootstrap, "group.id": "g", "auto.offset.reset": "earliest"}
        consumer = confluent_kafka.Consumer({**settings, "fetch.wait.max.ms": 50})
        consumer.subscribe(["t"])
        read: list[bytes] = []
        while count() is None or len(read) < (count() or 0):
            message = consumer.poll(0.1)
            if message is not None and message.error() is None:
                read.append(message.value() or b"")
        consumer.close()
        return read

    total: list[int] = []
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_all, lambda: total[0] if total else None)
        try:
            producer = confluent_kafka.Producer(
                {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 1}
            )
            number = 0
            while not finished.is_set():
                producer.produce("t", b"%d" % number, partition=number % 3, on_delivery=acknowledged)
                number += 1
                producer.poll(0.002)
            assert producer.flush(60) == 0
        finally:
            total.append(len(written))
        return Seen(written, reading.result(120))


def transactional(bootstrap: str, finished: threading.Event) -> Seen:
    """A transactional producer on librdkafka, of which every third transaction is aborted, and a reader of the rest."""
    written: list[bytes] = []
    total: list[int] = []

    def read_all() -> list[bytes]:
        settings = {"bootstrap.servers": bootstrap, "group.id": "g", "auto.offset.reset": "earliest"}
        consumer = confluent_kafka.Consumer({**settings, "isolation.level": "read_committed", "fetch.wait.max.ms": 50})
        consumer.subscribe(["t"])
        read: list[bytes] = []
        while not total or len(read) < total[0]:
            message = consumer.poll(0.1)
            if message is not None and message.error() is None:
                read.append(message.value() or b"")
        consumer.close()
        return read

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_all)
        try:
            producer = confluent_kafka.Producer(
                {"bootstrap.servers": bootstrap, "transactional.id": "tx", "linger.ms": 1, "retry.backoff.ms": 20}
            )
            producer.init_transactions(60)
            number = 0
            while not finished.is_set():
                values = [b"%d" % each for each in range(number, number + 3)]
                number += 3
                if _ended(producer, values, commits=number % 9 != 0):
                    written += values
        finally:
            total.append(len(written))
        return Seen(written, reading.result(120))


def _ended(producer: confluent_kafka.Producer, values: list[bytes], *, commits: bool) -> bool:
    """Write the values in a transaction; whether it was committed. One that has to be aborted is."""
    producer.begin_transaction()
    for index, value in enumerate(values):
        producer.produce("t", value, partition=index)
    while True:
        try:
            if commits:
                producer.commit_transaction(60)
            else:
                producer.abort_transaction(60)
        except confluent_kafka.KafkaException as failed:
            error = failed.args[0]
            if error.txn_requires_abort():
                commits = False
            elif not error.retriable():
                raise
        else:
            return commits


def aiokafka(bootstrap: str, finished: threading.Event) -> Seen:
    """The same with aiokafka."""
    return asyncio.run(_aiokafka(bootstrap, finished))


async def _aiokafka(bootstrap: str, finished: threading.Event) -> Seen:
    written: list[bytes] = []
    read: list[bytes] = []
    total: list[int] = []

    async def read_all() -> None:
        consumer = AIOKafkaConsumer(
            "t", bootstrap_servers=bootstrap, group_id="g", auto_offset_reset="earliest", fetch_max_wait_ms=50
        )
        async with consumer:
            while not total or len(read) < total[0]:
                batch = await consumer.getmany(timeout_ms=100)
                read.extend(record.value for records in batch.values() for record in records)

    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, enable_idempotence=True, retry_backoff_ms=20)
    async with asyncio.TaskGroup() as group, producer:
        group.create_task(read_all())
        try:
            while not finished.is_set():
                value = b"%d" % len(written)
                await producer.send_and_wait("t", value, partition=len(written) % 3)
                written.append(value)
        finally:
            total.append(len(written))
    return Seen(written, read)


broker = broker_fixture(kafka_version="3.6", nodes=3, topics=TOPICS, config={"min.insync.replicas": "2"})


def written(broker: KafkaBroker) -> int:
    return sum(partition.high_watermark for partition in broker.topics["t"].partitions)


def nothing() -> None:
    """No more changes."""


def grown(broker: KafkaBroker, count: int, running: Future[Seen]) -> bool:
    """Whether so many records are there, or the client has ended and says why."""
    return running.done() or written(broker) >= count


def raise_levels(broker: KafkaBroker) -> None:
    levels = {"metadata.version": 33, "group.version": 1, "transaction.version": 2}
    request = UpdateFeaturesRequest(60_000, [FeatureUpdateKey(*level) for level in levels.items()])
    with WireConnection("127.0.0.1", broker.nodes[2].port) as connection:
        assert connection.receive(request, 2, connection.send(request, 2)).error_code == 0


@pytest.mark.parametrize(("client", "least"), [(confluent, 5 * STEP), (transactional, STEP), (aiokafka, 5 * STEP)])
def test_a_rolling_upgrade_loses_and_doubles_nothing(
    client: Callable[[str, threading.Event], Seen], least: int, broker: KafkaBroker
) -> None:
    """Markers and aborted records count among those between two changes."""
    steps: list[Callable[[], None]] = [partial(broker.upgrade, "4.4", node=node) for node in broker.nodes]
    steps += [partial(raise_levels, broker), nothing]
    finished = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(client, broker.bootstrap_servers, finished)
        try:
            for step in steps:
                wait_until("more records", partial(grown, broker, written(broker) + STEP, running))
                step()
        finally:
            finished.set()
        seen = running.result(180)
    assert [node.release for node in broker.nodes.values()] == ["4.4"] * 3
    stored = [record.value or b"" for record in broker.records("t", isolation="read_committed")]
    assert sorted(stored) == sorted(seen.written) == sorted(seen.read)
    assert len(set(stored)) == len(stored) >= least


@pytest.mark.jdk
@pytest.mark.parametrize("scenario", scenario_names("Upgrading"))
def test_the_java_client_loses_and_doubles_nothing(scenario: str, java: JavaHost, broker: KafkaBroker) -> None:
    with ControlServer(broker) as server:
        result = java.scenario(scenario, f"{broker.bootstrap_servers} {server.url}")
    assert result["ok"], result["error"]
    assert broker.cluster.image.feature("metadata.version") == 33
