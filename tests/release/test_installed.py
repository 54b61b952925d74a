"""An installed wheel runs README's test, compiled where it says so: for the machines on which wheels are built."""

from __future__ import annotations

import os

import pytest

import odradek

pytest.importorskip("confluent_kafka")

from confluent_kafka import Producer


def test_the_plugin_of_an_installed_odradek_gives_a_test_its_broker(kafka_broker: odradek.KafkaBroker) -> None:
    kafka_broker.create_topic("orders", 3)
    producer = Producer({"bootstrap.servers": kafka_broker.bootstrap_servers})
    producer.produce("orders", key="1", value="book")
    producer.flush()
    assert [record.value for record in kafka_broker.records("orders")] == [b"book"]


@pytest.mark.skipif("CIBUILDWHEEL" not in os.environ, reason="the wheel that is built is compiled, a checkout is not")
def test_the_wheel_is_compiled() -> None:
    assert odradek.compiled
