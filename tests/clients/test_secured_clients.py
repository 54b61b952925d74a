"""Clients that get what they need from `broker.client_config`: each mechanism, TLS, certificates, missing rights."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

from odradek import Acl, KafkaBroker, Security
from tests.scenarios.python_clients import kafka

USERS = {"alice": "a-secret", "bob": "b-secret"}
ACLS = [
    Acl("alice", ["WRITE", "READ"], topic="orders"),
    Acl("alice", "READ", group="g-", prefixed=True),
    Acl("bob", "DESCRIBE", topic="orders"),
]
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


@pytest.fixture(scope="module")
def broker() -> Iterator[KafkaBroker]:
    security = Security(tls=True, users=USERS, acls=ACLS)
    with KafkaBroker(nodes=3, topics={"orders": 3}, security=security) as running:
        yield running
        assert not running.bugs, running.bugs[0]


def value(name: str) -> bytes:
    return name.encode()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_confluent_kafka_connects_to_a_secured_broker(broker: KafkaBroker, mechanism: str) -> None:
    config = broker.client_config("alice", mechanism=mechanism)
    producer = Producer(config)
    producer.produce("orders", value=value(f"confluent {mechanism}"), partition=0)
    assert producer.flush(60) == 0
    consumer = Consumer({**config, "group.id": f"g-{mechanism}", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    seen: list[bytes | None] = []
    while value(f"confluent {mechanism}") not in seen:
        seen += [message.value() for message in consumer.consume(10, timeout=1) if message.error() is None]
    consumer.close()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_kafka_python_connects_to_a_secured_broker(broker: KafkaBroker, mechanism: str) -> None:
    config = broker.client_config("alice", "kafka-python", mechanism=mechanism)
    producer = kafka.KafkaProducer(**config)
    producer.send("orders", value(f"kafka-python {mechanism}"), partition=1).get(60)
    producer.close()
    consumer = kafka.KafkaConsumer("orders", **config, group_id=f"g-kp-{mechanism}", auto_offset_reset="earliest")
    for message in consumer:
        if message.value == value(f"kafka-python {mechanism}"):
            break
    consumer.close()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_aiokafka_connects_to_a_secured_broker(broker: KafkaBroker, mechanism: str) -> None:
    config = broker.client_config("alice", "aiokafka", mechanism=mechanism)

    async def there_and_back() -> None:
        async with AIOKafkaProducer(**config) as producer:
            await producer.send_and_wait("orders", value(f"aiokafka {mechanism}"), partition=2)
        consumer = AIOKafkaConsumer("orders", **config, group_id=f"g-aio-{mechanism}", auto_offset_reset="earliest")
        async with consumer:
            async for message in consumer:
                if message.value == value(f"aiokafka {mechanism}"):
                    return

    asyncio.run(there_and_back())


def test_a_right_that_is_missing(broker: KafkaBroker) -> None:
    errors: list[Any] = []
    producer = Producer(broker.client_config("bob"))
    producer.produce("orders", b"v", partition=0, on_delivery=lambda error, _: errors.append(error))
    producer.flush(60)
    assert errors[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    assert any(
        (denial.principal, denial.operation, denial.resource_name) == ("User:bob", "WRITE", "orders")
        for denial in broker.denied
    )


def test_client_with_a_wrong_password_is_refused(broker: KafkaBroker) -> None:
    errors: list[Any] = []
    wrong = broker.client_config("alice") | {"sasl.password": "guess", "error_cb": errors.append}
    producer = Producer(wrong)
    while not errors:
        producer.poll(0.1)
    assert errors[0].code() in (KafkaError._AUTHENTICATION, KafkaError._ALL_BROKERS_DOWN)
    assert any(denial.operation == "LOGIN" for denial in broker.denied)


def test_clients_with_certificates_log_in() -> None:
    security = Security(tls=True, client_certificates="required", acls=ACLS)
    with KafkaBroker(topics=["orders"], security=security) as broker:
        producer = Producer(broker.client_config("alice"))
        producer.produce("orders", b"v")
        assert producer.flush(60) == 0
        config = broker.client_config("alice", "kafka-python")
        other = kafka.KafkaProducer(**config)
        other.send("orders", b"w").get(60)
        other.close()
        without = {key: text for key, text in broker.client_config("alice").items() if "certificate" not in key}
        without.pop("ssl.key.location")
        consumer = Consumer({**without, "group.id": "g-none"})
        with pytest.raises(KafkaException):
            consumer.list_topics(timeout=2)
        consumer.close()
        assert [record.value for record in broker.records("orders")] == [b"v", b"w"]
