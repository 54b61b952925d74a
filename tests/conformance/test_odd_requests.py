"""A real Kafka gives the answers that odradek's are held against (tests/broker/api/test_odd_requests.py)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.scenarios.odd_requests import tell_all
from tests.scenarios.target import Target

VECTORS = Path(__file__).parents[1] / "vectors" / "odd_requests.json.gz"


def test_the_recorded_answers_are_kafkas(target: Target) -> None:
    assert tell_all(target.bootstrap) == json.loads(gzip.decompress(VECTORS.read_bytes()))
