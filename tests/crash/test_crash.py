"""A few rounds of the crash test; ``python -m tests.crash`` runs 200. ODRADEK_CRASH_ROUNDS changes the number here."""

import os
from pathlib import Path

import pytest

from tests.crash.harness import run


@pytest.mark.clients
@pytest.mark.slow
def test_nothing_told_is_lost_doubled_or_half_visible(tmp_path: Path) -> None:
    rounds = int(os.environ.get("ODRADEK_CRASH_ROUNDS", "8"))
    told = run(tmp_path / "data", rounds, seed=11)
    assert told["rounds"] == rounds
    assert told["acknowledged"] > 50
    assert told["committed transactions"] > 0
    assert told["committed offset"] > 0
