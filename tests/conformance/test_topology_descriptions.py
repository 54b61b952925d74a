"""The recorded conversations about topology descriptions are still what a real Kafka with its plugin for them says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import DEFINITION, KAFKA_VERSION, RealKafka, Unavailable
from tests.fakes.vectors import recorded
from tests.scenarios.topology_descriptions import CONFIG, CONVERSATIONS, transcribe

pytestmark = pytest.mark.skipif(KAFKA_VERSION != DEFINITION, reason="recorded from the default release only")


@pytest.fixture(scope="module")
def kafka() -> Iterator[RealKafka]:
    try:
        with RealKafka(config=CONFIG) as started:
            yield started
    except Unavailable as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversation(name: str, kafka: RealKafka) -> None:
    assert transcribe(name, "127.0.0.1", kafka.port) == recorded("topology_descriptions")[name]
