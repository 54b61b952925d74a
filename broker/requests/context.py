"""What a request handler is told besides the request itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from odradek.broker.metadata.node import Node
    from odradek.broker.requests.services import Services


class CloseConnection(Exception):
    """Raised by a handler to close the connection without an answer."""


class ConnectionInfo:
    """What the broker knows about one client connection.

    `host`/`port`: the address the client dialled. `peer_host`/`peer_port`: where it came from.
    `client_software_*`: from ApiVersions v3 and later (KIP-511), empty before. `attributes`: state that a
    handler family keeps per connection under its own key. `on_closed`: called once when the connection has ended.
    """

    __slots__ = (
        "attributes",
        "client_software_name",
        "client_software_version",
        "host",
        "id",
        "listener",
        "on_closed",
        "peer_host",
        "peer_port",
        "port",
        "principal",
    )

    def __init__(
        self,
        *,
        id: str = "",
        host: str = "127.0.0.1",
        port: int = 0,
        peer_host: str = "127.0.0.1",
        peer_port: int = 0,
        listener: str = "PLAINTEXT",
        principal: str = "User:ANONYMOUS",
    ) -> None:
        self.id = id
        self.host = host
        self.port = port
        self.peer_host = peer_host
        self.peer_port = peer_port
        self.listener = listener
        self.principal = principal
        self.client_software_name = ""
        self.client_software_version = ""
        self.attributes: dict[str, Any] = {}
        self.on_closed: list[Callable[[], None]] = []


class RequestContext:
    """One request on its way through a handler.

    `records` fields of the request are views into the connection's receive buffer: they are valid until the handler
    returns, so a handler that keeps records must copy them (an append to a log does).
    """

    __slots__ = ("api_key", "api_version", "client_id", "connection", "correlation_id", "node", "services")

    def __init__(
        self,
        services: Services,
        node: Node,
        connection: ConnectionInfo,
        api_key: int,
        api_version: int,
        correlation_id: int,
        client_id: str | None,
    ) -> None:
        self.services = services
        self.node = node
        self.connection = connection
        self.api_key = api_key
        self.api_version = api_version
        self.correlation_id = correlation_id
        self.client_id = client_id
