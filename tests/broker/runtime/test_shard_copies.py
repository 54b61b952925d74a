"""A shard that goes on where another one was: its machine, its timers, and who waited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from odradek.broker.clock import BrokerClock
from odradek.broker.runtime.machine import Answer, Command, Effect, LogRecord, Outcome, Schedule, make_outcome
from odradek.broker.runtime.replies import ReplySlot
from odradek.broker.runtime.shard import Shard, pickled_state, restore_state
from odradek.broker.runtime.timers import TimerQueue
from odradek.protocol.errors import KafkaError
from tests.fakes.clocks import clock_at
from tests.fakes.journal import FakeJournal


class Note:
    """Say how often this was asked, by the clock or by anybody."""

    reply: int


class Wait:
    """Wait for `Let`."""

    reply: str


class Let:
    """Answer who waits."""

    reply: None


class Counter:
    """A machine with soft state alone."""

    def __init__(self) -> None:
        self.count = 0

    def decide(self, command: Command[Any], now_ms: int) -> Outcome[Any]:
        if isinstance(command, Wait):
            return make_outcome(park="ticket")
        if isinstance(command, Let):
            return make_outcome(effects=[Answer("ticket", "done")])
        self.count += 1
        return make_outcome(reply=self.count, effects=[Schedule("again", 60_000, Note())])

    def replay(self, record: LogRecord) -> None:
        raise AssertionError("nothing is stored")

    def replay_marker(self, producer_id: int, producer_epoch: int, commit: bool) -> None:
        raise AssertionError("nothing is stored")

    def refused(self, command: Any, outcome: Outcome[Any], error: KafkaError, now_ms: int) -> Outcome[Any] | None:
        return None

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        return ()

    def snapshot(self) -> object:
        return self.count

    def restore(self, snapshot: int) -> None:
        self.count = snapshot


def _shard(clock: BrokerClock) -> Shard[Counter]:
    return Shard("counter", 0, Counter, FakeJournal(), clock)


def test_a_copied_shard_goes_on_with_its_timers() -> None:
    clock = clock_at(1_000_000)
    shard = _shard(clock)
    shard.start()
    assert shard.ask_now(Note()) == 1
    copy = shard.copied()
    assert copy is not None
    shard.ask_now(Note())
    other = _shard(clock)
    other.start_copied(copy)
    assert (other.is_active, other.machine.count) == (True, 1)
    clock.advance(59)
    other.fire_due()
    assert other.machine.count == 1
    clock.advance(1)
    other.fire_due()
    assert (other.machine.count, shard.machine.count) == (2, 2)


def test_what_was_parked_waits_for_nobody() -> None:
    clock = BrokerClock()
    shard = _shard(clock)
    shard.start()
    waiting = shard.begin(Wait())
    copy = shard.copied()
    assert copy is not None
    other = _shard(clock)
    other.start_copied(copy)
    assert other.parked == 1
    other.ask_now(Let())
    assert other.parked == 0
    assert isinstance(waiting, ReplySlot)
    assert not waiting.done


def test_a_shard_that_cannot_be_loaded_has_no_copy() -> None:
    shard = _shard(BrokerClock())
    assert shard.copied() is None


def test_tickets_and_timers_come_back_as_one() -> None:
    timers, fresh = TimerQueue(), TimerQueue()
    machine, other = Counter(), Counter()
    machine.count = 3
    for key, deadline in (("b", 20), ("a", 10), ("c", 30)):
        timers.schedule(key, deadline, Note())
    timers.schedule("a", 25, Note())
    assert list(restore_state(pickled_state(machine, timers, [1, "x"]), other, fresh)) == [1, "x"]
    assert other.count == 3
    assert [key for key, _ in fresh.pop_due(100)] == ["b", "a", "c"]


@pytest.mark.parametrize("key", ["a", "b"])
def test_entries_have_the_deadline_that_counts(key: str) -> None:
    timers = TimerQueue()
    timers.schedule(key, 10, Note())
    timers.schedule(key, 40, Note())
    assert [entry[:2] for entry in timers.entries()] == [(key, 40)]
