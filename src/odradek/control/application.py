"""The control API as an ASGI application."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, MutableMapping
from contextlib import aclosing
from functools import partial
from itertools import islice
from typing import Any

import trio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from odradek.broker.facade.remote.encoding import error_told
from odradek.broker.facade.remote.operations import Operation, operations
from odradek.broker.facade.thread_bridge import BrokerClosedError
from odradek.control.calls import Calls, UnknownHandleError, of_body, of_query
from odradek.control.openapi import document
from odradek.control.static import PATHS, routes
from odradek.control.streams import RECORDS, REQUESTS, LinesResponse, PiecesResponse, RecordStream, RequestStream
from odradek.http_thread import shows, wrong_host
from odradek.protocol.errors import KafkaError

_log = logging.getLogger("odradek.control")
_MAX_BODY_BYTES = 64 * 1024 * 1024
_THREADS = 200
"""How many operations may wait at the same time."""
_AT_ONCE = 500
_REFUSALS = (KafkaError, TimeoutError, BrokerClosedError, RuntimeError, ImportError, OSError)
_MISTAKES = (TypeError, ValueError, LookupError, ArithmeticError)

Endpoint = Callable[[Request], Awaitable[Response]]


class Application:
    """Answers requests by calling the broker in threads.

    ``hosts``: what the Host header may name, so that no web page can reach the broker by a name of its own; None for
    anything. ``token``: what every request has to show as a bearer token; None for nothing.
    """

    def __init__(self, calls: Calls, hosts: frozenset[str] | None, token: str | None) -> None:
        self._calls = calls
        self._hosts = hosts
        self._token = token
        self._limiter = trio.CapacityLimiter(_THREADS)
        served = [
            *routes(),
            *(Route(_path(each), self._endpoint(each), methods=[each.method]) for each in operations()),
        ]
        served.append(Route(REQUESTS.path, self._requests, methods=["GET"]))
        served.append(Route(RECORDS.path, self._records, methods=["GET"]))
        served.append(Route("/openapi.json", self._openapi, methods=["GET"]))
        self._starlette = Starlette(
            routes=served, exception_handlers={HTTPException: _http_error, Exception: _unexpected}
        )

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        refusal = self._refusal(Request(scope)) if scope["type"] == "http" else None
        await (self._starlette if refusal is None else refusal)(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        name = wrong_host(self._hosts, request.headers.get("host"))
        if name is not None:
            return _error(421, "HostError", f"this server is not {name!r}: use its address")
        shown = request.headers.get("authorization", "")
        if self._token is not None and request.url.path not in PATHS and not shows(self._token, shown):
            return _error(401, "TokenError", "the token is missing or wrong: Authorization: Bearer TOKEN")
        return None

    async def _openapi(self, request: Request) -> Response:
        return JSONResponse(document())

    async def _requests(self, request: Request) -> Response:
        try:
            given = of_query(REQUESTS, request.query_params)
            stream = RequestStream(given, given.pop("latest", None))
        except _MISTAKES as error:
            return _refused(400, error)
        await stream.begin(self._calls)
        return LinesResponse(stream)

    async def _records(self, request: Request) -> Response:
        try:
            stream = RecordStream(self._calls, **of_query(RECORDS, request.query_params))
            await stream.begin()
        except _REFUSALS as error:
            return _refused(409, error)
        except _MISTAKES as error:
            return _refused(400, error)
        return LinesResponse(stream)

    def _endpoint(self, operation: Operation) -> Endpoint:
        async def answer(request: Request) -> Response:
            try:
                if operation.method == "GET":
                    arguments = of_query(operation, request.query_params)
                else:
                    arguments = of_body(operation, await _body(request))
                call = partial(self._calls.run, operation, request.path_params.get("id"), arguments)
                result = await trio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=self._limiter)
            except UnknownHandleError as error:
                return _error(404, "LookupError", str(error))
            except _REFUSALS as error:
                return _refused(409, error)
            except _MISTAKES as error:
                return _refused(400, error)
            if isinstance(result, Iterator):
                return PiecesResponse(self._listed(result), "application/json")
            return JSONResponse(result)

        return answer

    async def _listed(self, items: Iterator[Any]) -> AsyncGenerator[str, None]:
        """A JSON array, piece by piece."""
        start = "["
        while True:
            take: Callable[[], list[Any]] = partial(list, islice(items, _AT_ONCE))
            some = await trio.to_thread.run_sync(take, limiter=self._limiter)
            if not some:
                break
            yield start + ",\n".join(map(json.dumps, some))
            start = ",\n"
        yield "]" if start != "[" else "[]"


def _path(operation: Operation) -> str:
    return operation.path.replace("{id}", "{id:path}")


async def _body(request: Request) -> bytes:
    body = bytearray()
    async with aclosing(request.stream()) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > _MAX_BODY_BYTES:
                raise HTTPException(413, f"the body is larger than {_MAX_BODY_BYTES} bytes")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and (body or kind):
        raise HTTPException(415, "the body is JSON: Content-Type: application/json")
    if not kind and request.headers.get("origin"):
        raise HTTPException(415, "a page of another server may not call: Content-Type: application/json")
    return bytes(body)


def _error(status: int, kind: str, message: str) -> Response:
    return JSONResponse({"error": {"type": kind, "message": message}}, status)


def _refused(status: int, error: Exception) -> Response:
    return JSONResponse({"error": error_told(error)}, status)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    texts = {
        404: f"there is no {request.url.path}; GET /openapi.json lists what there is",
        405: f"{request.url.path} does not take {request.method}",
    }
    response = _error(error.status_code, "HTTPError", texts.get(error.status_code, error.detail))
    response.headers.update(error.headers or {})
    return response


async def _unexpected(request: Request, error: Exception) -> Response:
    _log.error("bug in the control API: %s %s", request.method, request.url.path, exc_info=error)
    return _error(500, type(error).__name__, f"bug in odradek: {error}")
