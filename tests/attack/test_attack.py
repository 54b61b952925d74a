"""A short attack on a broker in a process of its own; `make attack` has longer ones, with another seed each time."""

from __future__ import annotations

import pytest

from tests.attack.__main__ import MOST_BYTES, attack, table

NAMES = ("registry", "directories", "descriptors", "disk", "kills")
"""Frames, schemas and the control API have bounded runs of their own (`test_frames`, `test_schemathesis`)."""
MINUTES = 1.0
SEED = 11


@pytest.mark.slow
def test_an_attacked_broker_meets_no_bug_and_keeps_its_memory() -> None:
    """How long the canary waited is not asked here: other tests run beside this one (`make attack` asks)."""
    rows, faults = attack(MINUTES, SEED, NAMES)
    print(table(rows))
    assert faults == []
    assert [row.name for row in rows if row.most >= MOST_BYTES] == []
