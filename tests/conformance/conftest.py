"""The scenarios on a real Kafka from its jars (``$ODRADEK_REAL_KAFKA`` names one that already runs)."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import Unavailable
from tests.scenarios.fixtures import bootstrap, broker, collected, make_topic, of_clients
from tests.scenarios.java_host import java
from tests.scenarios.target import Target, kafka_target

__all__ = ["bootstrap", "broker", "collected", "java", "make_topic", "target"]


@pytest.fixture(scope="session")
def target() -> Iterator[Target]:
    try:
        with kafka_target() as started:
            yield started
    except Unavailable as missing:
        pytest.skip(str(missing))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Ask twice more where a real Kafka answers another way.

    Its threads race, so it does not tell a story the same way each time: a recording holds while it still tells it so.
    The tests of odradek itself, in the other folders, are never repeated.
    """
    folder = os.path.dirname(__file__)
    of_clients(items, folder, pytest.mark.conformance)
    if config.pluginmanager.hasplugin("rerunfailures"):
        for item in items:
            if str(item.path).startswith(folder + os.sep):
                item.add_marker(pytest.mark.flaky(reruns=2))
