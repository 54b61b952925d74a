"""The recorded conversations about share groups are still what a real Kafka says."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.real_kafka import RealKafka, Unavailable
from tests.scenarios.share_conversations import CONFIG, CONVERSATIONS, transcribe

VECTORS = Path(__file__).parents[1] / "vectors" / "share_conversations.json.gz"
NOT_REPEATED = frozenset({"offsets"})
"""A real Kafka, asked once more, may answer the fetch of this one without records, however often it is repeated."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Of a real Kafka with the configs that the conversations need."""
    try:
        with RealKafka(config=CONFIG) as kafka:
            yield kafka.port
    except Unavailable as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", [name for name in CONVERSATIONS if name not in NOT_REPEATED])
def test_conversation(name: str, port: int) -> None:
    expected = json.loads(gzip.decompress(VECTORS.read_bytes()))[name]
    assert transcribe(name, "127.0.0.1", port) == expected
