"""Clients that live through a restore, a reset and a fork, and go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from odradek import KafkaBroker
from odradek.control.server import ControlServer
from tests.scenarios.java_host import JavaHost, scenario_names

pytestmark = [pytest.mark.clients, pytest.mark.filterwarnings("ignore:(open_text|read_text) is deprecated")]

Consume = Callable[[int], list[bytes]]
_PATIENCE_S = 60.0


@contextmanager
def _confluent(servers: str) -> Iterator[tuple[Any, Consume]]:
    import confluent_kafka

    producer = confluent_kafka.Producer({"bootstrap.servers": servers, "enable.idempotence": True, "log_level": 0})
    settings = {"bootstrap.servers": servers, "group.id": "g", "auto.offset.reset": "earliest", "log_level": 0}
    consumer = confluent_kafka.Consumer(settings)
    consumer.subscribe(["t"])

    def produce(value: str) -> None:
        failed: list[Any] = []
        producer.produce("t", value, on_delivery=lambda error, _: failed.append(error) if error else None)
        assert producer.flush(_PATIENCE_S) == 0
        assert not failed

    def consume(count: int) -> list[bytes]:
        found: list[bytes] = []
        while len(found) < count:
            message = consumer.poll(_PATIENCE_S)
            assert message is not None, f"only {found}"
            if message.error() is None:
                found.append(message.value() or b"")
        return found

    yield produce, consume
    consumer.close()


@contextmanager
def _kafka_python(servers: str) -> Iterator[tuple[Any, Consume]]:
    import kafka

    producer = kafka.KafkaProducer(bootstrap_servers=servers)
    consumer = kafka.KafkaConsumer("t", bootstrap_servers=servers, group_id="g", auto_offset_reset="earliest")

    def produce(value: str) -> None:
        producer.send("t", value.encode()).get(_PATIENCE_S)

    def consume(count: int) -> list[bytes]:
        found: list[bytes] = []
        while len(found) < count:
            polled = consumer.poll(timeout_ms=int(_PATIENCE_S * 1000), max_records=count - len(found))
            assert polled, f"only {found}"
            found += [record.value for records in polled.values() for record in records]
        return found

    yield produce, consume
    consumer.close()
    producer.close()


@pytest.mark.parametrize("client", [_confluent, _kafka_python])
def test_clients_go_on_after_a_restore(client: Any) -> None:
    with KafkaBroker(topics=["t"]) as broker, client(broker.bootstrap_servers) as (produce, consume):
        for number in range(3):
            produce(f"first {number}")
        assert len(consume(3)) == 3
        snapshot = broker.snapshot()
        for number in range(5):
            produce(f"lost {number}")
        assert len(consume(5)) == 5
        for attempt in range(2):
            broker.restore(snapshot)
            produce(f"again {attempt}")
            assert consume(1) == [f"again {attempt}".encode()]
            assert len(list(broker.records("t"))) == 4
        assert not broker.bugs, broker.bugs[0]


@pytest.mark.parametrize("client", [_confluent, _kafka_python])
def test_clients_go_on_after_a_reset(client: Any) -> None:
    with KafkaBroker(topics=["t"]) as broker, client(broker.bootstrap_servers) as (produce, consume):
        for attempt in range(3):
            produce(f"new {attempt}")
            assert consume(1) == [f"new {attempt}".encode()]
            assert len(list(broker.records("t"))) == 1
            broker.reset()
        assert not broker.bugs, broker.bugs[0]


@pytest.mark.parametrize("client", [_confluent, _kafka_python])
def test_clients_do_not_notice_a_fork_and_others_go_on_in_it(client: Any) -> None:
    with KafkaBroker(topics=["t"]) as broker, client(broker.bootstrap_servers) as (produce, consume):
        produce("both")
        assert consume(1) == [b"both"]
        asked = {request.connection for request in broker.requests}
        with broker.fork() as other:
            produce("here")
            assert consume(1) == [b"here"]
            assert {request.connection for request in broker.requests} == asked
            with client(other.bootstrap_servers) as (produce_there, _):
                produce_there("there")
            assert [record.value for record in other.records("t")] == [b"both", b"there"]
            assert not other.bugs, other.bugs[0]
        assert [record.value for record in broker.records("t")] == [b"both", b"here"]
        assert not broker.bugs, broker.bugs[0]


@pytest.mark.jdk
@pytest.mark.parametrize("scenario", scenario_names("Restoring"))
def test_the_java_client_goes_on(scenario: str, java: JavaHost) -> None:
    with KafkaBroker(topics=["t"]) as broker, ControlServer(broker) as server:
        result = java.scenario(scenario, f"{broker.bootstrap_servers} {server.url}")
        assert result["ok"], result["error"]
        assert not broker.bugs, broker.bugs[0]
