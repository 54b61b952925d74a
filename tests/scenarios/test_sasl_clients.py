"""The Python libraries log in by PLAIN and SCRAM, with TLS and without: good passwords, bad ones, sessions that end.

A module of tests/clients or tests/conformance makes the fixture `log_ins`, the broker.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from typing import Any

import aiokafka
import confluent_kafka
import pytest
from aiokafka.errors import KafkaError as AioKafkaError
from confluent_kafka.admin import AdminClient, NewTopic

from tests.scenarios.python_clients import kafka
from tests.scenarios.sasl_broker import MECHANISMS, SHORT_MS
from tests.scenarios.sasl_targets import USER, LogIns, password_of
from tests.scenarios.target import unique, wait_until

WAYS = pytest.mark.parametrize("mechanism", MECHANISMS)
PROTOCOLS = pytest.mark.parametrize("listener", ["SASL", "TLS"])
ODD_USERS = [("PLAIN", "zoë"), ("SCRAM-SHA-256", "a=b,c"), ("SCRAM-SHA-512", "ada lovelace")]
VALUE = b"said after a log-in"
SESSIONS_S = 2.5 * SHORT_MS / 1000
"""Longer than two sessions on the listener SHORT."""


def librdkafka(broker: LogIns, listener: str, mechanism: str, password: str = "", user: str = USER) -> dict[str, Any]:
    config: dict[str, Any] = {
        "bootstrap.servers": broker.address(listener),
        "security.protocol": "SASL_SSL" if listener == "TLS" else "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password or password_of(mechanism, user),
        "log_level": 0,
    }
    return config | ({"ssl.ca.location": str(broker.ca)} if listener == "TLS" else {})


def python_way(broker: LogIns, listener: str, mechanism: str, password: str = "", user: str = USER) -> dict[str, Any]:
    """For kafka-python and for aiokafka."""
    config: dict[str, Any] = {
        "bootstrap_servers": broker.address(listener),
        "security_protocol": "SASL_SSL" if listener == "TLS" else "SASL_PLAINTEXT",
        "sasl_mechanism": mechanism,
        "sasl_plain_username": user,
        "sasl_plain_password": password or password_of(mechanism, user),
    }
    if listener == "TLS":
        config["ssl_context"] = ssl.create_default_context(cafile=str(broker.ca))
    return config


@pytest.fixture
def topic(log_ins: LogIns) -> str:
    name = unique("sasl")
    admin = AdminClient({"bootstrap.servers": log_ins.address("PLAINTEXT"), "log_level": 0})
    admin.create_topics([NewTopic(name, 1, 1)])[name].result(60)
    return name


# -- confluent-kafka


@PROTOCOLS
@WAYS
def test_confluent_kafka_logs_in_with_sasl(log_ins: LogIns, listener: str, mechanism: str, topic: str) -> None:
    config = librdkafka(log_ins, listener, mechanism)
    producer = confluent_kafka.Producer(config)
    producer.produce(topic, VALUE)
    assert producer.flush(60) == 0
    consumer = confluent_kafka.Consumer({**config, "group.id": unique("g"), "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    message = wait_until("the record", lambda: consumer.poll(0.1))
    consumer.close()
    assert message is not None
    assert (message.error(), message.value()) == (None, VALUE)


@pytest.mark.parametrize(("mechanism", "user"), ODD_USERS)
def test_confluent_kafka_with_odd_names(log_ins: LogIns, mechanism: str, user: str) -> None:
    client = AdminClient(librdkafka(log_ins, "SASL", mechanism, user=user))
    assert client.list_topics(timeout=60).brokers


@PROTOCOLS
@WAYS
def test_confluent_kafka_with_a_wrong_password(log_ins: LogIns, listener: str, mechanism: str) -> None:
    told = "Invalid username or password" if mechanism == "PLAIN" else "invalid credentials with SASL mechanism SCRAM"
    errors: list[confluent_kafka.KafkaError] = []
    wrong = librdkafka(log_ins, listener, mechanism, "guess") | {"error_cb": errors.append}
    client = AdminClient(wrong)
    authentication = confluent_kafka.KafkaError._AUTHENTICATION

    def refused() -> list[confluent_kafka.KafkaError]:
        client.poll(0.1)
        return [error for error in errors if error.code() == authentication]

    assert told in wait_until("the refusal", refused)[0].str()


@WAYS
def test_confluent_kafka_over_the_end_of_sessions(log_ins: LogIns, mechanism: str, topic: str) -> None:
    """librdkafka logs in again on the same connection. One that comes too late is cut, and it connects anew."""
    errors: list[Any] = []
    producer = confluent_kafka.Producer(librdkafka(log_ins, "SHORT", mechanism))
    end, sent = time.monotonic() + SESSIONS_S, 0
    while time.monotonic() < end or not sent:
        producer.produce(topic, VALUE, on_delivery=lambda error, _: errors.append(error) if error else None)
        assert producer.flush(60) == 0
        producer.poll(0.05)
        sent += 1
    assert errors == []


# -- kafka-python


@PROTOCOLS
@WAYS
def test_kafka_python_logs_in_with_sasl(log_ins: LogIns, listener: str, mechanism: str, topic: str) -> None:
    way = python_way(log_ins, listener, mechanism)
    producer = kafka.KafkaProducer(**way)
    producer.send(topic, VALUE).get(60)
    producer.close()
    consumer = kafka.KafkaConsumer(
        topic, **way, group_id=unique("g"), auto_offset_reset="earliest", consumer_timeout_ms=60_000
    )
    found = next(consumer).value
    consumer.close()
    assert found == VALUE


@PROTOCOLS
@WAYS
def test_kafka_python_with_a_wrong_password(log_ins: LogIns, listener: str, mechanism: str) -> None:
    with pytest.raises(kafka.errors.KafkaTimeoutError, match="Unable to bootstrap"):
        kafka.KafkaAdminClient(**python_way(log_ins, listener, mechanism, "guess"), bootstrap_timeout_ms=500)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_kafka_python_over_the_end_of_sessions(log_ins: LogIns, mechanism: str, topic: str) -> None:
    """It connects anew."""
    producer = kafka.KafkaProducer(**python_way(log_ins, "SHORT", mechanism), linger_ms=0)
    offsets: list[int] = []
    end = time.monotonic() + SESSIONS_S
    while time.monotonic() < end or not offsets:
        offsets.append(producer.send(topic, VALUE).get(60).offset)
        time.sleep(0.05)
    producer.close()
    assert offsets == list(range(len(offsets)))


# -- aiokafka


@PROTOCOLS
@WAYS
def test_aiokafka_logs_in_with_sasl(log_ins: LogIns, listener: str, mechanism: str, topic: str) -> None:
    way = python_way(log_ins, listener, mechanism)

    async def there_and_back() -> bytes | None:
        async with aiokafka.AIOKafkaProducer(**way) as producer:
            await producer.send_and_wait(topic, VALUE)
        reading = {"group_id": unique("g"), "auto_offset_reset": "earliest"}
        async with aiokafka.AIOKafkaConsumer(topic, **way, **reading) as consumer:
            found: bytes | None = (await consumer.getone()).value
            return found

    assert asyncio.run(asyncio.wait_for(there_and_back(), 60)) == VALUE


@PROTOCOLS
@WAYS
def test_aiokafka_with_a_wrong_password(log_ins: LogIns, listener: str, mechanism: str) -> None:
    async def started() -> None:
        producer = aiokafka.AIOKafkaProducer(**python_way(log_ins, listener, mechanism, "guess"))
        try:
            await producer.start()
        finally:
            await producer.stop()

    with pytest.raises(AioKafkaError, match="Unable to bootstrap"):
        asyncio.run(asyncio.wait_for(started(), 60))


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_aiokafka_over_the_end_of_sessions(log_ins: LogIns, mechanism: str, topic: str) -> None:
    """It connects anew."""

    async def offsets() -> list[int]:
        found: list[int] = []
        async with aiokafka.AIOKafkaProducer(**python_way(log_ins, "SHORT", mechanism)) as producer:
            end = time.monotonic() + SESSIONS_S
            while time.monotonic() < end or not found:
                found.append((await producer.send_and_wait(topic, VALUE)).offset)
                await asyncio.sleep(0.05)
        return found

    found = asyncio.run(asyncio.wait_for(offsets(), 60))
    assert found == list(range(len(found)))
