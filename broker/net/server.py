"""Listening sockets of the nodes and the tasks behind them."""

from __future__ import annotations

import errno
import itertools
import logging
import os
import socket
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import trio

from odradek.broker.config.definition import ConfigError
from odradek.broker.config.listeners import address_text
from odradek.broker.net.connection import Connection
from odradek.broker.net.connection_limits import ConnectionLimits
from odradek.broker.net.connection_states import RULES, ConnectionState, Cut
from odradek.broker.requests.context import ConnectionInfo
from odradek.broker.security.principal import host_of
from odradek.storage.backend import is_reserved
from odradek.storage.byte_budget import ByteBudget

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.faults.fault import Serve
    from odradek.broker.metadata.node import Endpoint, Node
    from odradek.broker.net.client_links import Links
    from odradek.broker.net.connection import Poller
    from odradek.broker.net.login_gate import NewGate
    from odradek.broker.net.tls_connection import Handshakes, TlsTerms
    from odradek.broker.net.wire import Wire
    from odradek.broker.requests.bugs import BugLog
    from odradek.broker.requests.dispatch import Dispatcher


_log = logging.getLogger("odradek.broker.net")

_BACKLOG = 1024
_MOST_RECEIVED_BYTES = 512 * 1024 * 1024
"""What the large receive buffers of all connections may have together."""
_OUT_OF_DESCRIPTORS = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_ACCEPTED_AT_ONCE = 16  # connections accepted before others get their turn
_PAUSE_S = 0.1
_LONGEST_IDLE_CHECK_S = 60.0
_SHORTEST_IDLE_CHECK_S = 0.05

Peer = tuple[str, int]
"""Where a connection comes from: the address as `host_of` has it, and the port."""


def _no_poller(clock: BrokerClock) -> None:
    """Connections wait in their own tasks."""


def _leave_alone(sock: socket.socket) -> None:
    """Connections within this machine get no special settings."""


class _Listening:
    """A socket on which a node listens.

    `scope`: the scope of the accepting task, once there is one. `terms`: the TLS terms; None without TLS. `paused`: the
    event that ends a pause, in which connections wait in the backlog. `refuses`: the socket only keeps the address and
    accepts nobody.
    """

    __slots__ = ("endpoint", "node", "paused", "refuses", "scope", "socket", "terms")

    def __init__(self, node: Node, endpoint: Endpoint, socket: socket.socket, terms: TlsTerms | None) -> None:
        self.node = node
        self.endpoint = endpoint
        self.socket = socket
        self.terms = terms
        self.scope: trio.CancelScope | None = None
        self.paused: trio.Event | None = None
        self.refuses = False

    @property
    def address(self) -> str:
        """`host:port`."""
        return address_text(self.endpoint.host, self.endpoint.port)

    def close(self) -> None:
        """Accept nothing more here."""
        if self.scope is not None:
            self.scope.cancel()
            self.scope = None
            trio.lowlevel.notify_closing(self.socket)  # the next socket may get the number of this one
        self.socket.close()

    def listen(self, *, refuse: bool) -> None:
        """Take the address again, to accept connections or only to keep the address."""
        self.close()
        self.socket = _listen(self.endpoint.host, self.endpoint.port, backlog=None if refuse else _BACKLOG)
        self.refuses = refuse


