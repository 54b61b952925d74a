"""Whole conversations about records, word for word what a real Kafka 4.4.0 answered."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from tests.scenarios.data_plane_wire import CONVERSATIONS, transcribe

VECTORS = Path(__file__).parents[1] / "vectors" / "data_plane_wire.json.gz"


@pytest.fixture(scope="module")
def running() -> Iterator[KafkaBroker]:
    with KafkaBroker() as broker:
        yield broker
        assert broker.bugs == []


@pytest.mark.long("sessions", "waiting")
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversation(name: str, running: KafkaBroker) -> None:
    expected: list[Any] = json.loads(gzip.decompress(VECTORS.read_bytes()))[name]
    host, port = running.bootstrap_servers.rsplit(":", 1)
    assert transcribe(name, host, int(port)) == expected
