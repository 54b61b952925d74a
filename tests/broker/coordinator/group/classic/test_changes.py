"""What a command causes, and the outcome that it becomes."""

from __future__ import annotations

from odradek.broker.coordinator.group.classic.changes import Changes
from odradek.broker.runtime.machine import Cancel, NewRecord, Outcome


def test_an_answered_and_a_parked_outcome() -> None:
    changes = Changes(5)
    changes.records.append(NewRecord(b"k"))
    changes.effects.append(Cancel("timer"))
    changes.then = lambda: ()
    answered = changes.answered("reply")
    parked: Outcome[str] = changes.parked(7)
    assert (answered.reply, answered.park, parked.park) == ("reply", None, 7)
    for outcome in (answered, parked):
        assert outcome.records == [NewRecord(b"k")]
        assert outcome.effects is changes.effects
        assert outcome.then is changes.then
