"""Requests with one odd field each get the answers that a real Kafka of the release gave to them.

tests/scenarios/odd_requests.py makes the requests and recorded the answers; tests/conformance holds them against Kafka.
"""

from __future__ import annotations

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.releases.release import DEFAULT
from tests.fakes.vectors import OTHER, recorded
from tests.scenarios.odd_requests import Answers, differing, tell_all
from tests.scenarios.target import SCENARIO_CONFIG

RECORDED: Answers = recorded("odd_requests")
RELEASES = (DEFAULT, OTHER)
pytestmark = pytest.mark.long


@pytest.fixture(scope="module", params=RELEASES)
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def told(release: str) -> Answers:
    with KafkaBroker(config=dict(SCENARIO_CONFIG), kafka_version=release) as broker:
        answers = tell_all(broker.bootstrap_servers)
        assert not broker.bugs
    return answers


def test_odd_requests_are_those_of_the_recording(told: Answers) -> None:
    def labels(answers: Answers) -> dict[str, list[str]]:
        return {api: [what for what, _ in steps] for api, steps in answers.items()}

    assert labels(told) == labels(RECORDED)


@pytest.mark.parametrize("api", RECORDED)
def test_odd_requests_are_answered_as_recorded(told: Answers, release: str, api: str) -> None:
    expected = recorded("odd_requests", release)[api]
    assert differing(told[api], expected) == differing(expected, told[api])
