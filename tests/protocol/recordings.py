"""Exchanges recorded from Apache Kafka 4.3.1: requests and responses as bytes and as Kafka's own JSON."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).resolve().parent.parent / "vectors"


@cache
def recorded(name: str) -> list[dict[str, Any]]:
    """The lines of a file in `tests/vectors`."""
    with gzip.open(VECTORS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def exchanges_of(api: str) -> list[dict[str, Any]]:
    return [exchange for exchange in recorded("corpus") if exchange["api"] == api]
