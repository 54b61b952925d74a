"""The recorded conversations about topology descriptions are still what a real Kafka with its plugin for them says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from tests.conformance.real_kafka import DEFINITION, KAFKA_VERSION, RealKafka, Unavailable
from tests.fakes.vectors import recorded
from tests.scenarios.topology_descriptions import CONFIG, CONVERSATIONS, config_of, transcribe

pytestmark = pytest.mark.skipif(KAFKA_VERSION != DEFINITION, reason="recorded from the default release only")


@contextmanager
def kafka_with(config: Mapping[str, str]) -> Iterator[RealKafka]:
    try:
        with RealKafka(config=config) as started:
            yield started
    except Unavailable as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def kafka() -> Iterator[RealKafka]:
    with kafka_with(CONFIG) as started:
        yield started


@pytest.mark.parametrize("name", [name for name in CONVERSATIONS if config_of(name) is CONFIG])
def test_conversation(name: str, kafka: RealKafka) -> None:
    assert transcribe(name, "127.0.0.1", kafka.port) == recorded("topology_descriptions")[name]


@pytest.mark.parametrize("name", [name for name in CONVERSATIONS if config_of(name) is not CONFIG])
def test_conversation_with_configs_of_its_own(name: str) -> None:
    with kafka_with(config_of(name)) as kafka:
        assert transcribe(name, "127.0.0.1", kafka.port) == recorded("topology_descriptions")[name]
