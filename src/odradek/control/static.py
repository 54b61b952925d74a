"""The page's files over HTTP. They hold nothing of the broker, so they need no token; what they show, they ask for."""

from __future__ import annotations

from importlib.resources import files

from odradek.http_server import HttpResponse

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
