"""The gate of a SASL listener: before the log-in it accepts only the requests for the log-in.

The frames of a log-in come in a fixed order: one ApiVersions, if the client likes; SaslHandshake, which names the
mechanism; then tokens, in SaslAuthenticate requests or (after SaslHandshake v0) without any header. A gate stands where
the dispatcher stands on other listeners and lets through to it what has its turn. The handlers of the two APIs come
back to it (`ConnectionInfo.login`). After the log-in the connection is the dispatcher's alone, unless its session has
an end: then the gate stays, cuts it at the first request after that, and lets the client log in again before (KIP-368).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from enum import Enum
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from odradek.broker.requests.context import CloseConnection, ConnectionInfo
from odradek.broker.requests.dispatch import Pending, Throttled
from odradek.broker.requests.recent_requests import Frame
from odradek.broker.security.denials import NO_LOG_IN, SESSION_ENDED, Denial, Denials, shortened
from odradek.broker.security.principal import USER
from odradek.broker.security.sasl.credentials import Credentials
from odradek.broker.security.sasl.server import (
    MalformedToken,
    Refusal,
    SaslError,
    SaslListener,
    SaslServer,
)
from odradek.protocol.apis import API_BY_KEY, API_VERSIONS_KEY
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.file_slice import joined
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateResponse
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeResponse
from odradek.protocol.headers import REQUEST_HEADER
from odradek.protocol.shown import one_line
from odradek.storage.byte_budget import ByteBudget

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.config.listeners import ListenerConfig
    from odradek.broker.metadata.image import MetadataImage
    from odradek.broker.metadata.node import Node
    from odradek.broker.requests.context import RequestContext
    from odradek.broker.requests.dispatch import Dispatcher, Disturbed, Parts


# -- The limits of the gate: how soon a failed log-in is answered, and how many bytes log-ins may hold.

_net_log = logging.getLogger("odradek.broker.net")


class FailedLogins:
    """Delays and logs failed log-ins, for the gates.

    Owner: the cluster. `delay_ms`: `connection.failed.authentication.delay.ms`, by which each answer to a client that
    guesses passwords is delayed, on the broker's clock.
    """

    def __init__(self, clock: BrokerClock, delay_ms: Callable[[], int], denials: Denials) -> None:
        self._clock = clock
        self._delay_ms = delay_ms
        self._denials = denials

    async def delay(self) -> None:
        """Return when the client may have its answer."""
        await self._clock.sleep(self._delay_ms() / 1000)

    def tell(
        self, client: ConnectionInfo, what: str, told: str, *, api: str = "", more: str = "", claimed: str = ""
    ) -> None:
        """Log it in Kafka's words, and keep it among the denials.

        `what`: authentication or re-authentication. `told`: what the client is told, and `more`: what it is not.
        `claimed`: the name that it gave.
        """
        _net_log.info(
            "Failed %s with /%s (channelId=%s) (%s)", what, client.peer_host, client.id, one_line(shortened(told))
        )
        self.keep(client, told + more, api=api, claimed=claimed)

    def keep(self, client: ConnectionInfo, reason: str, *, api: str = "", claimed: str = "") -> None:
        """Keep it among the denials."""
        self._denials.keep(
            Denial(
                when_ms=self._clock.now_ms(),
                principal=f"{USER}:{claimed}" if claimed else str(client.principal),
                host=client.peer_host,
                operation="LOGIN",
                resource_type="LISTENER",
                resource_name=client.listener,
                api=api,
                listener=client.listener,
                reason=reason,
            )
        )


_MOST_BYTES = 32 * 1024 * 1024


class Holder(Protocol):
    """One log-in under way. Hashable by identity."""

    def cut(self, reason: str) -> None:
        """End its connection."""


def login_budget(limit: int = _MOST_BYTES) -> ByteBudget[Holder]:
    """The budget of the large receive buffers of a cluster's log-ins.

    A buffer follows what its client has really sent, up to `sasl.server.max.receive.size`, so a thousand clients can
    have half a gigabyte. Beyond the limit, the log-in that grew least recently is cut. An ordinary one fits into a
    connection's first buffer and counts for nothing.
    """
    return ByteBudget(limit, lambda login: login.cut(f"the log-ins under way hold more than {limit} bytes"))


# -- The gate.


_log = logging.getLogger("odradek.broker.net.login")

_SIZE = Struct(">i")
_PRODUCE_KEY, _HANDSHAKE_KEY, _AUTHENTICATE_KEY = 0, 17, 36
_ERROR_CODE = slice(8, 10)  # of an ApiVersions answer with its size and header
_SHORTEST_BETWEEN_LOGINS_MS = 1000
_NOT_KAFKA = (
    "Invalid request, potential reasons: kafka client configured with the wrong security protocol, it does not "
    "support KIP-43 or it is not a kafka client."
)


_STATE = "Request is not valid given the current SASL state."
_TEXTS = {**dict.fromkeys((68, 76, 78, 79, 88)), **dict.fromkeys((55, 80, 81, 91, 92), _STATE)}
"""APIs that tell nothing, or something else, of a request that has no turn."""


class Gated(Protocol):
    """The decision of a gate about its connection."""

    closing: bool

    def end(self) -> None:
        """End the connection at once."""

    def limit_frames(self, max_bytes: int | None, on_growth: Callable[[int], None] | None = None) -> None:
        """The largest frame from now on; None for that of a listener without a gate. `on_growth` is told how large
        the buffer for it is."""

    def open_gate(self) -> None:
        """Serve without a gate from now on."""


class _Ended:
    """A connection that has ended."""

    closing = True

    def end(self) -> None: ...

    def limit_frames(self, max_bytes: int | None, on_growth: Callable[[int], None] | None = None) -> None: ...

    def open_gate(self) -> None: ...


class LoginState(Enum):
    """The frame that a gate expects next."""

    ANYTHING = "ApiVersions or SaslHandshake, the first frame"
    VERSIONS = "ApiVersions or SaslHandshake"
    HANDSHAKE = "SaslHandshake"
    TOKENS = "SaslAuthenticate"
    RAW_TOKENS = "tokens without a header"
    WRONG_MECHANISM = "anything: it ends the connection"
    DONE = "requests"
    FAILED = "nothing"


_BEFORE_THE_MECHANISM = (LoginState.ANYTHING, LoginState.VERSIONS, LoginState.HANDSHAKE)


class RawPending(Pending):
    """A raw token that has to be waited for; `response` is a coroutine that returns the answer's parts."""

    def __init__(self, response: Coroutine[Any, Any, Parts | None]) -> None:
        self.response = response


