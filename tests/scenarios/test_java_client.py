"""The Java client of Kafka: each scenario of ``java/scenarios`` is a test here; the JVM runs several at a time."""

from __future__ import annotations

import pytest

from tests.scenarios.java_host import JavaHost, scenario_names
from tests.scenarios.target import Target

pytestmark = pytest.mark.jdk

SOURCES = ("Data", "Administration", "Groups", "ConsumerGroups", "ShareGroups", "Transactions", "Streaming")
ROUND = ("Data.headersTimestampsAndTombstones", "Groups.commits", "Transactions.committedAndAborted")
SCENARIOS = [
    pytest.param(name, marks=pytest.mark.round) if name in ROUND else name
    for source in SOURCES
    for name in scenario_names(source)
]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_java_client(scenario: str, java: JavaHost, broker: Target, request: pytest.FixtureRequest) -> None:
    java.begin(_chosen(request), broker.bootstrap)
    result = java.scenario(scenario, broker.bootstrap)
    assert result["ok"], result["error"]


def _chosen(request: pytest.FixtureRequest) -> list[str]:
    """The scenarios of this module that the run's selection keeps for this side, in order."""
    here, side = request.node.path, request.node.callspec.params["side"]
    return [
        str(item.callspec.params["scenario"])
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.path == here and item.callspec.params["side"] == side
    ]
