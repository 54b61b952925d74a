"""A short attack on a broker in a process of its own; `make attack` has longer ones, with another seed each time."""

from __future__ import annotations

import pytest

from tests.attack.__main__ import ATTACKS, MOST_BYTES, attack, table

MINUTES = 1.0
SEED = 11


@pytest.mark.slow
def test_an_attacked_broker_meets_no_bug_and_keeps_its_memory() -> None:
    """How long the canary waited is not asked here: other tests run beside this one (`make attack` asks)."""
    rows, faults = attack(MINUTES, SEED, list(ATTACKS))
    print(table(rows))
    assert faults == []
    assert [row.name for row in rows if row.most >= MOST_BYTES] == []
