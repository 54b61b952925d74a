"""Bounded runs of the fuzzers; `python -m tests.bench.fuzz` and `fuzz_secured` are the long ones.

The long runs look at the memory too: in a process that runs other tests it says little once TLS buffers are in play.
"""

from __future__ import annotations

import pytest

from tests.bench.fuzz import fuzz
from tests.bench.fuzz_secured import fuzz_secured


@pytest.mark.long
@pytest.mark.parametrize("seed", [11])
def test_mutated_frames_meet_no_bug_and_leave_nothing_behind(seed: int) -> None:
    outcome, bugs = fuzz(4000, seed)
    assert not bugs, bugs[0]
    assert outcome.answered > 400
    assert outcome.tasks_after - outcome.tasks_before < 110  # coordinators of the two internal topics, at most
    assert outcome.memory_after - outcome.memory_before < 20_000


@pytest.mark.long
@pytest.mark.parametrize("seed", [12])
def test_mutated_frames_over_tls_and_log_ins_meet_no_bug_and_leave_nothing_behind(seed: int) -> None:
    outcome, bugs = fuzz_secured(4000, seed)
    assert not bugs, bugs[0]
    assert outcome.answered > 400
    assert len(outcome.doors) >= 5
    assert outcome.tasks_after - outcome.tasks_before < 110
