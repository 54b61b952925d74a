"""The context of a request: the second argument of its handler."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from odradek.broker.config.listeners import SecurityProtocol
from odradek.broker.security.principal import ANONYMOUS, Principal
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.errors import KafkaError

if TYPE_CHECKING:
    import ssl

    from odradek.broker.metadata.node import Node
    from odradek.broker.releases.release import Release
    from odradek.broker.requests.recent_requests import RawExchange
    from odradek.broker.requests.request_cost import RequestCost
    from odradek.broker.requests.services import Services
    from odradek.broker.security.acl import Operation, Resource
    from odradek.broker.security.authorizer import Authorizer
    from odradek.protocol.long_work import LongWork

_FORWARDED = frozenset(key for key, spec in API_BY_KEY.items() if spec.forwardable)


class CloseConnection(Exception):
    """Raised by a handler to close the connection without an answer."""


class Login(Protocol):
    """A log-in under way, as the handlers of SaslHandshake and SaslAuthenticate use it."""

    def handshake(self, ctx: RequestContext, mechanism: str) -> Any:
        """The response to SaslHandshake, or a coroutine for it."""

    def authenticate(self, ctx: RequestContext, token: bytes) -> Any:
        """The response to SaslAuthenticate, or a coroutine for it."""


class ConnectionInfo:
    """One client connection, for handlers.

    `host`/`port`: the address the client dialled. `peer_host`/`peer_port`: where it came from. `listener`: the name of
    the listener that it came through, `protocol`: what that speaks. `principal`: whom it acts as, ANONYMOUS until it
    has logged in. `login`: the log-in under way, None where nobody logs in. `tls`: cipher and certificates of a TLS
    connection. `session_expires_ms`: when it has to log in again on the broker's clock, None for never.
    `client_id`: who the client says it is, once that had to be known. `client_software_*`: from ApiVersions v3 and
    later (KIP-511), empty before. `attributes`: state that a handler family keeps per connection under its own key.
    `on_closed`: called once when the connection has ended.
    """

    def __init__(
        self,
        *,
        id: str = "",
        host: str = "127.0.0.1",
        port: int = 0,
        peer_host: str = "127.0.0.1",
        peer_port: int = 0,
        listener: str = "PLAINTEXT",
        protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT,
        principal: Principal = ANONYMOUS,
    ) -> None:
        self.id = id
        self.host = host
        self.port = port
        self.peer_host = peer_host
        self.peer_port = peer_port
        self.listener = listener
        self.protocol = protocol
        self.principal = principal
        self.tls: ssl.SSLObject | ssl.SSLSocket | None = None
        self.session_expires_ms: int | None = None
        self.login: Login | None = None
        self.client_id: str | None = None
        self.client_software_name = ""
        self.client_software_version = ""
        self.attributes: dict[str, Any] = {}
        self.on_closed: list[Callable[[], None]] = []


class RequestContext:
    """One request on its way through a handler.

    `records` fields of the request are views into the connection's receive buffer: they are valid until the handler
    returns, so a handler that keeps records must copy them (an append to a log does).
    """

    __slots__ = (
        "api_key",
        "api_version",
        "charge",
        "client_id",
        "connection",
        "correlation_id",
        "exchange",
        "long_work",
        "node",
        "services",
    )
    exchange: RawExchange
    """The kept exchange of the request; set by the dispatcher."""
    long_work: LongWork | None
    """What the large batches of the request may inflate to, once it met one."""
    charge: RequestCost
    """The cost of the request. Only a meter sets it (`metering`), so nothing is paid for it without quotas."""

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
        self.long_work = None

    @property
    def release(self) -> Release:
        """The Kafka that the asked node runs."""
        return self.node.release

    # -- rights; without an authorizer everybody may do everything

    @property
    def authorizer(self) -> Authorizer | None:
        """The authorizer of who decides: the asked node, or the controller that a broker forwards the request to."""
        services = self.services
        decides = self.api_key in _FORWARDED or not self.node.is_broker
        return services.controller_authorizer if decides else services.authorizer

    def allows(self, operation: Operation, resource: Resource, name: str, *, tell: bool = True) -> bool:
        """Whether the client may do this. A refusal is recorded (log, `Denials`) unless it only filters a list."""
        authorizer = self.authorizer
        if authorizer is None:
            return True
        client = self.connection
        allowed = authorizer.allows(client.principal, client.peer_host, operation, resource, name)
        if not allowed and tell:
            self._tell(operation, resource, name)
        return allowed

    def allowed(
        self, operation: Operation, resource: Resource, names: Iterable[str], *, tell: bool = True
    ) -> frozenset[str]:
        """The names with which the client may do this. Each is checked once."""
        if self.authorizer is None:
            return frozenset(names)
        return frozenset(name for name in dict.fromkeys(names) if self.allows(operation, resource, name, tell=tell))

    def require(self, operation: Operation, resource: Resource, name: str, message: str | None = None) -> None:
        """The resource's authorization error (`REFUSALS`) unless the client may do this."""
        if not self.allows(operation, resource, name):
            from odradek.broker.security.acl import REFUSALS

            raise KafkaError(REFUSALS[resource], message)

    def allows_by_type(self, operation: Operation, resource: Resource) -> bool:
        """Whether there is any resource of the kind with which the client may do this."""
        authorizer = self.authorizer
        client = self.connection
        return authorizer is None or authorizer.allows_by_type(client.principal, client.peer_host, operation, resource)

    def operations(self, resource: Resource, name: str) -> int:
        """The authorized-operations field of an answer: bit n for operation n."""
        authorizer = self.authorizer
        if authorizer is None:
            from odradek.broker.security.acl import all_operations

            return all_operations(resource)
        client = self.connection
        return authorizer.operations(client.principal, client.peer_host, resource, name)

    def needs_permission(self, operation: Operation) -> str:
        """Kafka's text for a request that lacks a right on the cluster: it prints its object of the request."""
        client = self.connection
        return (
            f"Request Request(processor=0, connectionId={client.id}, "
            f"session=org.apache.kafka.network.Session@{id(client) & 0xFFFFFFFF:x}, "
            f"listenerName=ListenerName({client.listener}), securityProtocol={client.protocol.value}, "
            f"buffer=null, envelope=None) needs {operation.name} permission."
        )

    def _tell(self, operation: Operation, resource: Resource, name: str) -> None:
        from odradek.broker.security.denials import Denial

        client = self.connection
        self.services.denials.add(
            Denial(
                when_ms=self.services.clock.now_ms(),
                principal=str(client.principal),
                host=client.peer_host,
                operation=operation.name,
                resource_type=resource.name,
                resource_name=name,
                api=API_BY_KEY[self.api_key].name,
                listener=client.listener,
            )
        )
