"""The way of one request through the broker: frame, header, handler, answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, Protocol

import trio

from odradek.broker.requests.bugs import BugLog
from odradek.broker.requests.context import CloseConnection, ConnectionInfo, RequestContext
from odradek.broker.requests.handlers import NEVER_LONG, Handler
from odradek.broker.requests.parked_request import EncodedBody, EncodedParts, Parked, is_coroutine, response_of
from odradek.broker.requests.recent_requests import (
    ANSWER,
    ANSWER_SIZE,
    ANSWERED,
    API_KEY,
    CONNECTION,
    CUT,
    LONGEST_KEPT_TEXT,
    VERSION,
    Frame,
    RawExchange,
    RecentRequests,
    unsupported_request,
)
from odradek.protocol.apis import API_BY_KEY, API_VERSIONS_KEY
from odradek.protocol.errors import CorruptDataError, ErrorCode, KafkaError, ProtocolError, TooManyElementsError
from odradek.protocol.file_slice import Part
from odradek.protocol.headers import CLIENT_ID_AT, REQUEST_HEADER
from odradek.protocol.native import mypyc_attr
from odradek.protocol.shown import SECRET_REQUESTS
from odradek.protocol.varint import read_unknown_fields

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.metadata.node import Node
    from odradek.broker.partitions.durability import Durability
    from odradek.broker.releases.release import Release
    from odradek.broker.requests.handlers import HandlerRegistry
    from odradek.broker.requests.metering import Meter
    from odradek.broker.requests.services import Services
    from odradek.broker.security.quotas.quotas import Quotas
    from odradek.protocol.message_codec import MessageCodec

_log: Final = logging.getLogger("odradek.broker.requests")
_INFO: Final = logging.INFO
_CLIENT_ID_AT: Final = CLIENT_ID_AT
_read_head: Final = REQUEST_HEADER.unpack_from
_SIZED_CORRELATION: Final = Struct(">ii")
_ELEMENTS_BEFORE_A_LOGIN: Final = 1000

_DECODED_AT_ONCE: Final = 64 * 1024
"""Bytes of a request that are decoded without a thread."""

Parts = list[Part]
Begin = Callable[["Node", ConnectionInfo, Frame], "Parts | Pending | None"]
Look = Callable[[Begin, "Node", ConnectionInfo, Frame], "Parts | Pending | None"]
AnswerWriter = Callable[[int, Any], bytes | None]
"""(correlation id, response) -> the whole frame; None for an answer that is left to its codec."""


class Route:
    """Everything that one (key, version) needs, looked up once.

    `function`: what serves a request. `writer`: writes the API's most frequent answer with its header, if the lane has
    such a function. `whole_bytes`: see `RecentRequests`.
    """

    def __init__(
        self,
        handler: Handler,
        version: int,
        function: Callable[..., Any],
        whole_bytes: int,
        long_bytes: int,
        large_answers: bool,
        writer: AnswerWriter | None,
    ) -> None:
        from odradek.protocol.message_codec import codec

        spec = handler.spec
        self.handler = handler
        self.function = function
        self.answer = spec.response
        self.request: MessageCodec[Any] = codec(spec.request, version)
        self.response: MessageCodec[Any] = codec(spec.response, version)
        self.flexible_request = spec.request_header_version(version) >= 2
        self.flexible_response = spec.response_header_version(version) >= 1
        self.whole_bytes = whole_bytes
        self.long_bytes = long_bytes
        self.large_answers = large_answers
        self.writer = writer


@mypyc_attr(allow_interpreted_subclasses=True)
class Pending:
    """A request whose response has to be waited for.

    `response`: what the handler returned: a coroutine, a `Parked`, or the response itself, which waits until
    what the request appended is durable. `appended`: where the durable log stood before the handler was called.
    """

    __slots__ = ("appended", "context", "frame", "request", "response", "route")

    def __init__(
        self, route: Route, context: RequestContext, request: Any, frame: Frame, response: Any, appended: int
    ) -> None:
        self.route = route
        self.context = context
        self.request = request
        self.frame = frame
        self.response = response
        self.appended = appended


class Long(Pending):
    """A request that is not even decoded yet; its body begins at `position` of the frame. See `long_requests`.

    `client_has_left`: asks its connection.
    """

    __slots__ = ("client_has_left", "position")

    def __init__(self, route: Route, context: RequestContext, frame: Frame, position: int, appended: int) -> None:
        super().__init__(route, context, route.request.message(), frame, None, appended)
        self.position = position
        self.client_has_left: Callable[[], bool] = _stays


class Unreached(Pending):
    """A request that waits until its client is reached again."""

    __slots__ = ()

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.response = None


class Throttled(Pending):
    """An answer (`parts`, None for no answer) that is sent at once; the next request is not read until `until_ms`."""

    __slots__ = ("parts", "until_ms")

    def __init__(self, parts: Parts | None, until_ms: int) -> None:
        self.response = None
        self.parts = parts
        self.until_ms = until_ms


class Disturbed(Pending):
    """An answer that leaves in these steps (`Step`). `until_ms`: when the next request is read, 0 for at once."""

    __slots__ = ("steps", "until_ms")

    def __init__(self, steps: Sequence[Any], until_ms: int) -> None:
        self.response = None
        self.steps = steps
        self.until_ms = until_ms


class ActingFault(Protocol):
    """A fault that replaces an answer; see `odradek.broker.faults.fault.Fault`."""

    drop: bool

    @property
    def tampers(self) -> bool:
        """Whether it does something to the bytes of the answer."""

    def steps_of(self, parts: Parts, response: Any) -> Sequence[Any]:
        """How an answer with these parts leaves."""


class Faults(Protocol):
    """The faults that a test has set; see `odradek.broker.faults.fault.FaultSet`."""

    @property
    def faults(self) -> Sequence[Any]:
        """One by one."""

    async def apply(self, context: RequestContext, request: Any, clock: BrokerClock) -> ActingFault | None:
        """Act on the request; returns the fault that replaces the answer, or None to serve as usual."""


class _Tampered:
    """A response, and the fault that does something to its bytes."""

    __slots__ = ("fault", "response")

    def __init__(self, fault: ActingFault, response: Any) -> None:
        self.fault = fault
        self.response = response


def _stays() -> bool:
    """The client of a request without a connection has not left."""
    return False


def _no_writer(api_key: int, version: int) -> None:
    """The codec writes every answer."""


class Dispatcher:
    """Takes request frames to their handlers and brings back response frames.

    Owner: the cluster (one per cluster). `faults` is what a test has set; it is None for the usual case. `meter` counts
    what requests cost; it is None without client quotas.
    `append_watch` is None for a cluster in memory. `handlers`: others than the broker's, for each node.
    """

    def __init__(
        self,
        services: Services,
        recent: RecentRequests,
        bugs: BugLog,
        append_watch: Durability | None = None,
        answer_writer: Callable[[int, int], AnswerWriter | None] = _no_writer,
        handlers: Callable[[Node], HandlerRegistry] | None = None,
    ) -> None:
        """`answer_writer`: see `Lane`."""
        self._services = services
        self._handlers = services.handlers if handlers is None else handlers
        self.recent = recent
        self._remember = recent.entries.append
        self._clock = services.clock
        self._face = services.clock.face
        self._bugs = bugs
        self.append_watch = append_watch
        self._answer_writer = answer_writer
        self.faults: Faults | None = None
        self.meter: Meter | None = None
        self._answer: Callable[[Route, RequestContext, Any, Any], Parts | Throttled | None] = self._answer_unmetered
        self._instead: Callable[..., Any] | None = None
        self._routes: dict[int, Route] = {}
        self._client_ids: dict[bytes, str] = {}
        self._most_elements = services.config.get_int("odradek.request.max.elements")
        self._turns: trio.Lock | None = None

    def refused_login(self, connection: ConnectionInfo, reason: str) -> None:
        """Note and log that a client was cut before it could send requests."""
        from odradek.broker.security.denials import Denial

        denial = Denial(
            when_ms=self._services.clock.now_ms(),
            principal=str(connection.principal),
            host=connection.peer_host,
            operation="LOGIN",
            resource_type="LISTENER",
            resource_name=connection.listener,
            api="Handshake",
            listener=connection.listener,
            reason=reason,
        )
        self._services.denials.add(denial)

    def begin_refused(
        self, node: Node, connection: ConnectionInfo, frame: Frame, instead: Callable[..., Any]
    ) -> Parts | Pending | None:
        """Read a request as `begin` does, and give it to a handler that refuses it."""
        other = Dispatcher(self._services, self.recent, self._bugs, handlers=self._handlers)
        other._instead = instead
        other._most_elements = _ELEMENTS_BEFORE_A_LOGIN
        try:
            return other.begin(node, connection, frame)
        finally:
            other._answer = self._answer  # its own refers to itself

    def begin(self, node: Node, connection: ConnectionInfo, frame: Frame) -> Parts | Pending | None:
        """Serve one request frame (without its size) until something has to be waited for.

        Returns the response as parts, with its size; None for no answer; a Throttled; or another Pending, for `resume`
        if it is parked and for `finish` otherwise. Raises CloseConnection where Kafka closes the connection.
        """
        try:
            head: tuple[int, int, int, int] = _read_head(frame)
        except Exception:
            raise CloseConnection("a frame too short for a request header") from None
        key, version, correlation_id, id_length = head
        route = self._routes.get(node.route_base | key << 16 | version)
        if route is None:
            route = self._find_route(node, key, version)
            if route is None:
                return self._refuse_version(node, key, correlation_id, connection, frame)
        position = _CLIENT_ID_AT
        client_id: str | None = None
        kept_id: str | None = None
        size = len(frame)
        whole_bytes = route.whole_bytes
        kept: bytes | None = None
        is_long = False
        if size <= whole_bytes:
            kept = frame if isinstance(frame, bytes) else frame.tobytes()
        else:
            is_long = size > route.long_bytes
        if id_length >= 0:
            position += id_length
            raw = bytes(frame[_CLIENT_ID_AT:position]) if kept is None else kept[_CLIENT_ID_AT:position]
            if len(raw) != id_length:
                raise CloseConnection("the client id is longer than the frame")
            client_id = kept_id = self._client_ids.get(raw)
            if client_id is None:
                client_id = self._decode_client_id(raw)
                kept_id = client_id[:LONGEST_KEPT_TEXT]
        exchange: RawExchange = [  # in the order of an Exchange
            self._face.source(),
            connection.id,
            node.id,
            key,
            version,
            correlation_id,
            kept_id,
            size,
            kept,
            0.0,
            None,
            0,
            None,
            None,
        ]
        self._remember(exchange)
        try:
            if route.flexible_request:
                if position < len(frame) and frame[position] == 0:
                    position += 1
                else:
                    position = skip_tagged_fields(frame, position)
            if is_long:
                request = None
            else:
                request, _ = route.request.decode(frame if kept is None else kept, position, self._most_elements)
                if route.large_answers:
                    from odradek.broker.requests.error_answers import asks_for_many

                    is_long = asks_for_many(request, version)
        except ProtocolError as unreadable:
            raise self._unreadable(route, exchange, unreadable) from unreadable
        context = RequestContext(self._services, node, connection, key, version, correlation_id, client_id)
        context.exchange = exchange
        watch = self.append_watch
        appended = 0 if watch is None else watch.appended
        if is_long:
            return Long(route, context, frame, position, appended)
        if size > whole_bytes >= 0:
            self.recent.keep_request(exchange, request, frame, self._services.topics)
        if self.faults is not None:
            if self.meter is not None:
                context.charge = self.meter.charge_of(frame)
            served = self._serve_with_faults(route.function, context, request)
            return Pending(route, context, request, frame, served, appended)
        try:
            response = route.function(context, request)
        except CloseConnection as closed:
            raise self._cut(exchange, closed) from closed.__cause__
        except Exception as error:
            response = self.error_answer(context, request, error, frame)
        if response is not None and (
            (response.__class__ is not route.answer and (isinstance(response, Parked) or is_coroutine(response)))
            or (watch is not None and watch.must_wait(appended))
        ):
            return Pending(route, context, request, frame, response, appended)
        return self._answer(route, context, request, response)

    def _unreadable(self, route: Route, exchange: RawExchange, error: ProtocolError) -> CloseConnection:
        """What ends the connection of a request that cannot be decoded."""
        text = f"{route.handler.spec.name} v{exchange[VERSION]}: {error}"
        if isinstance(error, TooManyElementsError):
            text += " (odradek.request.max.elements)"
            _log.warning("%s is cut: %s", exchange[CONNECTION], text)
        return self._cut(exchange, CloseConnection(text))

    async def _finish_long(self, pending: Long) -> Parts | Throttled | Disturbed | None:
        """Serve a long request in its turn; see `long_requests`."""
        if self._turns is None:
            self._turns = trio.Lock()
        async with self._turns:
            if pending.route.handler.may_end_halfway and pending.client_has_left():
                raise CloseConnection("the client has gone")
            await self._decode_long(pending)
            response = await self._served_long(pending)
            if not (isinstance(response, Parked) or is_coroutine(response)):
                return await self._answer_long(pending, response)
        response = await response_of(response, self._clock)
        async with self._turns:
            return await self._answer_long(pending, response)

    async def _decode_long(self, pending: Long) -> None:
        from odradek.broker.worker import in_thread

        decode, exchange = pending.route.request.decode, pending.context.exchange
        arguments = (pending.frame, pending.position, self._most_elements)
        small = len(pending.frame) <= _DECODED_AT_ONCE
        try:
            decoded: Any = decode(*arguments) if small else await in_thread(decode, *arguments)
        except ProtocolError as unreadable:
            raise self._unreadable(pending.route, exchange, unreadable) from unreadable
        pending.request = decoded[0]
        if pending.route.whole_bytes >= 0:
            keep = (exchange, pending.request, pending.frame, self._services.topics)
            if exchange[API_KEY] in SECRET_REQUESTS:  # all of it is looked at
                await in_thread(self.recent.keep_request, *keep)
            else:
                self.recent.keep_request(*keep)

    async def _served_long(self, pending: Long) -> Any:
        """What the handler returns, or the answer of one that is called for some elements at a time."""
        route, context, request = pending.route, pending.context, pending.request
        services = self._services
        open_to_all = services.authorizer is None and services.controller_authorizer is None  # refusals come last
        in_parts = route.handler.in_parts and open_to_all
        left = pending.client_has_left if route.handler.may_end_halfway else _stays
        serve = partial(self._serve_in_parts, route, left) if in_parts else route.function
        if self.faults is not None:
            if self.meter is not None:
                context.charge = self.meter.charge_of(pending.frame)
            return self._serve_with_faults(serve, context, request)
        response = serve(context, request)
        return await response if in_parts and is_coroutine(response) else response

    def _serve_in_parts(self, route: Route, left: Callable[[], bool], context: RequestContext, request: Any) -> Any:
        from odradek.broker.requests.error_answers import levels_of
        from odradek.broker.requests.long_requests import Chunks, served_in_parts

        function, levels = route.function, levels_of(request, context.api_version)
        if not levels:
            return function(context, request)
        chunks = None
        if route.large_answers and len(levels) == 1 and self.meter is None and self.faults is None:
            chunks = Chunks(route.response, levels[0].answered, self._most_bytes())
        serve = partial(function, context)
        return served_in_parts(serve, self._clock, request, context.api_version, left, chunks)

    def _most_bytes(self) -> int:
        """The size of the largest answer to a long request."""
        return self._services.config.get_int("socket.request.max.bytes")

    async def _answer_long(self, pending: Long, response: Any) -> Parts | Throttled | Disturbed | None:
        from odradek.broker.requests.long_requests import encoded_in_chunks
        from odradek.broker.worker import in_thread

        watch = self.append_watch
        if response is not None and watch is not None and watch.must_wait(pending.appended):
            await watch.flushed()
        if response.__class__ is _Tampered:
            return self._disturb(pending, response)
        codec = pending.route.response
        if response.__class__ is pending.route.answer and self.meter is None:
            response = EncodedParts(response, await in_thread(encoded_in_chunks, codec, response, self._most_bytes()))
        return self._answer(pending.route, pending.context, pending.request, response)

    def resume(self, pending: Pending) -> Parts | Pending | None:
        """Look again at a request that is parked; `pending` itself when there is still something to wait for."""
        parked = pending.response
        try:
            response = parked.resume()
        except CloseConnection as closed:
            raise self._cut(pending.context.exchange, closed) from closed.__cause__
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

    async def finish(self, pending: Pending) -> Parts | Throttled | Disturbed | None:
        """Wait for the response, and until the request's appends are durable."""
        route, context = pending.route, pending.context
        watch = self.append_watch
        try:
            if isinstance(pending, Long):
                return await self._finish_long(pending)
            response = await response_of(pending.response, self._clock)
            if response is not None and watch is not None and watch.must_wait(pending.appended):
                await watch.flushed()
        except CloseConnection as closed:
            raise self._cut(context.exchange, closed) from closed.__cause__
        except Exception as error:
            response = self.error_answer(context, pending.request, error, pending.frame)
        if response.__class__ is _Tampered:
            return self._disturb(pending, response)
        return self._answer(route, context, pending.request, response)

    def _disturb(self, pending: Pending, tampered: _Tampered) -> Disturbed | None:
        answer = self._answer(pending.route, pending.context, pending.request, tampered.response)
        until_ms = 0
        if isinstance(answer, Throttled):
            until_ms = answer.until_ms
            answer = answer.parts
        if answer is None:
            return None
        return Disturbed(tampered.fault.steps_of(answer, tampered.response), until_ms)

    async def _serve_with_faults(self, function: Callable[..., Any], context: RequestContext, request: Any) -> Any:
        """The handler's response; None = none."""
        faults = self.faults
        lost = None if faults is None else await faults.apply(context, request, self._services.clock)
        if lost is not None and lost.drop:
            return None
        tampers = lost is not None and lost.tampers
        try:
            response = await response_of(function(context, request), self._clock)
        except CloseConnection:
            raise
        except Exception as error:
            if not tampers:
                raise
            response = self.error_answer(context, request, error, memoryview(b""))
        if lost is None:
            return response
        return _Tampered(lost, response) if tampers else None

    def _answer_unmetered(self, route: Route, context: RequestContext, request: Any, response: Any) -> Parts | None:
        """The encoded answer: the response as parts, with size and header; None for no answer."""
        if _log.isEnabledFor(_INFO):
            self._log_answer(context, request, response)
        if response is None:
            context.exchange[ANSWERED] = self._face.source()
            return None
        return self._encode(route, context, response)

    def _answer_metered(
        self, route: Route, context: RequestContext, request: Any, response: Any
    ) -> Parts | Throttled | None:
        meter = self.meter
        if meter is None:
            return self._answer_unmetered(route, context, request, response)
        response, throttle = meter.settle(route.response, context, request, response)
        parts = self._answer_unmetered(route, context, request, response)
        return parts if throttle is None else Throttled(parts, throttle.until_ms)

    def set_meter(self, quotas: Quotas | None) -> None:
        """Set the meter of requests; None ends metering. Requests under way are not counted."""
        self._routes.clear()
        self.meter = None
        if quotas is not None:
            from odradek.broker.requests.metering import Meter

            self.meter = Meter(quotas, self._services.clock)
        self.watchers_changed()

    def watchers_changed(self) -> None:
        """`RecentRequests.watchers` is another list: each answer costs a call where there are some."""
        unwatched = self._answer_unmetered if self.meter is None else self._answer_metered
        self._answer = self._answer_watched if self.recent.watchers else unwatched

    def _answer_watched(
        self, route: Route, context: RequestContext, request: Any, response: Any
    ) -> Parts | Throttled | None:
        answer = self._answer_unmetered if self.meter is None else self._answer_metered
        parts = answer(route, context, request, response)
        self.recent.ended(context.exchange)
        return parts

    def abandoned(self, pending: Pending) -> None:
        """The client has gone, and its request gets no answer."""
        if isinstance(getattr(pending, "context", None), RequestContext):
            self._cut(pending.context.exchange, CloseConnection("the client has gone"))

    def _cut(self, exchange: RawExchange, closed: CloseConnection) -> CloseConnection:
        """Note why a request ends its connection."""
        if exchange[CUT] is None and not exchange[ANSWERED]:
            exchange[CUT] = str(closed)[:LONGEST_KEPT_TEXT] or "by its handler"
            self.recent.ended(exchange)
        return closed

    def _log_answer(self, context: RequestContext, request: Any, response: Any) -> None:
        from odradek.broker.requests.request_log import log_answer

        log_answer(context, request, response)

    def _encode(self, route: Route, context: RequestContext, response: Any) -> Parts:
        writer = route.writer
        try:
            whole = None if writer is None else writer(context.correlation_id, response)
            if whole is not None:
                parts: Parts = []
            elif response.__class__ is EncodedBody:
                parts = [response.body]
            elif response.__class__ is EncodedParts:
                parts, response = response.parts, response.response
            else:
                parts = route.response.encode_parts(response)
        except Exception as error:
            self._bugs.report(
                f"the answer to {route.handler.spec.name} v{context.api_version}: {response!r:.2000}", error
            )
            raise self._cut(context.exchange, CloseConnection("the answer cannot be encoded")) from error
        if whole is not None:
            return self._kept(route, context, response, [whole], len(whole))
        size = 4
        for part in parts:
            size += len(part)
        if route.flexible_response:
            size += 1
            parts.insert(0, _SIZED_CORRELATION.pack(size, context.correlation_id) + b"\0")
        else:
            parts.insert(0, _SIZED_CORRELATION.pack(size, context.correlation_id))
        return self._kept(route, context, response, parts, size + 4)

    def _kept(self, route: Route, context: RequestContext, response: Any, parts: Parts, size: int) -> Parts:
        """Keep the part of an answer that the transcript keeps."""
        exchange = context.exchange
        exchange[ANSWERED] = self._face.source()
        exchange[ANSWER_SIZE] = size - 4
        if size <= route.whole_bytes:  # joined to be kept, as it would be to be sent
            small: Any = parts  # what a file holds is never that small
            if len(parts) == 1:
                exchange[ANSWER] = parts[0]
                return parts
            whole = exchange[ANSWER] = small[0] + small[1] if len(parts) == 2 else b"".join(small)
            return [whole]
        if route.whole_bytes >= 0:
            self.recent.keep_answer(exchange, response, parts, size)
        return parts

    def error_answer(self, context: RequestContext, request: Any, error: Exception, frame: Frame) -> Any:
        """The response for a handler that raised: the code of a KafkaError or of damaged data; any other exception is a
        bug.
        """
        from odradek.broker.requests.error_answers import error_response

        if isinstance(error, KafkaError | CorruptDataError):
            code, message = error.code, error.message
        else:
            self._bugs.report(API_BY_KEY[context.api_key].name + f" v{context.api_version}", error, bytes(frame[:4096]))
            code, message = ErrorCode.UNKNOWN_SERVER_ERROR, None
        return error_response(request, context.api_version, code, message)

    # -- the rare ways

    def _find_route(self, node: Node, key: int, version: int) -> Route | None:
        handler = self._handlers(node).find(key)
        if handler is None:
            return None
        if not handler.min_version <= version <= handler.max_version:
            if self._instead is None or key != API_VERSIONS_KEY:
                return None
            version_read = 0  # as KIP-511 has it
        else:
            version_read = version
        large_from = handler.large_answers_from
        has_large_answers = large_from is not None and version_read >= large_from
        route = Route(
            handler,
            version_read,
            self._in_layers(handler, version_read, node.release),
            self.recent.whole_bytes_of(key),
            handler.long_bytes if self._instead is None else NEVER_LONG,
            self._instead is None and has_large_answers,
            self._answer_writer(key, version_read),
        )
        self._routes[node.route_base | key << 16 | version] = route
        return route

    def _in_layers(self, handler: Handler, version: int, release: Release) -> Callable[..., Any]:
        """What serves a version: the handler in its layers, the innermost first. Each is there only where it is needed.

        Rights: a check or a guard. Versions that 4.0 removed: what converts their requests and answers. Quotas: what
        measures the cost. A gate that refuses (`begin_refused`) stands in the place of all of it.
        """
        if self._instead is not None:
            return self._instead
        serve = handler.function
        if self._services.authorizer is not None or self._services.controller_authorizer is not None:
            serve = handler.access.guarded(serve)
        if release.has_removed_versions:
            serve = handler.as_older(serve, version, release)
        return serve if self.meter is None else self.meter.metered(serve)

    def _refuse_version(
        self, node: Node, key: int, correlation_id: int, connection: ConnectionInfo, frame: Frame
    ) -> Parts:
        """ApiVersions in an unknown version is answered in v0 (KIP-511). Any other unserved request closes the
        connection.
        """
        handler = self._handlers(node).find(key)
        if handler is None or key != API_VERSIONS_KEY:
            versions = None if handler is None else (handler.min_version, handler.max_version)
            found = unsupported_request(self._clock.now_ms(), connection.peer_host, frame, versions)
            self._services.unserved.append(found)
            raise CloseConnection(str(found))
        from odradek.protocol.generated.messages.api_versions import ApiVersion, ApiVersionsResponse
        from odradek.protocol.message_codec import codec

        # The versions of ApiVersions that are served, and no other API.
        served = [ApiVersion(API_VERSIONS_KEY, handler.min_version, handler.max_version)]
        response = ApiVersionsResponse(ErrorCode.UNSUPPORTED_VERSION, served)
        body = codec(type(response), 0).encode(response)
        return [_SIZED_CORRELATION.pack(4 + len(body), correlation_id), body]

    def _decode_client_id(self, raw: bytes) -> str:
        """Client ids repeat with every request, so each is decoded once; bad UTF-8 becomes replacement characters.

        Long ones are not kept: 4,096 of the longest would be 256 MB, for clients that have not even logged in.
        """
        text = raw.decode("utf-8", "replace")
        if len(raw) > LONGEST_KEPT_TEXT:
            return text
        if len(self._client_ids) >= 4096:
            self._client_ids.clear()
        self._client_ids[raw] = text
        return text


def skip_tagged_fields(frame: Frame, position: int) -> int:
    """The position behind the header's tag buffer (unknown tags are allowed); ProtocolError if it is cut short."""
    try:
        return read_unknown_fields(frame, position)[1]
    except IndexError:
        raise ProtocolError("a varint that does not end") from None
