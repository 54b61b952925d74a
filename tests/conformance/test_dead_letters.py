"""The recorded conversations about dead letter queues are still what a real Kafka says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import DEFINITION, KAFKA_VERSION, RealKafka
from tests.fakes.vectors import recorded
from tests.scenarios.dead_letters import CONFIG, CONVERSATIONS, transcribe

pytestmark = pytest.mark.skipif(KAFKA_VERSION != DEFINITION, reason="recorded from the default release only")


@pytest.fixture(scope="module")
def configured() -> Iterator[str]:
    """host:port of a real Kafka with the configs that the conversations need."""
    with RealKafka(config=CONFIG) as kafka:
        yield kafka.bootstrap_servers


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversation_about_dead_letter_queues_is_as_recorded(name: str, configured: str) -> None:
    assert transcribe(name, configured) == recorded("dead_letters")[name]
