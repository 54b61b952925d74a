"""What streams groups have since Kafka 4.4, word for word as a real Kafka 4.4.0 said it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from tests.broker.coordinator.group.test_conversations import PatientClock
from tests.scenarios.streams_static_members import CONVERSATIONS, transcribe
from tests.scenarios.target import SCENARIO_CONFIG

VECTORS = Path(__file__).parents[4] / "vectors" / "streams_static_members.json.gz"


@pytest.mark.long("sessions")
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_as_kafka_says_it(name: str) -> None:
    expected = json.loads(gzip.decompress(VECTORS.read_bytes()))[name]
    with KafkaBroker(config=SCENARIO_CONFIG, clock=PatientClock(), kafka_version="4.4") as broker:
        host, port = broker.bootstrap_servers.split(":")
        assert transcribe(name, host, int(port)) == expected
        assert broker.bugs == []
