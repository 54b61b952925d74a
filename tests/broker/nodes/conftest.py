"""Three nodes whose clock stands still; a test module with a fixture of that name has its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek import KafkaBroker


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    topic = {"partitions": 1, "replication_factor": 3}
    with KafkaBroker(nodes=3, topics={"t": topic}, config={"replica.lag.time.max.ms": 3000}) as running:
        running.clock.freeze()
        yield running
        assert not running.bugs, running.bugs[0]
