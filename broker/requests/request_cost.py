"""The cost of one request; and Fetch under a quota, where an answer over the quota is not sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from odradek.broker.partitions.fetch_sessions import FINAL_EPOCH, INITIAL_EPOCH, NO_SESSION, FetchSession, TopicKey
from odradek.protocol.generated.messages.fetch import FetchRequest, FetchResponse
from odradek.protocol.message_codec import codec

if TYPE_CHECKING:
    from odradek.broker.partitions.fetch_sessions import FetchSessionCache


class RequestCost:
    """The cost of one request so far. `mutations_ms`: how long its client has to wait for what it changed."""

    __slots__ = ("busy_ns", "fetch", "frame_bytes", "mutations_ms")

    def __init__(self, frame_bytes: int) -> None:
        self.frame_bytes = frame_bytes
        self.busy_ns = 0
        self.mutations_ms = 0
        self.fetch: FetchUnderQuota | None = None


def response_bytes(response: FetchResponse, version: int) -> int:
    """The size of an answer that Kafka counts: its body and the size field, without the addresses of leaders."""
    endpoints, response.node_endpoints = response.node_endpoints, []
    parts = codec(FetchResponse, version).encode_parts(response)
    response.node_endpoints = endpoints
    return 4 + sum(map(len, parts))


class FetchUnderQuota:
    """The changes that a Fetch may have to take back. Made before the request is served.

    `size`: the bytes of its answer, once that is known. The session is the client's of before; what it was told of each
    partition is remembered, and in which order they were to be served.
    """

    __slots__ = ("_caches", "_node_id", "_seen", "_session", "size")

    def __init__(self, caches: Mapping[int, FetchSessionCache], node_id: int, request: FetchRequest) -> None:
        self.size = 0
        self._caches = caches
        self._node_id = node_id
        self._session: FetchSession | None = None
        self._seen: dict[tuple[TopicKey, int], tuple[int, int]] = {}
        if request.session_epoch not in (INITIAL_EPOCH, FINAL_EPOCH):
            self._session = self._find(request.session_id)
        if self._session is not None:
            items = self._session.items.items()
            self._seen = {key: (item.high_watermark, item.log_start_offset) for key, item in items}

    def empty_answer(self, response: FetchResponse) -> FetchResponse:
        """The answer without records for a client over its quota.

        It has no errors, as in Kafka. It opens no session. A session that continues is in its next epoch, but its
        client has no news.
        """
        session = self._session
        if session is None:
            if response.session_id != NO_SESSION and self._node_id in self._caches:
                self._caches[self._node_id].remove(response.session_id)
            return FetchResponse()
        if response.error_code or self._find(session.id) is not session:
            return FetchResponse()
        items = session.items
        order = [key for key in self._seen if key in items] + [key for key in items if key not in self._seen]
        session.items = {key: items[key] for key in order}
        for key, item in session.items.items():
            item.high_watermark, item.log_start_offset = self._seen.get(key, (-1, -1))
        return FetchResponse(session_id=session.id)

    def _find(self, session_id: int) -> FetchSession | None:
        cache = self._caches.get(self._node_id)
        return None if cache is None else cache.find(session_id)
