"""The scenarios on a real Kafka from its jars (``$ODRADEK_REAL_KAFKA`` names one that already runs)."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from odradek.broker.config import broker_config
from odradek.broker.releases.release import Release, release_of
from tests.conformance.asked import Asked
from tests.conformance.real_kafka import DEFINITION, KAFKA_VERSION, RELEASE, Unavailable
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


FOLDER = os.path.dirname(__file__)


def release_that_is_asked(version: str = RELEASE, zookeeper: bool | None = None) -> Release:
    """The release of odradek's brokers in these tests, unless they name another one."""
    return release_of(version, zookeeper)


if KAFKA_VERSION != DEFINITION:
    pytest.MonkeyPatch().setattr(broker_config, "release_of", release_that_is_asked)
ASKED = Asked.read()


def pytest_itemcollected(item: pytest.Item) -> None:
    of_clients([item], FOLDER, pytest.mark.conformance)


@pytest.hookimpl(trylast=True)  # when marks have left out what they do
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Ask only what has changed since Kafka was asked, and twice more where it answers another way.

    Its threads race, so it does not tell a story the same way each time: a recording holds while it still tells it so.
    The tests of odradek itself, in the other folders, are never repeated.
    """
    ours = [item for item in items if os.path.dirname(item.path) == FOLDER]
    standing = {item for item in ours if ASKED.stands(item.path, item.name)}
    if config.pluginmanager.hasplugin("rerunfailures"):
        for item in ours:
            item.add_marker(pytest.mark.flaky(reruns=2))
    if standing:
        ASKED.standing = len(standing)
        config.hook.pytest_deselected(items=list(standing))
        items[:] = [item for item in items if item not in standing]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    path, _, test = report.nodeid.partition("::")
    if os.path.dirname(path) == "tests/conformance" and (report.when == "call" or report.outcome != "passed"):
        ASKED.told(os.path.basename(path), test, report.outcome)


def pytest_sessionfinish() -> None:
    if ASKED.outcomes:
        ASKED.write()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if ASKED.standing:
        terminalreporter.write_line(ASKED.summary())
