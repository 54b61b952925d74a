"""Serves the connections that wait for nothing but their next request, all of them from one task.

A task switch for each request costs about as much as the request. Here one task waits for all sockets at once, and
what can be answered without waiting is answered by it. Whatever needs to wait (a long poll, a rebalance, a disk, a
full socket) goes back to the connection's own task.
"""

from __future__ import annotations

import select
import sys
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.net.connection import Connection

_EVENTS_AT_ONCE = 64
_TURN = 64  # connections served before other tasks get their turn


if sys.platform == "linux":

    class Poller:
        """The idle connections of one server and the system's list of those that have something to read.

        Owner: the server, which runs :meth:`run` in its nursery and calls :meth:`close` when all tasks have ended. The
        sockets are watched edge-triggered: a connection must have found its socket empty before it calls :meth:`idle`.
        """

        def __init__(self, clock: BrokerClock) -> None:
            self._clock = clock
            self._epoll = select.epoll()
            self._idle: dict[int, tuple[Connection, trio.lowlevel.Task]] = {}

        def add(self, connection: Connection) -> None:
            """Watch a connection's socket from now on, until it is removed or closed."""
            self._epoll.register(connection.fileno(), select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLET)

        def remove(self, connection: Connection) -> None:
            """Watch a connection's socket no more."""
            self._epoll.unregister(connection.fileno())

        async def idle(self, connection: Connection) -> None:
            """Leave the connection to the poller; returns when it needs its own task."""
            fd = connection.fileno()

            def cancelled(_: trio.lowlevel.RaiseCancelT) -> trio.lowlevel.Abort:
                del self._idle[fd]
                return trio.lowlevel.Abort.SUCCEEDED

            self._idle[fd] = connection, trio.lowlevel.current_task()
            await trio.lowlevel.wait_task_rescheduled(cancelled)

        async def run(self) -> None:
            """Serve idle connections until cancelled."""
            while True:
                await trio.lowlevel.wait_readable(self._epoll)
                left = _TURN
                while left > 0:
                    events = self._epoll.poll(0, _EVENTS_AT_ONCE)
                    if not events:
                        break
                    self._serve(events)
                    left -= len(events)

        def _serve(self, events: list[tuple[int, int]]) -> None:
            now_ms = self._clock.now_ms()
            for fd, mask in events:
                found = self._idle.get(fd)
                if found is None:
                    continue  # its own task is at work, and will look at the socket
                connection, task = found
                connection.last_used_ms = now_ms
                if not connection.serve_now(ending=mask != select.EPOLLIN):
                    del self._idle[fd]
                    trio.lowlevel.reschedule(task)

        def close(self) -> None:
            """Give the system's list back."""
            self._epoll.close()

else:

    class Poller:
        """Where there is no epoll each connection waits in its own task."""

        def __init__(self, clock: BrokerClock) -> None:
            pass

        def add(self, connection: Connection) -> None:
            """Nothing to do."""

        def remove(self, connection: Connection) -> None:
            """Nothing to do."""

        async def idle(self, connection: Connection) -> None:
            """Return when there is something to read."""
            await trio.lowlevel.wait_readable(connection.fileno())

        async def run(self) -> None:
            """Nothing to do."""

        def close(self) -> None:
            """Nothing to do."""