class LoginGate:
    """The state of one connection's log-in. `begin` and `finish` take the dispatcher's place.

    `since_ms`: when the log-in began, on the broker's clock.
    """

    def __init__(
        self,
        connection: Gated,
        listener: SaslListener,
        dispatcher: Dispatcher,
        clock: BrokerClock,
        failures: FailedLogins,
        login_bytes: ByteBudget[Holder],
    ) -> None:
        self.state = LoginState.ANYTHING
        self.since_ms = clock.now_ms()
        self._connection: Gated = connection
        self._listener = listener
        self._dispatcher = dispatcher
        self._clock = clock
        self._failures = failures
        self._server: SaslServer | None = None
        self._mechanism = ""  # of the session, once there is one
        self._again = False
        self._began_again_ms: int | None = None
        self._wrong_mechanism = ""
        self._login_bytes = login_bytes
        self._limit_frames()

    @property
    def logging_in(self) -> bool:
        """Whether the client has to log in before its next request."""
        return self.state is not LoginState.DONE

    def cut(self, reason: str) -> None:
        """End the connection; see `login_budget`."""
        _log.info("a log-in is cut: %s", reason)
        self._connection.end()

    def closed(self) -> None:
        """The connection has ended. The gate refers to it no longer, as it does to the gate."""
        self._login_bytes.release(self)
        self._connection = _Ended()

    def _limit_frames(self) -> None:
        self._connection.limit_frames(self._listener.max_receive_bytes, partial(self._login_bytes.hold, self))

    # -- in the dispatcher's place

    def begin(self, node: Node, connection: ConnectionInfo, frame: Frame) -> Parts | Pending | None:
        info = connection
        state = self.state
        if state is LoginState.DONE:
            return self._in_session(node, info, frame)
        info.login = self
        if state is LoginState.TOKENS:
            return self._token_request(node, info, frame)
        if state is LoginState.RAW_TOKENS:
            return self._raw_token(info, bytes(frame))
        if state in _BEFORE_THE_MECHANISM:
            return self._before_the_mechanism(node, info, frame)
        if state is LoginState.WRONG_MECHANISM:
            self._fail(info, self._wrong_mechanism)
            return RawPending(self._end())
        raise CloseConnection("its log-in has failed")

    async def finish(self, pending: Pending) -> Parts | Throttled | Disturbed | None:
        if isinstance(pending, RawPending):
            parts: Parts | None = await pending.response
            return parts
        return await self._dispatcher.finish(pending)

    def refuse_frame(self, info: ConnectionInfo, reason: str) -> None:
        """A frame that is larger than a log-in's may be, or has a negative size, ends the connection."""
        if self.state is not LoginState.DONE:
            self._fail(info, f"Failing SASL authentication due to invalid receive size: {reason}")

    def _before_the_mechanism(self, node: Node, info: ConnectionInfo, frame: Frame) -> Parts | Pending | None:
        key = _api_key(frame)
        if key not in (API_VERSIONS_KEY, _HANDSHAKE_KEY):
            if key in API_BY_KEY:
                self._failures.keep(info, f"{NO_LOG_IN}{info.listener}", api=_name(key))
            if self.state is LoginState.ANYTHING:
                raise CloseConnection(_NOT_KAFKA)
            raise CloseConnection(f"Unexpected Kafka request of type {_name(key)} during SASL handshake.")
        if key == API_VERSIONS_KEY and self.state is LoginState.HANDSHAKE:
            raise CloseConnection("Unexpected ApiVersions request received during SASL authentication")
        answer = self._dispatcher.begin(node, info, frame)
        if key == API_VERSIONS_KEY:
            parts = answer.parts if isinstance(answer, Throttled) else answer
            refused = isinstance(parts, list) and joined(parts)[_ERROR_CODE] != b"\0\0"
            self.state = LoginState.VERSIONS if refused else LoginState.HANDSHAKE
        return answer

    def _token_request(self, node: Node, info: ConnectionInfo, frame: Frame) -> Parts | Pending | None:
        key = _api_key(frame)
        if key == _AUTHENTICATE_KEY:
            return self._dispatcher.begin(node, info, frame)
        return self._dispatcher.begin_refused(node, info, frame, self._refuse)

    def _in_session(self, node: Node, info: ConnectionInfo, frame: Frame) -> Parts | Pending | None:
        now_ms = self._clock.now_ms()
        if len(frame) >= 2 and _api_key(frame) == _HANDSHAKE_KEY and self._may_begin_again(now_ms):
            return self._begin_again(node, info, frame, now_ms)
        expires_ms = info.session_expires_ms
        if expires_ms is not None and now_ms >= expires_ms:
            key = _api_key(frame)
            self._failures.keep(info, SESSION_ENDED, api=API_BY_KEY[key].name if key in API_BY_KEY else "")
            raise CloseConnection(SESSION_ENDED)
        return self._dispatcher.begin(node, info, frame)

    def _may_begin_again(self, now_ms: int) -> bool:
        began_ms = self._began_again_ms
        return began_ms is None or now_ms - began_ms >= _SHORTEST_BETWEEN_LOGINS_MS

    def _begin_again(self, node: Node, info: ConnectionInfo, frame: Frame, now_ms: int) -> Parts | Pending | None:
        self._began_again_ms = self.since_ms = now_ms
        self._again = True
        self.state = LoginState.HANDSHAKE
        self._limit_frames()
        info.login = self
        return self._dispatcher.begin(node, info, frame)

    # -- for the handlers

    def handshake(self, ctx: RequestContext, mechanism: str) -> Any:
        """Agree on a mechanism; UNSUPPORTED_SASL_MECHANISM names those that there are."""
        info, listener = ctx.connection, self._listener
        server = listener.new_server(mechanism)
        if server is None:
            self._fail(info, f"Unsupported SASL mechanism {mechanism}", ctx.api_key)
            if self._again:
                raise CloseConnection(f"Unsupported SASL mechanism {mechanism}")
            answer = SaslHandshakeResponse(ErrorCode.UNSUPPORTED_SASL_MECHANISM, listener.mechanisms)
            return self._after_the_delay(answer)
        if self._again and mechanism != self._mechanism:
            self._wrong_mechanism = (
                f"SASL mechanism '{mechanism}' requested by client is not supported for re-authentication of "
                f"mechanism '{self._mechanism}'"
            )
            self.state = LoginState.WRONG_MECHANISM
        else:
            self._server = server
            self.state = LoginState.RAW_TOKENS if ctx.api_version == 0 else LoginState.TOKENS
        return SaslHandshakeResponse(0, listener.mechanisms)

    def authenticate(self, ctx: RequestContext, token: bytes) -> Any:
        """Give a token to the mechanism and answer with its own."""
        server = self._server
        assert server is not None
        if server.waits:
            return self._authenticate_waiting(ctx, server, token)
        try:
            return self._authenticated(ctx.connection, server, server.evaluate(token))
        except Refusal as refusal:
            return self._after_the_delay(self._refused(ctx.connection, server, refusal, ctx.api_key))

    async def _authenticate_waiting(self, ctx: RequestContext, server: SaslServer, token: bytes) -> Any:
        try:
            return self._authenticated(ctx.connection, server, await server.evaluate_async(token))
        except Refusal as refusal:
            answer = self._refused(ctx.connection, server, refusal, ctx.api_key)
        return await self._after_the_delay(answer)

    def _authenticated(self, info: ConnectionInfo, server: SaslServer, token: bytes) -> SaslAuthenticateResponse:
        lifetime_ms = self._complete(info, server) if server.complete else 0
        return SaslAuthenticateResponse(0, auth_bytes=token, session_lifetime_ms=lifetime_ms)

    def _refused(
        self, info: ConnectionInfo, server: SaslServer, refusal: Refusal, api_key: int | None = None
    ) -> SaslAuthenticateResponse:
        """The answer to a client that the mechanism refuses. CloseConnection if Kafka answers nothing."""
        if isinstance(refusal, MalformedToken):
            self.state = LoginState.FAILED
            raise CloseConnection(f"{server.mechanism}: {refusal.reason}") from None
        if isinstance(refusal, SaslError):
            told, more = refusal.reason, ""
        else:
            more = f": {refusal.reason}"
            told = (
                f"Authentication failed during {self._what()} due to invalid credentials with SASL mechanism "
                f"{server.mechanism}"
            )
        self._fail(info, told, api_key, more, refusal.claimed)
        return SaslAuthenticateResponse(ErrorCode.SASL_AUTHENTICATION_FAILED, told)

    async def _refuse(self, ctx: RequestContext, request: Any) -> NoReturn:
        reason = f"Unexpected Kafka request of type {_name(ctx.api_key)} during SASL authentication."
        self._fail(ctx.connection, reason, ctx.api_key)
        await self._failures.delay()
        if ctx.api_key == _PRODUCE_KEY and request.acks == 0:
            raise CloseConnection(reason)
        raise KafkaError(ErrorCode.ILLEGAL_SASL_STATE, _TEXTS.get(ctx.api_key, reason))

    # -- tokens without headers

    def _raw_token(self, info: ConnectionInfo, token: bytes) -> Parts | Pending:
        server = self._server
        assert server is not None
        if server.waits:
            return RawPending(self._raw_token_waiting(info, server, token))
        try:
            return self._raw_answer(info, server, server.evaluate(token))
        except Refusal as refusal:
            self._refused(info, server, refusal)
        return RawPending(self._end())

    async def _raw_token_waiting(self, info: ConnectionInfo, server: SaslServer, token: bytes) -> Parts | None:
        try:
            return self._raw_answer(info, server, await server.evaluate_async(token))
        except Refusal as refusal:
            self._refused(info, server, refusal)
        return await self._end()

    def _raw_answer(self, info: ConnectionInfo, server: SaslServer, answer: bytes) -> Parts:
        if server.complete:
            self._complete(info, server)
        return [_SIZE.pack(len(answer)) + answer]

    # -- outcomes

    def _complete(self, info: ConnectionInfo, server: SaslServer) -> int:
        """The client has logged in: returns the milliseconds of its session, 0 for one without an end."""
        before, now = info.principal, server.principal
        if self._again and before != now:
            change = f"from {before.kind}.{before.name}: {now.kind}.{now.name}"
            raise SaslError(f"Cannot change principals during re-authentication {change}", now.name)
        now_ms = self._clock.now_ms()
        session_ms = self._listener.session_ms(server.mechanism, server.expires_ms, now_ms)
        info.principal = now
        info.login = None
        info.session_expires_ms = None if session_ms is None else now_ms + session_ms
        self._mechanism = server.mechanism
        self._server = None
        self.state = LoginState.DONE
        self._connection.limit_frames(None)
        self._login_bytes.release(self)
        if session_ms is None:
            self._connection.open_gate()
        _log.debug("%s: %s by %s of %s", info.id, self._what(), server.mechanism, one_line(str(now)))
        return session_ms or 0

    def _fail(
        self, info: ConnectionInfo, told: str, api_key: int | None = None, more: str = "", claimed: str = ""
    ) -> None:
        """The log-in has failed: nothing more is read. `told`: in Kafka's words; `more`: what else is known."""
        self.state = LoginState.FAILED
        self._connection.closing = True
        api = "" if api_key is None else API_BY_KEY[api_key].name
        self._failures.tell(info, self._what(), told, api=api, more=more, claimed=claimed)

    def _what(self) -> str:
        return "re-authentication" if self._again else "authentication"

    async def _after_the_delay(self, answer: Any) -> Any:
        await self._failures.delay()
        return answer

    async def _end(self) -> Parts | None:
        """The connection ends without an answer."""
        await self._failures.delay()
        return None


