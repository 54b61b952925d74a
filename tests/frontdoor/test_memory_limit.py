"""What a broker takes of the memory: little when idle, and a limit for what it holds."""

from __future__ import annotations

import sys

import pytest

import odradek
from tests.bench.bench_memory import Stream, resident
from tests.bench.brokers import Odradek

MB = 1024 * 1024


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_what_has_no_room_is_in_a_file() -> None:
    broker = Odradek({"odradek.memory.bytes": str(16 * MB)})
    try:
        stream = Stream(broker.port)
        stream.put(20 * MB)
        full = resident(broker.process.pid)
        stream.put(180 * MB)
        assert resident(broker.process.pid) < full + 30 * MB
        assert stream.digest_of_fetched() == stream.digest.digest()
        # Maps of what is in the file are let go: nothing grows with what was read.
        assert resident(broker.process.pid) < full + 100 * MB
        stream.close()
    finally:
        broker.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_an_idle_broker_is_small() -> None:
    """How much of the extension module is mapped beside what is used of it depends on the page cache: some MB."""
    broker = Odradek()
    try:
        assert resident(broker.process.pid) < (44 if odradek.compiled else 40) * MB
    finally:
        broker.stop()
