"""The registry of request handlers.

A handler is a function `handler(ctx, request) -> response` (or `async def`). `handles` registers it beside its
definition. A handler that need not wait is a plain function: it is answered without a task switch. A handler that
returns a coroutine must not rely on earlier observations, because other requests may be served until the coroutine
starts.

A start imports no handler. An index says which APIs are served and by which modules; `HandlerRegistry` imports a
module with the first request for one of its APIs. The index is generated from the handlers (`generators/api_index.py`).

Each registration says which rights the API needs: `OPEN`, none; `Whole`, one on the cluster, without which the whole
request is refused before its handler is called; `ByItem`, rights on the topics, groups and so on that the request
names: the handler asks with `ctx.allows`, or a guard stands in its place. Nothing of all this runs in a cluster without
an authorizer: the dispatcher swaps a route's function when it makes the route.
"""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from odradek.protocol.apis import API_BY_KEY, ApiSpec
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.releases.release import Release
    from odradek.broker.security.acl import Operation, Resource


# -- Rights.

Serve = Callable[..., Any]
"""A handler: (context, request) -> response."""
CLUSTER_REFUSED = "Cluster authorization failed."
"""Kafka's own text for CLUSTER_AUTHORIZATION_FAILED."""
GROUP_REFUSED = "Group authorization failed."
TOPIC_REFUSED = "Topic authorization failed."
TRANSACTIONAL_ID_REFUSED = "Transactional Id authorization failed."
_NEEDS = "needs permission"


class Access:
    """The rights that an API needs. `needs`: each right that is asked for, as operation and kind of resource."""

    def __init__(self, *needs: tuple[Operation, Resource]) -> None:
        self.needs = needs

    def guarded(self, serve: Serve) -> Serve:
        """The function that replaces the handler `serve` in a cluster with an authorizer."""
        return serve


class Whole(Access):
    """Needs a right on the cluster; of several `operations` any one will do.

    `message` goes to the client where it is refused (None: no text), in place of the one that names the operation.
    """

    def __init__(self, *operations: Operation, message: str | None = _NEEDS) -> None:
        from odradek.broker.security.acl import Resource

        super().__init__(*((operation, Resource.CLUSTER) for operation in operations))
        self._message = message

    def guarded(self, serve: Serve) -> Serve:
        def checked(ctx: Any, request: Any) -> Any:
            self.check(ctx)
            return serve(ctx, request)

        return checked

    def check(self, ctx: Any) -> None:
        """CLUSTER_AUTHORIZATION_FAILED without any of the rights; only the refusal of the last one is reported."""
        from odradek.broker.security.acl import CLUSTER_NAME

        last = len(self.needs) - 1
        for place, (operation, resource) in enumerate(self.needs):
            if ctx.allows(operation, resource, CLUSTER_NAME, tell=place == last):
                return
        message = self._message
        if message is _NEEDS:
            message = ctx.needs_permission(self.needs[last][0])
        raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, message)


class ByItem(Access):
    """Needs rights on what the request names.

    `guard` names a function of the handler's module that takes the place of the handler: it leaves out what the client
    may not use, calls the handler with the rest, and adds the errors. Without one the handler asks by itself.
    """

    def __init__(self, *needs: tuple[Operation, Resource], guard: str = "") -> None:
        super().__init__(*needs)
        self.guard = guard

    def guarded(self, serve: Serve) -> Serve:
        if not self.guard:
            return serve
        guard: Serve = getattr(sys.modules[serve.__module__], self.guard)
        return guard


OPEN = Access()
"""Every client with a connection may send it."""


# -- The registry.

_F = TypeVar("_F", bound=Callable[..., Any])
LONG_BYTES: Final = 16 * 1024
"""A larger request is long, unless its handler says otherwise."""
NEVER_LONG: Final = 1 << 31
"""For requests whose bytes are records: their size says nothing about the work that they make."""


