"""The REST API as an application of HTTP, and its requests in the broker's transcript (`broker.requests`)."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

import trio

from odradek.broker.config.listeners import address_text
from odradek.broker.facade.thread_bridge import BrokerClosedError, Call
from odradek.broker.requests.recent_requests import (
    ANSWER,
    ANSWER_SIZE,
    ANSWERED,
    CUT,
    FRAME,
    LONGEST_KEPT_TEXT,
    REGISTRY_KEY,
    SIZE,
    WHOLE_BYTES,
    Exchange,
    HttpMessage,
    RawExchange,
)
from odradek.broker.worker import in_thread
from odradek.http_access import Access, HttpError, HttpRequest, text_bytes
from odradek.http_server import ClientGoneError, HttpResponse, Routes, UnansweredError
from odradek.protocol.errors import as_value
from odradek.registry.endpoints import ENDPOINTS, Request
from odradek.registry.errors import RegistryError, too_large
from odradek.registry.registry import Registry

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster

_NO_NODE = 0
_VERSION = 1


class Recording:
    """Records requests and their outcome in the transcript. Any thread but the broker's may call."""

    def __init__(self, cluster: Cluster, look: Call) -> None:
        self._recent = cluster.recent
        self._face = cluster.clock.face
        self._look = look

    def began(self, head: str, connection: str, agent: str | None) -> RawExchange:
        """A request has come. ``head``: method and path; ``connection``: as `RecordedRequest` has it."""
        frame = HttpMessage(head[:WHOLE_BYTES], b"", 0)
        agent = None if agent is None else agent[:LONGEST_KEPT_TEXT]
        at = self._face.source()
        whole = Exchange(at, connection, _NO_NODE, REGISTRY_KEY, _VERSION, 0, agent, 0, frame, 0.0, None, 0, None, None)
        exchange: RawExchange = list(whole)
        self._recent.entries.append(exchange)
        return exchange

    def read(self, exchange: RawExchange, body: bytes) -> None:
        """The request's body has come."""
        exchange[SIZE] = len(body)
        exchange[FRAME] = HttpMessage(exchange[FRAME].head, self._kept(body), len(body))

    def answered(self, exchange: RawExchange, status: int, body: bytes) -> None:
        """The request is answered."""
        exchange[ANSWERED] = self._face.source()
        exchange[ANSWER] = HttpMessage(str(status), self._kept(body), len(body))
        exchange[ANSWER_SIZE] = max(1, len(body))
        self._ended(exchange)

    def cut(self, exchange: RawExchange, why: str) -> None:
        """The request gets no answer."""
        exchange[CUT] = why[:LONGEST_KEPT_TEXT]
        self._ended(exchange)

    def _kept(self, body: bytes) -> bytes:
        return body[:WHOLE_BYTES] if self._recent.messages else b""

    def _ended(self, exchange: RawExchange) -> None:
        if self._recent.watchers:
            try:
                self._look(lambda: self._recent.ended(exchange))
            except BrokerClosedError:
                pass


T = TypeVar("T")

_log = logging.getLogger("odradek.registry")
LARGEST_BODY = 1024 * 1024
"""The default max.request.size of a Kafka producer: Confluent's registry stores no larger record."""
MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
_MEDIA_TYPES = (MEDIA_TYPE, "application/vnd.schemaregistry+json", "application/json", "application/octet-stream")
_RANGES = ("*/*", "application/*", *_MEDIA_TYPES)
_THREADS = 100
_LONGEST_MESSAGE = 4000
"""A parser may tell of all that is wrong with a schema, and cite all of it."""
_TEXT = ("/schema",)
_CONTEXTS = "/contexts/"


