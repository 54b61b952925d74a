"""The control API as an application of HTTP."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from functools import partial
from importlib.resources import files
from itertools import islice
from typing import Any, TypeVar

import trio

from odradek.broker.facade.remote.json_values import error_told
from odradek.broker.facade.remote.operations import Operation, operations
from odradek.broker.facade.thread_bridge import BrokerClosedError
from odradek.broker.worker import in_thread
from odradek.control.calls import Calls, UnknownHandleError, of_body, of_query
from odradek.control.openapi import document
from odradek.control.streams import RECORDS, REQUESTS, RecordStream, RequestStream, streamed
from odradek.http_access import Access, HttpError, HttpRequest, text_bytes
from odradek.http_server import ClientGoneError, HttpResponse, Routes
from odradek.protocol.errors import KafkaError, ProtocolError, as_value

_log = logging.getLogger("odradek.control")
_JSON = "application/json"
_MAX_BODY_BYTES = 64 * 1024 * 1024
_THREADS = 200
"""How many operations may run at the same time."""
_AT_ONCE = 500
_REFUSALS = (KafkaError, TimeoutError, BrokerClosedError, RuntimeError, ImportError, OSError)
_KINDS = {401: "TokenError", 421: "HostError"}
_MISTAKES = (TypeError, ValueError, LookupError, ArithmeticError, ProtocolError)

T = TypeVar("T")
Endpoint = Callable[[HttpRequest, dict[str, str]], Awaitable[HttpResponse]]


class Application:
    """Answers requests by calling the broker in threads.

    ``hosts``, ``token``: as `Access` has them.
    """

    def __init__(self, calls: Calls, hosts: frozenset[str] | None, token: str | None) -> None:
        self._calls = calls
        self._access = Access(hosts, token, (_JSON,), free=PATHS)
        self._limiter = trio.CapacityLimiter(_THREADS)
        self._routes: Routes[Endpoint] = Routes(
            [
                *(("GET", path, self._file) for path in PATHS),
                *((each.method, each.path, self._endpoint(each)) for each in operations()),
                ("GET", REQUESTS.path, self._requests),
                ("GET", RECORDS.path, self._records),
                ("GET", "/openapi.json", self._openapi),
            ]
        )

    async def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            self._access.check(request)
            endpoint, names = self._routes.find(request.method, request.path)
            return await endpoint(request, names)
        except HttpError as error:
            as_value(error)
            hint = "; GET /openapi.json lists what there is" if error.status == 404 else ""
            return _error(error.status, _KINDS.get(error.status, "HTTPError"), f"{error}{hint}", error.headers)
        except ClientGoneError:
            raise
        except Exception as error:
            _log.error("bug in the control API: %s %s", request.method, request.path, exc_info=error)
            as_value(error)
            return _error(500, type(error).__name__, f"bug in odradek: {error}")

    async def _file(self, request: HttpRequest, names: dict[str, str]) -> HttpResponse:
        return served(request.path)

    async def _openapi(self, request: HttpRequest, names: dict[str, str]) -> HttpResponse:
        return _json(document())

    async def _requests(self, request: HttpRequest, names: dict[str, str]) -> HttpResponse:
        try:
            given = of_query(REQUESTS, dict(request.query))
            stream = RequestStream(given, given.pop("latest", None))
        except _MISTAKES as error:
            return _refused(400, error)
        await stream.begin(self._calls)
        return streamed(stream)

    async def _records(self, request: HttpRequest, names: dict[str, str]) -> HttpResponse:
        try:
            stream = RecordStream(self._calls, **of_query(RECORDS, dict(request.query)))
            await stream.begin()
        except _REFUSALS as error:
            return _refused(409, error)
        except _MISTAKES as error:
            return _refused(400, error)
        return streamed(stream)

    def _endpoint(self, operation: Operation) -> Endpoint:
        async def answer(request: HttpRequest, names: dict[str, str]) -> HttpResponse:
            try:
                if operation.method == "GET":
                    arguments = partial(of_query, operation, dict(request.query))
                else:
                    arguments = partial(of_body, operation, await request.body(_MAX_BODY_BYTES))
                identity = next(iter(names.values()), None)
                if operation.waits:
                    wait = partial(self._calls.wait, operation, identity, await self._in_thread(arguments))
                    result = await request.attended(wait)
                else:
                    result = await self._in_thread(lambda: self._calls.run(operation, identity, arguments()))
            except UnknownHandleError as error:
                as_value(error)
                return _error(404, "LookupError", str(error))
            except _REFUSALS as error:
                return _refused(409, error)
            except _MISTAKES as error:
                return _refused(400, error)
            if isinstance(result, Iterator):
                return HttpResponse(self._listed(result), media_type=_JSON)
            return _json(result)

        return answer

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await in_thread(function, abandon_on_cancel=True, limiter=self._limiter)

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


def _json(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return HttpResponse(text_bytes(text), status, _JSON, headers or {})


def _error(status: int, kind: str, message: str, headers: Mapping[str, str] | None = None) -> HttpResponse:
    return _json({"error": {"type": kind, "message": message}}, status, headers)


def _refused(status: int, error: Exception) -> HttpResponse:
    return _json({"error": error_told(as_value(error))}, status)


SCRIPTS = (
    *("page", "frame", "dom", "api", "grid", "parts", "forms", "topics", "records", "groups"),
    *("requests", "cluster", "registry", "security"),
)
"""The page's modules."""
_FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    **{f"/{name}.js": (f"{name}.js", "text/javascript; charset=utf-8") for name in SCRIPTS},
}
_PRELOADS = "".join(f'<link rel="modulepreload" href="/{name}.js">\n' for name in SCRIPTS).encode() + b"</head>"
"""Has the browser ask for all modules at once, and not for each when another one names it."""
_ICON = "/favicon.ico"
PATHS = frozenset(_FILES) | {_ICON}
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def served(path: str) -> HttpResponse:
    """One of `PATHS`."""
    if path.rstrip("/") == _ICON:  # browsers ask for it
        return HttpResponse(status=204)
    name, kind = _FILES[path.rstrip("/") or "/"]  # as routes are found
    data = files("odradek.control.page").joinpath(name).read_bytes()
    return HttpResponse(data.replace(b"</head>", _PRELOADS), 200, kind, _HEADERS)
