"""What a heartbeat gathers is carried out together."""

from __future__ import annotations

from odradek.broker.coordinator.group.kinds import GroupChanged
from odradek.broker.coordinator.group.registry import Groups
from odradek.broker.coordinator.group.streams.group import SoftState, StreamsGroup
from odradek.broker.coordinator.group.streams.step import Step
from odradek.broker.runtime.machine import NewRecord


def wait(soft: SoftState) -> None:
    soft.waits_for_first = True


def test_without_records_nothing_is_said_to_have_changed() -> None:
    step = Step(StreamsGroup("g"), 5)
    outcome = step.outcome("reply", Groups())
    assert (outcome.records, outcome.reply, outcome.effects, outcome.then) == ([], "reply", [], None)


def test_soft_state_changes_on_the_group_that_then_lives() -> None:
    groups = Groups()
    step = Step(StreamsGroup("g"), 5, is_new=True)
    step.records.append(NewRecord(b"k"))
    step.later.append(wait)
    outcome = step.outcome(None, groups)
    assert [type(effect) for effect in outcome.effects] == [GroupChanged]
    assert outcome.then is not None
    assert outcome.then() == ()
    live = StreamsGroup("g")
    groups.put(live)
    outcome.then()
    assert live.soft.waits_for_first
    assert not step.group.soft.waits_for_first
