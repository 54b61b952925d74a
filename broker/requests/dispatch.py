"""The way of one request through the broker: frame, header, handler, answer."""

from __future__ import annotations

import logging
from collections.abc import Callable
from struct import Struct
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Protocol

from odradek.broker.requests.bugs import BugLog
from odradek.broker.requests.context import CloseConnection, ConnectionInfo, RequestContext
from odradek.broker.requests.parked import Parked
from odradek.broker.requests.recent import RecentRequests
from odradek.broker.requests.registry import Handler
from odradek.broker.requests.response import EncodedBody
from odradek.protocol.errors import CorruptDataError, ErrorCode, KafkaError, ProtocolError
from odradek.protocol.headers import CLIENT_ID_AT, REQUEST_HEADER
from odradek.protocol.registry import API_BY_KEY, API_VERSIONS_KEY
from odradek.protocol.varint import read_unknown_fields

if TYPE_CHECKING:
    from odradek.broker.metadata.node import Node
    from odradek.broker.requests.faults import FaultSet
    from odradek.broker.requests.services import Services
    from odradek.protocol.schema import MessageCodec

_log = logging.getLogger("odradek.broker.requests")

_SIZED_CORRELATION = Struct(">ii")

Parts = list["bytes | memoryview"]


class Route:
    """Everything that one (key, version) needs, looked up once."""

    __slots__ = ("flexible_request", "flexible_response", "function", "handler", "request", "response")

    def __init__(self, handler: Handler, version: int) -> None:
        from odradek.protocol.schema import codec

        spec = handler.spec
        self.handler = handler
        self.function = handler.function
        self.request: MessageCodec[Any] = codec(spec.request, version)
        self.response: MessageCodec[Any] = codec(spec.response, version)
        self.flexible_request = spec.request_header_version(version) >= 2
        self.flexible_response = spec.response_header_version(version) >= 1


class Pending:
    """A request whose response has to be waited for.

    `response`: what the handler returned: a coroutine, a `Parked`, or the response itself, which waits until
    what the request appended is durable. `appended`: where the durable log stood before the handler was called.
    """

    __slots__ = ("appended", "context", "frame", "request", "response", "route")

    def __init__(
        self, route: Route, context: RequestContext, request: Any, frame: memoryview, response: Any, appended: int
    ) -> None:
        self.route = route
        self.context = context
        self.request = request
        self.frame = frame
        self.response = response
        self.appended = appended


class AppendWatch(Protocol):
    """What tells whether the appends of a request are durable; numbers count appends."""

    @property
    def appended(self) -> int:
        """Where the log stands."""

    def must_wait(self, since: int) -> bool:
        """Whether an answer has to wait for what was appended after `since`."""

    async def flushed(self) -> None:
        """Return when everything appended so far is durable."""


