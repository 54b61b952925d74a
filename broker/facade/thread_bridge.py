"""Crosses threads: calls into the broker's thread, and waits for what happens there."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, Protocol, TypeVar

import trio

from odradek.broker.clock import check_number

T = TypeVar("T")


class BrokerClosedError(RuntimeError):
    """The broker is not running: it was not started, was closed, or ended with an error."""


class Call(Protocol):
    """Runs a function in the broker's thread and returns its result, or raises its exception.

    In the caller's trio run the function is called directly; otherwise it is handed over to the broker's thread.
    """

    def __call__(self, function: Callable[[], T], /) -> T: ...


class Offload(Protocol):
    """Runs a function that may take a while, and returns its result, while other tasks go on."""

    async def __call__(self, function: Callable[[], T], /) -> T: ...


class HandOver:
    """A `Call` for any thread; in the broker's own thread it calls directly. Create it in the broker's trio run."""

    def __init__(self) -> None:
        self.thread = threading.current_thread()
        self.token = trio.lowlevel.current_trio_token()

    def __call__(self, function: Callable[[], T], /) -> T:
        """Raises BrokerClosedError if the broker has ended, or ends before it runs the function."""
        if threading.get_ident() == self.thread.ident:
            return function()
        answer: Future[T] = Future()
        try:
            self.token.run_sync_soon(_answer, answer, function)
        except trio.RunFinishedError:
            raise BrokerClosedError("the broker is closed") from None
        try:
            while not wait([answer], timeout=0.2).done:
                if not self.thread.is_alive():
                    raise BrokerClosedError("the broker is closed")
            return answer.result()
        finally:
            del answer  # it has the exception, whose traceback has this frame


def _answer(answer: Future[T], function: Callable[[], T]) -> None:
    try:
        answer.set_result(function())
    except BaseException as error:
        answer.set_exception(error)
    finally:
        del answer  # as above


def only_cause(error: BaseException) -> BaseException:
    """The exception itself, without the groups that trio's nurseries wrap around it."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


WAIT_TIMEOUT_S = 30.0
"""The default timeout of waits, in seconds."""
_LOOK_AGAIN_S = 0.2  # whether the broker still runs
Look = Callable[[], Future[Any] | None]
"""Looks whether what is waited for is there: None if it is, else a future that gets a result on the next change."""


def now_s() -> float:
    """The time of a user's thread, which waits in real time, whatever the broker's clock says."""
    return time.monotonic()  # noqa: TID251


def _nothing() -> None:
    """Calling it through the broker raises BrokerClosedError if the broker has ended."""


def blocking_look(look: Look, timeout_s: float, call: Call) -> bool:
    """Block this thread, which must not be the broker's, until a look finds it. Returns False on timeout."""
    end_s = now_s() + timeout_s
    while (changed := look()) is not None:
        left_s = end_s - now_s()
        if left_s <= 0:
            return False
        if not blocking_settled(changed, min(left_s, _LOOK_AGAIN_S)):
            call(_nothing)
    return True


async def trio_look(look: Look, timeout_s: float, offload: Offload) -> bool:
    """Wait in trio until a look, which is made by ``offload``, finds it. Returns False on timeout."""
    with trio.move_on_after(timeout_s):
        while (changed := await offload(look)) is not None:
            await trio_settled(changed, math.inf)
        return True
    return await offload(look) is None


async def trio_settled(future: Future[Any], timeout_s: float) -> bool:
    """Wait in trio until the future has a result. Returns False on timeout."""
    check_number("timeout", timeout_s)
    done = trio.Event()
    token = trio.lowlevel.current_trio_token()

    def wake(_: Future[Any]) -> None:
        try:
            token.run_sync_soon(done.set)
        except trio.RunFinishedError:
            pass

    future.add_done_callback(wake)
    with trio.move_on_after(timeout_s):
        await done.wait()
    return future.done()


def blocking_settled(future: Future[Any], timeout_s: float) -> bool:
    """Block until the future has a result. Returns False on timeout."""
    check_number("timeout", timeout_s)
    return bool(wait([future], timeout=None if timeout_s == math.inf else timeout_s).done)
