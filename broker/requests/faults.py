"""A hook between decoding a request and its handler, for tests that need a broker to misbehave.

The dispatcher's ``faults`` is None unless a fault is set, so a broker without faults pays one attribute read per
request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from odradek.broker.requests.context import CloseConnection, RequestContext
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.registry import API_BY_KEY, API_BY_NAME


@dataclass(slots=True, eq=False)
class Fault:
    """What to do with matching requests.

    ``api``: which API, by name or key (``None`` = any). ``node``: at which node (``None`` = any). ``times``: how often
    (``None`` = until removed). ``when``: a further condition on (context, request). What happens is one of ``answer``
    (an error for the whole request), ``drop`` (serve nothing, answer nothing), ``lose`` (serve, but lose the answer),
    ``cut`` (close the connection), or nothing at all. ``delay_ms`` holds the request back before that, on the broker's
    clock. ``hits`` counts. ValueError for an API that does not exist.
    """

    api: str | int | None = None
    times: int | None = None
    when: Callable[[RequestContext, Any], bool] | None = None
    answer: ErrorCode | None = None
    drop: bool = False
    lose: bool = False
    cut: bool = False
    delay_ms: int = 0
    node: int | None = None
    hits: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.api, str):
            spec = API_BY_NAME.get(self.api)
            if spec is None:
                raise ValueError(f"no API is called {self.api!r}; names are as in `odradek coverage`")
            self.api = spec.key
        elif self.api is not None and self.api not in API_BY_KEY:
            raise ValueError(f"no API has the key {self.api}")
        if sum((self.answer is not None, self.drop, self.lose, self.cut)) > 1:
            raise ValueError("a fault does one of answer, drop, lose, cut")

    def matches(self, context: RequestContext, request: Any) -> bool:
        """Whether this fault acts on the request."""
        if self.api is not None and self.api != context.api_key:
            return False
        if self.node is not None and self.node != context.node.id:
            return False
        if self.times is not None and self.hits >= self.times:
            return False
        return self.when is None or self.when(context, request)


@dataclass(slots=True)
class FaultSet:
    """The faults of a cluster, tried in the order in which they were added."""

    faults: list[Fault] = field(default_factory=list)

    async def apply(self, context: RequestContext, request: Any) -> Fault | None:
        """Act on the request; return the fault that stands in the place of the answer, or None to serve as usual."""
        fault = next((each for each in self.faults if each.matches(context, request)), None)
        if fault is None:
            return None
        fault.hits += 1
        if fault.delay_ms:
            await context.services.clock.sleep(fault.delay_ms / 1000)
        if fault.cut:
            raise CloseConnection("cut by a fault")
        if fault.answer is not None:
            raise KafkaError(fault.answer, "answered by a fault")
        return fault if fault.drop or fault.lose else None
