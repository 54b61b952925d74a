"""The registry of request handlers.

A handler is a function `handler(ctx, request) -> response` (or `async def`). `handles` registers it beside its
definition. A handler that need not wait is a plain function: it is answered without a task switch. A handler that
returns a coroutine must not rely on earlier observations, because other requests may be served until the coroutine
starts.

A start imports no handler. An index says which APIs are served and by which modules; `HandlerRegistry` imports a
module with the first request for one of its APIs. The index is generated from the handlers (`generators/api_index.py`).

Each registration says which rights the API needs (`access.py`): an API without them cannot be registered.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from odradek.broker.requests.access import Access, Serve, Whole
from odradek.protocol.apis import API_BY_KEY, ApiSpec

if TYPE_CHECKING:
    from odradek.broker.releases.release import Release

_F = TypeVar("_F", bound=Callable[..., Any])
LONG_BYTES: Final = 16 * 1024
"""A larger request is long, unless its handler says otherwise."""
NEVER_LONG: Final = 1 << 31
"""For requests whose bytes are records: their size says nothing about the work that they make."""


class Handler:
    """A registered handler.

    `access`: the rights it needs. `min_version`/`max_version`: served. `advertised`: whether ApiVersions tells of it.
    `differs`: differences from Kafka, for the coverage table. `older`, `in_parts`, `long_bytes`, `large_answers`: see
    `handles`.
    """

    __slots__ = (
        "access",
        "advertised",
        "differs",
        "function",
        "in_parts",
        "large_answers",
        "long_bytes",
        "max_version",
        "min_version",
        "older",
        "spec",
    )

    def __init__(
        self,
        spec: ApiSpec,
        function: Callable[..., Any],
        *,
        access: Access,
        min_version: int,
        max_version: int,
        advertised: bool,
        differs: str,
        older: str = "",
        in_parts: bool = False,
        long_bytes: int = LONG_BYTES,
        large_answers: int | None = None,
    ) -> None:
        self.spec = spec
        self.function = function
        self.access = access
        self.min_version = min_version
        self.max_version = max_version
        self.advertised = advertised
        self.differs = differs
        self.older = older
        self.in_parts = in_parts
        self.long_bytes = long_bytes
        self.large_answers = large_answers

    @property
    def may_end_halfway(self) -> bool:
        """Whether a long request ends when its client has gone: it is served in parts, and changes nothing."""
        return self.in_parts and not isinstance(self.access, Whole)

    def within(self, low: int, high: int) -> Handler:
        """This handler for those of its versions only."""
        low, high = max(low, self.min_version), min(high, self.max_version)
        if (low, high) == (self.min_version, self.max_version):
            return self
        return Handler(
            self.spec,
            self.function,
            access=self.access,
            min_version=low,
            max_version=high,
            advertised=self.advertised,
            differs=self.differs,
            older=self.older,
            in_parts=self.in_parts,
            long_bytes=self.long_bytes,
            large_answers=self.large_answers,
        )

    def as_older(self, serve: Serve, version: int, release: Release) -> Serve:
        """What serves a version as a release that has versions which newer ones removed; `serve` where that is it."""
        if not self.older:
            return serve
        module, _, name = self.older.rpartition(".")
        package = self.function.__module__.rpartition(".")[0]
        found: Serve = getattr(importlib.import_module(f"{package}.older.{module}"), name)(serve, version, release)
        return found


Index = Mapping[int, tuple[str, int, int, bool]]
"""API key -> (module with the handler, lowest version, highest version, whether ApiVersions tells of it)."""

HANDLERS: dict[int, Handler] = {}
"""The handlers of all modules imported so far, by API key. `HandlerRegistry.find` imports the others."""


def handles(
    request_class: type[Any],
    *,
    access: Access,
    min_version: int | None = None,
    max_version: int | None = None,
    advertised: bool = True,
    differs: str = "",
    older: str = "",
    in_parts: bool = False,
    long_bytes: int = LONG_BYTES,
    large_answers: int | None = None,
) -> Callable[[_F], _F]:
    """Register the decorated function for `request_class`. The versions default to all that any release has.

    `access` says which rights the API needs (`odradek.broker.requests.access`).
    `older` names a module of the package `older` beside the handler's module, and a function in it (`produce.older`):
    given the handler, a version and a release, it returns what serves the version as that release.
    `in_parts`: the answer has one element for each of the request, in their order, and none depends on another
    (`error_answers.SHAPES` names the lists). So a long request is served some elements at a time. A request is long
    above `long_bytes` (`long_requests`).
    `large_answers`: from this version on what is answered of one element may be large, so a request that names more
    than a few is long, too.
    A handler returns the response, or None for "no answer" (acks=0). `raise KafkaError` answers with that error at
    the level where the API carries it. `raise CloseConnection` cuts the connection. Any other exception is a bug of
    the broker.
    """
    spec = API_BY_KEY[request_class.API_KEY]
    low = request_class.MIN_VERSION if min_version is None else min_version
    high = spec.max_version if max_version is None else max_version

    def register(function: _F) -> _F:
        known = HANDLERS.get(spec.key)
        if known is not None and known.function.__qualname__ != function.__qualname__:
            raise RuntimeError(f"two handlers for {spec.name}: {known.function} and {function}")
        HANDLERS[spec.key] = Handler(
            spec,
            function,
            access=access,
            min_version=low,
            max_version=high,
            advertised=advertised,
            differs=differs,
            older=older,
            in_parts=in_parts,
            long_bytes=long_bytes,
            large_answers=large_answers,
        )
        return function

    return register


class HandlerRegistry:
    """The handlers that an index names."""

    __slots__ = ("_index", "_package")

    def __init__(self, package: str, index: Index) -> None:
        """`package`: where the modules of the index are."""
        self._package = package
        self._index = index

    def find(self, key: int) -> Handler | None:
        """The handler of an API, imported if need be; None if the API is not served."""
        row = self._index.get(key)
        if row is None:
            return None
        if key not in HANDLERS:
            importlib.import_module(f"{self._package}.{row[0]}")
        handler = HANDLERS.get(key)
        return None if handler is None else handler.within(row[1], row[2])

    def _with(self, index: Index) -> HandlerRegistry:
        return HandlerRegistry(self._package, index)

    def up_to(self, highest: Mapping[int, int]) -> HandlerRegistry:
        """The same handlers, but these APIs only up to a version; -1 leaves one out."""
        cut = {
            key: (module, low, min(high, highest.get(key, high)), advertised)
            for key, (module, low, high, advertised) in self._index.items()
            if highest.get(key, high) >= low
        }
        return self._with(cut)

    def down_to(self, lowest: Mapping[int, int]) -> HandlerRegistry:
        """The same handlers, but these APIs only down to a version."""
        cut = {
            key: (module, max(low, lowest.get(key, low)), high, advertised)
            for key, (module, low, high, advertised) in self._index.items()
        }
        return self._with(cut)

    def of(self, apis: Mapping[int, tuple[int, int]]) -> HandlerRegistry:
        """The same handlers for the APIs and versions of one Kafka release.

        An API that brokers use among each other and do not tell of stays.
        """
        cut: dict[int, tuple[str, int, int, bool]] = {}
        for key, (module, low, high, advertised) in self._index.items():
            lowest, highest = apis.get(key, (low, high) if not advertised else (0, -1))
            if max(low, lowest) <= min(high, highest):
                cut[key] = (module, max(low, lowest), min(high, highest), advertised)
        return self._with(cut)

    def all(self) -> dict[int, Handler]:
        """Every handler by API key. This imports all modules."""
        found = {key: self.find(key) for key in sorted(self._index)}
        return {key: handler for key, handler in found.items() if handler is not None}

    def advertised(self) -> dict[int, tuple[int, int]]:
        """The versions for ApiVersions: lowest and highest by API key. This imports nothing."""
        return {key: (low, high) for key, (_, low, high, advertised) in sorted(self._index.items()) if advertised}
