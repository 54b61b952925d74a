"""One client connection: frames in, answers out, in order, one at a time."""

from __future__ import annotations

import logging
import os
import socket
from typing import TYPE_CHECKING, Protocol

import trio

from odradek.broker.net.connection_states import RULES, ConnectionState
from odradek.broker.net.receive_buffer import ReceiveBuffer
from odradek.broker.requests.context import CloseConnection, ConnectionInfo
from odradek.broker.requests.dispatch import Pending
from odradek.broker.requests.parked import Parked
from odradek.protocol.errors import ProtocolError

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.metadata.node import Node
    from odradek.broker.requests.dispatch import Dispatcher, Parts

_log = logging.getLogger("odradek.broker.net")

_REQUESTS_AT_ONCE = 16  # answered for one connection before the others get their turn
_BYTES_AT_ONCE = 4 * 1024 * 1024  # and so many bytes read
_JOIN_BELOW_BYTES = 16 * 1024
_HAS_SENDMSG = hasattr(socket.socket, "sendmsg")
_IOV_MAX = min(1024, os.sysconf("SC_IOV_MAX")) if hasattr(os, "sysconf") else 16


class Watcher(Protocol):
    """What a connection leaves to the poller. `parks`: whether it answers parked requests."""

    parks: bool

    def add(self, connection: Connection) -> None:
        """Watch the connection's socket until it is closed."""

    def park(self, connection: Connection, parked: Parked) -> None:
        """Answer the connection's request when it is woken or its deadline comes."""

    async def idle(self, connection: Connection) -> None:
        """Serve the connection; return when it needs its own task."""


_WATCHED = ConnectionState.WATCHED
_SERVING = ConnectionState.SERVING
_PARKED = ConnectionState.PARKED
_WAITING = ConnectionState.WAITING
_SENDING = ConnectionState.SENDING
_CLOSED = ConnectionState.CLOSED


