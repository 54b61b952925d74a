"""The broker's one source of time.

Timers (session timeouts, fetch waits, retention passes) and record timestamps follow the same clock, so that a test
which moves it moves everything. Nothing else in the project reads the machine's clock.
"""

from __future__ import annotations

import sys
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import inf, ulp
from numbers import Real
from typing import NamedTuple

import trio

from odradek.broker.clock_face import ClockFace
from odradek.broker.mistakes import NearNames, checked

_SETTLE_TIMEOUT_S = 5.0
_LAST_MS = 253_402_300_799_999
"""The end of the year 9999. A time with an addition still fits into Kafka's 64 bits."""
_MAX_CHANGES = 1000
_ROUNDING_S = 1e-6
"""More than the sum of two times since 1970 may lose: a clock that runs on does not show a millisecond less."""


work_ns: Callable[[], int] = time.perf_counter_ns
"""Nanoseconds of real time from an arbitrary origin, to measure how long work takes. Nothing moves them."""


def check_number(name: str, value: object) -> None:
    """TypeError unless an argument is a number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r}: expected a number")


def in_event_loop() -> str:
    """What an error of a wait adds in a thread whose asyncio loop the wait has blocked; empty elsewhere."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or asyncio._get_running_loop() is None:
        return ""
    return "; the wait has blocked the running event loop: await asyncio.to_thread(...) keeps it free"


class ClockChange(NamedTuple):
    """One move of a clock: `what` is `start`, `advance`, `freeze` or `resume`, `seconds` how far it was advanced.

    `source_s`: when, in the time below the clock. From then on it showed the time below it plus `ahead_s`, or stood at
    `frozen_ns` (seconds and nanoseconds since 1970).
    """

    source_s: float
    what: str
    seconds: float
    ahead_s: float
    frozen_ns: int | None

    def ms_at(self, source_s: float) -> int:
        """The times of the clock between this change and the next."""
        return int((source_s + self.ahead_s) * 1000) if self.frozen_ns is None else self.frozen_ns // 1_000_000


