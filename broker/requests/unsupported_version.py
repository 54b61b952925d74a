"""The answer to an ApiVersions request in a version that is not served (KIP-511)."""

from __future__ import annotations

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.api_versions import ApiVersion, ApiVersionsResponse
from odradek.protocol.registry import API_VERSIONS_KEY


def unsupported_version_response(min_version: int, max_version: int) -> ApiVersionsResponse:
    """The body, to be sent in v0: the versions of ApiVersions that are served, and no other API."""
    return ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        api_keys=[ApiVersion(api_key=API_VERSIONS_KEY, min_version=min_version, max_version=max_version)],
    )