class Server:
    """Accepts connections for the nodes of a cluster and closes the idle ones.

    Owner: the cluster, whose connection nursery the tasks run in. Invariant: an error of one connection does not affect
    the others.
    """

    def __init__(
        self,
        nodes: Mapping[int, Node],
        dispatcher: Dispatcher,
        *,
        clock: BrokerClock,
        config: BrokerConfig,
        bugs: BugLog,
        gates: Mapping[str, NewGate] = MappingProxyType({}),
        open_tls: Callable[[Node, Endpoint], TlsTerms] | None = None,
        new_poller: Callable[[BrokerClock], Poller | None] = _no_poller,
        tune_local: Callable[[socket.socket], None] = _leave_alone,
        controllers: Dispatcher | None = None,
    ) -> None:
        """`controllers`: the dispatcher of the controllers' listeners. `gates`: the gates for log-ins, by the name of
        the listener. `open_tls`: opens the stores of a TLS listener; ConfigError if they cannot be used. `new_poller`,
        `tune_local`: see `Lane`.
        """
        self._gates = {(node_id, name): gate for node_id in nodes for name, gate in gates.items()}
        self._open_tls = open_tls
        self._handshakes: Handshakes | None = None
        self._new_poller = new_poller
        self._tune_local = tune_local
        self._nodes = nodes
        self._dispatcher = dispatcher
        self._controllers = controllers
        self._clock = clock
        self._config = config
        self._bugs = bugs
        self._listening: list[_Listening] = []
        self._kept: dict[tuple[int, str], socket.socket] = {}  # the addresses of nodes that are down, by listener
        self._connections: dict[Connection, ConnectionTask] = {}
        self._limits: dict[tuple[int, bool], ConnectionLimits] = {}  # a controller has limits of its own
        config.watchers.append(self._config_changed)
        self._numbers = itertools.count(1)
        self._drained: trio.Event | None = None
        self._poller: Poller | None = None
        self._nursery: trio.Nursery | None = None
        self._tasks: ConnectionTasks | None = None
        self._links: Links | None = None
        self._unsent: ByteBudget[Connection] = ByteBudget(config.get_int("odradek.memory.bytes"), self._cut_unread)
        self._received: ByteBudget[Connection] = ByteBudget(_MOST_RECEIVED_BYTES, self._cut_unfinished)
        self.connection_delay_ms: Callable[[int, str], int] = _no_delay
        """(node, address) of a new connection -> how long to keep it unserved before it is closed; 0 to serve it."""
        self.connection_fault: Callable[[int, str], Serve | None] = _no_fault
        """(node, listener) of a new connection -> what a fault does with it, if anything."""

    @property
    def connections(self) -> list[Connection]:
        """The open connections, oldest first."""
        return list(self._connections)

    async def start(self, nursery: trio.Nursery, host: str | None = None, port: int = 0) -> None:
        """Listen with every node that is up, at the addresses of its endpoints.

        `host`: for nodes of one listener that have none; node n takes `port + n - 1` (any free port if `port` is 0).
        Raises OSError if an address cannot be taken, ConfigError if the stores of a TLS listener cannot be used;
        nothing listens then.
        """
        up = [node for node in self._nodes.values() if node.up]
        if host is not None:
            for index, node in enumerate(node for node in up if node.is_broker):
                node.first.host, node.first.port = host, port + index if port else 0
        try:
            for node in up:
                self.bind(node)
        except (OSError, ConfigError):
            self.close_listeners()
            raise
        self._poller = self._new_poller(self._clock)
        self._nursery = nursery
        self._tasks = ConnectionTasks(nursery)
        if self._poller is not None:
            nursery.start_soon(self._poller.run)
        self.accept(nursery)
        nursery.start_soon(self._close_idle)

    def bind(self, node: Node, endpoints: Iterable[Endpoint] | None = None) -> None:
        """Take the addresses of all or some endpoints, and set their ports; see `start`. An error takes none."""
        bound = []
        try:
            for endpoint in node.all_endpoints if endpoints is None else endpoints:
                terms = self._terms_of(node, endpoint)
                bound.append(_Listening(node, endpoint, self._socket_for(node, endpoint), terms))
        except (OSError, ConfigError):
            for listening in bound:
                listening.close()
            raise
        for listening in bound:
            endpoint = listening.endpoint
            endpoint.port = listening.socket.getsockname()[1]
            _log.info("node %d listens on %s for %s", node.id, listening.address, endpoint.listener.name)
        self._listening += bound
        for of_controller in {each.endpoint.of_controller for each in bound}:
            if (node.id, of_controller) not in self._limits:
                self._limits[node.id, of_controller] = ConnectionLimits(
                    self._config,
                    self._clock,
                    node.id,
                    () if of_controller else node.endpoints,
                    partial(self._close_idlest, node.id, of_controller),
                )

    def _socket_for(self, node: Node, endpoint: Endpoint) -> socket.socket:
        """A socket that listens at the endpoint's address, which may have been kept for it."""
        kept = self._kept.pop((node.id, endpoint.listener.name), None)
        if kept is None:
            return _listen(endpoint.host, endpoint.port)
        kept.listen(_BACKLOG)
        return kept

    @property
    def running(self) -> bool:
        """Whether nodes that are up listen."""
        return self._nursery is not None

    def add_listener(self, node: Node, endpoint: Endpoint, gate: NewGate | None) -> None:
        """Listen at one more address of a node that is up. `gate`: makes the gate for log-ins. OSError and ConfigError
        as for `start`.
        """
        assert self._nursery is not None
        assert gate is not None or not endpoint.listener.protocol.sasl
        self.bind(node, [endpoint])
        node.endpoints[endpoint.listener.name] = endpoint
        if gate is not None:
            self._gates[node.id, endpoint.listener.name] = gate
        self._limits[node.id, False].listen_on(node.endpoints)
        self.accept(self._nursery)

    def remove_listener(self, node: Node, name: str) -> None:
        """Stop listening at one address of a node, and cut its connections."""
        for listening in self._of(node, name):
            listening.close()
            self._listening.remove(listening)
        node.endpoints.pop(name, None)
        self.release_address(node, name)
        if (node.id, False) in self._limits:
            self._limits[node.id, False].listen_on(node.endpoints)
        for connection, task in list(self._connections.items()):
            if connection.node is node and connection.info.listener == name:
                task.cancel()

    def forget_node(self, node: Node) -> None:
        """Close all that a node has for good."""
        self.stop_node(node)
        for endpoint in node.all_endpoints:
            self.release_address(node, endpoint.listener.name)

    def release_address(self, node: Node, name: str) -> None:
        """Stop reserving the address of a closed listener."""
        self._gates.pop((node.id, name), None)
        kept = self._kept.pop((node.id, name), None)
        if kept is not None:
            kept.close()

    def replace_endpoints(self, node: Node, gates: Mapping[str, NewGate | None]) -> None:
        """Replace the endpoints of a stopped node. `gates`: those for log-ins, by listener."""
        for name, gate in gates.items():
            self._gates.pop((node.id, name), None)
            if gate is not None:
                self._gates[node.id, name] = gate
        if (node.id, False) in self._limits:
            self._limits[node.id, False].listen_on(node.endpoints)

    def _terms_of(self, node: Node, endpoint: Endpoint) -> TlsTerms | None:
        if not endpoint.listener.protocol.tls:
            return None
        assert self._open_tls is not None, "a cluster with TLS listeners says how to open their stores"
        if self._handshakes is None:
            from odradek.broker.net.tls_connection import Handshakes

            self._handshakes = Handshakes()
        return self._open_tls(node, endpoint)

    def accept(self, nursery: trio.Nursery) -> None:
        """Start a task for each taken address, which accepts its connections."""
        for listening in self._listening:
            if listening.scope is None and not listening.refuses:
                listening.scope = trio.CancelScope()
                nursery.start_soon(self._accept, nursery, listening, listening.socket, listening.scope)

    def stop_node(self, node: Node, endpoints: Collection[Endpoint] | None = None) -> None:
        """Close a node's listeners, all or those of some endpoints, and cut their connections, as a broker that dies
        does. Nobody else gets its ports.
        """
        closed = [
            each for each in self._listening if each.node is node and (endpoints is None or each.endpoint in endpoints)
        ]
        for listening in closed:
            self._listening.remove(listening)
            with suppress(OSError):  # the address was taken meanwhile: `bind` says so
                listening.listen(refuse=True)
                self._kept[node.id, listening.endpoint.listener.name] = listening.socket
        for connection, task in list(self._connections.items()):
            if connection.node is node and (
                endpoints is None or connection.info.listener in {each.listener.name for each in endpoints}
            ):
                task.cancel()

    # -- bad links

    @property
    def links(self) -> Links:
        """The links that a test makes bad."""
        if self._links is None:
            from odradek.broker.net.client_links import Links

            self._links = Links(
                self._connections,
                self._clock,
                self._dispatcher.recent,
                start_wire=self._start_wire,
                wake=self._wake,
            )
        return self._links

    @property
    def has_bad_links(self) -> bool:
        """Whether a test may have made a link bad, or a node refuse connections."""
        return self._links is not None or any(each.refuses for each in self._listening)

    def _wake(self, connection: Connection) -> None:
        """Read received bytes without an event."""
        if self._poller is None:
            connection.wake()
        else:
            self._poller.wake(connection)

    def _wire_of(self, connection: Connection) -> Wire:
        return self.links.wire_of(connection)

    def _start_wire(self, wire: Wire) -> None:
        """Run a wire until it ends."""
        assert self._nursery is not None
        self._nursery.start_soon(self._run_wire, wire)

    async def _run_wire(self, wire: Wire) -> None:
        try:
            await wire.run()
        except Exception as error:
            self._bugs.report("a connection's wire", error)

    def freeze(self, node: Node) -> None:
        """Keep a node's sockets open, but accept, read and send nothing."""
        for listening in self._listening:
            if listening.node is node and listening.paused is None:
                listening.paused = trio.Event()
        self.links.freeze(node.id)

    def thaw(self, node: Node) -> None:
        """Undo `freeze`, and serve what waits in the sockets."""
        for listening in self._listening:
            if listening.node is node and listening.paused is not None:
                paused, listening.paused = listening.paused, None
                paused.set()
        self.links.thaw(node.id)

    def cut_all(self, why: str) -> None:
        """Cut every connection at once, without another answer. Listeners stay open."""
        for connection, task in list(self._connections.items()):
            task.cancel()
            connection.cut(why)
        for limits in self._limits.values():
            limits.forget_rates()

    def set_connection_fault(self, fault: Callable[[int, str], Serve | None] | None) -> None:
        """Set the fault of new connections; see `connection_fault`. None serves them."""
        self.connection_fault = _no_fault if fault is None else fault

    def refuse(self, node: Node, listener: str | None = None) -> None:
        """Refuse new connections to a node (or to one of its listeners). Open ones stay."""
        for listening in self._of(node, listener):
            if not listening.refuses:
                listening.listen(refuse=True)

    def accept_again(self, node: Node, listener: str | None = None) -> None:
        """Undo `refuse`. OSError if the address has been taken."""
        for listening in self._of(node, listener):
            if listening.refuses:
                listening.listen(refuse=False)
        assert self._nursery is not None
        self.accept(self._nursery)

    def _of(self, node: Node, listener: str | None) -> list[_Listening]:
        return [
            each for each in self._listening if each.node is node and listener in (None, each.endpoint.listener.name)
        ]

    def close_listeners(self) -> None:
        """Accept nothing more."""
        for listening in self._listening:
            listening.close()
        self._listening.clear()
        for kept in self._kept.values():
            kept.close()
        self._kept.clear()

    async def close(self, grace_s: float) -> None:
        """Accept nothing more, cut idle connections, give the others `grace_s` seconds for the answer under way."""
        self.close_listeners()
        self._drained = trio.Event()
        for connection, task in list(self._connections.items()):
            connection.closing = True
            if not RULES[connection.state].owes_answer:
                task.cancel()
        if self._connections:
            with trio.move_on_after(grace_s):
                await self._drained.wait()

    def release(self) -> None:
        """Close the connections without a task. Called when all tasks have ended."""
        for connection in list(self._connections):
            connection.close()
        self._connections.clear()
        if self._poller is not None:
            self._poller.close()

    # -- tasks

    async def _accept(
        self, nursery: trio.Nursery, listening: _Listening, listener: socket.socket, scope: trio.CancelScope
    ) -> None:
        """Accept the connections of a socket. A listener with a new socket gets a new task."""
        with scope:
            accepted = 0
            while True:
                if listening.paused is not None:
                    await listening.paused.wait()
                try:
                    sock, peer = listener.accept()
                except BlockingIOError:
                    try:
                        await trio.lowlevel.wait_readable(listener)
                    except trio.ClosedResourceError:
                        return
                    continue
                except OSError as error:
                    if error.errno in _OUT_OF_DESCRIPTORS:
                        self._bugs.report("no connection is accepted", error)
                        await trio.sleep(_PAUSE_S)
                        continue
                    if error.errno == errno.EBADF:
                        return
                    await trio.lowlevel.checkpoint()
                    continue
                try:
                    if is_reserved(sock.fileno()):
                        sock = await self._below_the_reserve(sock)
                    await self._admit(nursery, listening, sock, (host_of(peer), peer[1]))
                except Exception as error:
                    sock.close()
                    self._bugs.report(f"a new connection of {peer}", error)
                except BaseException:
                    sock.close()
                    raise
                accepted += 1  # a turn for each would cost more than the connection
                if accepted % _ACCEPTED_AT_ONCE == 0:
                    await trio.lowlevel.checkpoint()

    async def _below_the_reserve(self, sock: socket.socket) -> socket.socket:
        """The connection when others have left it a descriptor that is not reserved. The next ones wait behind it."""
        self._bugs.report("no connection is accepted", OSError(errno.EMFILE, os.strerror(errno.EMFILE)))
        lowest = sock
        try:
            while is_reserved(lowest.fileno()):
                await trio.sleep(_PAUSE_S)
                with suppress(OSError):
                    sock, lowest = lowest, lowest.dup()
                    sock.close()
        except BaseException:
            lowest.close()
            raise
        return lowest

    async def _admit(self, nursery: trio.Nursery, listening: _Listening, sock: socket.socket, peer: Peer) -> None:
        """Serve a new connection as soon as there is room for it, unless its address has enough."""
        limits, listener = self._limits_of(listening), listening.endpoint.listener.name
        await limits.wait_for_room(listener)
        serve = self.connection_fault(listening.node.id, listener)
        if serve is not None:
            limits.take_back(listener)
            nursery.start_soon(serve, sock)
            return
        delay_ms = self.connection_delay_ms(listening.node.id, peer[0])
        if delay_ms > 0:
            limits.take_back(listener)
            nursery.start_soon(self._turn_away, sock, peer, delay_ms)
        elif limits.enter(listener, peer[0]):
            self._open(listening, sock, peer)
        else:
            sock.close()

    def _limits_of(self, listening: _Listening) -> ConnectionLimits:
        return self._limits[listening.node.id, listening.endpoint.of_controller]

    async def _turn_away(self, sock: socket.socket, peer: Peer, delay_ms: int) -> None:
        """Close a connection of an address with too many new ones, after a delay that slows its client down."""
        _log.info("%s:%d is closed in %d ms: too many new connections from there", peer[0], peer[1], delay_ms)
        with sock:
            await self._clock.sleep(delay_ms / 1000)

    def _close_idlest(self, node_id: int, of_controller: bool, count: int) -> None:
        limits = self._limits[node_id, of_controller]
        own = [
            each
            for each in self._connections.items()
            if each[0].node.id == node_id and (each[0].info.listener in each[0].node.controllers) == of_controller
        ]
        closing = sum(task.cancel_called for _, task in own)
        others = [
            (connection, task)
            for connection, task in own
            if not task.cancel_called and not limits.is_protected(connection.info.listener)
        ]
        others.sort(key=lambda each: each[0].last_used_ms)
        for connection, task in others[: max(0, count - closing)]:
            _log.info("%s cut: the broker has more than max.connections", connection.info.id)
            task.cancel()

    def _config_changed(self) -> None:
        for limits in self._limits.values():
            limits.changed()

    def _open(self, listening: _Listening, sock: socket.socket, peer: Peer) -> None:
        """Serve an admitted connection, by the poller unless it needs a task from the beginning."""
        listener = listening.endpoint.listener
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            local = sock.getsockname()
            host = host_of(local)
            if host == peer[0]:
                self._tune_local(sock)
        except OSError:
            sock.close()
            self._limits_of(listening).leave(listener.name, peer[0])
            return
        info = ConnectionInfo(
            id=f"{host}:{local[1]}-{peer[0]}:{peer[1]}-{next(self._numbers)}",
            host=host if "." in host else local[0],  # a client has to be able to dial it
            port=local[1],
            peer_host=peer[0],
            peer_port=peer[1],
            listener=listener.name,
            protocol=listener.protocol,
        )
        _log.debug("%s opened", info.id)
        connection = self._connection(listening, sock, info)
        connection.new_wire = self._wire_of
        connection.cancel = self._cancel
        connection.unsent_answers = self._unsent
        connection.count_received(self._received)
        poller, tasks = self._poller, self._tasks
        assert tasks is not None
        forget = None if poller is None else partial(poller.forget, connection)
        task = ConnectionTask(tasks, partial(self._serve, connection), forget)
        self._connections[connection] = task
        if poller is not None:
            if self._links is None and connection.may_begin_watched:
                connection.begin_watched()
                poller.watch(connection, partial(self._go_on, connection))
                return
            poller.add(connection)
        task.begin()
        if self._links is not None:
            self._links.attach(connection)

    def _cut_unread(self, connection: Connection) -> None:
        """End the connection that has read none of its answer for the longest time."""
        _log.warning(
            "%s is cut: answers that nobody reads have more than %d bytes (odradek.memory.bytes)",
            connection.info.id,
            self._unsent.limit,
        )
        self._cancel(connection)

    def _cut_unfinished(self, connection: Connection) -> None:
        """Take the receive buffer that grew least recently; a connection that needs it for its frame ends."""
        if not connection.gives_buffer_back():
            _log.warning(
                "%s is cut: requests that are not whole yet have more than %d bytes",
                connection.info.id,
                self._received.limit,
            )
            self._cancel(connection)

    def _cancel(self, connection: Connection) -> None:
        task = self._connections.get(connection)
        if task is not None:  # what is left on its wire may fail when it has ended
            task.cancel()

    async def _serve(self, connection: Connection) -> None:
        info = connection.info
        try:
            await connection.serve()
        except Exception as error:
            self._bugs.report(f"connection {info.id}", error)
        finally:
            self._forget(connection)

    def _go_on(self, connection: Connection) -> None:
        """Begin the task of a connection that the poller has served, unless all that is left is to close it."""
        if connection.state is not ConnectionState.CLOSED:
            self._connections[connection].begin()
            return
        try:
            connection.conclude()
        except Exception as error:
            self._bugs.report(f"connection {connection.info.id}", error)
        finally:
            self._forget(connection)

    def _forget(self, connection: Connection) -> None:
        info = connection.info
        del self._connections[connection]
        of_controller = info.listener in connection.node.controllers
        self._limits[connection.node.id, of_controller].leave(info.listener, info.peer_host)
        if self._drained is not None and not self._connections:
            self._drained.set()

    def _connection(self, listening: _Listening, sock: socket.socket, info: ConnectionInfo) -> Connection:
        max_request_bytes = self._config.get_int("socket.request.max.bytes")
        gate = self._gates.get((listening.node.id, info.listener))
        dispatcher = self._dispatcher
        if listening.endpoint.of_controller:
            assert self._controllers is not None
            dispatcher = self._controllers
        parts = listening.node, sock, info, self._poller, dispatcher, self._clock, max_request_bytes, gate
        if listening.terms is None:
            return Connection(*parts)
        from odradek.broker.net.tls_connection import TlsConnection

        assert self._handshakes is not None
        connection = TlsConnection(*parts)
        connection.expect_handshake(listening.terms, self._handshakes)
        return connection

    async def _close_idle(self) -> None:
        """Cut connections that sent nothing for `connections.max.idle.ms`, or did not log in within it, and parked
        ones whose client has gone.

        A connection whose request waits (a long poll, a rebalance) is not read from, so nothing else would notice. It
        is idle meanwhile, as in Kafka.
        """
        clock = self._clock
        while True:
            limit_ms = self._config.get_int("connections.max.idle.ms")
            pause_s = _LONGEST_IDLE_CHECK_S if limit_ms <= 0 else limit_ms / 2000
            await clock.sleep(min(_LONGEST_IDLE_CHECK_S, max(_SHORTEST_IDLE_CHECK_S, pause_s)))
            oldest = clock.now_ms() - limit_ms
            for connection, task in list(self._connections.items()):
                if connection.wire is not None and connection.wire.terms.held:
                    continue  # no reader could have noticed
                cut = RULES[connection.state].cut
                if (cut is Cut.CLIENT_GONE and connection.client_has_gone()) or (
                    cut is not Cut.NEVER
                    and limit_ms > 0
                    and (connection.last_used_ms < oldest or connection.logs_in_since(oldest))
                ):
                    task.cancel()


def _no_fault(node_id: int, listener: str) -> None:
    """The effect of faults on a new connection if no test has set one: none."""


def _no_delay(node_id: int, address: str) -> int:
    """The delay of a connection if no address has a quota: none."""
    return 0


def _resolvable(host: str) -> str | bytes | None:
    """The host for getaddrinfo. Text goes through IDNA, whose tables of Unicode take 0.3 MB and a millisecond."""
    return (host.encode() if host.isascii() else host) or None


def _listen(host: str, port: int, backlog: int | None = _BACKLOG) -> socket.socket:
    """A non-blocking listening TCP socket; one that only has the address for None. OSError names the address."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            _resolvable(host), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            if backlog is not None:
                listener.listen(backlog)
            listener.setblocking(False)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, f"cannot listen on {host}:{port}") from error
    return listener


# -- The task of a connection: it begins when something has to be waited for, or with the connection.


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