class Connection:
    """Serves one socket until the client, an error or the server ends it.

    `state` says who reads and what is waited for (`connection_states`). The connection's own task runs
    `serve`; it sleeps in the poller while the connection is watched or parked. The next request is read when the
    last one is answered (Kafka mutes a connection in the same way), so answers need no reordering.

    `_left` belongs to the state: the request that is parked or waits, the parts that are to be sent, or the error
    that closed the connection.
    """

    __slots__ = (
        "_buffer",
        "_clock",
        "_dispatcher",
        "_left",
        "_socket",
        "_watcher",
        "closing",
        "info",
        "last_used_ms",
        "node",
        "state",
    )

    def __init__(
        self,
        node: Node,
        sock: socket.socket,
        info: ConnectionInfo,
        watcher: Watcher,
        dispatcher: Dispatcher,
        clock: BrokerClock,
        max_request_bytes: int,
    ) -> None:
        self.node = node
        self.info = info
        self.state = _SERVING
        self.closing = False
        self.last_used_ms = clock.now_ms()
        self._socket = sock
        self._watcher = watcher
        self._dispatcher = dispatcher
        self._clock = clock
        self._buffer = ReceiveBuffer(max_request_bytes)
        self._left: Pending | Parts | Exception | None = None

    def fileno(self) -> int:
        """The socket's file descriptor."""
        return self._socket.fileno()

    def waits_for(self, parked: Parked) -> bool:
        """Whether this is the request that the connection is parked with."""
        left = self._left
        return self.state is _PARKED and isinstance(left, Pending) and left.response is parked

    def client_has_gone(self) -> bool:
        """Whether the client has closed its end; to be asked while nobody reads."""
        try:
            return self._socket.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    # -- in the connection's own task

    async def serve(self) -> None:
        """Answer requests until the connection ends. Raises only bugs, and when it is cancelled."""
        _log.debug("%s opened", self.info.id)
        try:
            self._watcher.add(self)
            while self.state is not _CLOSED:
                await self._step()
            if isinstance(self._left, Exception):
                raise self._left from None
            _log.debug("%s closed by the client", self.info.id)
        except (CloseConnection, ProtocolError) as error:
            _log.info("%s cut: %s", self.info.id, error or "by its handler")
        except OSError as error:
            _log.debug("%s lost: %s", self.info.id, error)
        finally:
            self._close()

    async def _step(self) -> None:
        """Do what the state asks of the connection's task; it has another state then, or has let others run."""
        left = self._left
        if self.state is _SERVING:
            if self._answer_received():
                self._read(until_empty=True)
            if self.state is _SERVING:
                await trio.lowlevel.checkpoint()
        elif self.state is _WAITING:
            assert isinstance(left, Pending)
            answer = await self._dispatcher.finish(left)
            if self._send(answer):
                self._go_on(_SERVING)
        elif self.state is _SENDING:
            assert isinstance(left, list)
            await trio.lowlevel.wait_writable(self._socket)
            if self._send(left):
                self._go_on(_SERVING)
        else:
            await self._watcher.idle(self)

    def _close(self) -> None:
        if isinstance(self._left, Pending) and isinstance(self._left.response, Parked):
            self._left.response.abandon()
        self._left = None
        self.state = _CLOSED
        self._socket.close()
        for told in self.info.on_closed:
            told()

    # -- in the poller's task

    def serve_now(self, *, until_empty: bool) -> None:
        """The socket of a watched connection can be read: answer what has come, up to a request that has to wait.

        `until_empty`: there may be more than one read takes, such as the end of the stream.
        """
        try:
            self._read(until_empty=until_empty)
        except Exception as error:
            self._fail(error)

    def resume(self) -> None:
        """Look again at the request that the connection is parked with."""
        pending = self._left
        assert isinstance(pending, Pending)
        try:
            answer = self._dispatcher.resume(pending)
            if isinstance(answer, Pending):
                if not isinstance(answer.response, Parked):
                    self._enter(_WAITING, answer)
                return
            self.last_used_ms = self._clock.now_ms()
            if self._send(answer):
                self._go_on(_WATCHED)
                if self.state is _WATCHED and self._answer_received():
                    self._read(until_empty=True)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Leave the error to the connection's task."""
        if isinstance(self._left, Pending) and isinstance(self._left.response, Parked):
            self._left.response.abandon()
        self._enter(_CLOSED, error)

    # -- in either

    def _enter(self, state: ConnectionState, left: Pending | Parts | Exception | None = None) -> None:
        if state is not self.state:
            assert state in RULES[self.state].leads_to, f"a connection cannot go from {self.state} to {state}"
            self.state = state
        self._left = left

    def _go_on(self, state: ConnectionState) -> None:
        """The answer that was owed is sent."""
        self._enter(_CLOSED if self.closing else state)

    def _read(self, *, until_empty: bool) -> None:
        """Read and answer until the socket is empty, something has to be waited for, or the turn is used up."""
        buffer = self._buffer
        budget = _BYTES_AT_ONCE
        try:
            while budget > 0:
                space = buffer.space()
                count = self._socket.recv_into(space)
                if count == 0:
                    self._enter(_CLOSED)
                    return
                buffer.received(count)
                if not self._answer_received():
                    return
                if count < len(space) and not until_empty:
                    return  # it was all there is: what comes later is a new event
                budget -= count
        except BlockingIOError:
            if self.state is _SERVING:
                self.last_used_ms = self._clock.now_ms()
                self._enter(_WATCHED)
            return
        self._enter(_SERVING)

    def _answer_received(self) -> bool:
        """Answer the whole frames of the buffer; False if something has to be waited for or the turn is used up."""
        buffer = self._buffer
        begin = self._dispatcher.begin
        for _ in range(_REQUESTS_AT_ONCE):
            frame = buffer.next_frame()
            if frame is None:
                return True
            answer = begin(self.node, self.info, frame)
            if isinstance(answer, Pending):
                self._wait_for(answer)
                return False
            if not self._send(answer):
                return False
        self._enter(_SERVING)
        return False

    def _wait_for(self, pending: Pending) -> None:
        if isinstance(pending.response, Parked) and self._watcher.parks:
            self._enter(_PARKED, pending)
            self._watcher.park(self, pending.response)
        else:
            self._enter(_WAITING, pending)

    def _send(self, parts: Parts | None) -> bool:
        """Send an answer; False if the socket does not take all of it now."""
        left = None if parts is None else self._send_now(parts)
        if left is None:
            return True
        self._enter(_SENDING, left)
        return False

    def _send_now(self, parts: Parts) -> Parts | None:
        """Send what the socket takes, small parts joined, large ones without a copy; returns what is left."""
        size = 0
        for part in parts:
            size += len(part)
        if size <= _JOIN_BELOW_BYTES or not _HAS_SENDMSG:
            parts = [b"".join(parts)]
        sock = self._socket
        index = 0
        while True:
            try:
                if index == len(parts) - 1:
                    sent = sock.send(parts[index])
                else:
                    sent = sock.sendmsg(parts[index : index + _IOV_MAX])
            except BlockingIOError:
                return parts[index:]
            while sent >= len(parts[index]):
                sent -= len(parts[index])
                index += 1
                if index == len(parts):
                    return None
            if sent:
                parts[index] = memoryview(parts[index])[sent:]
                return parts[index:]
