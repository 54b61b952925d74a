"""The recorded conversations about static members of streams groups are still what a real Kafka says."""

from __future__ import annotations

import pytest

from tests.conformance.real_kafka import DEFINITION, KAFKA_VERSION
from tests.fakes.vectors import recorded
from tests.scenarios.streams_static_members import CONVERSATIONS, transcribe
from tests.scenarios.target import Target

pytestmark = pytest.mark.skipif(KAFKA_VERSION != DEFINITION, reason="recorded from the default release only")


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversation(name: str, broker: Target) -> None:
    host, port = broker.bootstrap.rsplit(":", 1)
    assert transcribe(name, host, int(port)) == recorded("streams_static_members")[name]
