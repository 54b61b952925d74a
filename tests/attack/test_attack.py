"""A short attack on a broker in a process of its own, with another seed each time."""

from __future__ import annotations

import random

import pytest

from tests.attack.__main__ import ATTACKS, MOST_BYTES, attack, table

MINUTES = 1.0


@pytest.mark.slow
def test_an_attacked_broker_meets_no_bug_and_keeps_its_memory() -> None:
    """How long the canary waited is not asked here: other tests run beside this one (`make attack` asks)."""
    seed = random.SystemRandom().randrange(1 << 31)
    print(f"python -m tests.attack --seed {seed}")
    rows, faults = attack(MINUTES, seed, list(ATTACKS))
    print(table(rows))
    assert faults == []
    assert [row.name for row in rows if row.most >= MOST_BYTES] == []
