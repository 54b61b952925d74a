"""An outcome is what its machine has said, and nothing else."""

from __future__ import annotations

from odradek.broker.runtime.decided import decided
from odradek.broker.runtime.effects import Cancel
from odradek.broker.runtime.machine import Outcome, Producer
from odradek.broker.runtime.records import NewRecord


def test_an_outcome_without_a_word_does_nothing() -> None:
    outcome: Outcome[None] = decided()
    assert (outcome.records, outcome.effects) == ((), ())
    assert (outcome.reply, outcome.park, outcome.then, outcome.producer) == (None, None, None, None)
    assert outcome.atomic
    assert outcome.waits


def test_an_outcome_has_what_was_decided() -> None:
    record, effect = NewRecord(b"k"), Cancel("timer")
    outcome = decided([record], reply=7, park="t", effects=[effect], producer=Producer(5, 2), atomic=False, waits=False)
    assert (outcome.records, outcome.effects) == ([record], [effect])
    assert (outcome.reply, outcome.park, outcome.producer) == (7, "t", (5, 2))
    assert not outcome.atomic
    assert not outcome.waits
