"""Listening sockets of the nodes and the tasks behind them."""

from __future__ import annotations

import errno
import itertools
import logging
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import trio

from odradek.broker.net.connection import Connection
from odradek.broker.net.connection_states import RULES, Cut
from odradek.broker.net.poller import Poller, new_poller
from odradek.broker.requests.context import ConnectionInfo

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.metadata.node import Node
    from odradek.broker.requests.bugs import BugLog
    from odradek.broker.requests.dispatch import Dispatcher

_log = logging.getLogger("odradek.broker.net")

_BACKLOG = 1024
_OUT_OF_DESCRIPTORS = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_PAUSE_S = 0.1
_LONGEST_IDLE_CHECK_S = 60.0
_SHORTEST_IDLE_CHECK_S = 0.05


class Server:
    """Accepts connections for the nodes of a cluster and closes the idle ones.

    Owner: the cluster, whose connection nursery the tasks run in. Invariant: whatever happens to one connection or one
    listener's client, the others go on.
    """

    def __init__(
        self,
        nodes: Mapping[int, Node],
        dispatcher: Dispatcher,
        *,
        clock: BrokerClock,
        config: BrokerConfig,
        bugs: BugLog,
        new_poller: Callable[[BrokerClock], Poller] = new_poller,
    ) -> None:
        self._new_poller = new_poller
        self._nodes = nodes
        self._dispatcher = dispatcher
        self._clock = clock
        self._config = config
        self._bugs = bugs
        self._listeners: dict[int, socket.socket] = {}
        self._scopes: dict[int, trio.CancelScope] = {}
        self._connections: dict[Connection, trio.CancelScope] = {}
        self._numbers = itertools.count(1)
        self._drained: trio.Event | None = None
        self._poller: Poller | None = None

    @property
    def connections(self) -> list[Connection]:
        """The open connections, oldest first."""
        return list(self._connections)

    async def start(self, nursery: trio.Nursery, host: str, port: int) -> None:
        """Listen with every node that is up; node n takes `port + n - 1` (any free port if `port` is 0).

        Raises OSError if an address cannot be taken; nothing listens then.
        """
        up = [node for node in self._nodes.values() if node.up]
        try:
            for index, node in enumerate(up):
                self.bind(node, host, port + index if port else 0)
        except OSError:
            self.close_listeners()
            raise
        self._poller = self._new_poller(self._clock)
        nursery.start_soon(self._poller.run)
        for node in up:
            self.accept_for(nursery, node)
        nursery.start_soon(self._close_idle)

    def bind(self, node: Node, host: str, port: int) -> None:
        """Take an address for `node`, which then knows its host and port."""
        listener = _listen(host, port)
        self._listeners[node.id] = listener
        node.host, node.port = host, listener.getsockname()[1]
        _log.info("node %d listens on %s:%d", node.id, host, node.port)

    def accept_for(self, nursery: trio.Nursery, node: Node) -> None:
        """Start the task that accepts the connections of a bound node."""
        scope = self._scopes[node.id] = trio.CancelScope()
        nursery.start_soon(self._accept, nursery, node, self._listeners[node.id], scope)

    def stop_node(self, node: Node) -> None:
        """Close a node's listener and cut its connections, as a broker that dies does."""
        listener = self._listeners.pop(node.id, None)
        if listener is not None:
            self._scopes.pop(node.id).cancel()
            listener.close()
        for connection, scope in list(self._connections.items()):
            if connection.node is node:
                scope.cancel()

    def close_listeners(self) -> None:
        """Accept nothing more."""
        for scope in self._scopes.values():
            scope.cancel()
        for listener in self._listeners.values():
            listener.close()
        self._listeners.clear()
        self._scopes.clear()

    async def close(self, grace_s: float) -> None:
        """Accept nothing more, cut idle connections, give the others `grace_s` seconds for the answer under way."""
        self.close_listeners()
        self._drained = trio.Event()
        for connection, scope in list(self._connections.items()):
            connection.closing = True
            if not RULES[connection.state].owes_answer:
                scope.cancel()
        if self._connections:
            with trio.move_on_after(grace_s):
                await self._drained.wait()

    def release(self) -> None:
        """Called when all tasks have ended."""
        if self._poller is not None:
            self._poller.close()

    # -- tasks

    async def _accept(
        self, nursery: trio.Nursery, node: Node, listener: socket.socket, scope: trio.CancelScope
    ) -> None:
        with scope:
            while True:
                try:
                    sock, peer = listener.accept()
                except BlockingIOError:
                    await trio.lowlevel.wait_readable(listener)
                    continue
                except OSError as error:
                    if error.errno in _OUT_OF_DESCRIPTORS:
                        await trio.sleep(_PAUSE_S)
                        continue
                    if error.errno == errno.EBADF:
                        return
                    await trio.lowlevel.checkpoint()
                    continue
                nursery.start_soon(self._serve, node, sock, peer)
                await trio.lowlevel.checkpoint()

    async def _serve(self, node: Node, sock: socket.socket, peer: Any) -> None:
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            local = sock.getsockname()
        except OSError:
            sock.close()
            return
        info = ConnectionInfo(
            id=f"{local[0]}:{local[1]}-{peer[0]}:{peer[1]}-{next(self._numbers)}",
            host=local[0],
            port=local[1],
            peer_host=peer[0],
            peer_port=peer[1],
        )
        assert self._poller is not None
        max_request_bytes = self._config.get_int("socket.request.max.bytes")
        connection = Connection(node, sock, info, self._poller, self._dispatcher, self._clock, max_request_bytes)
        with trio.CancelScope() as scope:
            self._connections[connection] = scope
            try:
                await connection.serve()
            except Exception as error:
                self._bugs.report(f"connection {info.id}", error)
            finally:
                del self._connections[connection]
                if self._drained is not None and not self._connections:
                    self._drained.set()

    async def _close_idle(self) -> None:
        """Cut connections that sent nothing for `connections.max.idle.ms`, and parked ones whose client has gone.

        A connection whose request waits (a long poll, a rebalance) is not read from, so nothing else would notice.
        """
        clock = self._clock
        while True:
            limit_ms = self._config.get_int("connections.max.idle.ms")
            pause_s = _LONGEST_IDLE_CHECK_S if limit_ms <= 0 else limit_ms / 2000
            await clock.sleep(min(_LONGEST_IDLE_CHECK_S, max(_SHORTEST_IDLE_CHECK_S, pause_s)))
            oldest = clock.now_ms() - limit_ms
            for connection, scope in list(self._connections.items()):
                cut = RULES[connection.state].cut
                if (cut is Cut.CLIENT_GONE and connection.client_has_gone()) or (
                    cut is Cut.IDLE and limit_ms > 0 and connection.last_used_ms < oldest
                ):
                    scope.cancel()


def _listen(host: str, port: int) -> socket.socket:
    """A non-blocking listening TCP socket; OSError names the address."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
            listener.setblocking(False)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, f"cannot listen on {host}:{port}") from error
    return listener
