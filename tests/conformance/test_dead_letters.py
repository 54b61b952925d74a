"""The recorded conversations about dead letter queues are still what a real Kafka says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import DEFINITION, KAFKA_VERSION, RealKafka, Unavailable
from tests.fakes.vectors import recorded
from tests.scenarios.dead_letters import CONFIG, CONVERSATIONS, transcribe

pytestmark = pytest.mark.skipif(KAFKA_VERSION != DEFINITION, reason="recorded from the default release only")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Of a real Kafka with the configs that the conversations need."""
    try:
        with RealKafka(config=CONFIG) as kafka:
            yield kafka.port
    except Unavailable as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversation(name: str, port: int) -> None:
    assert transcribe(name, "127.0.0.1", port) == recorded("dead_letters")[name]