class Dispatcher:
    """Takes request frames to their handlers and brings back response frames.

    Owner: the cluster (one per cluster). `faults` is what a test has set; it is None for the usual case.
    `append_watch` is None for a cluster in memory.
    """

    def __init__(
        self, services: Services, recent: RecentRequests, bugs: BugLog, append_watch: AppendWatch | None = None
    ) -> None:
        self._services = services
        self._recent = recent.entries
        self._bugs = bugs
        self.append_watch = append_watch
        self.faults: FaultSet | None = None
        self._routes: dict[int, Route] = {}
        self._client_ids: dict[bytes, str] = {}

    def begin(self, node: Node, connection: ConnectionInfo, frame: memoryview) -> Parts | Pending | None:
        """Serve one request frame (without its size) until something has to be waited for.

        Returns the response as parts, with its size; None for no answer; or a Pending, for `resume` if it is
        parked and for `finish` otherwise. Raises CloseConnection where Kafka closes the connection.
        """
        try:
            key, version, correlation_id, id_length = REQUEST_HEADER.unpack_from(frame)
        except Exception:
            raise CloseConnection("a frame too short for a request header") from None
        route = self._routes.get(key << 16 | version)
        if route is None:
            route = self._find_route(key, version)
            if route is None:
                return self._refuse_version(key, correlation_id)
        position = CLIENT_ID_AT
        client_id: str | None = None
        if id_length >= 0:
            position += id_length
            raw = bytes(frame[CLIENT_ID_AT:position])
            if len(raw) != id_length:
                raise CloseConnection("the client id is longer than the frame")
            client_id = self._client_ids.get(raw) or self._decode_client_id(raw)
        self._recent.append((connection.id, key, version, correlation_id, client_id, len(frame)))
        try:
            if route.flexible_request:
                if position < len(frame) and frame[position] == 0:
                    position += 1
                else:
                    position = skip_tagged_fields(frame, position)
            request, _ = route.request.decode(frame, position)
        except ProtocolError as error:
            raise CloseConnection(f"{route.handler.spec.name} v{version}: {error}") from error
        context = RequestContext(self._services, node, connection, key, version, correlation_id, client_id)
        watch = self.append_watch
        appended = 0 if watch is None else watch.appended
        if self.faults is not None:
            served = self._serve_with_faults(route.function, context, request)
            return Pending(route, context, request, frame, served, appended)
        try:
            response = route.function(context, request)
        except CloseConnection:
            raise
        except Exception as error:
            response = self.error_answer(context, request, error, frame)
        if response is not None and (
            response.__class__ is CoroutineType
            or isinstance(response, Parked)
            or (watch is not None and watch.must_wait(appended))
        ):
            return Pending(route, context, request, frame, response, appended)
        return self._answer(route, context, request, response)

    def resume(self, pending: Pending) -> Parts | Pending | None:
        """Look again at a request that is parked; `pending` itself when there is still something to wait for."""
        parked = pending.response
        try:
            response = parked.resume()
        except CloseConnection:
            raise
        except Exception as error:
            parked.abandon()
            response = self.error_answer(pending.context, pending.request, error, pending.frame)
        if response is None:
            return pending
        watch = self.append_watch
        if watch is not None and watch.must_wait(pending.appended):
            pending.response = response
            return pending
        return self._answer(pending.route, pending.context, pending.request, response)

    async def finish(self, pending: Pending) -> Parts | None:
        """Wait for the response, and until what the request appended is durable: it may not be told before."""
        route, context = pending.route, pending.context
        watch = self.append_watch
        try:
            response = await self._response_of(pending.response)
            if response is not None and watch is not None and watch.must_wait(pending.appended):
                await watch.flushed()
        except CloseConnection:
            raise
        except Exception as error:
            response = self.error_answer(context, pending.request, error, pending.frame)
        return self._answer(route, context, pending.request, response)

    async def _response_of(self, returned: Any) -> Any:
        """The response behind what a handler returned."""
        if returned.__class__ is CoroutineType:
            returned = await returned
        if isinstance(returned, Parked):
            return await returned.response(self._services.clock)
        return returned

    async def _serve_with_faults(self, function: Callable[..., Any], context: RequestContext, request: Any) -> Any:
        """The handler's response; None = none."""
        faults = self.faults
        lost = None if faults is None else await faults.apply(context, request, self._services.clock)
        if lost is not None and lost.drop:
            return None
        response = await self._response_of(function(context, request))
        return None if lost is not None else response

    def _answer(self, route: Route, context: RequestContext, request: Any, response: Any) -> Parts | None:
        """What the client gets: the response as parts, with size and header; None for no answer."""
        if _log.isEnabledFor(logging.INFO):
            self._log_answer(context, request, response)
        return None if response is None else self._encode(route, context, response)

    def _log_answer(self, context: RequestContext, request: Any, response: Any) -> None:
        from odradek.broker.requests.request_log import log_answer

        log_answer(context, request, response)

    def _encode(self, route: Route, context: RequestContext, response: Any) -> Parts:
        try:
            if response.__class__ is EncodedBody:
                parts: Parts = [response.body]
            else:
                parts = route.response.encode_parts(response)
        except Exception as error:
            self._bugs.report(
                f"the answer to {route.handler.spec.name} v{context.api_version}: {response!r:.2000}", error
            )
            raise CloseConnection("the answer cannot be encoded") from error
        size = 4
        for part in parts:
            size += len(part)
        if route.flexible_response:
            parts.insert(0, _SIZED_CORRELATION.pack(size + 1, context.correlation_id) + b"\0")
        else:
            parts.insert(0, _SIZED_CORRELATION.pack(size, context.correlation_id))
        return parts

    def error_answer(self, context: RequestContext, request: Any, error: Exception, frame: memoryview) -> Any:
        """The response for a handler that raised: KafkaError and damaged data as they say, all else as a bug."""
        from odradek.broker.requests.error_answers import error_response

        if isinstance(error, KafkaError | CorruptDataError):
            code, message = error.code, error.message
        else:
            self._bugs.report(API_BY_KEY[context.api_key].name + f" v{context.api_version}", error, bytes(frame[:4096]))
            code, message = ErrorCode.UNKNOWN_SERVER_ERROR, None
        return error_response(request, context.api_version, code, message)

    # -- the rare ways

    def _find_route(self, key: int, version: int) -> Route | None:
        handler = self._services.handlers.find(key)
        if handler is None or not handler.min_version <= version <= handler.max_version:
            return None
        route = Route(handler, version)
        self._routes[key << 16 | version] = route
        return route

    def _refuse_version(self, key: int, correlation_id: int) -> Parts:
        """ApiVersions in an unknown version is answered in v0 (KIP-511); anything else that is not served closes."""
        handler = self._services.handlers.find(key) if key == API_VERSIONS_KEY else None
        if handler is None:
            raise CloseConnection(f"API key {key} is not served in this version")
        from odradek.broker.requests.unsupported_version import unsupported_version_response
        from odradek.protocol.schema import codec

        response = unsupported_version_response(handler.min_version, handler.max_version)
        body = codec(type(response), 0).encode(response)
        return [_SIZED_CORRELATION.pack(4 + len(body), correlation_id), body]

    def _decode_client_id(self, raw: bytes) -> str:
        """Client ids repeat with every request, so each is decoded once; bad UTF-8 becomes replacement characters."""
        text = raw.decode("utf-8", "replace")
        if len(self._client_ids) >= 4096:
            self._client_ids.clear()
        self._client_ids[raw] = text
        return text


def skip_tagged_fields(frame: memoryview, position: int) -> int:
    """The position behind the header's tag buffer (unknown tags are allowed); ProtocolError if it is cut short."""
    try:
        return read_unknown_fields(frame, position)[1]
    except IndexError:
        raise ProtocolError("a varint that does not end") from None
