"""What askers of a shard get; decide, append, replay, effects, reply: in this order, in one step, one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import trio
import trio.testing

from odradek.broker.clock import BrokerClock
from odradek.broker.runtime.machine import (
    Answer,
    Cancel,
    Effect,
    LogRecord,
    NewRecord,
    Outcome,
    Producer,
    Schedule,
    make_outcome,
)
from odradek.broker.runtime.replies import ReplySlot
from odradek.broker.runtime.shard import ShardState
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.lagging_stage import Do as DoLagging
from tests.fakes.lagging_stage import LaggingStage
from tests.fakes.shard_stage import Do, Note, Stage, submitted


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_an_error_of_the_machine_reaches_the_asker(stage: Stage) -> None:
    def refuse() -> Outcome[Any]:
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION)

    with pytest.raises(KafkaError):
        stage.shard.ask_now(Do(refuse))
    slot = submitted(stage.shard, Do(refuse))
    with pytest.raises(KafkaError):
        slot.result()
    assert stage.shard.ask_now(stage.do(reply=1)) == 1


def test_a_parked_command_is_answered_once_by_another(stage: Stage) -> None:
    slot = submitted(stage.shard, stage.do(park=7))
    assert not slot.done
    assert stage.shard.parked == 1
    stage.shard.ask_now(stage.do(effects=[Answer(7, "now")]))
    assert slot.result() == "now"
    assert stage.shard.parked == 0
    with pytest.raises(KeyError):
        stage.shard.ask_now(stage.do(effects=[Answer(7, "again")]))


def test_a_command_may_park_and_answer_itself(stage: Stage) -> None:
    slot = submitted(stage.shard, stage.do(park=1, effects=[Answer(1, KafkaError(ErrorCode.NOT_COORDINATOR))]))
    with pytest.raises(KafkaError):
        slot.result()


def test_cancelling_an_asker_does_not_cancel_the_command() -> None:
    async def main() -> None:
        stage = Stage()
        with trio.CancelScope() as scope:
            scope.cancel()
            await submitted(stage.shard, stage.do([(b"a", b"")], park=1)).wait()
        assert scope.cancelled_caught
        assert stage.story == ["decide", "append", "replay a@0"]
        assert stage.shard.parked == 1
        await submitted(stage.shard, stage.do(effects=[Answer(1, "nobody listens")])).wait()
        assert stage.shard.parked == 0

    trio.run(main)


def test_loading_answers_that_it_loads(stage: Stage) -> None:
    for i in range(25):
        stage.shard.ask_now(stage.do([(b"%d" % i, b"")]))
    parked = submitted(stage.shard, stage.do(park=1))
    stage.shard.reload()
    with pytest.raises(KafkaError) as caught:
        parked.result()
    assert caught.value.code is ErrorCode.NOT_COORDINATOR
    for expected in (True, True, False):
        with pytest.raises(KafkaError) as caught:
            stage.shard.ask_now(stage.do())
        assert caught.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        stage.shard.load_slice()
        assert (stage.shard.state is ShardState.LOADING) is expected
    assert len(stage.shard.machine.values) == 25


def test_what_is_appended_while_loading_is_loaded(stage: Stage) -> None:
    for i in range(12):
        stage.shard.ask_now(stage.do([(b"%d" % i, b"")]))
    stage.shard.reload()
    stage.shard.load_slice()
    stage.shard.complete_transaction(Producer(1, 1), False, 0)
    stage.shard.load_slice()
    assert stage.shard.is_active
    assert stage.story[-2:] == ["marker 1 1 False", "loaded"]


def test_a_replay_that_fails_is_a_bug_and_the_shard_rebuilds_without_the_record(stage: Stage) -> None:
    stage.shard.ask_now(stage.do([(b"a", b"1")]))
    with pytest.raises(KafkaError) as caught:
        stage.shard.ask_now(stage.do([(b"a", b"poison")]))
    assert caught.value.code is ErrorCode.NOT_COORDINATOR
    assert len(stage.bugs) == 1
    stage.shard.load_slice()
    stage.shard.ask_now(stage.do([(b"a", b"2")]))
    assert len(stage.bugs) == 1


def test_another_leader_means_another_load(stage: Stage) -> None:
    stage.shard.ask_now(stage.do([(b"a", b"1")]))
    parked = submitted(stage.shard, stage.do(park=1))
    stage.shard.reload_if_moved()
    assert not parked.done
    stage.journal.leader_epoch = 1
    stage.shard.reload_if_moved()
    assert parked.done
    assert stage.shard.is_active
    assert stage.shard.machine.values == {b"a": b"1"}


def test_a_closed_shard_lets_everybody_go(stage: Stage) -> None:
    parked = submitted(stage.shard, stage.do(park=1))
    stage.shard.close()
    stage.shard.close()
    for ask in (parked.result, lambda: stage.shard.ask_now(stage.do())):
        with pytest.raises(KafkaError) as caught:
            ask()
        assert caught.value.code is ErrorCode.NOT_COORDINATOR


def test_the_task_sleeps_until_the_next_timer_and_no_longer() -> None:
    async def main() -> None:
        stage = Stage(BrokerClock())
        stage.clock.attach()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stage.shard.run)
            await trio.testing.wait_all_tasks_blocked()
            tick = stage.do(effects=[Note("tick")])
            await submitted(stage.shard, stage.do(effects=[Schedule("a", 3_600_000, tick)])).wait()
            await trio.testing.wait_all_tasks_blocked()
            await submitted(
                stage.shard, stage.do(effects=[Schedule("b", 60_000, stage.do(effects=[Note("tock")]))])
            ).wait()
            await trio.testing.wait_all_tasks_blocked()
            stage.clock.advance(minutes=1)
            await trio.testing.wait_all_tasks_blocked()
            assert stage.story.count("tock") == 1
            assert "tick" not in stage.story
            stage.clock.advance(hours=1)
            await trio.testing.wait_all_tasks_blocked()
            assert stage.story.count("tick") == 1
            stage.shard.close()

    trio.run(main)


# -- steps


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

    def handle_effect(shard: Any, effect: Effect) -> None:
        slots.append(submitted(stage.shard, stage.do([(b"second", b"")], reply="second")))
        stage.story.append("submitted")

    stage.shard._handle_effect = handle_effect
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
    def handle_effect(shard: Any, effect: Effect) -> None:
        for reply in ("second", "third"):
            slots.append(submitted(stage.shard, stage.do([(reply.encode(), b"")], reply=reply)))
        assert stage.shard.is_busy

    slots: list[Any] = []
    stage.shard._handle_effect = handle_effect
    stage.shard.ask_now(stage.do([(b"first", b"")], effects=[Note("")], reply="first"))
    assert [line for line in stage.story if line.startswith("replay")] == [
        "replay first@0",
        "replay second@1",
        "replay third@2",
    ]
    assert [slot.result() for slot in slots] == ["second", "third"]
    assert not stage.shard.is_busy


# -- records that wait for followers: what happens now, what happens later, and what if it takes too long


@pytest.fixture
def lagging() -> LaggingStage:
    return LaggingStage()


@pytest.fixture
def cautious() -> LaggingStage:
    """A machine whose state changes with what is committed."""
    return LaggingStage(replays_committed=True)


def code_of(slot: ReplySlot[Any]) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        slot.result()
    return caught.value.code


def test_state_changes_at_once_and_the_reply_waits(lagging: LaggingStage) -> None:
    slot = lagging.give(b"a", reply=1, effects=[Note("told")])
    assert (lagging.live, lagging.shown, slot.done, lagging.story) == ([b"a"], [], False, [])
    lagging.journal.commit()
    assert (lagging.shown, slot.result(), lagging.story) == ([b"a"], 1, ["told"])
    assert not lagging.journal.watched


def test_what_is_committed_at_once_is_answered_at_once(lagging: LaggingStage) -> None:
    lagging.journal.on_append = lambda: lagging.journal.commit()
    assert lagging.give(b"a", reply=1) == 1
    assert lagging.shown == [b"a"]


def test_replies_come_in_the_order_of_the_log(lagging: LaggingStage) -> None:
    first, second = lagging.give(b"a", reply=1), lagging.give(b"b", reply=2)
    lagging.journal.commit(1)
    assert (first.result(), second.done, lagging.shown) == (1, False, [b"a"])
    third = lagging.give(b"c", reply=3)
    lagging.journal.commit(2)
    assert (second.result(), third.done, lagging.shown) == (2, False, [b"a", b"b"])


def test_a_reply_without_records_waits_for_what_was_written_before(lagging: LaggingStage) -> None:
    assert lagging.give(reply=0) == 0
    lagging.give(b"a", reply=1)
    slot = lagging.give(reply=2)
    assert not slot.done
    assert lagging.give(reply=3, waits=False) == 3
    lagging.journal.commit()
    assert slot.result() == 2


def test_timers_run_whoever_has_the_record(lagging: LaggingStage) -> None:
    lagging.give(b"a", effects=[Schedule("t", 100, DoLagging(make_outcome(effects=[Note("tick")])))])
    lagging.advance(0.1)
    assert lagging.story == ["tick"]


def test_a_parked_command_is_answered_when_the_answers_record_is_committed(lagging: LaggingStage) -> None:
    parked = lagging.give(park=7)
    lagging.give(b"a", effects=[Answer(7, "now")], reply=1)
    assert not parked.done
    lagging.journal.commit()
    assert parked.result() == "now"


def test_what_takes_too_long_is_not_available_and_stays_in_the_log(lagging: LaggingStage) -> None:
    parked = lagging.give(park=7)
    slot = lagging.give(b"a", reply=1, effects=[Answer(7, "now"), Note("told")])
    lagging.advance(4.999)
    later = lagging.give(b"b", reply=2)
    lagging.advance(0.001)
    assert (code_of(slot), code_of(parked)) == (ErrorCode.COORDINATOR_NOT_AVAILABLE,) * 2
    assert lagging.story == ["late"]
    assert not later.done
    lagging.journal.commit()
    assert (later.result(), lagging.shown, lagging.story) == (2, [b"a", b"b"], ["late", "told"])


def test_a_command_that_is_parked_with_a_record_has_waited_long_enough_then_too(lagging: LaggingStage) -> None:
    parked = lagging.give(b"a", park=7)
    lagging.advance(5)
    assert code_of(parked) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    lagging.give(effects=[Answer(7, "nobody listens")], waits=False)
    assert lagging.shard.parked == 0


def test_whoever_cannot_wait_gets_the_reply_that_is_decided(lagging: LaggingStage) -> None:
    assert lagging.shard.ask_now(DoLagging(make_outcome([NewRecord(b"a", b"")], reply=1))) == 1


def test_a_reader_may_wait_for_everything(lagging: LaggingStage) -> None:
    assert lagging.shard.settled() is None
    lagging.give(b"a")
    slot = lagging.shard.settled()
    assert slot is not None
    assert not slot.done
    lagging.journal.commit()
    assert slot.done
    assert lagging.shard.settled() is None


def test_a_marker_that_is_not_committed_is_not_shown(lagging: LaggingStage) -> None:
    from odradek.broker.runtime.machine import Producer

    assert lagging.shard.complete_transaction(Producer(1, 0), True, 0) == 0
    assert lagging.story == ["marker"]
    assert lagging.shard.open_machine() is not lagging.shard.machine


def test_a_new_leader_lets_everybody_go_and_loads_what_it_has(lagging: LaggingStage) -> None:
    lagging.give(b"a")
    lagging.journal.commit()
    slot = lagging.give(b"lost", reply=1)
    lagging.journal.batches.pop()
    lagging.journal.end_offset, lagging.journal.leader_epoch = 1, 1
    lagging.journal.commit(1)
    assert not slot.done
    lagging.shard.reload_if_moved()
    assert code_of(slot) is ErrorCode.NOT_COORDINATOR
    assert lagging.live == lagging.shown == [b"a"]


def test_a_leader_that_loads_what_is_not_committed_does_not_show_it(lagging: LaggingStage) -> None:
    lagging.give(b"a")
    lagging.journal.commit()
    lagging.give(b"b")
    lagging.journal.leader_epoch = 1
    lagging.shard.reload_if_moved()
    assert (lagging.live, lagging.shown) == ([b"a", b"b"], [b"a"])
    assert lagging.give(b"c", reply=1).done is False


def test_without_a_leader_nothing_is_carried_out(lagging: LaggingStage) -> None:
    slot = lagging.give(b"a")
    lagging.shard.timers.schedule("t", 0, DoLagging(make_outcome([NewRecord(b"late", b"")])))
    lagging.journal.leader_epoch = 1
    lagging.shard.resign()
    lagging.shard.fire_due()
    assert code_of(slot) is ErrorCode.NOT_COORDINATOR
    assert lagging.shard.state is ShardState.RESIGNED
    with pytest.raises(KafkaError, match="NOT_COORDINATOR"):
        lagging.give(b"b")
    lagging.journal.leader_epoch = 2
    lagging.shard.reload_if_moved()
    assert lagging.live == [b"a"]


def test_when_the_replicas_are_together_nothing_is_looked_after(lagging: LaggingStage) -> None:
    lagging.give(b"a")
    lagging.journal.commit()
    lagging.journal.apart = False
    lagging.journal.on_append = lagging.journal.commit
    assert lagging.give(b"b", reply=1) == 1
    assert lagging.give(b"c", reply=2) == 2
    lagging.advance(60)
    assert lagging.story == []


# -- state that changes with what is committed


def test_records_are_replayed_when_they_are_committed(cautious: LaggingStage) -> None:
    slot = cautious.give(b"a", reply=1, effects=[Note("done")])
    assert (cautious.live, cautious.shard.machine.awaited, cautious.story) == ([], [b"a"], [])
    assert cautious.give(reply=2) == 2
    cautious.journal.commit()
    assert (cautious.live, cautious.shard.machine.awaited, cautious.story) == ([b"a"], [], ["done"])
    assert slot.result() == 1


def test_records_that_take_too_long_are_never_replayed(cautious: LaggingStage) -> None:
    slot = cautious.give(b"a", reply=1, effects=[Note("done")])
    cautious.advance(5)
    assert code_of(slot) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert cautious.story == ["late"]
    cautious.journal.commit()
    assert (cautious.live, cautious.shard.machine.awaited) == ([], [])
    cautious.shard.reload()
    cautious.shard.finish_loading()
    assert cautious.live == [b"a"]


def test_too_few_replicas_in_sync_take_no_record(cautious: LaggingStage) -> None:
    cautious.journal.in_sync = False
    with pytest.raises(KafkaError, match="NOT_ENOUGH_REPLICAS"):
        cautious.give(b"a")
    assert cautious.journal.end_offset == 0


def test_whoever_cannot_wait_cannot_be_told(cautious: LaggingStage) -> None:
    with pytest.raises(KafkaError, match="kept behind"):
        cautious.shard.ask_now(DoLagging(make_outcome([NewRecord(b"a", b"")], reply=1)))


def test_what_an_effect_gives_is_carried_out_after_what_is_committed(cautious: LaggingStage) -> None:
    def handle_effect(shard: Any, effect: Effect) -> None:
        cautious.shard.post(DoLagging(make_outcome([NewRecord(b"then", b"")])))

    cautious.shard._handle_effect = handle_effect
    cautious.give(b"first", effects=[Note("")])
    cautious.journal.commit()
    assert cautious.live == [b"first"]
    cautious.journal.commit()
    assert cautious.live == [b"first", b"then"]


def test_a_record_that_cannot_be_replayed_is_a_bug_and_its_asker_is_let_go(cautious: LaggingStage) -> None:
    bugs: list[str] = []
    cautious.shard._report = lambda where, error: bugs.append(where)

    def fail(record: LogRecord) -> None:
        raise ValueError("poison")

    slot = cautious.give(b"a")
    cautious.shard.machine.replay = fail  # type: ignore[method-assign]
    cautious.journal.commit()
    assert code_of(slot) is ErrorCode.NOT_COORDINATOR
    assert bugs
