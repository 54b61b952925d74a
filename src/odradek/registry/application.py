"""The REST API as an ASGI application."""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import Callable, MutableMapping
from typing import Any, TypeVar
from urllib.parse import unquote

import trio
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from odradek.broker.config.listeners import address_text
from odradek.broker.facade.thread_bridge import BrokerClosedError
from odradek.broker.faults.registry_fault import RegistryFault
from odradek.broker.requests.exchange import RawExchange
from odradek.http_thread import shows, wrong_host
from odradek.registry.endpoints import ENDPOINTS, Endpoint
from odradek.registry.errors import RegistryError, too_large
from odradek.registry.recording import Recording
from odradek.registry.registry import Registry
from odradek.registry.requests import Request

T = TypeVar("T")

_log = logging.getLogger("odradek.registry")
LARGEST_BODY = 1024 * 1024
"""What a producer of Kafka sends at most, so what a registry can store."""
MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
_MEDIA_TYPES = (MEDIA_TYPE, "application/vnd.schemaregistry+json", "application/json", "application/octet-stream")
_RANGES = ("*/*", "application/*", *_MEDIA_TYPES)
_THREADS = 100
_TEXT = ("/schema",)
_CONTEXT = re.compile(r"/contexts/([^/]+)(/.+)")


class Application:
    """Answers requests in threads.

    ``hosts``: what the Host header may name, None for anything. ``token``: what every request has to show, as a bearer
    token or as the password of a user; None for nothing.
    """

    def __init__(
        self, registry: Registry, recording: Recording, hosts: frozenset[str] | None, token: str | None
    ) -> None:
        self._registry = registry
        self._recording = recording
        self._hosts = hosts
        self._token = token
        self._limiter = trio.CapacityLimiter(_THREADS)
        self._routes = [(method, _pattern(path), endpoint) for method, path, endpoint in ENDPOINTS]

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for each in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{each}.complete"})
        if scope["type"] != "http":
            return
        request = HttpRequest(scope, receive)
        exchange = self._recording.began(_head(request), _connection(scope), request.headers.get("user-agent"))
        try:
            response = await self._answer(request, exchange)
        except RegistryError as error:
            response = _response({"error_code": error.code, "message": error.message}, error.status)
        except ClientDisconnect:
            await self._in_thread(self._recording.cut, exchange, "the client has gone")
            return
        except BrokerClosedError as error:
            response = _response({"error_code": 50001, "message": str(error)}, 500)
        except Exception as error:
            _log.error("bug in the registry: %s %s", request.method, request.url.path, exc_info=error)
            response = _response({"error_code": 500, "message": f"bug in odradek: {error!r}"}, 500)
        await self._in_thread(self._recording.answered, exchange, response.status_code, bytes(response.body))
        await response(scope, receive, send)

    async def _in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        return await trio.to_thread.run_sync(function, *arguments, abandon_on_cancel=True, limiter=self._limiter)

    async def _answer(self, request: HttpRequest, exchange: RawExchange) -> Response:
        self._check_access(request)
        path, context = _raw_path(request), None
        if match := _CONTEXT.fullmatch(path):
            context, path = unquote(match[1]), match[2]
        endpoint, names = self._route(request.method, path)
        body = await _body(request)
        self._recording.read(exchange, body)
        await self._apply_faults(request.method, path if context is None else _raw_path(request))
        asked = Request(names, request.query_params, body, context, request.query_params.multi_items())
        result = await self._in_thread(endpoint, self._registry, asked)
        return _text(result) if path.endswith(_TEXT) and isinstance(result, str) else _response(result)

    async def _apply_faults(self, method: str, path: str) -> None:
        """What faults do with the request; those that only delay let the following ones be tried too."""
        for fault in self._registry.faults:
            if isinstance(fault, RegistryFault) and fault.meets(method, path):
                await trio.sleep(fault.delay_ms / 1000)
                if fault.code is not None:
                    raise RegistryError(fault.code, "answered by a fault")

    def _check_access(self, request: HttpRequest) -> None:
        name = wrong_host(self._hosts, request.headers.get("host"))
        if name is not None:
            raise RegistryError(421, f"this server is not {name!r}: use its address")
        if self._token is not None and not shows(self._token, _token_in(request.headers.get("authorization", ""))):
            raise RegistryError(401, "the token is missing or wrong: Authorization: Bearer TOKEN")
        accepted = request.headers.get("accept", "*/*")
        if not any(each.partition(";")[0].strip().lower() in (*_RANGES, "") for each in accepted.split(",")):
            raise RegistryError(406, f"answers are {MEDIA_TYPE}, not {accepted}")

    def _route(self, method: str, path: str) -> tuple[Endpoint, dict[str, str]]:
        allowed = []
        for each, pattern, endpoint in self._routes:
            if match := pattern.fullmatch(path.rstrip("/") or "/"):
                if each == method:
                    return endpoint, {name: unquote(text) for name, text in match.groupdict().items()}
                allowed.append(each)
        if allowed:
            raise RegistryError(405, f"{path} takes {', '.join(allowed)}, not {method}")
        raise RegistryError(404, f"there is no {path}")


def _pattern(path: str) -> re.Pattern[str]:
    """A path with names in braces; each stands for what is between two slashes, encoded ones apart."""
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path))


def _raw_path(request: HttpRequest) -> str:
    """The path as it came, so that an encoded slash is none."""
    raw: bytes = request.scope.get("raw_path") or request.url.path.encode()
    return raw.partition(b"?")[0].decode("latin-1")


def _head(request: HttpRequest) -> str:
    query = request.scope.get("query_string", b"").decode("latin-1")
    return f"{request.method} {_raw_path(request)}{'?' + query if query else ''}"


def _connection(scope: MutableMapping[str, Any]) -> str:
    """The connection as a transcript names it. HTTP requests are told apart by the client's port."""
    ends = (scope.get(each) or ("", 0) for each in ("server", "client"))
    return f"{'-'.join(address_text(host, port) for host, port in ends)}-0"


def _token_in(authorization: str) -> str:
    """A token, also where a client shows it as a password."""
    if authorization.startswith("Basic "):
        try:
            return base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")[2]
        except ValueError:
            return ""
    return authorization


async def _body(request: HttpRequest) -> bytes:
    if request.method in ("GET", "DELETE"):
        return b""
    kind = request.headers.get("content-type", MEDIA_TYPE).partition(";")[0].strip().lower()
    if kind not in _MEDIA_TYPES:
        raise RegistryError(415, f"a body is {MEDIA_TYPE}, not {kind}")
    body = bytearray()
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size <= LARGEST_BODY:
            body += piece
    if size > LARGEST_BODY:
        raise too_large(size, LARGEST_BODY)
    return bytes(body)


def _response(data: Any, status: int = 200) -> Response:
    """None is an answer without content."""
    if data is None:
        return Response(b"", 204)
    return Response(
        json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass"), status, media_type=MEDIA_TYPE
    )


def _text(data: str) -> Response:
    return Response(data.encode("utf-8", "surrogatepass"), 200, media_type=MEDIA_TYPE)
