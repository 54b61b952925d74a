"""Whole conversations about streams groups, word for word as a real Kafka 4.3.1 held them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from tests.broker.coordinator.group.test_conversations import PatientClock
from tests.scenarios.streams_group_conversations import CONVERSATIONS, transcribe
from tests.scenarios.target import SCENARIO_CONFIG

VECTORS = Path(__file__).parents[4] / "vectors" / "streams_group_conversations.json.gz"


@pytest.fixture(scope="module")
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(config=SCENARIO_CONFIG, clock=PatientClock()) as started:
        yield started
        assert started.bugs == []


@pytest.mark.long("assignment_interval", "initial_delay", "rebalance_timeout", "session_expiry")
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_as_kafka_says_it(name: str, broker: KafkaBroker) -> None:
    expected = json.loads(gzip.decompress(VECTORS.read_bytes()))[name]
    host, port = broker.bootstrap_servers.split(":")
    assert transcribe(name, host, int(port)) == expected
