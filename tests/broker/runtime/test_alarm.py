from __future__ import annotations

import trio
import trio.testing

from odradek.broker.clock import BrokerClock
from odradek.broker.coordinator.group.commands import ExpireOffsets
from odradek.broker.runtime.alarm import Alarm
from odradek.broker.runtime.command import Command
from odradek.broker.runtime.effects import Pause, Schedule
from tests.fakes.clocks import clock_at

COMMAND: Command[None] = ExpireOffsets()


def frozen_clock() -> BrokerClock:
    return clock_at(1_000)


def test_a_pause_is_over_at_once_while_the_clock_stands_still() -> None:
    alarm = Alarm(frozen_clock())
    alarm.set(Schedule("a", 50, COMMAND), 1_000)
    alarm.set(Pause("b", 50, COMMAND), 1_000)
    assert (alarm.timers.deadline_of("a"), alarm.timers.deadline_of("b")) == (1_050, 1_000)
    running = Alarm(BrokerClock(start_ms=1_000))
    running.set(Pause("b", 50, COMMAND), 1_000)
    assert running.timers.deadline_of("b") == 1_050


def test_timers_shift_with_the_clock() -> None:
    alarm = Alarm(frozen_clock())
    alarm.set(Schedule("a", 50, COMMAND), 1_000)
    alarm.set(Schedule("b", 20, COMMAND), 1_000)
    alarm.shift(-500)
    assert [entry[:2] for entry in alarm.timers.entries()] == [("b", 520), ("a", 550)]


def test_whoever_sleeps_is_woken_by_a_word_and_by_an_earlier_timer() -> None:
    async def main() -> None:
        clock = frozen_clock()
        clock.attach()
        alarm = Alarm(clock)
        woken: list[str] = []

        async def sleep(name: str) -> None:
            await alarm.sleep()
            woken.append(name)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(sleep, "word")
            await trio.testing.wait_all_tasks_blocked()
            alarm.wake()
        alarm.set(Schedule("later", 60_000, COMMAND), clock.now_ms())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(sleep, "timer")
            await trio.testing.wait_all_tasks_blocked()
            alarm.set(Schedule("still later", 90_000, COMMAND), clock.now_ms())
            await trio.testing.wait_all_tasks_blocked()
            assert woken == ["word"]
            alarm.set(Schedule("sooner", 30_000, COMMAND), clock.now_ms())
        assert woken == ["word", "timer"]

    trio.run(main)
