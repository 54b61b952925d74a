"""Which topics, partitions and offsets a request is about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from odradek.broker.requests.request_topics import HasName, TopicsById, subjects_of
from odradek.protocol.apis import PRODUCE_KEY
from odradek.protocol.message import ZERO_UUID

if TYPE_CHECKING:
    from odradek.broker.metadata.image import MetadataDelta, MetadataImage


class TopicPosition(NamedTuple):
    """A partition of a topic, and an offset in it that is read, committed or appended at.

    `partition`: None for the whole topic. `offset`: None if the request has none.
    """

    topic: str
    partition: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        place = self.topic if self.partition is None else f"{self.topic}-{self.partition}"
        return place if self.offset is None else f"{place}@{self.offset}"


_FIELDS: dict[int, tuple[str, str]] = {
    1: ("partition", "fetch_offset"),
    2: ("partition_index", ""),
    8: ("partition_index", "committed_offset"),
    21: ("partition_index", "offset"),
    28: ("partition_index", "committed_offset"),
}
"""API key -> the fields of a partition in `topics` with its number and its offset, if it has one."""


def positions_of(request: Any, answer: Any, topics: TopicsById) -> list[TopicPosition]:
    """The positions that a request names, in its order. Those of Produce have the offsets from the answer."""
    if request.API_KEY == PRODUCE_KEY:
        return _produced(request, answer, topics)
    if request.API_KEY not in _FIELDS:
        return flat(subjects_of(request, topics).topics.items())
    index, offset = _FIELDS[request.API_KEY]
    return [
        TopicPosition(name_of(topics, topic), getattr(each, index), getattr(each, offset) if offset else None)
        for topic in request.topics
        for each in topic.partitions
    ]


def name_of(topics: TopicsById, item: Any) -> str:
    """The topic of an element of a request or an answer, which has its name, its id or both, or neither."""
    name = getattr(item, "topic", None) or getattr(item, "name", None)
    return str(name) if name else topic_name(topics, getattr(item, "topic_id", ZERO_UUID))


def topic_name(topics: TopicsById, topic_id: bytes) -> str:
    """The name of a topic id, or the id as text if it is unknown."""
    known = topics.by_id(topic_id)
    if known is not None:
        return known.name
    from odradek.protocol.uuids import uuid_to_text

    return uuid_to_text(topic_id)


def _produced(request: Any, answer: Any, topics: TopicsById) -> list[TopicPosition]:
    offsets = {
        (name_of(topics, topic), each.index): each.base_offset
        for topic in (answer.responses if answer is not None else ())
        for each in topic.partition_responses
        if not each.error_code
    }
    places = [(name_of(topics, topic), each.index) for topic in request.topic_data for each in topic.partition_data]
    return [TopicPosition(*place, offsets.get(place)) for place in places]


def flat(topics: Iterable[tuple[str, Iterable[int]]]) -> list[TopicPosition]:
    """Partitions by topic as positions. A topic without partitions is one position."""
    return [
        position
        for name, partitions in topics
        for position in (
            [TopicPosition(name, index) for index in sorted(partitions)] if partitions else [TopicPosition(name)]
        )
    ]


_Content = dict[tuple[str, int], int]


class FetchSessions:
    """The fetch sessions (KIP-227) of a cluster, rebuilt from its requests, because most Fetches do not name their
    partitions.
    """

    def __init__(self, topics: TopicsById) -> None:
        self._topics = topics
        self._sessions: dict[tuple[int, int], _Content] = {}

    def read(self, node_id: int, request: Any, answer: Any) -> tuple[TopicPosition, ...]:
        """All partitions of a Fetch's session; empty if the start of the session was not recorded."""
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
            name = name_of(self._topics, topic)
            for index in topic.partitions:
                content.pop((name, index), None)
        return tuple(TopicPosition(topic, index, offset) for (topic, index), offset in content.items())


_MAX_DELETED = 10_000


class _DeletedTopic(NamedTuple):
    name: str


class TopicHistory:
    """Topics by id: those that exist and the last 10,000 that were deleted. Owner: the cluster."""

    def __init__(self, topics: TopicsById) -> None:
        self._topics = topics
        self._deleted: dict[bytes, HasName] = {}

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """See `odradek.broker.controller.controller.Publisher`."""
        for topic_id, topic in delta.deleted.items():
            self._deleted[topic_id] = _DeletedTopic(topic.name)
            if len(self._deleted) > _MAX_DELETED:
                del self._deleted[next(iter(self._deleted))]

    def by_id(self, topic_id: bytes) -> HasName | None:
        """The topic; only its name if it was deleted."""
        return self._topics.by_id(topic_id) or self._deleted.get(topic_id)
