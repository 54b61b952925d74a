"""The registry of request handlers.

A handler is a function ``handler(ctx, request) -> response`` (or ``async def``), registered beside its definition with
:func:`handles`. ApiVersions, the ``coverage`` command and README's table all come from this registry. One that need
not wait is plain: it is answered without a task switch. One that returns a coroutine must not rely on what it saw
before, as other requests may be served until the coroutine starts.

A broker starts without importing the handlers: ``api/index.py``, which is written from the registry, says what is
served and where, and a module is imported when the first request for one of its APIs arrives.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from odradek.broker.api.index import INDEX
from odradek.protocol.registry import API_BY_KEY, ApiSpec

_F = TypeVar("_F", bound=Callable[..., Any])
_PACKAGE = "odradek.broker.api"


@dataclass(frozen=True, slots=True)
class Handler:
    """A registered handler and what the coverage table says of it.

    ``min_version``/``max_version``: served. ``advertised``: whether ApiVersions tells of it. ``differs``:
    differences from Kafka, for people.
    """

    spec: ApiSpec
    function: Callable[..., Any]
    min_version: int
    max_version: int
    advertised: bool
    differs: str


class _Handlers(dict[int, Handler]):
    """Imports the module of a key that is looked up with ``[]``; everything else sees what is imported so far."""

    def __missing__(self, key: int) -> Handler:
        handler = find_handler(key)
        if handler is None:
            raise KeyError(key)
        return handler


HANDLERS: dict[int, Handler] = _Handlers()
"""The handlers imported so far, by API key; :func:`load_handlers` imports all."""


def handles(
    request_class: type[Any],
    *,
    min_version: int | None = None,
    max_version: int | None = None,
    advertised: bool = True,
    differs: str = "",
) -> Callable[[_F], _F]:
    """Register the decorated function for ``request_class``; versions default to all of Kafka 4.3.1's.

    A handler returns the response, or ``None`` for "no answer" (acks=0). ``raise KafkaError`` answers with that
    error at the level where the API carries it; ``raise CloseConnection`` cuts the connection. Any other exception
    is a bug of the broker.
    """
    spec = API_BY_KEY[request_class.API_KEY]
    low = spec.min_version if min_version is None else min_version
    high = spec.max_version if max_version is None else max_version

    def register(function: _F) -> _F:
        if spec.key in HANDLERS and HANDLERS[spec.key].function.__qualname__ != function.__qualname__:
            raise RuntimeError(f"two handlers for {spec.name}: {HANDLERS[spec.key].function} and {function}")
        HANDLERS[spec.key] = Handler(
            spec=spec,
            function=function,
            min_version=low,
            max_version=high,
            advertised=advertised,
            differs=differs,
        )
        return function

    return register


def find_handler(key: int) -> Handler | None:
    """The handler of an API, imported if need be; None if it is not served."""
    handler = HANDLERS.get(key)
    if handler is None and key in INDEX:
        importlib.import_module(f"{_PACKAGE}.{INDEX[key][0]}")
        handler = HANDLERS.get(key)
    return handler


def load_handlers() -> dict[int, Handler]:
    """Import every module of handlers; return the registry by API key."""
    package = importlib.import_module(_PACKAGE)
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{_PACKAGE}.{module.name}")
    return HANDLERS


def advertised_versions() -> dict[int, tuple[int, int]]:
    """What ApiVersions tells: lowest and highest version by API key, without importing anything."""
    told = {key: (low, high) for key, (_, low, high, advertised) in INDEX.items() if advertised}
    for key, handler in HANDLERS.items():
        if handler.advertised:
            told[key] = handler.min_version, handler.max_version
    return dict(sorted(told.items()))


def index_source() -> str:
    """The text that ``api/index.py`` should have."""
    rows = [
        f'    {key}: ("{handler.function.__module__.rpartition(".")[2]}", '
        f"{handler.min_version}, {handler.max_version}, {handler.advertised}),  # {handler.spec.name}\n"
        for key, handler in sorted(load_handlers().items())
    ]
    return (
        '"""What is served, and by which module here: key -> (module, lowest, highest version, advertised).\n\n'
        "Written from the registry by `python -m tests.frontdoor.readme`: do not edit.\n"
        '"""\n\n'
        "INDEX: dict[int, tuple[str, int, int, bool]] = {\n" + "".join(rows) + "}\n"
    )
