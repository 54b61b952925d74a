"""A real Kafka gives the answers that odradek's are held against (tests/broker/api/test_transactions.py)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.scenarios.target import Target
from tests.scenarios.transactions_wire import tell_all

VECTORS = Path(__file__).parents[1] / "vectors" / "transactions_wire.json.gz"


def test_the_recorded_answers_are_kafkas(target: Target) -> None:
    assert tell_all(target.bootstrap) == json.loads(gzip.decompress(VECTORS.read_bytes()))
