"""A hook between decoding a request and its handler, for tests that need a broker to misbehave.

``cluster.faults`` is ``None`` unless a fault is set, so a broker without faults pays one attribute read per request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from odradek.broker.context import CloseConnection, RequestContext
from odradek.protocol.errors import ErrorCode, KafkaError


@dataclass(slots=True, eq=False)
class Fault:
    """What to do with matching requests.

    ``api_key``: of which API (``None`` = any). ``times``: how often (``None`` = until removed). ``when``: a further
    condition on (context, request). One of: ``answer`` (an error for the whole request), ``drop`` (serve nothing,
    answer nothing), ``lose`` (serve, but lose the answer), ``cut`` (close the connection). ``delay_ms`` holds the
    request back before that, on the broker's clock. ``hits`` counts.
    """

    api_key: int | None = None
    times: int | None = None
    when: Callable[[RequestContext, Any], bool] | None = None
    answer: ErrorCode | None = None
    drop: bool = False
    lose: bool = False
    cut: bool = False
    delay_ms: int = 0
    hits: int = 0

    def matches(self, context: RequestContext, request: Any) -> bool:
        """Whether this fault acts on the request."""
        if self.api_key is not None and self.api_key != context.api_key:
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
            await context.cluster.clock.sleep(fault.delay_ms / 1000)
        if fault.cut:
            raise CloseConnection("cut by a fault")
        if fault.answer is not None:
            raise KafkaError(fault.answer, "answered by a fault")
        return fault if fault.drop or fault.lose else None
