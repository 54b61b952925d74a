"""The cost of requests while client quotas are set, and the throttle time of their clients.

A meter exists only then: the dispatcher swaps the functions of its routes, and the way in which it answers. A request
that has used too much is answered at once, with `throttle_time_ms`; the connection reads the next one when that
time has passed on the broker's clock (Kafka mutes the channel, KIP-219). Kafka's rules:

- Produce counts its frame, also with acks=0. Fetch counts its answer; one that is too much stays unsent, and the client
  gets an answer without records. If two quotas are exceeded the longer time counts.
- CreateTopics, CreatePartitions and DeleteTopics count partitions, in the controller (`mutations_of`).
- All but Produce with acks=0, WriteTxnMarkers and a follower's Fetch count the time that their handler works. 100 % is
  one thread that does nothing else; a broker here has one thread, a Kafka `num.io.threads` + `num.network.threads`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from odradek.broker.clock import work_ns
from odradek.broker.requests.parked_request import EncodedBody
from odradek.broker.requests.recent_requests import SIZE, Frame
from odradek.broker.requests.request_cost import FetchUnderQuota, RequestCost, response_bytes
from odradek.broker.security.quotas.quotas import FETCH, MUTATION, PRODUCE, REQUEST, Quotas, Throttle
from odradek.protocol.apis import API_BY_KEY

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.requests.context import RequestContext
    from odradek.protocol.message_codec import MessageCodec

_PRODUCE, _FETCH, _SHARE_FETCH, _WRITE_MARKERS = 0, 1, 78, 27
_PERCENT_PER_NS = 100.0 / 1_000_000_000
_MAX_INT = (1 << 31) - 1


class Meter:
    """Counts what requests cost. Owner: the dispatcher; made and dropped with the quotas.

    `work_ns`: real time, to measure handlers by.
    """

    def __init__(self, quotas: Quotas, clock: BrokerClock) -> None:
        self.quotas = quotas
        self.work_ns: Callable[[], int] = work_ns
        self._clock = clock

    def charge_of(self, frame: Frame) -> RequestCost:
        """For a request that is served later than begun."""
        return RequestCost(len(frame))

    def metered(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function that replaces a route's."""

        def serve(ctx: RequestContext, request: Any) -> Any:
            charge = getattr(ctx, "charge", None)  # a request that faults look at has one already
            if charge is None:
                charge = ctx.charge = RequestCost(ctx.exchange[SIZE])
            if ctx.api_key in (_FETCH, _SHARE_FETCH):
                self._prepare_fetch(ctx, request, charge)
            began_ns = self.work_ns()
            try:
                return function(ctx, request)
            finally:
                charge.busy_ns += self.work_ns() - began_ns

        return serve

    def _prepare_fetch(self, ctx: RequestContext, request: Any, charge: RequestCost) -> None:
        """Never read more than could be sent if nothing was fetched before: else the client would get no further."""
        most = self.quotas.of(ctx.node.id).fetch.most_at_once(ctx.connection.principal.name, ctx.client_id)
        if ctx.api_key == _FETCH:
            if request.replica_id >= 0 or request.replica_state.replica_id >= 0:  # a follower
                return
            charge.fetch = FetchUnderQuota(ctx.services.fetch_sessions, ctx.node.id, request)
        request.max_bytes = int(min(request.max_bytes, most, _MAX_INT))
        request.min_bytes = min(request.min_bytes, request.max_bytes)

    def settle(
        self, codec: MessageCodec[Any], ctx: RequestContext, request: Any, response: Any
    ) -> tuple[Any, Throttle | None]:
        """Count a request that is answered; return the answer as the client gets it, and how long it has to wait."""
        charge: RequestCost | None = getattr(ctx, "charge", None)
        if charge is None or (response is None and ctx.api_key != _PRODUCE):
            return response, None  # begun before there was a quota, or its answer was lost by a fault
        waits = self._waits(ctx, request, response, charge)
        wait_ms, key = max(waits, key=lambda each: each[0])
        if wait_ms <= 0:
            return response, None
        if charge.fetch is not None:
            node = self.quotas.of(ctx.node.id)
            now_ms = self._clock.now_ms()
            node.fetch.take_back(ctx.connection.principal.name, ctx.client_id, charge.fetch.size, now_ms)
            response = charge.fetch.empty_answer(response)
        throttle = self._throttle(ctx, key, wait_ms)
        self.quotas.note(throttle)
        return _told(codec, response, wait_ms), throttle

    def _waits(self, ctx: RequestContext, request: Any, response: Any, charge: RequestCost) -> list[tuple[int, str]]:
        """How long the client has to wait for each quota; the first of two equal ones is named."""
        user, client_id, now_ms = ctx.connection.principal.name, ctx.client_id, self._clock.now_ms()
        node = self.quotas.of(ctx.node.id)
        waits: list[tuple[int, str]] = []
        if not _is_exempt(ctx, request, charge):
            percent = charge.busy_ns * _PERCENT_PER_NS
            waits.append((node.request.use(user, client_id, percent, now_ms), REQUEST))
        if ctx.api_key == _PRODUCE:
            waits.append((node.produce.use(user, client_id, charge.frame_bytes, now_ms), PRODUCE))
        elif charge.fetch is not None:
            charge.fetch.size = response_bytes(response, ctx.api_version)
            waits.append((node.fetch.use(user, client_id, charge.fetch.size, now_ms), FETCH))
        elif charge.mutations_ms:
            waits.append((charge.mutations_ms, MUTATION))
        return waits or [(0, REQUEST)]

    def _throttle(self, ctx: RequestContext, key: str, wait_ms: int) -> Throttle:
        client = ctx.connection
        until_ms = self._clock.now_ms() + wait_ms
        api = API_BY_KEY[ctx.api_key].name
        return Throttle(client.id, ctx.client_id, str(client.principal), ctx.node.id, api, key, wait_ms, until_ms)


def _is_exempt(ctx: RequestContext, request: Any, charge: RequestCost) -> bool:
    if ctx.api_key == _PRODUCE:
        return bool(request.acks == 0)
    return ctx.api_key == _WRITE_MARKERS or (ctx.api_key == _FETCH and charge.fetch is None)


def _told(codec: MessageCodec[Any], response: Any, wait_ms: int) -> Any:
    """The answer with the time in it, where its version has the field. Answers may be shared: it is a copy."""
    if response is None:
        return None
    if response.__class__ is EncodedBody:
        response = codec.decode(memoryview(response.body))[0]
    if hasattr(response, "throttle_time_ms"):
        return response.replace(throttle_time_ms=wait_ms)
    return response
