"""What wakes a shard's task: its first timer, or somebody who says so."""

from __future__ import annotations

import trio

from odradek.broker.clock import BrokerClock
from odradek.broker.runtime.effects import Pause, Schedule
from odradek.broker.runtime.timers import TimerQueue

_AWAKE = -1
_FOR_EVER = 1 << 62
_PASSES_BEFORE_TIMERS = 3
"""How often other tasks get their turn before timers run: requests that have arrived come first."""


class Alarm:
    """The timers of a shard on the broker's clock. Owner: the shard, whose task sleeps here."""

    def __init__(self, clock: BrokerClock) -> None:
        self.timers = TimerQueue()
        self._clock = clock
        self._wakeup = trio.Event()
        self._sleeps_until_ms = _AWAKE

    def set(self, effect: Schedule, now_ms: int) -> None:
        """Set a timer; a `Pause` is over at once while the clock stands still."""
        at_once = effect.__class__ is Pause and self._clock.frozen
        deadline_ms = now_ms if at_once else now_ms + effect.after_ms
        self.timers.schedule(effect.key, deadline_ms, effect.command)
        if deadline_ms < self._sleeps_until_ms:
            self._sleeps_until_ms = _AWAKE
            self._wakeup.set()

    def shift(self, step_ms: int) -> None:
        """The clock shows another time: what was to happen in a second happens in a second."""
        entries = self.timers.entries()
        self.timers.clear()
        for key, deadline_ms, command in entries:
            self.timers.schedule(key, deadline_ms + step_ms, command)
        self._wakeup.set()

    def wake(self) -> None:
        """Let the task look at what has become of the shard."""
        self._wakeup.set()

    async def sleep(self) -> None:
        """Wait for the first timer, or to be woken."""
        due = self.timers.next_due_ms()
        self._wakeup = trio.Event()
        self._sleeps_until_ms = _FOR_EVER if due is None else due
        if due is None:
            await self._wakeup.wait()
        else:
            with self._clock.move_on_after(max(0, due - self._clock.now_ms()) / 1000):
                await self._wakeup.wait()
            for _ in range(_PASSES_BEFORE_TIMERS):
                await trio.lowlevel.checkpoint()
        self._sleeps_until_ms = _AWAKE
