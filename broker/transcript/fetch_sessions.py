"""What fetches read that do not name it: they go on with a session (KIP-227)."""

from __future__ import annotations

from typing import Any

from odradek.broker.requests.topic_names import TopicsById
from odradek.broker.transcript.positions import TopicPosition, positions_of, topic_name

_Content = dict[tuple[str, int], int]


class FetchSessions:
    """The sessions of a cluster, as far as the requests tell that were shown to it, in their order."""

    def __init__(self, topics: TopicsById) -> None:
        self._topics = topics
        self._sessions: dict[tuple[int, int], _Content] = {}

    def read(self, node_id: int, request: Any, answer: Any) -> tuple[TopicPosition, ...]:
        """All that a Fetch read; nothing of a session whose beginning is not known."""
        named: _Content = {
            (place.topic, place.partition): place.offset or 0
            for place in positions_of(request, None, self._topics)
            if place.partition is not None
        }
        if request.session_epoch <= 0:
            if answer is not None and answer.session_id:
                self._sessions[node_id, answer.session_id] = dict(named)
            return ()
        content = self._sessions.get((node_id, request.session_id))
        if content is None:
            return ()
        content |= named
        for topic in request.forgotten_topics_data:
            name = topic.topic or topic_name(self._topics, topic.topic_id)
            for index in topic.partitions:
                content.pop((name, index), None)
        return tuple(TopicPosition(topic, index, offset) for (topic, index), offset in content.items())
