"""From the ring of what the broker keeps to requests that a user looks at."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from odradek.broker.requests.exchange import TOLD, Exchange, RawExchange
from odradek.broker.requests.topic_names import TopicsById
from odradek.broker.transcript.fetch_sessions import FetchSessions
from odradek.broker.transcript.kept_messages import decoded_answer, decoded_request
from odradek.broker.transcript.recorded_request import RecordedRequest

_FETCH_KEY = 1


class Reader:
    """Reads requests in their order; see `recorded_request.Facts`, which it is. Any thread may read."""

    def __init__(self, topics: TopicsById, ms_at: Callable[[float], int], origin_s: float) -> None:
        self.topics = topics
        self.ms_at = ms_at
        self.origin_s = origin_s
        self._sessions = FetchSessions(topics)
        self._lock = threading.Lock()

    def read(self, exchanges: Iterable[RawExchange]) -> list[RecordedRequest]:
        """What the user gets. Fetches are read at once: what they are about depends on those before them."""
        with self._lock:
            return [self._recorded(raw) for raw in exchanges]

    def _recorded(self, raw: RawExchange) -> RecordedRequest:
        recorded = RecordedRequest(raw, self)
        exchange = Exchange._make(raw)
        if exchange.api_key == _FETCH_KEY and raw[TOLD] is None:
            request, answer = decoded_request(exchange), decoded_answer(exchange)
            if request is not None:
                session = self._sessions.read(exchange.node_id, request, answer)
                recorded.read(request, answer, session)
        return recorded
