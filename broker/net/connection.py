"""One client connection: frames in, answers out, in order, one at a time."""

from __future__ import annotations

import logging
import os
import socket
from typing import TYPE_CHECKING

import trio

from odradek.broker.net.receive_buffer import ReceiveBuffer
from odradek.broker.requests.context import CloseConnection, ConnectionInfo
from odradek.broker.requests.dispatch import Pending
from odradek.protocol.errors import ProtocolError

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.controller.node import Node
    from odradek.broker.net.poller import Poller
    from odradek.broker.requests.dispatch import Dispatcher, Parts

_log = logging.getLogger("odradek.connection")

_CHECKPOINT_EVERY = 16
_ALONE_FOR = 4  # requests answered at once before a connection whose request had to wait goes back to the poller
_BYTES_AT_ONCE = 4 * 1024 * 1024  # read for one connection before the others get their turn
_JOIN_BELOW_BYTES = 16 * 1024
_HAS_SENDMSG = hasattr(socket.socket, "sendmsg")
_IOV_MAX = min(1024, os.sysconf("SC_IOV_MAX")) if hasattr(os, "sysconf") else 16


class Connection:
    """Serves one socket until the client, an error or the server ends it.

    Owner: the task that runs :meth:`serve`, and the poller while that task idles. The next request is read after the
    last one was answered (Kafka mutes a connection in the same way), so answers need no reordering. The socket is tried
    first and waited for only when it has nothing; a checkpoint after 16 requests without a wait keeps the others alive.
    A connection whose requests wait (a consumer at the end of its log) stays in its own task, as it would go back and
    forth for each of them.
    """

    __slots__ = (
        "_alone",
        "_buffer",
        "_clock",
        "_dispatcher",
        "_ended",
        "_error",
        "_pending",
        "_poller",
        "_socket",
        "_streak",
        "_unsent",
        "busy",
        "closing",
        "info",
        "last_used_ms",
        "node",
    )

    def __init__(
        self,
        node: Node,
        sock: socket.socket,
        info: ConnectionInfo,
        poller: Poller,
        dispatcher: Dispatcher,
        clock: BrokerClock,
        max_request_bytes: int,
    ) -> None:
        self.node = node
        self._dispatcher = dispatcher
        self._clock = clock
        self._socket = sock
        self._poller = poller
        self._buffer = ReceiveBuffer(max_request_bytes)
        self._streak = 0
        self.info = info
        self.busy = False
        self.closing = False
        self.last_used_ms = clock.now_ms()
        self._alone = 0
        # What the poller left for the task:
        self._pending: Pending | None = None
        self._unsent: Parts | None = None
        self._error: Exception | None = None
        self._ended = False

    def fileno(self) -> int:
        """The socket's file descriptor."""
        return self._socket.fileno()

    async def serve(self) -> None:
        """Answer requests until the connection ends. Never raises but for cancellation."""
        _log.debug("%s opened", self.info.id)
        try:
            self._poller.add(self)
            await self._serve_requests()
            _log.debug("%s closed by the client", self.info.id)
        except (CloseConnection, ProtocolError) as error:
            _log.info("%s cut: %s", self.info.id, error or "by its handler")
        except OSError as error:
            _log.debug("%s lost: %s", self.info.id, error)
        finally:
            self._socket.close()

    def client_has_gone(self) -> bool:
        """Whether the client has closed its end; to be asked while a request waits and nobody reads."""
        try:
            return self._socket.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    # -- in the connection's own task

    async def _serve_requests(self) -> None:
        buffer = self._buffer
        begin = self._dispatcher.begin
        while await self._receive():
            if self.busy:
                await self._take_over()
                if self.closing:
                    return
            while (frame := buffer.next_frame()) is not None:
                self._streak += 1
                if self._streak >= _CHECKPOINT_EVERY:
                    self._streak = 0
                    await trio.lowlevel.checkpoint()
                self.busy = True
                try:
                    parts = begin(self.node, self.info, frame)
                    if isinstance(parts, Pending):
                        parts = await self._finish(parts)
                    elif self._alone:
                        self._count_down()
                    if parts is not None:
                        await self._send(parts)
                finally:
                    self.busy = False
                if self.closing:
                    return

    async def _receive(self) -> bool:
        """Read what the socket has into the buffer, idling while it has nothing; False at the end of the stream.

        Returns without having read when the poller has left something.
        """
        space = self._buffer.space()
        try:
            count = self._socket.recv_into(space)
        except BlockingIOError:
            self._streak = 0
            self.last_used_ms = self._clock.now_ms()
            if self._alone:
                await trio.lowlevel.wait_readable(self._socket)
                return True
            await self._poller.idle(self)
            if self._error is not None:
                raise self._error from None
            return not self._ended
        self._buffer.received(count)
        return count > 0

    async def _take_over(self) -> None:
        """Finish the request that the poller began."""
        try:
            if self._pending is not None:
                pending, self._pending = self._pending, None
                self._unsent = await self._finish(pending)
            if self._unsent is not None:
                parts, self._unsent = self._unsent, None
                await self._send(parts)
        finally:
            self.busy = False

    async def _finish(self, pending: Pending) -> Parts | None:
        """What the dispatcher says to a request that has to wait."""
        if not self._alone:
            self._poller.remove(self)
        self._alone = _ALONE_FOR
        return await self._dispatcher.finish(pending)

    def _count_down(self) -> None:
        self._alone -= 1
        if not self._alone:
            self._poller.add(self)

    async def _send(self, parts: Parts) -> None:
        left = self._send_now(parts)
        while left is not None:
            await trio.lowlevel.wait_writable(self._socket)
            left = self._send_now(left)

    # -- in the poller's task

    def serve_now(self, *, ending: bool) -> bool:
        """Read, and answer what can be answered at once; False hands the connection back to its own task.

        ``ending``: the other side has closed, so the stream is to be read to its end.
        """
        buffer = self._buffer
        budget = _BYTES_AT_ONCE
        try:
            while budget > 0:
                space = buffer.space()
                count = self._socket.recv_into(space)
                if count == 0:
                    self._ended = True
                    return False
                buffer.received(count)
                if not self._answer_received():
                    return False
                if count < len(space) and not ending:
                    return True  # it was all there is: what comes later is a new event
                budget -= count
        except BlockingIOError:
            return True
        except Exception as error:
            self._error = error
            return False
        return False

    def _answer_received(self) -> bool:
        """Answer the whole frames of the buffer; False if the rest is for the connection's task."""
        buffer = self._buffer
        begin = self._dispatcher.begin
        for _ in range(_CHECKPOINT_EVERY):
            frame = buffer.next_frame()
            if frame is None:
                return True
            answer = begin(self.node, self.info, frame)
            if answer is None:
                continue
            if isinstance(answer, Pending):
                self._pending, self.busy = answer, True
                return False
            self._unsent = self._send_now(answer)
            if self._unsent is not None:
                self.busy = True
                return False
        return False

    # -- in either

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
