"""A real Kafka gives the answers that odradek's are held against (tests/broker/api/test_odd_requests.py)."""

from __future__ import annotations

import pytest

from tests.conformance.real_kafka import RELEASE
from tests.fakes.vectors import recorded
from tests.scenarios.odd_requests import Answers, differing, tell_all
from tests.scenarios.target import usual_target

RECORDED: Answers = recorded("odd_requests", RELEASE)


@pytest.fixture(scope="module")
def told() -> Answers:
    """From a Kafka of its own: some answers show what topics there are, and the ends of the internal ones."""
    with usual_target("kafka") as fresh:
        return tell_all(fresh.bootstrap)


@pytest.mark.parametrize("api", RECORDED)
def test_odd_requests_are_answered_as_recorded(told: Answers, api: str) -> None:
    assert differing(told[api], RECORDED[api]) == differing(RECORDED[api], told[api])