NewGate = Callable[[Gated], LoginGate]


def _api_key(frame: Frame) -> int:
    try:
        key, *_ = REQUEST_HEADER.unpack_from(frame)
    except Exception:
        raise CloseConnection("a frame too short for a request header") from None
    return int(key)


def _name(key: int) -> str:
    """An API as Kafka's messages name it: `LIST_GROUPS`."""
    spec = API_BY_KEY.get(key)
    return str(key) if spec is None else "".join(f"_{c}" if c.isupper() else c.upper() for c in spec.name).lstrip("_")


class Gates:
    """Makes what makes the gates of a listener's connections. Owner: the cluster, whose listeners share its limits."""

    def __init__(self, config: BrokerConfig, image: MetadataImage, clock: BrokerClock, denials: Denials) -> None:
        self._credentials = Credentials(image, lambda: _text(config, "delegation.token.secret.key"))
        self._failures = FailedLogins(
            clock, lambda: config.get_int("connection.failed.authentication.delay.ms"), denials
        )
        self._login_bytes = login_budget()
        self._clock = clock

    def open(self, config: ListenerConfig, dispatcher: Dispatcher) -> NewGate:
        """For a listener where clients log in; ConfigError if one cannot be. `dispatcher`: of its requests."""
        return partial(
            LoginGate,
            listener=SaslListener(config, self._credentials, self._clock),
            dispatcher=dispatcher,
            clock=self._clock,
            failures=self._failures,
            login_bytes=self._login_bytes,
        )


def _text(config: BrokerConfig, key: str) -> str | None:
    value = config.get(key)
    return value if isinstance(value, str) else None
