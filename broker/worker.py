"""One thread for work on large batches: inflating, checking and converting their records.

The codecs leave the interpreter to others while they run; what is Python gives way every few milliseconds. So requests
of other clients are answered meanwhile. One piece of work is done at a time, in the order of asking, because each may
take hundreds of megabytes of memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

import trio

from odradek.protocol.long_work import LongWork

T = TypeVar("T")

_PAUSE_S: Final = 0.000_2
"""Long enough for the waiting thread to wake up and to take the interpreter."""


class _AbandonedError(Exception):
    """Nobody waits for the result any more."""


class ThreadWork(LongWork):
    """Work that is done in the worker's thread. `over`: whether to stop."""

    __slots__ = ("over",)

    def __init__(self) -> None:
        super().__init__()
        self.over = False

    def give_way(self) -> None:
        """See `LongWork`."""
        if self.over:
            raise _AbandonedError
        time.sleep(_PAUSE_S)


class Worker:
    """The thread. Owner: the cluster."""

    def __init__(self) -> None:
        self._one_at_a_time = trio.CapacityLimiter(1)

    async def do(self, work: Callable[[ThreadWork], T], shared: ThreadWork | None = None) -> T:
        """Call `work` in the thread, and return what it returns.

        If the caller is cancelled, it goes on at once, and `work` ends where it gives way next. `shared`: what several
        calls may inflate together.
        """
        turn = shared or ThreadWork()
        done = False
        try:
            result = await trio.to_thread.run_sync(work, turn, abandon_on_cancel=True, limiter=self._one_at_a_time)
            done = True
            return result
        finally:
            turn.over = not done
