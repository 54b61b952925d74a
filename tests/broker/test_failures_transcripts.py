"""Stories of nodes and links that fail, word for word what clients of a real Kafka of three brokers were answered."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenarios.failures.all_stories import NAMES, recorded
from tests.scenarios.failures.story import transcribe
from tests.scenarios.failures.targets import odradek_cluster

DIFFERENT: dict[str, dict[str, Any]] = {}
"""What is answered otherwise than by Kafka, by story and question; DIFFERENCES.md says why."""


@pytest.mark.parametrize("name", NAMES)
def test_clients_of_failing_nodes_are_answered_as_recorded(name: str) -> None:
    otherwise = DIFFERENT.get(name, {})
    expected = [[asked, otherwise.get(asked, answer)] for asked, answer in recorded()[name]]
    with odradek_cluster() as cluster:
        assert transcribe(name, cluster) == expected


def test_recorded_failures_have_all_a_story() -> None:
    assert set(recorded()) == set(NAMES)
