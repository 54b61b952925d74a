"""The task of a connection: it begins when something has to be waited for, or with the connection."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable

import trio


class ConnectionTask:
    """Starts a connection's task once, and cancels it. Owner: the server.

    With a poller a connection has no task until it needs one: to wait for something other than its next request, or to
    be cut. `forget` is called if the task is cancelled before it has begun, so that the poller drops the connection.
    """

    __slots__ = ("_forget", "_run", "_scope", "_tasks")

    def __init__(
        self, tasks: ConnectionTasks, run: Callable[[], Awaitable[None]], forget: Callable[[], None] | None = None
    ) -> None:
        self._tasks = tasks
        self._run = run
        self._forget = forget
        self._scope: trio.CancelScope | None = None

    def begin(self) -> None:
        """Start the task, unless it has been started."""
        if self._scope is None:
            self._scope = trio.CancelScope()
            self._tasks.start(self)

    def cancel(self) -> None:
        """End the connection. If there is no task yet, one begins for that."""
        if self._scope is None:
            if self._forget is not None:
                self._forget()
            self.begin()
        assert self._scope is not None
        self._scope.cancel()

    @property
    def cancel_called(self) -> bool:
        """Whether the connection is being ended."""
        return self._scope is not None and self._scope.cancel_called

    async def run(self) -> None:
        """The task."""
        assert self._scope is not None
        with self._scope:
            await self._run()


class ConnectionTasks:
    """Starts tasks in the order in which they were requested. trio starts the tasks of one turn in any order."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._started: deque[ConnectionTask] = deque()

    def start(self, task: ConnectionTask) -> None:
        """Start a task."""
        self._started.append(task)
        self._nursery.start_soon(self._run_next)

    async def _run_next(self) -> None:
        await self._started.popleft().run()
