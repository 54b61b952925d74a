"""See ``tests/scenarios/growing.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import odradek
from tests.scenarios.growing import *  # noqa: F403
from tests.scenarios.growing import FIRST, LATER, Config, Growing


@pytest.fixture
def growing() -> Iterator[Growing]:
    with odradek.KafkaBroker() as broker:

        def add(config: Config) -> int:
            assert broker.add_node(config=config) == LATER
            return broker.nodes[LATER].port

        def stop() -> None:
            broker.stop_node(LATER)

        def start(config: Config) -> int:
            broker.start_node(LATER, config=config)
            return broker.nodes[LATER].port

        yield Growing(broker.nodes[FIRST].port, add, stop, start)
        assert not broker.bugs
