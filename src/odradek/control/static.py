"""The page's files over HTTP. They hold nothing of the broker, so they need no token; what they show, they ask for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

SCRIPTS = (
    *("page", "frame", "dom", "api", "values", "grid", "parts", "topics", "records", "schemas", "groups", "timeline"),
    *("requests", "transactions", "nodes", "lab"),
)
"""The page's modules."""
_FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    **{f"/{name}.js": (f"{name}.js", "text/javascript; charset=utf-8") for name in SCRIPTS},
}
_ICON = "/favicon.ico"
PATHS = frozenset(_FILES) | {_ICON}
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def routes() -> list[Any]:
    """A route for each file."""
    served = [Route(path, _served(name, kind), methods=["GET"]) for path, (name, kind) in _FILES.items()]
    return [*served, Route(_ICON, _nothing, methods=["GET"])]


async def _nothing(request: Request) -> Response:
    """Browsers ask for an icon."""
    return Response(status_code=204)


def _served(name: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        data = files("odradek.control.page").joinpath(name).read_bytes()
        return Response(data, media_type=kind, headers=_HEADERS)

    return answer
