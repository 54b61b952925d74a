"""Each scenario runs on odradek in a process of its own (`-m clients`), and on a real Kafka (`-m conformance`)."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.conformance import asked
from tests.scenarios.fixtures import bootstrap, broker, collected, make_topic, of_clients, skip_without_kafka
from tests.scenarios.java_host import java
from tests.scenarios.sasl_targets import LogIns, with_log_ins
from tests.scenarios.secured_listeners import Secured, secured_broker
from tests.scenarios.target import Target, usual_target

__all__ = ["bootstrap", "broker", "collected", "java", "make_topic"]


def pytest_configure(config: pytest.Config) -> None:
    asked.register(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    of_clients(items, os.path.dirname(__file__))
    if config.pluginmanager.hasplugin("rerunfailures"):
        # A broker that is started from a file is told its ports before; another program may take one meanwhile.
        again = pytest.mark.flaky(reruns=2, only_rerun="Address already in use")
        for item in items:
            if item.get_closest_marker("clients"):
                item.add_marker(again)


@pytest.fixture(
    scope="session",
    autouse=True,
    params=[pytest.param("odradek", marks=pytest.mark.clients), pytest.param("kafka", marks=pytest.mark.conformance)],
)
def side(request: pytest.FixtureRequest) -> str:
    """Who serves the scenario."""
    name: str = request.param
    if name == "kafka":
        skip_without_kafka()
    return name


@pytest.fixture(scope="session")
def target(side: str) -> Iterator[Target]:
    with usual_target(side) as started:
        yield started


@pytest.fixture(scope="module")
def secured(side: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    with secured_broker(side, tmp_path_factory.mktemp("secured")) as started:
        yield started


@pytest.fixture(scope="module")
def log_ins(side: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LogIns]:
    with with_log_ins(side, tmp_path_factory.mktemp("sasl")) as started:
        yield started
