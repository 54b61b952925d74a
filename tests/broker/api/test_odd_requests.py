"""Requests with one odd field each get the answers that a real Kafka 4.3.1 gave to them.

tests/scenarios/odd_requests.py makes the requests and recorded the answers; tests/conformance holds them against Kafka.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from tests.scenarios.odd_requests import Answers, differing, tell_all
from tests.scenarios.target import SCENARIO_CONFIG

VECTORS = Path(__file__).parents[2] / "vectors" / "odd_requests.json.gz"
RECORDED: Answers = json.loads(gzip.decompress(VECTORS.read_bytes()))


@pytest.fixture(scope="module")
def told() -> Answers:
    with KafkaBroker(config=dict(SCENARIO_CONFIG)) as broker:
        answers = tell_all(broker.bootstrap_servers)
        assert not broker.bugs
    return answers


def test_the_same_was_asked(told: Answers) -> None:
    def labels(answers: Answers) -> dict[str, list[str]]:
        return {api: [what for what, _ in steps] for api, steps in answers.items()}

    assert labels(told) == labels(RECORDED)


@pytest.mark.long("Metadata v9", "Metadata v13")
@pytest.mark.parametrize("api", RECORDED)
def test_answers(told: Answers, api: str) -> None:
    assert differing(told[api], RECORDED[api]) == differing(RECORDED[api], told[api])
