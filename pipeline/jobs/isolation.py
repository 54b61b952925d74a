"""A function in a process of its own: an argument that ends or hangs the process gives an error, and no more."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Self


class ProcessEnded(Exception):
    """The call ended its process, or took so long that the process was ended."""


class Isolated:
    """Calls a function in a child process, and starts another one when that has ended. It takes a system that forks.

    ``timeout_s``: how long a call may take; None waits for ever. Results come back by pickle; an exception ends the
    child.
    """

    def __init__(self, function: Callable[[Any], Any], timeout_s: float | None = None) -> None:
        self._function, self._timeout_s = function, timeout_s
        self._child: tuple[Any, Connection] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()

    def __call__(self, argument: Any) -> Any:
        process, connection = self._child = self._child or self._start()
        connection.send(argument)
        if not connection.poll(self._timeout_s):
            self._end()
            raise ProcessEnded(f"the handler took longer than {self._timeout_s:g} s")
        try:
            return connection.recv()
        except EOFError:
            process.join()
            how = _how(process.exitcode)
            self._end()
            raise ProcessEnded(f"the handler's process ended {how}") from None

    def _start(self) -> tuple[Any, Connection]:
        context = multiprocessing.get_context("fork")  # the function may be one that cannot be pickled
        mine, its = context.Pipe()
        process = context.Process(target=_serve, args=(self._function, mine, its), daemon=True)
        process.start()
        its.close()
        return process, mine

    def _end(self) -> None:
        if self._child is not None:
            process, connection = self._child
            self._child = None
            connection.close()
            process.kill()
            process.join()


def _serve(function: Callable[[Any], Any], parents: Connection, connection: Connection) -> None:
    parents.close()  # else the child would never see that its parent has ended
    while True:
        try:
            argument = connection.recv()
        except EOFError:
            return
        connection.send(function(argument))


def _how(exit_code: int) -> str:
    return f"by {signal.Signals(-exit_code).name}" if exit_code < 0 else f"with status {exit_code}"
