"""The transaction APIs answer as Kafka 4.3.1 does, call by call, in every version.

The expected answers are what a real Kafka 4.3.1 gave to the same stories (tests/scenarios/transactions_wire.py records
them; tests/conformance tells the stories to a real one again).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek.broker.threaded import KafkaBroker
from tests.scenarios.transactions_wire import STORIES, Steps, teller

VECTORS = Path(__file__).parents[2] / "vectors" / "transactions_wire.json.gz"
RECORDED: dict[str, Steps] = json.loads(gzip.decompress(VECTORS.read_bytes()))


@pytest.fixture(scope="module")
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(config={"offsets.topic.num.partitions": "5"}) as running:
        yield running
        assert not running.bugs


@pytest.mark.parametrize("name", STORIES)
def test_the_answers_are_kafkas(broker: KafkaBroker, name: str) -> None:
    with teller(broker.bootstrap_servers, name.replace(" ", "-")) as one:
        told = json.loads(json.dumps(STORIES[name](one), default=lambda value: value.decode()))
    for step, expected in zip(told, RECORDED[name], strict=True):
        assert step == expected
    assert not broker.bugs
