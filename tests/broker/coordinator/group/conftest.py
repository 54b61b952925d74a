"""For conversations about groups of each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from tests.broker.coordinator.group.test_conversations import PatientClock
from tests.scenarios.target import SCENARIO_CONFIG


@pytest.fixture(scope="module")
def brokers() -> Iterator[Callable[[str], KafkaBroker]]:
    """A broker for each release that is asked for."""
    started: dict[str, KafkaBroker] = {}
    with ExitStack() as stack:

        def broker_of(release: str) -> KafkaBroker:
            if release not in started:
                broker = KafkaBroker(config=SCENARIO_CONFIG, clock=PatientClock(), kafka_version=release)
                started[release] = stack.enter_context(broker)
            return started[release]

        yield broker_of
        assert [broker.bugs for broker in started.values() if broker.bugs] == []
