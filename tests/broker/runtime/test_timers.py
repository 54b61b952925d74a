"""Timers: keyed, in order, cheap to push back."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.clock import BrokerClock
from odradek.broker.coordinator.group.groups import ExpireOffsets
from odradek.broker.runtime.machine import Command, Pause, Schedule
from odradek.broker.runtime.timers import ShardTimers, TimerQueue
from tests.fakes.clocks import clock_at


class Named:
    reply: None

    def __init__(self, name: str) -> None:
        self.name = name


def due(timers: TimerQueue, now_ms: int) -> list[str]:
    return [command.name for _, command in timers.pop_due(now_ms)]  # type: ignore[attr-defined]


def test_timers_fire_in_the_order_of_their_deadlines() -> None:
    timers = TimerQueue()
    timers.schedule("b", 20, Named("b"))
    timers.schedule("a", 10, Named("a"))
    timers.schedule("c", 30, Named("c"))
    assert timers.next_due_ms() == 10
    assert due(timers, 9) == []
    assert due(timers, 20) == ["a", "b"]
    assert len(timers) == 1
    assert "c" in timers


def test_timer_of_the_same_key_is_replaced() -> None:
    timers = TimerQueue()
    timers.schedule("a", 10, Named("old"))
    timers.schedule("a", 30, Named("new"))
    timers.schedule("b", 20, Named("b"))
    assert timers.deadline_of("a") == 30
    assert due(timers, 25) == ["b"]
    assert due(timers, 30) == ["new"]
    timers.schedule("a", 50, Named("late"))
    timers.schedule("a", 40, Named("early"))
    assert due(timers, 45) == ["early"]
    assert due(timers, 99) == []


def test_a_cancelled_timer_does_not_fire() -> None:
    timers = TimerQueue()
    timers.schedule("a", 10, Named("a"))
    timers.schedule("a", 20, Named("a"))
    assert timers.cancel("a")
    assert not timers.cancel("a")
    assert timers.next_due_ms() is None
    assert due(timers, 100) == []


def test_timers_set_while_firing_are_seen() -> None:
    timers = TimerQueue()
    timers.schedule("a", 10, Named("a"))
    seen: list[str] = []
    for key, command in timers.pop_due(50):
        seen.append(str(key))
        if key == "a":
            timers.schedule("b", 40, command)
            timers.schedule("c", 60, command)
    assert seen == ["a", "b"]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.one_of(st.none(), st.integers(0, 50))), max_size=40))
def test_it_behaves_as_a_plain_mapping_of_deadlines(steps: list[tuple[str, int | None]]) -> None:
    timers, model = TimerQueue(), dict[Any, int]()
    for key, deadline in steps:
        if deadline is None:
            assert timers.cancel(key) == (model.pop(key, None) is not None)
        else:
            timers.schedule(key, deadline, Named(key))
            model[key] = deadline
    first = timers.next_due_ms()
    assert (first is None) == (not model)
    if first is not None:
        assert first <= min(model.values())
    fired = [(model[key], key) for key, _ in timers.pop_due(25)]
    assert sorted(fired) == sorted((d, k) for k, d in model.items() if d <= 25)
    assert [d for d, _ in fired] == sorted(d for d, _ in fired)


def test_timers_that_are_cleared_are_all_forgotten() -> None:
    timers = TimerQueue()
    timers.schedule("a", 1, Named("a"))
    timers.clear()
    assert len(timers) == 0
    with pytest.raises(StopIteration):
        next(iter(timers.pop_due(10)))


COMMAND: Command[None] = ExpireOffsets()


def frozen_clock() -> BrokerClock:
    return clock_at(1_000)


def test_a_pause_is_over_at_once_while_the_clock_stands_still() -> None:
    timers = ShardTimers(frozen_clock())
    timers.set(Schedule("a", 50, COMMAND), 1_000)
    timers.set(Pause("b", 50, COMMAND), 1_000)
    assert (timers.deadline_of("a"), timers.deadline_of("b")) == (1_050, 1_000)
    running = ShardTimers(BrokerClock(start_ms=1_000))
    running.set(Pause("b", 50, COMMAND), 1_000)
    assert running.deadline_of("b") == 1_050


def test_timers_shift_with_the_clock() -> None:
    timers = ShardTimers(frozen_clock())
    timers.set(Schedule("a", 50, COMMAND), 1_000)
    timers.set(Schedule("b", 20, COMMAND), 1_000)
    timers.shift(-500)
    assert [entry[:2] for entry in timers.entries()] == [("b", 520), ("a", 550)]


def test_whoever_sleeps_is_woken_by_a_word_and_by_an_earlier_timer() -> None:
    async def main() -> None:
        clock = frozen_clock()
        clock.attach()
        timers = ShardTimers(clock)
        woken: list[str] = []

        async def sleep(name: str) -> None:
            await timers.sleep()
            woken.append(name)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(sleep, "word")
            await trio.testing.wait_all_tasks_blocked()
            timers.wake()
        timers.set(Schedule("later", 60_000, COMMAND), clock.now_ms())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(sleep, "timer")
            await trio.testing.wait_all_tasks_blocked()
            timers.set(Schedule("still later", 90_000, COMMAND), clock.now_ms())
            await trio.testing.wait_all_tasks_blocked()
            assert woken == ["word"]
            timers.set(Schedule("sooner", 30_000, COMMAND), clock.now_ms())
        assert woken == ["word", "timer"]

    trio.run(main)
