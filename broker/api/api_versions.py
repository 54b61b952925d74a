"""ApiVersions (key 18).

Versions 0 to 5. v3 adds the client's software name and version (KIP-511) and the feature levels (KIP-584); v4 lists
features whose lowest level is 0 (KIP-1022), which v3 leaves out; with v5 the client says which cluster and node it
means to reach (KIP-1242). An unknown version is answered in v0 with UNSUPPORTED_VERSION, so that any client can find a
version that both speak.

Only what is served is advertised, on a controller's listener what controllers serve. The telemetry APIs are advertised
while there is a client-metrics subscription: without one nobody wants what clients would push. Produce is advertised
from version 0 on as Kafka does, although 3 is the lowest that it accepts: librdkafka would otherwise think that the
broker cannot compress (KAFKA-18659).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from odradek.broker.controller.feature_levels import KRAFT_VERSION, UNSTABLE_FEATURES_ENABLE, supported_features
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import NEVER_LONG, OPEN, handles
from odradek.broker.requests.parked_request import EncodedBody
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from odradek.protocol.message_codec import codec

_SOFTWARE_NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_FIRST_VERSION_WITH_SOFTWARE = 3
_FIRST_VERSION_WITH_LEVEL_ZERO = 4
_PRODUCE_KEY = 0
_NO_NODE = -1
_TELEMETRY_KEYS = (71, 72)


@handles(ApiVersionsRequest, access=OPEN, long_bytes=NEVER_LONG)
def api_versions(ctx: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse | EncodedBody:
    """Tell what is served and which features are on; remember the client and its software."""
    return told_versions(ctx, request, "ApiVersions", served_by_brokers, UNSTABLE_FEATURES_ENABLE)


def served_by_brokers(ctx: RequestContext) -> dict[int, tuple[int, int]]:
    """Lowest and highest version of each API by its key."""
    served = ctx.services.handlers(ctx.node).advertised()
    telemetry = ctx.services.telemetry.made
    if telemetry is None or not telemetry.has_subscriptions:
        for key in _TELEMETRY_KEYS:
            served.pop(key, None)
    return served


def told_versions(
    ctx: RequestContext,
    request: ApiVersionsRequest,
    name: str,
    served: Callable[[RequestContext], dict[int, tuple[int, int]]],
    switch: str,
) -> ApiVersionsResponse | EncodedBody:
    """The answer with these APIs. `name`: under which it is kept. `switch`: the config that adds levels of features
    that are still in development. Remembers the client and its software.
    """
    ctx.connection.client_id = ctx.client_id
    if ctx.api_version >= _FIRST_VERSION_WITH_SOFTWARE:
        software, version = request.client_software_name, request.client_software_version
        if not (_SOFTWARE_NAME.fullmatch(software) and _SOFTWARE_NAME.fullmatch(version)):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        ctx.connection.client_software_name = software
        ctx.connection.client_software_version = version
    if request.cluster_id is not None or request.node_id != _NO_NODE:
        if request.cluster_id is None or request.node_id == _NO_NODE:
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        if (request.cluster_id, request.node_id) != (ctx.services.cluster_id, ctx.node.id):
            return ApiVersionsResponse(error_code=ErrorCode.REBOOTSTRAP_REQUIRED)
    image = ctx.services.image
    kept = ctx.services.answers.of(name, image.offset)
    facts = ctx.node.id, ctx.release, ctx.api_version, ctx.services.controller.kraft_version
    answer = kept.get(facts)
    if answer is None:
        response = _response(ctx, served(ctx), switch)
        body = codec(ApiVersionsResponse, ctx.api_version).encode(response)
        answer = EncodedBody(body)
        ctx.services.answers.keep(name, facts, answer, len(body))
    return answer


def _response(ctx: RequestContext, served: Mapping[int, tuple[int, int]], switch: str) -> ApiVersionsResponse:
    services, release = ctx.services, ctx.release
    image = services.image
    supported = supported_features(services.config, release, ctx.node.id, switch)
    finalized = dict(image.features)
    if services.controller.kraft_version and KRAFT_VERSION in supported:
        finalized[KRAFT_VERSION] = services.controller.kraft_version
    lowest_level = 0 if ctx.api_version >= _FIRST_VERSION_WITH_LEVEL_ZERO else 1
    return ApiVersionsResponse(
        api_keys=[ApiVersion(key, 0 if key == _PRODUCE_KEY else low, high) for key, (low, high) in served.items()],
        supported_features=[
            SupportedFeatureKey(name=name, min_version=low, max_version=high)
            for name, (low, high) in supported.items()
            if low >= lowest_level
        ],
        finalized_features_epoch=0 if release.zookeeper else image.offset,
        finalized_features=[]
        if release.zookeeper
        else [
            FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
            for name, level in finalized.items()
        ],
    )
