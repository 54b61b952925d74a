"""The timers of a shard: commands that run later, each under a key, and the sleep of the shard's task."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import count
from typing import Any

import trio
from sortedcontainers import SortedList

from odradek.broker.clock import BrokerClock
from odradek.broker.runtime.machine import Command, Pause, Schedule


class _Timer:
    __slots__ = ("command", "deadline_ms", "place")

    def __init__(self, deadline_ms: int, command: Command[Any], place: tuple[int, int, Hashable]) -> None:
        self.deadline_ms = deadline_ms
        self.command = command
        self.place = place


class TimerQueue:
    """Keyed one-shot timers in order of their deadlines. It knows no clock: the caller says what time it is.

    Setting a key again replaces its timer. A session timer is pushed back by every heartbeat and almost never fires, so
    a later deadline is only stored: the entry keeps its place in the queue and moves when it reaches the front. So
    `next_due_ms` may be earlier than the first real deadline, never later.
    """

    def __init__(self) -> None:
        self._timers: dict[Hashable, _Timer] = {}
        self._queue: Any = SortedList()
        self._serial = count()

    def __len__(self) -> int:
        return len(self._timers)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._timers

    def schedule(self, key: Hashable, deadline_ms: int, command: Command[Any]) -> None:
        """Run `command` once `deadline_ms` is reached, instead of whatever `key` was to run."""
        timer = self._timers.get(key)
        if timer is not None:
            timer.command = command
            if deadline_ms >= timer.place[0]:
                timer.deadline_ms = deadline_ms
                return
            self._queue.remove(timer.place)
        place = (deadline_ms, next(self._serial), key)
        self._timers[key] = _Timer(deadline_ms, command, place)
        self._queue.add(place)

    def cancel(self, key: Hashable) -> bool:
        """Cancel the timer of `key`; returns whether there was one."""
        timer = self._timers.pop(key, None)
        if timer is None:
            return False
        self._queue.remove(timer.place)
        return True

    def clear(self) -> None:
        """Cancel all timers."""
        self._timers.clear()
        self._queue.clear()

    def entries(self) -> list[tuple[Hashable, int, Command[Any]]]:
        """Key, deadline and command of each timer, in the order of the queue."""
        timers = self._timers
        return [(place[2], timers[place[2]].deadline_ms, timers[place[2]].command) for place in self._queue]

    def deadline_of(self, key: Hashable) -> int | None:
        """The deadline of a key's timer in milliseconds of the broker's clock; None without one."""
        timer = self._timers.get(key)
        return None if timer is None else timer.deadline_ms

    def next_due_ms(self) -> int | None:
        """No timer is due before this time; None without timers."""
        return self._queue[0][0] if self._queue else None

    def pop_due(self, now_ms: int) -> Iterator[tuple[Hashable, Command[Any]]]:
        """Remove the timers that are due, in order of their deadlines. Timers set meanwhile are included if due."""
        queue = self._queue
        while queue and queue[0][0] <= now_ms:
            place = queue.pop(0)
            key = place[2]
            timer = self._timers[key]
            if timer.deadline_ms > place[0]:
                timer.place = (timer.deadline_ms, place[1], key)
                queue.add(timer.place)
                continue
            del self._timers[key]
            yield key, timer.command


_AWAKE = -1
_FOR_EVER = 1 << 62
_PASSES_BEFORE_TIMERS = 3
"""How often other tasks run before timers do: requests that have arrived come first."""


class ShardTimers(TimerQueue):
    """A timer queue on the broker's clock. Owner: the shard, whose task sleeps here."""

    def __init__(self, clock: BrokerClock) -> None:
        super().__init__()
        self._clock = clock
        self._wakeup = trio.Event()
        self._sleeps_until_ms = _AWAKE

    def set(self, effect: Schedule, now_ms: int) -> None:
        """Set a timer. A `Pause` ends at once while the clock is frozen."""
        at_once = effect.__class__ is Pause and self._clock.frozen
        deadline_ms = now_ms if at_once else now_ms + effect.after_ms
        self.schedule(effect.key, deadline_ms, effect.command)
        if deadline_ms < self._sleeps_until_ms:
            self._sleeps_until_ms = _AWAKE
            self._wakeup.set()

    def shift(self, step_ms: int) -> None:
        """The clock was set by `step_ms`: move all deadlines, so that the time left stays the same."""
        entries = self.entries()
        self.clear()
        for key, deadline_ms, command in entries:
            self.schedule(key, deadline_ms + step_ms, command)
        self._wakeup.set()

    def wake(self) -> None:
        """Wake the task, which looks at the shard's state."""
        self._wakeup.set()

    async def sleep(self) -> None:
        """Wait for the first timer, or to be woken."""
        due = self.next_due_ms()
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
