"""The recorded conversations about client quotas are still what a real Kafka says."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.real_kafka import Unavailable
from tests.scenarios.quota_conversations import CONVERSATIONS, transcribe
from tests.scenarios.target import Target, kafka_target

VECTORS = Path(__file__).parents[1] / "vectors" / "quota_conversations.json.gz"


@pytest.fixture(scope="module")
def fresh() -> Iterator[Target]:
    """A Kafka of its own: no quota of another test is there, and none of these throttles others."""
    try:
        with kafka_target() as started:
            yield started
    except Unavailable as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversation(name: str, fresh: Target) -> None:
    expected = json.loads(gzip.decompress(VECTORS.read_bytes()))[name]
    host, port = fresh.bootstrap.rsplit(":", 1)
    assert transcribe(name, host, int(port)) == expected