class Application:
    """Answers requests in threads.

    ``hosts``, ``token``: as `Access` has them.
    """

    def __init__(
        self, registry: Registry, recording: Recording, hosts: frozenset[str] | None, token: str | None
    ) -> None:
        self._registry = registry
        self._recording = recording
        self._access = Access(hosts, token, _MEDIA_TYPES)
        self._limiter = trio.CapacityLimiter(_THREADS)
        self._routes = Routes(ENDPOINTS)

    async def __call__(self, request: HttpRequest) -> HttpResponse:
        head = f"{request.method} {request.target}"
        exchange = self._recording.began(head, _connection(request), request.headers.get("user-agent"))
        try:
            response = await self._answer(request, exchange)
        except (ClientGoneError, UnansweredError) as error:
            await self._in_thread(self._recording.cut, exchange, str(error) or "the client has gone")
            raise
        except Exception as error:
            response = _answer_to(error, request)
            as_value(error)
        assert isinstance(response.body, bytes)
        await self._in_thread(self._recording.answered, exchange, response.status, response.body)
        return response

    async def _in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        return await in_thread(function, *arguments, abandon_on_cancel=True, limiter=self._limiter)

    async def _answer(self, request: HttpRequest, exchange: RawExchange) -> HttpResponse:
        self._check_access(request)
        context, path = _context_and_path(request.path)
        endpoint, names = self._routes.find(request.method, path)
        if "" in names.values():
            raise HttpError(404, f"there is no {request.path}")
        body = await _body(request)
        self._recording.read(exchange, body)
        is_lost = await self._apply_faults(request.method, request.path)
        query = request.query
        asked = Request(names, dict(query), body, context, query)
        result = await self._in_thread(endpoint, self._registry, asked)
        if is_lost:
            raise UnansweredError("the answer was lost by a fault", stays_open=True)
        if path.endswith(_TEXT) and isinstance(result, str):
            return _response(result)
        return HttpResponse(status=204) if result is None else _json(result)

    async def _apply_faults(self, method: str, path: str) -> bool:
        """Delay the request, or raise the fault that replaces its answer. Returns whether its answer is lost.

        After a fault that only counts or delays, the next one is tried.
        """
        for fault in self._registry.faults:
            if not fault.matches_registry(method, path):
                continue
            fault.note_hit()
            await trio.sleep(fault.delay_ms / 1000)
            if fault.answer is not None:
                raise RegistryError(fault.answer, "answered by a fault")
            if fault.cut or fault.drop:
                raise UnansweredError(f"{'cut' if fault.cut else 'dropped'} by a fault", stays_open=fault.drop)
            if fault.lose:
                return True
        return False

    def _check_access(self, request: HttpRequest) -> None:
        self._access.check(request)
        accepted = request.headers.get("accept", "*/*")
        if not any(each.partition(";")[0].strip().lower() in (*_RANGES, "") for each in accepted.split(",")):
            raise HttpError(406, f"cannot answer as {accepted}: answers are {MEDIA_TYPE}")


def asked(registry: Registry, method: str, path: str, body: Any) -> Any:
    """What is answered to a path with its query, and a body as JSON; RuntimeError with what is refused."""
    target = urlsplit(path)
    query = parse_qsl(target.query, keep_blank_values=True)
    context, plain = _context_and_path(target.path)
    try:
        endpoint, names = Routes(ENDPOINTS).find(method, plain)
        return endpoint(registry, Request(names, dict(query), json.dumps(body).encode(), context, query))
    except (RegistryError, HttpError) as error:
        raise RuntimeError(str(error)) from None


def _answer_to(error: Exception, request: HttpRequest) -> HttpResponse:
    """What a client is told of an error."""
    if isinstance(error, RegistryError):
        return _refused(error.status, error.code, error.message)
    if isinstance(error, HttpError):
        if error.status == 405 and request.method == "OPTIONS":
            return HttpResponse(headers={"Allow": f"{error.headers['Allow']}, OPTIONS"})
        return _refused(error.status, error.status, str(error), error.headers)
    if isinstance(error, BrokerClosedError):
        return _refused(500, 50001, str(error))
    _log.error("bug in the registry: %s %s", request.method, request.target[:200], exc_info=error)
    return _refused(500, 500, f"bug in odradek: {error!r}")


def _context_and_path(path: str) -> tuple[str | None, str]:
    """Split ``/contexts/NAME/...`` into the name and the rest. The name is None for another path."""
    context, slash, rest = path.removeprefix(_CONTEXTS).partition("/")
    if not path.startswith(_CONTEXTS) or not context or not rest:
        return None, path
    return unquote(context), slash + rest


def _connection(request: HttpRequest) -> str:
    """The connection as a transcript names it. HTTP requests are told apart by the client's port."""
    return f"{'-'.join(address_text(*each) for each in (request.server, request.client))}-0"


async def _body(request: HttpRequest) -> bytes:
    if request.method in ("GET", "HEAD", "DELETE"):
        return b""
    try:
        return await request.body(LARGEST_BODY)
    except HttpError as error:
        raise too_large(LARGEST_BODY) if error.status == 413 else error from None


def _response(text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    return HttpResponse(text_bytes(text), status, MEDIA_TYPE, headers or {})


def _json(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    return _response(json.dumps(data, ensure_ascii=False), status, headers)


def _refused(status: int, code: int, message: str, headers: Mapping[str, str] | None = None) -> HttpResponse:
    shown = message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]}..."
    return _json({"error_code": code, "message": shown}, status, headers)
