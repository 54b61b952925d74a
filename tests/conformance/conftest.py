"""What a real Kafka from its jars answers (``$ODRADEK_REAL_KAFKA`` names one that already runs)."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from odradek.broker.config import broker_config
from odradek.broker.releases.release import Release, release_of
from tests.conformance import asked
from tests.conformance.real_kafka import DEFINITION, KAFKA_VERSION, RELEASE
from tests.scenarios.fixtures import bootstrap, broker, collected, make_topic, of_clients, skip_without_kafka
from tests.scenarios.java_host import java
from tests.scenarios.target import Target, usual_target

__all__ = ["bootstrap", "broker", "collected", "java", "make_topic", "target"]


@pytest.fixture(scope="session")
def target() -> Iterator[Target]:
    with usual_target("kafka") as started:
        yield started


FOLDER = os.path.dirname(__file__)


def release_that_is_asked(version: str = RELEASE, zookeeper: bool | None = None) -> Release:
    """The release of odradek's brokers in these tests, unless they name another one."""
    return release_of(version, zookeeper)


if KAFKA_VERSION != DEFINITION:
    pytest.MonkeyPatch().setattr(broker_config, "release_of", release_that_is_asked)


def pytest_configure(config: pytest.Config) -> None:
    asked.register(config)


def pytest_itemcollected(item: pytest.Item) -> None:
    of_clients([item], FOLDER, pytest.mark.conformance)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if os.path.dirname(item.path) == FOLDER:
        skip_without_kafka()
