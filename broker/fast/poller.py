"""Serves the connections that wait for their next request, all of them from one task.

A task switch for each request costs about as much as a small request, and a task as much as several of them. Here one
task waits for all sockets at once (epoll, edge-triggered) and answers what can be answered without waiting. It answers
parked requests too. A request that waits in another way (a rebalance, a disk, a full socket) goes back to a task of
its connection. A connection with a TLS handshake begins with a task.

An event is dropped unless its connection is watched. So a connection that becomes watched again first reads its socket
until it is empty. Without epoll (macOS, Windows) there is no poller.

Gains 64 % of the CPU of a Produce on 50 connections, 13 % on one, and 27 % of that of a connection that logs in and
goes.
"""

from __future__ import annotations

import select
from collections.abc import Callable
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

import trio

from odradek.broker.fast.held_answers import SLOTS, HeldAnswers
from odradek.broker.fast.held_appends import HeldAppends
from odradek.broker.fast.parked_connections import ParkedConnections
from odradek.broker.net.connection_states import ConnectionState
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.net.connection import Connection
    from odradek.broker.requests.parked_request import Parked

_IN: Final = select.EPOLLIN if hasattr(select, "EPOLLIN") else 1
_TURN: Final = 64  # connections served before other tasks get their turn
EVENTS_AT_ONCE: Final = SLOTS
"""So many requests are served in one turn, and their answers sent one right behind the other: a client's thread that
the first one wakes finds the others, where it would go to sleep between answers that come one by one, and wake up again
on the broker's own CPU where there are few."""
_LONGEST_HOLD_NS: Final = 1_000_000

_WATCHED: Final[ConnectionState] = ConnectionState.WATCHED
_PARKED: Final[ConnectionState] = ConnectionState.PARKED


@mypyc_attr(allow_interpreted_subclasses=True)
class EpollPoller:
    """A `Poller`: the connections that are watched or parked, and the system's list of those with something to read.

    Owner: the server, which runs `run` in its nursery and calls `close` when all tasks have ended. The
    sockets are watched edge-triggered, and an event is dropped unless its connection is watched: so a connection
    must have found its socket empty before it becomes watched.

    `longest_hold_ns`: no answer waits longer for the others of its turn. A client would stand still while the broker is
    busy with the requests of others, and all of them would ask again at once. `held_appends`: what is appended
    before answers leave.
    """

    def __init__(self, clock: BrokerClock, held_appends: HeldAppends | None = None) -> None:
        self._clock = clock
        self._face = clock.face
        self.held_appends = held_appends or HeldAppends()
        self._epoll = select.epoll()
        self._answers = HeldAnswers()
        self.longest_hold_ns = _LONGEST_HOLD_NS
        self._idle: dict[int, tuple[Connection, Callable[[], None]]] = {}
        self._parked: ParkedConnections[Connection] = ParkedConnections(clock, self._resume, self._send_resumed)
        self._resumed: list[Connection] = []
        self._resumed_sockets: list[int] = []
        self._resumed_since = 0

    def add(self, connection: Connection) -> None:
        self._epoll.register(connection.fileno(), select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLET)

    def watch(self, connection: Connection, begin: Callable[[], None]) -> None:
        self._idle[connection.fileno()] = connection, begin
        self.add(connection)

    def forget(self, connection: Connection) -> None:
        self._idle.pop(connection.fileno(), None)

    def park(self, connection: Connection, parked: Parked) -> None:
        self._parked.add(connection, parked)

    async def idle(self, connection: Connection) -> None:
        fd = connection.fileno()
        connection.unread = True  # events are dropped until now

        def cancelled(_: trio.lowlevel.RaiseCancelT) -> trio.lowlevel.Abort:
            del self._idle[fd]
            return trio.lowlevel.Abort.SUCCEEDED

        self._idle[fd] = connection, partial(trio.lowlevel.reschedule, trio.lowlevel.current_task())
        await trio.lowlevel.wait_task_rescheduled(cancelled)

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._parked.run)
            while True:
                await trio.lowlevel.wait_readable(self._epoll)
                left = _TURN
                while left > 0:
                    events = self._epoll.poll(0, EVENTS_AT_ONCE)
                    if not events:
                        break
                    self._serve(events)
                    left -= len(events)

    def _serve(self, events: list[tuple[int, int]]) -> None:
        self._parked.begin_turn()
        self.held_appends.begin_turn()
        try:
            self._serve_each(events)
        finally:
            self.held_appends.end_turn()
        self._parked.end_turn()

    def _serve_each(self, events: list[tuple[int, int]]) -> None:
        now_ms = self._face.now_ms()
        held_appends = self.held_appends
        holding: list[Connection] = []
        sockets: list[int] = []
        since = 0
        for fd, mask in events:
            if holding and perf_counter_ns() - since >= self.longest_hold_ns:
                self._send_held(sockets, holding)
                holding, sockets = [], []
            found = self._idle.get(fd)
            if found is None:
                continue
            connection = found[0]
            if connection.state is not _WATCHED:
                connection.unread = True
                continue
            connection.last_used_ms = now_ms
            held_appends.request += 1
            if connection.serve_now(until_empty=mask != _IN, hold=True):
                if not holding:
                    since = perf_counter_ns()
                holding.append(connection)
                sockets.append(fd)
            elif connection.state is not _WATCHED:
                self._settle(connection)
        self._send_held(sockets, holding)

    def _send_held(self, sockets: list[int], holding: list[Connection]) -> None:
        """Send the answers that these connections, with these sockets' descriptors, hold back."""
        self.held_appends.write()
        self._answers.send(sockets, holding)
        for connection in holding:
            if connection.state is not _WATCHED:
                self._settle(connection)

    def wake(self, connection: Connection) -> None:
        found = self._idle.get(connection.fileno())
        if found is None or found[0] is not connection:
            connection.unread = True
            return
        self._parked.begin_turn()
        connection.wake()
        self._settle(connection)
        self._parked.end_turn()

    def _resume(self, connection: Connection) -> None:
        fd = connection.fileno()
        found = self._idle.get(fd)
        if found is None or found[0] is not connection:
            return
        if not connection.resume(hold=True):
            self._settle(connection)
            return
        if not self._resumed:
            self._resumed_since = perf_counter_ns()
        self._resumed.append(connection)
        self._resumed_sockets.append(fd)
        if len(self._resumed) == SLOTS or perf_counter_ns() - self._resumed_since >= self.longest_hold_ns:
            self._send_resumed()

    def _send_resumed(self) -> None:
        """Send the answers that resumed connections hold back."""
        if self._resumed:
            holding, sockets = self._resumed, self._resumed_sockets
            self._resumed, self._resumed_sockets = [], []
            self._send_held(sockets, holding)

    def _settle(self, connection: Connection) -> None:
        """Give the connection to its task if that has something to do."""
        state = connection.state
        if state is not _WATCHED and state is not _PARKED:
            found = self._idle.pop(connection.fileno(), None)
            if found is not None:  # a handler may have cut its own connection
                found[1]()

    def close(self) -> None:
        self._epoll.close()
        self._answers.close()
