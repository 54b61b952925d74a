"""Client metrics of real clients, as a test sees them (KIP-714)."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer

import odradek.types
from tests.fakes.brokers import broker_fixture
from tests.scenarios.java_host import JavaHost
from tests.scenarios.target import wait_until

broker = broker_fixture()
"""A broker in this process, so that the test can look into it."""


def total(metrics: list[odradek.types.ClientMetric], name: str) -> float:
    """A sum that clients report as deltas."""
    found = [metric for metric in metrics if metric.name == name]
    assert found, f"nobody reports {name}"
    assert all(metric.kind == "sum" and metric.delta for metric in found)
    return sum(metric.value for metric in found)


@pytest.mark.jdk
def test_the_java_client_pushes_its_metrics(java: JavaHost, broker: odradek.KafkaBroker) -> None:
    scenario = "Telemetry.clientsPush"
    java.begin([scenario], broker.bootstrap_servers)

    def both_pushed() -> bool:
        return {"java-producer", "java-consumer"} <= {push.client_id for push in broker.telemetry_pushes}

    wait_until("pushes of both clients", both_pushed)
    wait_until("their ids", lambda: "ids" in broker.topics and len(list(broker.records("ids"))) == 2)
    go_on = Producer({"bootstrap.servers": broker.bootstrap_servers, "enable.metrics.push": False})
    go_on.produce("pushed", b"both")
    assert go_on.flush(30) == 0
    result = java.scenario(scenario, broker.bootstrap_servers)
    assert result["ok"], result["error"]

    ids = [record.value.decode() for record in broker.records("ids") if record.value is not None]
    for client_id, instance_id in zip(("java-producer", "java-consumer"), ids, strict=True):
        pushes = [push for push in broker.telemetry_pushes if push.client_id == client_id]
        assert {push.client_instance_id for push in pushes} == {instance_id}
        assert {push.client_software_name for push in pushes} == {"apache-kafka-java"}
    metrics = broker.client_metrics
    of_producer = [metric for metric in metrics if metric.client_id == "java-producer"]
    of_consumer = [metric for metric in metrics if metric.client_id == "java-consumer"]
    assert total(of_producer, "org.apache.kafka.producer.connection.creation.total") >= 1
    assert total(of_consumer, "org.apache.kafka.consumer.connection.creation.total") >= 1
    assert any("group_id" in metric.labels for metric in of_consumer)
    latencies = [metric for metric in of_producer if metric.name.endswith("node.request.latency.max")]
    assert {metric.kind for metric in latencies} == {"gauge"}
    assert any(metric.attributes.get("node_id") for metric in latencies)


def test_librdkafka_pushes_its_metrics(broker: odradek.KafkaBroker) -> None:
    broker.create_topic("t")
    broker.subscribe_client_metrics("all", {"metrics": "org.apache.kafka.producer", "interval.ms": 100})
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "client.id": "rd", "enable.metrics.push": True, "log_level": 2}
    )
    producer.produce("t", b"x")
    assert producer.flush(30) == 0

    def reported() -> bool:
        producer.poll(0)
        return any(metric.name.endswith("node.request.latency.max") for metric in broker.client_metrics)

    wait_until("the producer's metrics", reported)
    metrics = broker.client_metrics
    assert {metric.client_id for metric in metrics} == {"rd"}
    assert all(metric.name.startswith("org.apache.kafka.producer.") for metric in metrics)
    assert {push.client_software_name for push in broker.telemetry_pushes} == {"confluent-kafka-python"}


def test_nobody_pushes_where_nobody_asked(broker: odradek.KafkaBroker) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "enable.metrics.push": True})
    producer.produce("t", b"x")
    assert producer.flush(30) == 0
    assert not [line for line in broker.cluster.recent.lines() if "Telemetry" in line]