class BrokerClock(NearNames, trio.abc.Clock):
    """Real time plus an offset that can be moved forward or stopped, from any thread.

    Two ways to use it:

    - as the clock of a trio run (`trio.run(main, clock=BrokerClock())`): every `trio.sleep` and deadline of that
      run follows it;
    - hosted in a run that has a clock of its own (`clock.attach()`): waits made through `sleep` and
      `move_on_after` follow it, and its time is the host clock's plus the offset. Broker code waits through
      these two methods only, so it works in both ways.

    Invariants: time never goes back, but by `set_ms`; `now_ms` and `current_time` move together; no jump falls inside
    a step of a task of the broker's run, so "how long until then" and the wait that follows see the same time.
    """

    def __init__(self, *, start_ms: int | None = None) -> None:
        """`start_ms`: what `now_ms` shows at first (milliseconds since 1970); by default the machine's time. ValueError
        for a time before 1970 or after the year 9999."""
        _check_ms(start_ms)
        wall = time.time() if start_ms is None else start_ms / 1000
        self.face = ClockFace(time.monotonic, wall - time.monotonic())
        """The face of the clock, for readers that have to be quick."""
        self._lock = threading.Lock()
        self._token: trio.lowlevel.TrioToken | None = None
        self._thread_id: int | None = None
        self._hosted = False
        self._waits: dict[trio.CancelScope, float] = {}
        self.sleeper: Callable[[float], float] | None = None
        """Sleeps in trio's place: given the next deadline, what `deadline_to_sleep_time` returns afterwards."""
        self._changes: list[ClockChange] = []
        self._note("start")

    def __repr__(self) -> str:
        seconds, ms = divmod(self.now_ms(), 1000)
        now = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
        return f"<BrokerClock {now}.{ms:03} UTC{', frozen' if self.frozen else ''}>"

    # -- trio.abc.Clock

    def start_clock(self) -> None:
        """Called by trio when a run that uses this clock starts."""
        self._token = trio.lowlevel.current_trio_token()
        self._thread_id = threading.get_ident()

    def current_time(self) -> float:
        """Seconds on this clock, from an arbitrary origin."""
        return self.face.current_time()

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """The seconds until a deadline; trio calls this just before it sleeps (see `seconds_until`)."""
        return self.seconds_until(deadline) if self.sleeper is None else self.sleeper(deadline)

    def seconds_until(self, deadline: float) -> float:
        """Real seconds until `deadline`; infinite while the clock stands still before it."""
        left = deadline - self.current_time()
        return left if left <= 0 or self.face.frozen_at is None else inf

    # -- reading

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC, as records carry them."""
        return self.face.now_ms()

    def ms_at(self, source_seconds: float) -> int:
        """The value of `now_ms` at a time of the clock behind it (`ClockChange.source_seconds`)."""
        changes = self._changes.copy()
        place = bisect_right(changes, source_seconds, key=lambda change: change.source_s) - 1
        return changes[max(0, place)].ms_at(source_seconds)

    @property
    def changes(self) -> list[ClockChange]:
        """The moves of this clock, oldest first; the first is its start. At most the last 1,000."""
        return self._changes.copy()

    @property
    def frozen(self) -> bool:
        """Whether the clock stands still."""
        return self.face.frozen_at is not None

    # -- moving

    @checked
    def advance(self, seconds: float = 0, *, minutes: float = 0, hours: float = 0, days: float = 0) -> int:
        """Move the clock forward; return the new `now_ms`.

        From another thread the call returns when the broker has acted on every timer that came due and waits again
        (at most five seconds of real time, if clients keep it busy).
        """
        for name, given in (("seconds", seconds), ("minutes", minutes), ("hours", hours), ("days", days)):
            check_number(name, given)
        step = seconds + 60 * minutes + 3600 * hours + 86400 * days
        if not 0 <= step < inf:
            raise ValueError(f"a clock only moves forward: {step} s")
        if self.now_ms() + step * 1000 > _LAST_MS:
            raise ValueError(f"{step} s lead beyond the year 9999, where this clock ends")
        self._change(lambda: self._jump(step))
        return self.now_ms()

    def freeze(self) -> None:
        """Stop the clock; only `advance` moves it until `resume`."""
        self._change(self._stop)

    def resume(self) -> None:
        """Let the clock run on from where it stands."""
        self._change(self._go_on)

    @checked
    def set_ms(self, now_ms: int | None, *, frozen: bool = False) -> None:
        """Set the clock to another time, also an earlier one.

        Waits keep their length. A broker that goes back to an earlier state calls this, in the broker's own thread.
        None: the machine's time. ValueError for a time before 1970 or after the year 9999.
        """
        _check_ms(now_ms)

        def change() -> None:
            if frozen:
                self._stop()
            else:
                self._go_on()
            shown = time.time() if now_ms is None else (now_ms + 0.5) / 1000
            self.face.epoch = shown - self.current_time()
            self.face.frozen_ns = round(shown * 1e9)

        self._change(change)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """The clock stands still inside the `with` block."""
        self.freeze()
        try:
            yield
        finally:
            self.resume()

    # -- waiting (inside the broker's trio run)

    def attach(self) -> None:
        """Bind to the trio run of the caller; needed before waiting when the run has a clock of its own."""
        run_clock = trio.lowlevel.current_clock()
        self._token = trio.lowlevel.current_trio_token()
        self._thread_id = threading.get_ident()
        if run_clock is self:
            return
        now = self.current_time()
        self._hosted = True
        self.face.source = run_clock.current_time
        self.face.epoch += now - self.face.source() - self.face.ahead
        if self.face.frozen_at is not None:
            self.face.frozen_at = self.face.source() + self.face.ahead
        self._changes.clear()
        self._note("start")

    @contextmanager
    def move_on_after(self, seconds: float) -> Iterator[trio.CancelScope]:
        """Like `trio.move_on_after`, on this clock. A deadline in the past ends the wait at once."""
        if not self._hosted:
            with trio.move_on_after(max(0.0, seconds)) as scope:
                yield scope
            return
        due = self.current_time() + seconds
        with trio.CancelScope(deadline=self._host_deadline(due)) as scope:
            self._waits[scope] = due
            try:
                yield scope
            finally:
                del self._waits[scope]

    async def sleep(self, seconds: float) -> None:
        """Like `trio.sleep`, on this clock."""
        if not self._hosted:
            await trio.sleep(max(0.0, seconds))
            return
        with self.move_on_after(seconds):
            await trio.sleep_forever()

    async def sleep_until_ms(self, deadline_ms: int) -> None:
        """Return when `now_ms` has reached `deadline_ms`."""
        while (left := deadline_ms - self.now_ms()) > 0:
            await self.sleep(left / 1000)

    # -- inside

    def _host_deadline(self, due: float) -> float:
        if self.face.frozen_at is not None:
            return -inf if due <= self.face.frozen_at else inf
        return due - self.face.ahead

    def _jump(self, step: float) -> None:
        if self.face.frozen_at is None:
            self.face.ahead += step
        else:
            # Rounded up, so that steps that add up to a wait reach its end.
            self.face.frozen_at += step + 4 * ulp(self.face.frozen_at + step)
            self.face.frozen_ns += round(step * 1e9)
        self._note("advance", step)

    def _stop(self) -> None:
        if self.face.frozen_at is None:
            self.face.frozen_at = self.face.source() + self.face.ahead
            shown = self.face.frozen_at + self.face.epoch
            self.face.frozen_ns = max(int(shown * 1e9), int(shown * 1000) * 1_000_000)
            self._note("freeze")

    def _go_on(self) -> None:
        if self.face.frozen_at is not None:
            self.face.ahead = self.face.frozen_at - self.face.source()
            self.face.epoch = self.face.frozen_ns / 1e9 - self.face.frozen_at + _ROUNDING_S
            self.face.frozen_at = None
            self._note("resume")

    def _note(self, what: str, seconds: float = 0) -> None:
        stands_at = None if self.face.frozen_at is None else self.face.frozen_ns
        ahead_s = self.face.ahead + self.face.epoch
        self._changes.append(ClockChange(self.face.source(), what, seconds, ahead_s, stands_at))
        if len(self._changes) > _MAX_CHANGES:
            del self._changes[1]

    def _change(self, change: Callable[[], None]) -> None:
        """Make a change in the broker's thread, between two steps of its tasks, and wait until the broker has acted on
        it.
        """
        token = self._token
        if token is not None and threading.get_ident() != self._thread_id:
            change = _once(change, self._lock)
            settled = threading.Event()
            with suppress(trio.RunFinishedError):
                token.run_sync_soon(self._start_settling, change, settled)
                settled.wait(_SETTLE_TIMEOUT_S)
            change()  # if the run did not act, because it is over or stands still
            return
        with self._lock:
            change()
        self._shift_waits()
        if token is not None:
            with suppress(trio.RunFinishedError):
                token.run_sync_soon(_nothing, idempotent=True)

    def _shift_waits(self) -> None:
        for scope, due in self._waits.items():
            scope.deadline = self._host_deadline(due)

    def _start_settling(self, change: Callable[[], None], settled: threading.Event) -> None:
        change()
        self._shift_waits()
        trio.lowlevel.spawn_system_task(_settle, settled)


def _check_ms(now_ms: int | None) -> None:
    if now_ms is not None and not 0 <= now_ms <= _LAST_MS:
        raise ValueError(f"{now_ms} ms: this clock shows times from 1970 to the year 9999")


def _once(change: Callable[[], None], lock: threading.Lock) -> Callable[[], None]:
    """`change` as a function that works at its first call only, from whichever thread that comes."""
    pending = [change]

    def make() -> None:
        with lock:
            if pending:
                pending.pop()()

    return make


def _nothing() -> None:
    """Wakes the trio loop, which then looks at its deadlines."""


async def _settle(settled: threading.Event) -> None:
    from trio.testing import wait_all_tasks_blocked

    try:
        await trio.lowlevel.checkpoint()
        await wait_all_tasks_blocked()
    finally:
        settled.set()
