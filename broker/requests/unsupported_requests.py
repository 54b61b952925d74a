"""Requests in versions that are not served: Kafka cuts such a client and tells it nothing, so reports name them.

ApiVersions alone is answered (KIP-511).
"""

from __future__ import annotations

from typing import NamedTuple

from odradek.broker.requests.exchange import Frame
from odradek.protocol.apis import API_BY_KEY, API_VERSIONS_KEY
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.api_versions import ApiVersion, ApiVersionsResponse
from odradek.protocol.headers import CLIENT_ID_AT, REQUEST_HEADER

KEPT = 100
_LONGEST_ID = 256


class UnsupportedRequest(NamedTuple):
    """One such request. `when_ms`: the broker's clock. `client`: its id, "" for none. `host`: its address.
    `served`: the versions that are, as `0 to 13`; "" if the API is not served at all."""

    when_ms: int
    client: str
    host: str
    api: str
    version: int
    served: str

    def __str__(self) -> str:
        if not self.served:
            return f"{self.api} is not served"
        return f"{self.api} is not served in version {self.version}, but in {self.served}"


def unsupported_request(when_ms: int, host: str, frame: Frame, versions: tuple[int, int] | None) -> UnsupportedRequest:
    """The API and version of a frame. `versions`: the lowest and highest served ones, None if the API is not served."""
    key, version, _, length = REQUEST_HEADER.unpack_from(frame)
    raw = bytes(frame[CLIENT_ID_AT : CLIENT_ID_AT + max(0, min(length, _LONGEST_ID))])
    spec = API_BY_KEY.get(key)
    api = f"API key {key}" if spec is None else spec.name
    served = "" if versions is None else f"{versions[0]} to {versions[1]}"
    return UnsupportedRequest(when_ms, raw.decode("utf-8", "replace"), host, api, version, served)


def unsupported_version_response(min_version: int, max_version: int) -> ApiVersionsResponse:
    """The body, to be sent in v0: the versions of ApiVersions that are served, and no other API."""
    return ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION,
        api_keys=[ApiVersion(api_key=API_VERSIONS_KEY, min_version=min_version, max_version=max_version)],
    )
