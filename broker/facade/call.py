"""How a user's thread reaches the broker's."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Protocol, TypeVar

import trio

T = TypeVar("T")


class BrokerClosedError(RuntimeError):
    """The broker does not run (any more)."""


class Call(Protocol):
    """Runs a function in the broker's own thread and returns its result, or raises what it raises.

    Directly when the broker runs in the caller's trio run; handed over when it has a thread of its own.
    """

    def __call__(self, function: Callable[[], T], /) -> T: ...


class HandOver:
    """A `Call` for other threads than the broker's, in which it calls directly. Made in the broker's trio run."""

    def __init__(self) -> None:
        self.thread = threading.current_thread()
        self.token = trio.lowlevel.current_trio_token()

    def __call__(self, function: Callable[[], T], /) -> T:
        """BrokerClosedError if the broker's run is over, or ends before it comes to the call."""
        if threading.get_ident() == self.thread.ident:
            return function()
        answer: Future[T] = Future()

        def run() -> None:
            try:
                answer.set_result(function())
            except BaseException as error:
                answer.set_exception(error)

        try:
            self.token.run_sync_soon(run)
        except trio.RunFinishedError:
            raise BrokerClosedError("the broker is closed") from None
        while not wait([answer], timeout=0.2).done:
            if not self.thread.is_alive():
                raise BrokerClosedError("the broker is closed")
        return answer.result()
