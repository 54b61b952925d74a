"""The recorded stories of failures are still what clients of a real Kafka of three brokers are answered."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.scenarios.failures.all_stories import NAMES, recorded
from tests.scenarios.failures.real import kafka_cluster
from tests.scenarios.failures.story import transcribe
from tests.scenarios.failures.targets import FailingCluster

NOT_REPEATED = frozenset(
    {
        "acks_all_keeps",
        "a_coordinator_is_alone",
        "a_reassignment_to_the_dead_is_cancelled",
        "a_consumer_group_outlives_its_coordinator",
        "eligible_leaders",
        "nothing_new",
        "the_leader_dies_in_a_transaction",
    }
)
"""These take ten seconds and more, and others tell most of what they tell; one shows an epoch of the first story's."""


@pytest.fixture(scope="session")
def cluster() -> Iterator[FailingCluster]:
    """One for all stories: each leaves it whole."""
    with kafka_cluster() as started:
        yield started


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NOT_REPEATED])
def test_clients_of_failing_nodes_are_answered_as_recorded(name: str, cluster: FailingCluster) -> None:
    assert transcribe(name, cluster) == recorded()[name]
