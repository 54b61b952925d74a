"""Each client does a whole test with the settings of `client_config(fast=True)`: it takes them, and loses nothing."""

from __future__ import annotations

import pytest

from odradek import KafkaBroker, Security
from odradek.broker.facade.client_configs import Client
from tests.conformance.real_kafka import Unavailable
from tests.fakes.brokers import broker_fixture
from tests.scenarios.whole_test import RECORDS, STEPS, run

pytestmark = [pytest.mark.clients]
broker = broker_fixture()


def whole_test(broker: KafkaBroker, client: Client) -> None:
    try:
        (seconds,) = run(client, broker.client_config(client=client, fast=True))
    except Unavailable as missing:
        pytest.skip(str(missing))
    assert set(seconds) == set(STEPS)
    (topic,) = broker.topics
    assert sorted(record.value or b"" for record in broker.records(topic)) == [b"%d" % n for n in range(RECORDS)]
    (group,) = broker.groups.values()
    assert group.offsets[topic, 0].offset == RECORDS
    assert group.members == ()


@pytest.mark.parametrize("client", ["confluent", "kafka-python", "aiokafka", "kafkajs", "franz-go-env"])
def test_client_runs_a_whole_test_with_fast_settings(broker: KafkaBroker, client: Client) -> None:
    whole_test(broker, client)


@pytest.mark.jdk
def test_a_whole_test_in_java(broker: KafkaBroker) -> None:
    whole_test(broker, "java")


def test_kafkajs_logs_in_over_tls() -> None:
    security = Security(tls=True, users={"alice": "a-secret"})
    with KafkaBroker(security=security) as broker:
        (seconds,) = run("kafkajs", broker.client_config("alice", "kafkajs", fast=True))
        assert set(seconds) == set(STEPS)
        assert broker.denied == []
