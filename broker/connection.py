"""One client connection: frames in, answers out, in order, one at a time."""

from __future__ import annotations

import logging
import os
import socket
from typing import TYPE_CHECKING

import trio

from odradek.broker.context import CloseConnection, ConnectionInfo
from odradek.broker.receive_buffer import ReceiveBuffer
from odradek.protocol.errors import ProtocolError

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.node import Node

_log = logging.getLogger("odradek.connection")

_CHECKPOINT_EVERY = 16
_JOIN_BELOW_BYTES = 16 * 1024
_HAS_SENDMSG = hasattr(socket.socket, "sendmsg")
_IOV_MAX = min(1024, os.sysconf("SC_IOV_MAX")) if hasattr(os, "sysconf") else 16


class Connection:
    """Serves one socket until the client, an error or the cluster ends it.

    Owner: the task that runs :meth:`serve`. The next request is read after the last one was answered (Kafka mutes a
    connection in the same way), so answers need no reordering. The socket is tried first and waited for only when it
    has nothing, which saves most trips through the scheduler; a checkpoint after 16 requests without a wait keeps the
    others alive.
    """

    __slots__ = ("_buffer", "_cluster", "_socket", "_streak", "busy", "closing", "info", "last_used_ms", "node")

    def __init__(self, cluster: Cluster, node: Node, sock: socket.socket, info: ConnectionInfo) -> None:
        self._cluster = cluster
        self.node = node
        self._socket = sock
        self._buffer = ReceiveBuffer(cluster.max_request_bytes)
        self._streak = 0
        self.info = info
        self.busy = False
        self.closing = False
        self.last_used_ms = cluster.clock.now_ms()

    async def serve(self) -> None:
        """Answer requests until the connection ends. Never raises but for cancellation."""
        _log.debug("%s opened", self.info.id)
        try:
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

    async def _serve_requests(self) -> None:
        buffer = self._buffer
        exchange = self._cluster.dispatcher.exchange
        while await self._receive():
            while (frame := buffer.next_frame()) is not None:
                self._streak += 1
                if self._streak >= _CHECKPOINT_EVERY:
                    self._streak = 0
                    await trio.lowlevel.checkpoint()
                self.busy = True
                try:
                    parts = await exchange(self.node, self.info, frame)
                    if parts is not None:
                        await self._send(parts)
                finally:
                    self.busy = False
                if self.closing:
                    return

    async def _receive(self) -> bool:
        """Read what the socket has into the buffer, waiting for the first byte; False at the end of the stream."""
        space = self._buffer.space()
        sock = self._socket
        while True:
            try:
                count = sock.recv_into(space)
            except BlockingIOError:
                self._streak = 0
                self.last_used_ms = self._cluster.clock.now_ms()
                await trio.lowlevel.wait_readable(sock)
                continue
            if count == 0:
                return False
            self._buffer.received(count)
            return True

    async def _send(self, parts: list[bytes | memoryview]) -> None:
        """Send all parts; small ones are joined first, large ones go out without a copy."""
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
                await trio.lowlevel.wait_writable(sock)
                continue
            while sent >= len(parts[index]):
                sent -= len(parts[index])
                index += 1
                if index == len(parts):
                    return
            if sent:
                parts[index] = memoryview(parts[index])[sent:]
            await trio.lowlevel.wait_writable(sock)
