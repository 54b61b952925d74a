"""Ask a handler without a socket: through the codecs of the version, so that what it answers can be sent."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from odradek.broker.api.served import SERVED, handlers_of
from odradek.broker.cluster import Cluster
from odradek.broker.requests.context import ConnectionInfo, RequestContext
from odradek.broker.requests.parked_request import EncodedBody
from odradek.broker.security.principal import ANONYMOUS, Principal
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.errors import KafkaError
from odradek.protocol.message_codec import codec

T = TypeVar("T")


def handler_of(request: Any) -> Callable[..., Any]:
    """The handler that serves a request (or a class of requests)."""
    handler = SERVED.find(request.API_KEY)
    assert handler is not None, f"{type(request).__name__} is not served"
    return handler.function


def ask(
    cluster: Cluster, request: Any, version: int | None = None, *, node_id: int = 1, principal: Principal = ANONYMOUS
) -> Any:
    """The response of the registered sync handler to ``request``, through the codecs of ``version`` (None: newest).

    Where the cluster has an authorizer, the rights of ``principal`` are checked as the dispatcher does it.
    """
    chosen, response = _begun(cluster, request, version, node_id, principal)
    assert not inspect.isawaitable(response)
    return _as_sent(request, chosen, response)


async def ask_patiently(cluster: Cluster, request: Any, version: int) -> Any:
    """As `ask`, for a request that may be answered later."""
    chosen, response = _begun(cluster, request, version, 1, ANONYMOUS)
    return _as_sent(request, chosen, await response if inspect.isawaitable(response) else response)


def let_inflate(cluster: Cluster, size: int) -> None:
    """Let the large batches of a request inflate to so many bytes together."""
    real = cluster.services.worker.do

    async def with_less(work: Any, shared: Any = None) -> Any:
        shared.left = min(shared.left, size)
        return await real(work, shared)

    cluster.services.worker.do = with_less  # type: ignore[method-assign]


def _begun(cluster: Cluster, request: Any, version: int | None, node_id: int, principal: Principal) -> tuple[int, Any]:
    spec = API_BY_KEY[request.API_KEY]
    chosen = spec.max_version if version is None else version
    decoded, _ = codec(spec.request, chosen).decode(codec(spec.request, chosen).encode(request))
    port = cluster.nodes[node_id].port
    connection = ConnectionInfo(id="c1", host="127.0.0.1", port=port, principal=principal)
    context = RequestContext(cluster.services, cluster.nodes[node_id], connection, spec.key, chosen, 1, "test")
    try:
        response = _serving(cluster, request, chosen)(context, decoded)
    except KafkaError as error:
        from odradek.broker.requests.error_answers import error_response

        response = error_response(decoded, chosen, error.code, error.message)
    return chosen, response


def _as_sent(request: Any, chosen: int, response: Any) -> Any:
    if response is None:  # acks=0 gets no answer
        return None
    spec = API_BY_KEY[request.API_KEY]
    body = response.body if isinstance(response, EncodedBody) else codec(spec.response, chosen).encode(response)
    return codec(spec.response, chosen).decode(body)[0]


def _serving(cluster: Cluster, request: Any, version: int) -> Callable[..., Any]:
    release = cluster.config.release
    handler = handlers_of(release).find(request.API_KEY)
    assert handler is not None
    open_to_all = cluster.services.authorizer is None and cluster.services.controller_authorizer is None
    serve = handler.function if open_to_all else handler.access.guarded(handler.function)
    return handler.as_older(serve, version, release) if release.has_removed_versions else serve
