"""The recorded conversations about topology descriptions are still what a real Kafka with its plugin for them says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import DEFINITION, KAFKA_VERSION, RealKafka
from tests.fakes.vectors import recorded
from tests.scenarios.topology_descriptions import CONFIG, CONVERSATIONS, config_of, transcribe

pytestmark = pytest.mark.skipif(KAFKA_VERSION != DEFINITION, reason="recorded from the default release only")


@pytest.fixture(scope="module")
def kafka() -> Iterator[RealKafka]:
    with RealKafka(config=CONFIG) as started:
        yield started


@pytest.mark.parametrize("name", [name for name in CONVERSATIONS if config_of(name) is CONFIG])
def test_conversation_about_topology_descriptions_is_as_recorded(name: str, kafka: RealKafka) -> None:
    assert transcribe(name, kafka.bootstrap_servers) == recorded("topology_descriptions")[name]


@pytest.mark.parametrize("name", [name for name in CONVERSATIONS if config_of(name) is not CONFIG])
def test_conversation_about_topology_descriptions_with_other_configs_is_as_recorded(name: str) -> None:
    with RealKafka(config=config_of(name)) as kafka:
        assert transcribe(name, kafka.bootstrap_servers) == recorded("topology_descriptions")[name]
