"""The registry's requests in the broker's transcript (`broker.requests`), beside those of Kafka's protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.facade.thread_bridge import BrokerClosedError, Call
from odradek.broker.requests.exchange import (
    ANSWER,
    ANSWER_SIZE,
    ANSWERED,
    CUT,
    FRAME,
    REGISTRY_KEY,
    SIZE,
    Exchange,
    HttpMessage,
    RawExchange,
)
from odradek.broker.requests.recent_requests import LONGEST_KEPT_TEXT, WHOLE_BYTES

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster

_NO_NODE = 0
_VERSION = 1


class Recording:
    """Records requests and their outcome in the transcript. Any thread but the broker's may call."""

    def __init__(self, cluster: Cluster, look: Call) -> None:
        self._recent = cluster.recent
        self._face = cluster.clock.face
        self._look = look

    def began(self, head: str, connection: str, agent: str | None) -> RawExchange:
        """A request has come. ``head``: method and path; ``connection``: as `RecordedRequest` has it."""
        frame = HttpMessage(head[:WHOLE_BYTES], b"", 0)
        agent = None if agent is None else agent[:LONGEST_KEPT_TEXT]
        at = self._face.source()
        whole = Exchange(at, connection, _NO_NODE, REGISTRY_KEY, _VERSION, 0, agent, 0, frame, 0.0, None, 0, None, None)
        exchange: RawExchange = list(whole)
        self._recent.entries.append(exchange)
        return exchange

    def read(self, exchange: RawExchange, body: bytes) -> None:
        """The request's body has come."""
        exchange[SIZE] = len(body)
        exchange[FRAME] = HttpMessage(exchange[FRAME].head, self._kept(body), len(body))

    def answered(self, exchange: RawExchange, status: int, body: bytes) -> None:
        """The request is answered."""
        exchange[ANSWERED] = self._face.source()
        exchange[ANSWER] = HttpMessage(str(status), self._kept(body), len(body))
        exchange[ANSWER_SIZE] = max(1, len(body))
        self._ended(exchange)

    def cut(self, exchange: RawExchange, why: str) -> None:
        """The request gets no answer."""
        exchange[CUT] = why[:LONGEST_KEPT_TEXT]
        self._ended(exchange)

    def _kept(self, body: bytes) -> bytes:
        return body[:WHOLE_BYTES] if self._recent.messages else b""

    def _ended(self, exchange: RawExchange) -> None:
        if self._recent.watchers:
            try:
                self._look(lambda: self._recent.ended(exchange))
            except BrokerClosedError:
                pass
