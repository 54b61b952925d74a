"""ShareAcknowledge, and locks that run out, word for word as a real Kafka 4.3.1 answers (see the scenario module)."""

from __future__ import annotations

import pytest

from tests.fakes.recorded import check_as_recorded


@pytest.mark.long
@pytest.mark.parametrize("name", ["wrong_acknowledgements", "lock_timeouts"])
def test_as_kafka_says_it(name: str) -> None:
    check_as_recorded(name)
