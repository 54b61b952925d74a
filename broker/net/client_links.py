"""Bad links between nodes and their clients: frozen nodes, slow links, cut ones.

Without a bad link this module is not imported, and connections are plain. Connections of a bad link get a `Wire`, and
give it back when the link is mended.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterable
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from odradek.broker.net.wire import FREE, PROMPT, Terms, Wire
from odradek.broker.requests.context import CloseConnection, ConnectionInfo
from odradek.broker.requests.dispatch import Unreached
from odradek.broker.requests.recent_requests import CLIENT_ID, CONNECTION, Frame
from odradek.protocol.headers import CLIENT_ID_AT, REQUEST_HEADER

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.metadata.node import Node
    from odradek.broker.net.connection import Connection
    from odradek.broker.requests.dispatch import Begin, Parts, Pending
    from odradek.broker.requests.recent_requests import RecentRequests

ANYBODY = "*"


class Way(Enum):
    """How a client is cut off from a node."""

    SILENT = "silent"
    """Nothing arrives, in either direction, without an error. Bytes that were sent arrive when the link is mended."""
    RESET = "reset"
    """Its connections are reset (RST), new ones as soon as their client is known."""
    CLOSE = "close"
    """The same with a plain end of the stream (FIN)."""


class ClientLink:
    """The link between a node (None: all) and clients whose id fits `client`, where `*` stands for anything.

    `listener`: only of clients that come through this one. `way`: how it is cut, None if it is slow as `terms` say.
    """

    __slots__ = ("_pattern", "client", "listener", "node_id", "terms", "way")

    def __init__(
        self, client: str, node_id: int | None, listener: str | None, *, terms: Terms = FREE, way: Way | None = None
    ) -> None:
        self.client = client
        self.node_id = node_id
        self.listener = listener
        self.terms = terms._replace(held=True) if way is Way.SILENT else terms
        self.way = way
        self._pattern = re.compile(".*".join(re.escape(part) for part in client.split("*")), re.DOTALL)

    @property
    def between(self) -> tuple[str, int | None, str | None]:
        """The ends of the link."""
        return self.client, self.node_id, self.listener

    def may_be(self, connection: Connection) -> bool:
        """Whether a connection has the node and the listener of this link."""
        return (self.node_id is None or self.node_id == connection.node.id) and (
            self.listener is None or self.listener == connection.info.listener
        )

    def fits(self, client_id: str | None) -> bool:
        """Whether it is the link of this client; a client without an id is any client."""
        return self.client == ANYBODY or (client_id is not None and self._pattern.fullmatch(client_id) is not None)


class Links:
    """The bad links of a cluster. Owner: the server.

    `frozen`: the nodes that neither read nor send. `client_links`: the newest last; all that fit a connection
    count, delays in sum.
    """

    def __init__(
        self,
        connections: Collection[Connection],
        clock: BrokerClock,
        recent: RecentRequests,
        *,
        start_wire: Callable[[Wire], None],
        wake: Callable[[Connection], None],
    ) -> None:
        """`connections`: the open ones. `start_wire` runs a wire until it ends, `wake` reads what has come unseen."""
        self._connections = connections
        self._start_wire = start_wire
        self._wake = wake
        self._clock = clock
        self._recent = recent
        self._draw = random.Random(1)  # the same delays in each run
        self.frozen: set[int] = set()
        self.client_links: list[ClientLink] = []

    def freeze(self, node_id: int) -> None:
        """Read nothing and send nothing at this node."""
        self.frozen.add(node_id)
        self._look_again()

    def thaw(self, node_id: int) -> None:
        """Go on."""
        self.frozen.discard(node_id)
        self._look_again()

    def add(self, link: ClientLink) -> None:
        """Make a link bad. It replaces a link between the same ends that is bad in the same way."""
        kind = link.way is None
        self.client_links = [e for e in self.client_links if e.between != link.between or (e.way is None) != kind]
        self.client_links.append(link)
        self._remember_clients()
        self._look_again()

    def remove(self, chosen: Callable[[ClientLink], bool]) -> None:
        """Make links plain again."""
        self.client_links = [link for link in self.client_links if not chosen(link)]
        self._look_again()

    def clear(self) -> None:
        """Make all links plain again; what is frozen stays."""
        self.remove(lambda _: True)

    def attach(self, connection: Connection) -> bool:
        """Let a connection have what its link makes of it now; returns whether that ends it."""
        links = [link for link in self.client_links if link.may_be(connection)]
        client_id = connection.client_id
        unknown = client_id is None and any(not link.fits(None) for link in links)
        connection.watch_requests(self._look_for(connection) if unknown else None)
        links = [link for link in links if link.fits(client_id)]
        self._change(connection, self._terms(connection, links))
        ways = {link.way for link in links}
        if Way.RESET in ways:
            self.wire_of(connection).reset()
        elif Way.CLOSE in ways:
            self.wire_of(connection).change(Terms(True))  # what has come already is not read
            connection.end()
        return Way.RESET in ways or Way.CLOSE in ways

    def wire_of(self, connection: Connection) -> Wire:
        """The connection's wire, a new one if it has none."""
        wire = connection.wire
        if wire is None:
            wire = Wire(
                connection.transport,
                self._clock,
                self._draw,
                unplug=connection.take_wire,
                abort=connection.end,
                wake=partial(self._wake, connection),
            )
            connection.put_wire(wire)
            self._start_wire(wire)
        return wire

    # -- inside

    def _look_again(self) -> None:
        for connection in list(self._connections):
            self.attach(connection)

    def _terms(self, connection: Connection, links: Iterable[ClientLink]) -> Terms:
        held = connection.node.id in self.frozen
        answers = requests = PROMPT
        for link in links:
            held = held or link.terms.held
            answers, requests = answers.then(link.terms.answers), requests.then(link.terms.requests)
        return Terms(held, answers, requests)

    def _change(self, connection: Connection, terms: Terms) -> None:
        wire = connection.wire
        if wire is None and terms == FREE:
            return
        wire = self.wire_of(connection)
        was_held = wire.terms.held
        wire.change(terms)
        if was_held and not terms.held:
            self._wake(connection)

    def _remember_clients(self) -> None:
        """The client of the last request is known; another one becomes known with its next request."""
        by_id = {connection.info.id: connection for connection in self._connections}
        for exchange in self._recent.entries:
            found = by_id.get(exchange[CONNECTION])
            if found is not None and found.info.client_id is None:
                found.info.client_id = exchange[CLIENT_ID]

    def _look_for(self, connection: Connection) -> Callable[..., Parts | Pending | None]:
        """Find out with the next request whose connection it is."""

        def look(begin: Begin, node: Node, info: ConnectionInfo, frame: Frame) -> Parts | Pending | None:
            client_id = client_id_of(frame)
            if client_id is not None and info.client_id is None:
                info.client_id = client_id
                if self.attach(connection):
                    raise CloseConnection("its client is cut off")
                if connection.wire is not None and connection.wire.terms.held:
                    return Unreached(frame)
            return begin(node, info, frame)

        return look


def client_id_of(frame: Frame) -> str | None:
    """The client's id in a request; None where there is none, or no header."""
    try:
        length = REQUEST_HEADER.unpack_from(frame)[3]
    except Exception:
        return None
    return None if length < 0 else bytes(frame[CLIENT_ID_AT : CLIENT_ID_AT + length]).decode("utf-8", "replace")