class Handler:
    """A handler and what its registration says: `@handles(request_class, access=...)` above the function.

    `access`: the rights that it needs. `min_version`/`max_version`: served; they default to all that any release has.
    `differs`: differences from Kafka, for the coverage table.
    `older` names a module of the package `older` beside the handler's module, and a function in it (`produce.older`):
    given the handler, a version and a release, it returns what serves the version as that release.
    `in_parts`: the answer has one element for each of the request, in their order, and none depends on another
    (`error_answers.SHAPES` names the lists). So a long request is served some elements at a time. A request is long
    above `long_bytes` (`long_requests`).
    `large_answers_from`: from this version on the answer to one element may be large, so a request that names more than
    a few is long, too.
    A handler returns the response, or None for "no answer" (acks=0). `raise KafkaError` answers with that error at
    the level where the API carries it. `raise CloseConnection` cuts the connection. Any other exception is a bug of
    the broker.
    """

    function: Serve

    def __init__(
        self,
        request_class: type[Any],
        *,
        access: Access,
        max_version: int | None = None,
        differs: str = "",
        older: str = "",
        in_parts: bool = False,
        long_bytes: int = LONG_BYTES,
        large_answers_from: int | None = None,
    ) -> None:
        self.spec: ApiSpec = API_BY_KEY[request_class.API_KEY]
        self.access = access
        self.min_version: int = request_class.MIN_VERSION
        self.max_version = self.spec.max_version if max_version is None else max_version
        self.differs = differs
        self.older = older
        self.in_parts = in_parts
        self.long_bytes = long_bytes
        self.large_answers_from = large_answers_from

    def __call__(self, function: _F) -> _F:
        known = HANDLERS.get(self.spec.key)
        if known is not None and known.function.__qualname__ != function.__qualname__:
            raise RuntimeError(f"two handlers for {self.spec.name}: {known.function} and {function}")
        self.function = function
        HANDLERS[self.spec.key] = self
        return function

    @property
    def may_end_halfway(self) -> bool:
        """Whether a long request ends when its client has gone: it is served in parts, and changes nothing."""
        return self.in_parts and not isinstance(self.access, Whole)

    def within(self, low: int, high: int) -> Handler:
        """This handler for those of its versions only."""
        low, high = max(low, self.min_version), min(high, self.max_version)
        if (low, high) == (self.min_version, self.max_version):
            return self
        cut = copy.copy(self)
        cut.min_version, cut.max_version = low, high
        return cut

    def as_older(self, serve: Serve, version: int, release: Release) -> Serve:
        """What serves a version as a release that has versions which newer ones removed; `serve` where that is it."""
        if not self.older:
            return serve
        module, _, name = self.older.rpartition(".")
        package = self.function.__module__.rpartition(".")[0]
        found: Serve = getattr(importlib.import_module(f"{package}.older.{module}"), name)(serve, version, release)
        return found


handles = Handler
Index = Mapping[int, tuple[str, int, int]]
"""API key -> (module with the handler, lowest version, highest version)."""

HANDLERS: dict[int, Handler] = {}
"""The handlers of all modules imported so far, by API key. `HandlerRegistry.find` imports the others."""


class HandlerRegistry:
    """The handlers that an index names.

    `package`: where the modules of the index are. `made`: API key -> what makes another handler of that in the module.
    """

    def __init__(self, package: str, index: Index, made: Mapping[int, Callable[[Serve], Serve]] | None = None) -> None:
        self._package = package
        self._index = index
        self._made = made

    def find(self, key: int) -> Handler | None:
        """The handler of an API, imported if need be; None if the API is not served."""
        row = self._index.get(key)
        if row is None:
            return None
        if key not in HANDLERS:
            importlib.import_module(f"{self._package}.{row[0]}")
        handler = HANDLERS.get(key)
        if handler is not None and self._made is not None:
            handler = copy.copy(handler)
            handler.function = self._made[key](handler.function)
        return None if handler is None else handler.within(row[1], row[2])

    def of(self, apis: Mapping[int, tuple[int, int]]) -> HandlerRegistry:
        """The same handlers for these APIs, each in its lowest to highest version."""
        cut: dict[int, tuple[str, int, int]] = {}
        for key, (module, low, high) in self._index.items():
            lowest, highest = apis.get(key, (0, -1))
            if max(low, lowest) <= min(high, highest):
                cut[key] = (module, max(low, lowest), min(high, highest))
        return HandlerRegistry(self._package, cut, self._made)

    def all(self) -> dict[int, Handler]:
        """Every handler by API key. This imports all modules."""
        found = {key: self.find(key) for key in sorted(self._index)}
        return {key: handler for key, handler in found.items() if handler is not None}

    def advertised(self) -> dict[int, tuple[int, int]]:
        """The versions for ApiVersions: lowest and highest by API key. This imports nothing."""
        return {key: (low, high) for key, (_, low, high) in sorted(self._index.items())}
