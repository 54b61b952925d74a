"""Requests in versions that are not served: Kafka cuts such a client and tells it nothing, so reports name them."""

from __future__ import annotations

from typing import NamedTuple

from odradek.broker.requests.exchange import Frame
from odradek.protocol.headers import CLIENT_ID_AT, REQUEST_HEADER
from odradek.protocol.registry import API_BY_KEY

KEPT = 100
_LONGEST_ID = 256


class Unserved(NamedTuple):
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


def unserved(when_ms: int, host: str, frame: Frame, versions: tuple[int, int] | None) -> Unserved:
    """What a frame asks for. `versions`: the lowest and the highest that are served, None if the API is not."""
    key, version, _, length = REQUEST_HEADER.unpack_from(frame)
    raw = bytes(frame[CLIENT_ID_AT : CLIENT_ID_AT + max(0, min(length, _LONGEST_ID))])
    spec = API_BY_KEY.get(key)
    api = f"API key {key}" if spec is None else spec.name
    served = "" if versions is None else f"{versions[0]} to {versions[1]}"
    return Unserved(when_ms, raw.decode("utf-8", "replace"), host, api, version, served)
