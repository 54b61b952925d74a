"""The recorded conversations about client metrics are still what a real Kafka says."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.scenarios.target import Target
from tests.scenarios.telemetry_conversations import CONVERSATIONS, transcribe

VECTORS = Path(__file__).parents[1] / "vectors" / "telemetry_conversations.json.gz"


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversation(name: str, broker: Target) -> None:
    expected = json.loads(gzip.decompress(VECTORS.read_bytes()))[name]
    host, port = broker.bootstrap.rsplit(":", 1)
    assert transcribe(name, host, int(port)) == expected
