"""The timers of one shard: commands that run later, each under a key."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import count
from typing import Any

from sortedcontainers import SortedList

from odradek.broker.runtime.command import Command


class _Timer:
    __slots__ = ("command", "deadline_ms", "place")

    def __init__(self, deadline_ms: int, command: Command[Any], place: tuple[int, int, Hashable]) -> None:
        self.deadline_ms = deadline_ms
        self.command = command
        self.place = place


class TimerQueue:
    """Keyed one-shot timers in order of their deadlines; pure, the shard's owner asks what is due.

    Setting a key again replaces its timer. A session timer is pushed back by every heartbeat and almost never fires, so
    a later deadline is only noted down: the queue still holds the old place and moves it when its turn comes. Thus
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
        """Forget the timer of `key`; tells whether there was one."""
        timer = self._timers.pop(key, None)
        if timer is None:
            return False
        self._queue.remove(timer.place)
        return True

    def clear(self) -> None:
        """Forget all timers."""
        self._timers.clear()
        self._queue.clear()

    def entries(self) -> list[tuple[Hashable, int, Command[Any]]]:
        """Key, deadline and command of each timer, in the order in which they stand in the queue."""
        timers = self._timers
        return [(place[2], timers[place[2]].deadline_ms, timers[place[2]].command) for place in self._queue]

    def deadline_of(self, key: Hashable) -> int | None:
        """When the timer of `key` is due, in milliseconds of the broker's clock."""
        timer = self._timers.get(key)
        return None if timer is None else timer.deadline_ms

    def next_due_ms(self) -> int | None:
        """When to look again: no timer is due before."""
        return self._queue[0][0] if self._queue else None

    def pop_due(self, now_ms: int) -> Iterator[tuple[Hashable, Command[Any]]]:
        """Take out the timers that are due, in order of their deadlines; those set meanwhile are included if due."""
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
