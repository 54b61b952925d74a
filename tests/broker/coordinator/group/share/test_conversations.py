"""Whole conversations about share groups, word for word as a real Kafka 4.3.1 held them (see the scenario module)."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from tests.scenarios.share_conversations import CONFIG, CONVERSATIONS, transcribe

VECTORS = Path(__file__).parents[4] / "vectors" / "share_conversations.json.gz"


@pytest.fixture(scope="module")
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(config=CONFIG) as started:
        yield started
        assert started.bugs == []


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_as_kafka_says_it(name: str, broker: KafkaBroker) -> None:
    expected = json.loads(gzip.decompress(VECTORS.read_bytes()))[name]
    host, port = broker.bootstrap_servers.split(":")
    assert transcribe(name, host, int(port)) == expected
