"""Requests that wait for what other requests do, without a task of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import trio

from odradek.broker.partitions.waiters import Waiter
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from odradek.broker.clock import BrokerClock
    from odradek.broker.partitions.waiters import WaiterSet

_NO_APPEND = 1 << 62
"""More bytes than are ever appended: only other changes wake."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Parked:
    """A handler returns one if it cannot give the response yet.

    Its holder sets `wake`. It calls `resume` after each wake-up and at `deadline_ms` (on the broker's clock) until
    `resume` returns the response, or `abandon` when nobody wants the response any more. A wake-up may come at any time
    after the handler has returned, so `wake` must only take note of it.
    """

    __slots__ = ("deadline_ms", "wake")

    def __init__(self, deadline_ms: int) -> None:
        self.deadline_ms = deadline_ms
        self.wake: Callable[[], None] = _nothing

    def resume(self) -> Any:
        """The response, or None to wait on. A KafkaError is answered like one that a handler raises."""
        raise NotImplementedError

    def abandon(self) -> None:
        """Leave nothing behind; fine when it is over already."""
        raise NotImplementedError

    async def response(self, clock: BrokerClock) -> Any:
        """Wait for the response in the calling task."""
        try:
            while True:
                woken = trio.Event()
                self.wake = woken.set
                response = self.resume()
                if response is not None:
                    return response
                with clock.move_on_after((self.deadline_ms - clock.now_ms()) / 1000):
                    await woken.wait()
        finally:
            self.abandon()


@mypyc_attr(allow_interpreted_subclasses=True)
class ParkedInPartitions(Parked):
    """One that waits for changes of partitions, for `wait_ms` at most."""

    __slots__ = ("_clock", "_waiter")

    def __init__(self, clock: BrokerClock, wait_ms: int) -> None:
        super().__init__(clock.now_ms() + wait_ms)
        self._clock = clock

    def look(self, due: bool) -> Any:
        """The response, or None after another `wait_in`. `due`: there is no more time, or the broker stops."""
        raise NotImplementedError

    def wait_in(
        self,
        sets: Sequence[WaiterSet],
        missing_bytes: int = _NO_APPEND,
        *,
        committed: bool = False,
        uncommitted: bool = False,
    ) -> None:
        """Wait for the next change; see `Waiter`."""
        self._waiter = Waiter(missing_bytes, self._wake, committed=committed, uncommitted=uncommitted)
        self._waiter.wait_in(sets)

    def resume(self) -> Any:
        waiter = self._waiter
        due = waiter.over or self._clock.now_ms() >= self.deadline_ms
        if not waiter.woken and not due:
            return None
        waiter.leave()
        return self.look(due)

    def abandon(self) -> None:
        self._waiter.leave()

    def _wake(self) -> None:
        self.wake()


def _nothing() -> None:
    """Nobody waits yet."""
