"""GetTelemetrySubscriptions (71) and PushTelemetry (72): version 0 (KIP-714).

The rules are those of `odradek.broker.telemetry`. Kafka advertises both only with a metrics reporter that takes client
metrics; here ApiVersions tells of them while there is a client-metrics subscription.
"""

from __future__ import annotations

from functools import partial

from odradek.broker.config import client_selectors as selectors
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import OPEN, handles
from odradek.broker.telemetry.instances import Attributes
from odradek.protocol.compression import Codec
from odradek.protocol.generated.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from odradek.protocol.generated.messages.push_telemetry import PushTelemetryRequest, PushTelemetryResponse

_ACCEPTED = (Codec.ZSTD, Codec.LZ4, Codec.GZIP, Codec.SNAPPY)
"""The order is Kafka's order of preference; a client takes the first that it knows."""
_WATCHED = "telemetry"
_UNKNOWN = "unknown"


@handles(
    GetTelemetrySubscriptionsRequest, access=OPEN, differs="advertised while there is a client-metrics subscription"
)
def get_telemetry_subscriptions(
    ctx: RequestContext, request: GetTelemetrySubscriptionsRequest
) -> GetTelemetrySubscriptionsResponse:
    """Tell a client its instance id, and which metrics to push how often."""
    _watch(ctx)
    service = ctx.services.telemetry()
    instance_id, subscription = service.subscription(
        ctx.node.id, ctx.connection.id, request.client_instance_id, _attributes(ctx)
    )
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=instance_id,
        subscription_id=subscription.subscription_id,
        accepted_compression_types=[int(codec) for codec in _ACCEPTED],
        push_interval_ms=subscription.interval_ms,
        telemetry_max_bytes=service.max_bytes,
        delta_temporality=True,
        requested_metrics=list(subscription.metrics),
    )


@handles(PushTelemetryRequest, access=OPEN, differs="advertised while there is a client-metrics subscription")
def push_telemetry(ctx: RequestContext, request: PushTelemetryRequest) -> PushTelemetryResponse:
    """Take a client's metrics."""
    _watch(ctx)
    ctx.services.telemetry().push(ctx.node.id, ctx.connection.id, _attributes(ctx), request)
    return PushTelemetryResponse()


def _watch(ctx: RequestContext) -> None:
    """A client instance ends with its connection."""
    connection = ctx.connection
    if _WATCHED not in connection.attributes:
        connection.attributes[_WATCHED] = True
        instances = ctx.services.telemetry().instances(ctx.node.id)
        connection.on_closed.append(partial(instances.connection_closed, connection.id))


def _attributes(ctx: RequestContext) -> Attributes:
    connection = ctx.connection
    return {
        selectors.CLIENT_ID: ctx.client_id,
        selectors.CLIENT_SOFTWARE_NAME: connection.client_software_name or _UNKNOWN,
        selectors.CLIENT_SOFTWARE_VERSION: connection.client_software_version or _UNKNOWN,
        selectors.CLIENT_SOURCE_ADDRESS: connection.peer_host,
        selectors.CLIENT_SOURCE_PORT: str(connection.peer_port),
    }
