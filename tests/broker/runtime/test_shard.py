"""What askers of a shard get."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from odradek.broker.clock import BrokerClock
from odradek.broker.runtime.machine import Answer, Outcome, Producer, Schedule
from odradek.broker.runtime.shard import ShardState
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.shard_stage import Do, Note, Stage


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_an_error_of_the_machine_reaches_the_asker(stage: Stage) -> None:
    def refuse() -> Outcome[Any]:
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION)

    with pytest.raises(KafkaError):
        stage.shard.ask_now(Do(refuse))
    slot = stage.shard.submit(Do(refuse))
    with pytest.raises(KafkaError):
        slot.result()
    assert stage.shard.ask_now(stage.do(reply=1)) == 1


def test_a_parked_command_is_answered_once_by_another(stage: Stage) -> None:
    slot = stage.shard.submit(stage.do(park=7))
    assert not slot.done
    assert stage.shard.parked == 1
    stage.shard.ask_now(stage.do(effects=[Answer(7, "now")]))
    assert slot.result() == "now"
    assert stage.shard.parked == 0
    with pytest.raises(KeyError):
        stage.shard.ask_now(stage.do(effects=[Answer(7, "again")]))


def test_a_command_may_park_and_answer_itself(stage: Stage) -> None:
    slot = stage.shard.submit(stage.do(park=1, effects=[Answer(1, KafkaError(ErrorCode.NOT_COORDINATOR))]))
    with pytest.raises(KafkaError):
        slot.result()


def test_cancelling_an_asker_does_not_cancel_the_command() -> None:
    async def main() -> None:
        stage = Stage()
        with trio.CancelScope() as scope:
            scope.cancel()
            await stage.shard.ask(stage.do([(b"a", b"")], park=1))
        assert scope.cancelled_caught
        assert stage.story == ["decide", "append", "replay a@0"]
        assert stage.shard.parked == 1
        await stage.shard.ask(stage.do(effects=[Answer(1, "nobody listens")]))
        assert stage.shard.parked == 0

    trio.run(main)


def test_loading_answers_that_it_loads(stage: Stage) -> None:
    for i in range(25):
        stage.shard.ask_now(stage.do([(b"%d" % i, b"")]))
    parked = stage.shard.submit(stage.do(park=1))
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
    parked = stage.shard.submit(stage.do(park=1))
    stage.shard.reload_if_moved()
    assert not parked.done
    stage.journal.leader_epoch = 1
    stage.shard.reload_if_moved()
    assert parked.done
    assert stage.shard.is_active
    assert stage.shard.machine.values == {b"a": b"1"}


def test_a_closed_shard_lets_everybody_go(stage: Stage) -> None:
    parked = stage.shard.submit(stage.do(park=1))
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
            await stage.shard.ask(stage.do(effects=[Schedule("a", 3_600_000, tick)]))
            await trio.testing.wait_all_tasks_blocked()
            await stage.shard.ask(stage.do(effects=[Schedule("b", 60_000, stage.do(effects=[Note("tock")]))]))
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
