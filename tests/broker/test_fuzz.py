"""A bounded run of the fuzzer; `python -m tests.bench.fuzz` is the long one."""

from __future__ import annotations

import pytest

from tests.bench.fuzz import fuzz


@pytest.mark.parametrize("seed", [11])
def test_mutated_frames_meet_no_bug_and_leave_nothing_behind(seed: int) -> None:
    outcome, bugs = fuzz(4000, seed)
    assert not bugs, bugs[0]
    assert outcome.answered > 400
    assert outcome.tasks_after - outcome.tasks_before < 110  # coordinators of the two internal topics, at most
    assert outcome.memory_after - outcome.memory_before < 20_000
