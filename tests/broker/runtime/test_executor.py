"""Decide, append, replay, effects, reply: in this order, in one step, one command at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from odradek.broker.runtime.machine import Cancel, Effect, Producer, Schedule, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.shard_stage import Note, Stage


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_the_order_of_a_step(stage: Stage) -> None:
    def then() -> Sequence[Effect]:
        stage.story.append("then")
        return [Note("later")]

    records = [(b"a", b"1"), (b"b", None)]
    command = stage.do(records, reply="done", effects=[Note("first")], then=then)
    assert stage.shard.ask_now(command) == "done"
    assert stage.story == ["decide", "append", "replay a@0", "replay b@1", "then", "first", "later"]
    assert stage.shard.machine.values == {b"a": b"1", b"b": None}


def test_a_refused_append_changes_nothing(stage: Stage) -> None:
    stage.journal.refuse = KafkaError(ErrorCode.MESSAGE_TOO_LARGE)
    command = stage.do([(b"a", b"1")], effects=[Note("effect")], then=lambda: [Note("then")])
    with pytest.raises(KafkaError):
        stage.shard.ask_now(command)
    assert stage.story == ["decide", "refused MESSAGE_TOO_LARGE"]
    stage.shard.machine.instead = make_outcome(reply="instead", effects=[Note("other")])
    assert stage.shard.ask_now(command) == "instead"
    assert stage.story[-1] == "other"
    assert stage.journal.end_offset == 0


def test_records_of_a_transaction_carry_their_producer(stage: Stage) -> None:
    stage.shard.ask_now(stage.do([(b"a", b"1")], producer=Producer(9, 2)))
    batch = stage.journal.batches[0]
    assert (batch.is_transactional, batch.producer_id, batch.producer_epoch) == (True, 9, 2)
    stage.shard.complete_transaction(Producer(9, 2), True, 5)
    assert stage.story[-2:] == ["append", "marker 9 2 True"]
    stage.story.clear()
    stage.shard.reload()
    stage.shard.load_slice()
    assert stage.story == ["replay a@0", "marker 9 2 True", "loaded"]


def test_records_that_need_not_be_together_are_split(stage: Stage) -> None:
    stage.journal.max_batch_bytes = 400
    stage.shard.ask_now(stage.do([(b"k%d" % i, b"v" * 100) for i in range(5)], atomic=False))
    assert [batch.record_count for batch in stage.journal.batches] == [2, 2, 1]


def test_timers_run_when_they_are_due(stage: Stage) -> None:
    tick = stage.do(effects=[Note("tick")])
    stage.shard.ask_now(stage.do(effects=[Schedule("a", 100, tick), Schedule("b", 100, tick), Cancel("b")]))
    stage.clock.advance(0.099)
    stage.shard.fire_due()
    assert "tick" not in stage.story
    stage.clock.advance(0.001)
    stage.shard.fire_due()
    assert stage.story.count("tick") == 1


def test_commands_of_effects_wait_for_their_turn(stage: Stage) -> None:
    slots: list[Any] = []

    def perform(effect: Effect) -> None:
        slots.append(stage.shard.submit(stage.do([(b"second", b"")], reply="second")))
        stage.story.append("submitted")

    stage.shard._executor._perform = perform
    stage.shard.ask_now(stage.do([(b"first", b"")], effects=[Note("")], reply="first"))
    assert stage.story == [
        "decide",
        "append",
        "replay first@0",
        "submitted",
        "decide",
        "append",
        "replay second@1",
    ]
    assert slots[0].result() == "second"


def test_waiting_commands_are_carried_out_in_the_order_in_which_they_came(stage: Stage) -> None:
    def perform(effect: Effect) -> None:
        for reply in ("second", "third"):
            slots.append(stage.shard.submit(stage.do([(reply.encode(), b"")], reply=reply)))
        assert stage.shard.is_busy

    slots: list[Any] = []
    stage.shard._executor._perform = perform
    stage.shard.ask_now(stage.do([(b"first", b"")], effects=[Note("")], reply="first"))
    assert [line for line in stage.story if line.startswith("replay")] == [
        "replay first@0",
        "replay second@1",
        "replay third@2",
    ]
    assert [slot.result() for slot in slots] == ["second", "third"]
    assert not stage.shard.is_busy
