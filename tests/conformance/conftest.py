"""The scenarios on a real Kafka from its jars (``$ODRADEK_REAL_KAFKA`` names one that already runs)."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.conformance.real_kafka import Unavailable
from tests.scenarios.fixtures import bootstrap, broker, make_topic
from tests.scenarios.java_host import java
from tests.scenarios.target import Target, kafka_target

__all__ = ["bootstrap", "broker", "java", "make_topic", "target"]


@pytest.fixture(scope="session")
def target() -> Iterator[Target]:
    try:
        with kafka_target() as started:
            yield started
    except Unavailable as missing:
        pytest.skip(str(missing))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = os.path.dirname(__file__)
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.conformance)
