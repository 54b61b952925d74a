"""The shard: decide, append, replay, effects, reply, in this order and in one step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
import trio

from odradek.broker.clock import BrokerClock
from odradek.broker.runtime.machine import (
    Answer,
    Cancel,
    Command,
    Effect,
    LogRecord,
    NewRecord,
    Outcome,
    Producer,
    Schedule,
)
from odradek.broker.runtime.shard import Shard, ShardState
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.journal import FakeJournal


class Do(Command[Any]):
    def __init__(self, act: Callable[[], Outcome[Any]]) -> None:
        self.act = act


class Note(Effect):
    def __init__(self, text: str) -> None:
        self.text = text


class Scribe:
    """A machine that does as it is told and writes down what happens."""

    def __init__(self, story: list[str]) -> None:
        self.story = story
        self.values: dict[bytes, bytes | None] = {}
        self.instead: Outcome[Any] | None = None

    def decide(self, command: Command[Any], now_ms: int) -> Outcome[Any]:
        assert isinstance(command, Do)
        self.story.append("decide")
        return command.act()

    def replay(self, record: LogRecord) -> None:
        if record.value == b"poison":
            raise ValueError("poison")
        self.story.append(f"replay {record.key.decode()}@{record.offset}")
        self.values[record.key] = record.value

    def replay_marker(self, producer_id: int, producer_epoch: int, commit: bool) -> None:
        self.story.append(f"marker {producer_id} {producer_epoch} {commit}")

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        self.story.append(f"refused {error.code.name}")
        return self.instead

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        self.story.append("loaded")
        return ()


class Stage:
    def __init__(self) -> None:
        self.story: list[str] = []
        self.bugs: list[str] = []
        self.journal = FakeJournal()
        self.journal.on_append = lambda: self.story.append("append")
        self.clock = BrokerClock(start_ms=1_000_000)
        self.clock.freeze()
        self.shard = Shard(
            "test-0",
            0,
            lambda: Scribe(self.story),
            self.journal,
            self.clock,
            perform=self._perform,
            report=lambda where, error: self.bugs.append(f"{where}: {error}"),
        )
        self.shard.start()
        self.story.clear()

    def _perform(self, shard: Shard[Any], effect: Effect) -> None:
        assert isinstance(effect, Note)
        self.story.append(effect.text)

    def do(self, records: Iterable[tuple[bytes, bytes | None]] = (), **kwargs: Any) -> Do:
        return Do(lambda: Outcome([NewRecord(*record) for record in records], **kwargs))


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
    stage.shard.machine.instead = Outcome(reply="instead", effects=[Note("other")])
    assert stage.shard.ask_now(command) == "instead"
    assert stage.story[-1] == "other"
    assert stage.journal.end_offset == 0


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


def test_commands_of_effects_wait_for_their_turn(stage: Stage) -> None:
    slots: list[Any] = []

    def perform(shard: Shard[Any], effect: Effect) -> None:
        slots.append(shard.submit(stage.do([(b"second", b"")], reply="second")))
        stage.story.append("submitted")

    stage.shard._perform = perform
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


def test_timers_run_when_they_are_due(stage: Stage) -> None:
    tick = stage.do(effects=[Note("tick")])
    stage.shard.ask_now(stage.do(effects=[Schedule("a", 100, tick), Schedule("b", 100, tick), Cancel("b")]))
    stage.clock.advance(0.099)
    stage.shard.fire_due()
    assert "tick" not in stage.story
    stage.clock.advance(0.001)
    stage.shard.fire_due()
    assert stage.story.count("tick") == 1


def test_records_of_a_transaction_carry_their_producer(stage: Stage) -> None:
    stage.shard.ask_now(stage.do([(b"a", b"1")], producer=Producer(9, 2)))
    batch = stage.journal.batches[0]
    assert (batch.is_transactional, batch.producer_id, batch.producer_epoch) == (True, 9, 2)
    stage.shard.complete_transaction(Producer(9, 2), True, 5)
    assert stage.story[-2:] == ["append", "marker 9 2 True"]
    stage.story.clear()
    stage.shard.reload()
    stage.shard._load_slice()
    assert stage.story == ["replay a@0", "marker 9 2 True", "loaded"]


def test_records_that_need_not_be_together_are_split(stage: Stage) -> None:
    stage.journal.max_batch_bytes = 400
    stage.shard.ask_now(stage.do([(b"k%d" % i, b"v" * 100) for i in range(5)], atomic=False))
    assert [batch.record_count for batch in stage.journal.batches] == [2, 2, 1]


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
        stage.shard._load_slice()
        assert (stage.shard.state is ShardState.LOADING) is expected
    assert len(stage.shard.machine.values) == 25


def test_what_is_appended_while_loading_is_loaded(stage: Stage) -> None:
    for i in range(12):
        stage.shard.ask_now(stage.do([(b"%d" % i, b"")]))
    stage.shard.reload()
    stage.shard._load_slice()
    stage.shard.complete_transaction(Producer(1, 1), False, 0)
    stage.shard._load_slice()
    assert stage.shard.is_active
    assert stage.story[-2:] == ["marker 1 1 False", "loaded"]


def test_a_replay_that_fails_is_a_bug_and_the_shard_rebuilds(stage: Stage) -> None:
    stage.shard.ask_now(stage.do([(b"a", b"1")]))
    with pytest.raises(KafkaError) as caught:
        stage.shard.ask_now(stage.do([(b"a", b"poison")]))
    assert caught.value.code is ErrorCode.NOT_COORDINATOR
    assert len(stage.bugs) == 1
    stage.shard._load_slice()
    assert stage.shard.has_failed
    with pytest.raises(KafkaError) as caught:
        stage.shard.ask_now(stage.do())
    assert caught.value.code is ErrorCode.NOT_COORDINATOR


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
        stage = Stage()
        stage.clock = stage.shard._clock = BrokerClock()
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
