"""A poller that is no task: it waits for the sockets in trio's place, at the point where trio would go to sleep.

trio asks its clock for the time until the next deadline when no task can run, and then waits for its own epoll. The
broker's clock answers late: first the poller waits for the sockets of the connections and for trio's epoll at once, and
serves, until trio has something to do. So a request costs no pass of trio's loop, which is about as much as a small
request. While tasks keep trio busy, trio does not ask the clock, so the poller also checks the sockets before each of
trio's waits.

It needs a run whose clock is the broker's, and four attributes of trio that are not public. If one is missing,
`event_loop` returns None and the poller is a task.

Gains half of the CPU of a request on one connection (Produce, offset commits, transactions, a waiting consumer) and
twice the rate. With 50 connections it gains 4 %.
"""

from __future__ import annotations

import select
import threading
import time
from typing import TYPE_CHECKING, Any

import trio

from odradek.broker.fast.poller import EVENTS_AT_ONCE, EpollPoller

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.fast.held_appends import HeldAppends

_LONGEST_SLEEP_S = 86_400.0
_LOOKS = 200  # they take about 50 us: as long as a client that sleeps needs to wake up, answer and ask again
_SHORT_WAIT_NS = 100_000  # that and the time to wake up oneself
_MOST_DOUBT = 1024  # short waits before another try


class EventLoop:
    """The part of trio's run that the poller uses."""

    __slots__ = ("_deadlines", "epoll", "ready", "waiting_for_idle")

    def __init__(self, runner: Any) -> None:
        """AttributeError if trio's insides are other ones than those known."""
        self.epoll: select.epoll = runner.io_manager._epoll
        self.ready: Any = runner.runq
        self.waiting_for_idle: Any = runner.waiting_for_idle
        self._deadlines: Any = runner.deadlines
        self.next_deadline()

    def next_deadline(self) -> float:
        """On the run's clock; infinite if there is none."""
        deadline: float = self._deadlines.next_deadline()
        return deadline


def event_loop(clock: BrokerClock) -> EventLoop | None:
    """The event loop of the caller's run; None if it has another clock, is a guest, or is not known well enough."""
    if trio.lowlevel.current_clock() is not clock or clock.sleeper is not None:
        return None
    try:
        from trio._core._run import GLOBAL_RUN_CONTEXT

        runner: Any = GLOBAL_RUN_CONTEXT.runner
        return None if runner.is_guest else EventLoop(runner)
    except (ImportError, AttributeError):
        return None


class Patience:
    """Whether to look again before sleeping: a sleep and its end cost more than a wait of a few microseconds.

    Looks are worth their time only while answers follow each other that quickly, so the last waits decide: some must
    have been short, one at first, and twice as many after each time that nothing came of looking. They are left out
    where another thread may want the interpreter, and on one CPU, where the client could not run meanwhile.
    """

    __slots__ = ("_allowed", "_needed", "_short_waits")

    def __init__(self, *, allowed: bool) -> None:
        self._allowed = allowed
        self._short_waits = 0  # in a row
        self._needed = 1

    def poll(self, epoll: select.epoll, seconds: float) -> list[tuple[int, int]]:
        """The events of an epoll, after so many seconds at most."""
        if not self._allowed or seconds <= 0:
            return epoll.poll(seconds, EVENTS_AT_ONCE)
        if self._short_waits >= self._needed:
            for _ in range(_LOOKS):
                events = epoll.poll(0, EVENTS_AT_ONCE)
                if events:
                    self._needed = max(self._needed // 2, 1)
                    return events
            self._short_waits = 0
            self._needed = min(self._needed * 2, _MOST_DOUBT)
        began = time.perf_counter_ns()
        events = epoll.poll(seconds, EVENTS_AT_ONCE)
        self._short_waits = self._short_waits + 1 if time.perf_counter_ns() - began < _SHORT_WAIT_NS else 0
        return events


def may_look_again() -> bool:
    """Whether the caller's thread has the interpreter for itself, and a client another CPU."""
    import os

    return threading.current_thread() is threading.main_thread() and len(os.sched_getaffinity(0)) > 1


class SleepingPoller(EpollPoller, trio.abc.Instrument):
    """See the module. To be made in the run that it serves; RuntimeError where `event_loop` has nothing."""

    def __init__(self, clock: BrokerClock, held_appends: HeldAppends | None = None) -> None:
        super().__init__(clock, held_appends)
        loop = event_loop(clock)
        if loop is None:
            raise RuntimeError("this trio run has another clock or another event loop than the poller knows")
        self._loop = loop
        self._trio_fd = loop.epoll.fileno()
        self._epoll.register(self._trio_fd, select.EPOLLIN)
        self._patience = Patience(allowed=may_look_again())
        self._has_looked = False
        self._failed = trio.Event()
        self._error: BaseException | None = None

    async def run(self) -> None:
        self._clock.sleeper = self._sleep
        trio.lowlevel.add_instrument(self)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._parked.run)
                await self._failed.wait()
                assert self._error is not None
                raise self._error
        finally:
            self._clock.sleeper = None
            trio.lowlevel.remove_instrument(self)

    def _sleep(self, deadline: float) -> float:
        """Serve until trio has something to do; returns how long it may sleep then."""
        self._has_looked = True
        loop = self._loop
        while True:
            left = self._clock.seconds_until(deadline)
            if left <= 0:
                return 0
            if loop.waiting_for_idle:
                # Somebody waits until nothing happens: trio has to see whether it does.
                cushion = loop.waiting_for_idle.keys()[0][0]
                return 0 if self._look(min(left, cushion)) else left
            if not self._look(min(left, _LONGEST_SLEEP_S)):
                continue
            if loop.ready or self._trio_is_ready:
                return 0
            deadline = loop.next_deadline()

    def before_io_wait(self, timeout: float) -> None:
        """trio is about to wait; it has not asked its clock if a task can run."""
        if self._has_looked:
            self._has_looked = False
        else:
            self._look(0)

    def _look(self, seconds: float) -> bool:
        """Serve what comes within so many seconds; tells whether anything came."""
        events = self._patience.poll(self._epoll, seconds)
        self._trio_is_ready = False
        if not events:
            return False
        for fd, _ in events:
            if fd == self._trio_fd:
                self._trio_is_ready = True
        try:
            self._serve(events)
        except BaseException as error:  # trio's loop is no place for it: the poller's task raises it
            self._error = error
            self._failed.set()
        return True
