"""One thread for work on large batches: inflating, checking and converting their records.

The codecs leave the interpreter to others while they run; what is Python gives way every few milliseconds. So requests
of other clients are answered meanwhile. One piece of work is done at a time, in the order of asking, because each may
take hundreds of megabytes of memory.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from typing import Any, Final, TypeVar

import trio

from odradek.protocol.errors import CorruptDataError, KafkaError, ProtocolError, as_value
from odradek.protocol.long_work import LongWork

T = TypeVar("T")

_PAUSE_S: Final = 0.000_2
"""Long enough for the waiting thread to wake up and to take the interpreter."""


async def in_thread(
    function: Callable[..., T],
    *arguments: Any,
    abandon_on_cancel: bool = False,
    limiter: trio.CapacityLimiter | None = None,
) -> T:
    """Call a function in a thread while others are served. Raises what it raises.

    An error comes out as a value. If trio raised it, its frames would refer to it, and it to them: a circle of
    references. One that nobody expects has a note with its traceback.
    """

    def call() -> tuple[Any, Exception | None]:
        try:
            return function(*arguments), None
        except Exception as error:
            if not isinstance(error, KafkaError | CorruptDataError | ProtocolError):
                error.add_note("in a thread: " + "".join(traceback.format_exception(error)))
            return None, as_value(error)

    result, failed = await trio.to_thread.run_sync(call, abandon_on_cancel=abandon_on_cancel, limiter=limiter)
    if failed is not None:
        try:
            raise failed
        finally:
            del failed
    found: T = result
    return found


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
        try:
            return await in_thread(work, turn, abandon_on_cancel=True, limiter=self._one_at_a_time)
        except BaseException as error:
            turn.over = not isinstance(error, Exception)  # nobody waits any more, or the work has failed
            raise
