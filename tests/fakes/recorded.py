"""Conversations about share groups with a broker of the test's own, held against those of a real Kafka 4.3.1."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from odradek.broker.facade.threaded import KafkaBroker
from tests.scenarios.share_conversations import CONFIG, transcribe

VECTORS = Path(__file__).parents[1] / "vectors" / "share_conversations.json.gz"


@cache
def recorded() -> dict[str, Any]:
    """The conversations as a real Kafka held them, by name."""
    conversations: dict[str, Any] = json.loads(gzip.decompress(VECTORS.read_bytes()))
    return conversations


def check_as_recorded(name: str) -> None:
    """Hold a conversation, and see that every word of it is as recorded."""
    with KafkaBroker(config=CONFIG) as broker:
        host, port = broker.bootstrap_servers.rsplit(":", 1)
        assert transcribe(name, host, int(port)) == recorded()[name]
        assert broker.bugs == []
