"""ApiVersions (key 18).

Versions 0 to 4. v3 adds the client's software name and version (KIP-511) and the feature levels (KIP-584); v4 lists
features whose lowest level is 0 (KIP-1022), which v3 leaves out. An unknown version is answered in v0 with
UNSUPPORTED_VERSION, so that any client can find a version that both speak.

Only what this broker serves is advertised, and a feature only if the APIs that it is about are served. The telemetry
APIs are advertised while there is a client-metrics subscription: without one nobody wants what clients would push.
Produce is advertised from version 0 on as Kafka does, although 3 is the lowest that it accepts: librdkafka would
otherwise think that the broker cannot compress (KAFKA-18659).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from odradek.broker.controller.feature_levels import (
    GROUP_VERSION,
    KRAFT_VERSION,
    SHARE_VERSION,
    STREAMS_VERSION,
    supported_by,
)
from odradek.broker.metadata.image import ELR_VERSION, METADATA_VERSION, TRANSACTION_VERSION
from odradek.broker.requests.access import OPEN
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.registry import handles
from odradek.broker.requests.response import EncodedBody
from odradek.broker.requests.services import Services
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
_TELEMETRY_KEYS = (71, 72)

# The API that has to be served before a feature is worth telling.
_FEATURE_NEEDS: Mapping[str, int] = {
    GROUP_VERSION: 68,
    SHARE_VERSION: 76,
    STREAMS_VERSION: 88,
    TRANSACTION_VERSION: 26,
    METADATA_VERSION: 18,
    KRAFT_VERSION: 18,
    ELR_VERSION: 18,
}


@handles(ApiVersionsRequest, access=OPEN)
def api_versions(ctx: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse | EncodedBody:
    """Tell what is served and which features are on; remember the client and its software."""
    ctx.connection.client_id = ctx.client_id
    if ctx.api_version >= _FIRST_VERSION_WITH_SOFTWARE:
        name, version = request.client_software_name, request.client_software_version
        if not (_SOFTWARE_NAME.fullmatch(name) and _SOFTWARE_NAME.fullmatch(version)):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        ctx.connection.client_software_name = name
        ctx.connection.client_software_version = version
    image = ctx.services.image
    kept = ctx.services.answers.of("ApiVersions", image.offset)
    answer = kept.get(ctx.api_version)
    if answer is None:
        body = codec(ApiVersionsResponse, ctx.api_version).encode(_response(ctx.services, ctx.api_version))
        answer = kept[ctx.api_version] = EncodedBody(body)
    return answer


def _response(services: Services, version: int) -> ApiVersionsResponse:
    served = services.handlers.advertised()
    if not _wants_telemetry(services):
        for key in _TELEMETRY_KEYS:
            served.pop(key, None)
    image = services.image
    release = services.config.release
    lowest_level = 0 if version >= _FIRST_VERSION_WITH_LEVEL_ZERO else 1
    return ApiVersionsResponse(
        api_keys=[_api_version(key, *versions) for key, versions in served.items()],
        supported_features=[
            SupportedFeatureKey(name=name, min_version=low, max_version=high)
            for name, (low, high) in supported_by(release).items()
            if low >= lowest_level and _FEATURE_NEEDS[name] in served
        ],
        finalized_features_epoch=0 if release.zookeeper else image.offset,
        finalized_features=[]
        if release.zookeeper
        else [
            FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
            for name, level in image.features.items()
            if _FEATURE_NEEDS[name] in served
        ],
    )


def _wants_telemetry(services: Services) -> bool:
    telemetry = services.telemetry.made
    return telemetry is not None and telemetry.has_subscriptions


def _api_version(key: int, low: int, high: int) -> ApiVersion:
    return ApiVersion(api_key=key, min_version=0 if key == _PRODUCE_KEY else low, max_version=high)
