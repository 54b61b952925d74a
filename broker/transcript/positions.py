"""Where a request was about: topics, partitions and offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from odradek.broker.requests.subjects import subjects_of
from odradek.broker.requests.topic_names import TopicsById
from odradek.protocol.message import ZERO_UUID, ApiMessage


class TopicPosition(NamedTuple):
    """A partition of a topic, and an offset in it: where it was read or committed, or where records were appended.

    `partition`: None for the whole topic. `offset`: None where the request has none.
    """

    topic: str
    partition: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        place = self.topic if self.partition is None else f"{self.topic}-{self.partition}"
        return place if self.offset is None else f"{place}@{self.offset}"


_Name = Callable[[Any], str]


def positions_of(request: Any, answer: Any, topics: TopicsById) -> list[TopicPosition]:
    """What a request names, in its order; of Produce, where its records are."""

    def name_of(item: Any) -> str:
        name = getattr(item, "topic", None) or getattr(item, "name", None)
        return str(name) if name else topic_name(topics, getattr(item, "topic_id", ZERO_UUID))

    find = _FINDERS.get(request.API_KEY)
    if find is not None:
        return find(request, answer, name_of)
    return _named(request, topics)


def topic_name(topics: TopicsById, topic_id: bytes) -> str:
    """The name behind an id; the id itself where nobody knows it."""
    known = topics.by_id(topic_id)
    if known is not None:
        return known.name
    from odradek.protocol.uuids import uuid_to_text

    return uuid_to_text(topic_id)


def _produce(request: Any, answer: Any, name_of: _Name) -> list[TopicPosition]:
    offsets = {
        (name_of(topic), each.index): each.base_offset
        for topic in (answer.responses if answer is not None else ())
        for each in topic.partition_responses
        if not each.error_code
    }
    return [
        TopicPosition(name_of(topic), each.index, offsets.get((name_of(topic), each.index)))
        for topic in request.topic_data
        for each in topic.partition_data
    ]


def _fetch(request: Any, answer: Any, name_of: _Name) -> list[TopicPosition]:
    return [
        TopicPosition(name_of(topic), each.partition, each.fetch_offset)
        for topic in request.topics
        for each in topic.partitions
    ]


def _list_offsets(request: Any, answer: Any, name_of: _Name) -> list[TopicPosition]:
    return [
        TopicPosition(name_of(topic), each.partition_index) for topic in request.topics for each in topic.partitions
    ]


def _commit(request: Any, answer: Any, name_of: _Name) -> list[TopicPosition]:
    return [
        TopicPosition(name_of(topic), each.partition_index, each.committed_offset)
        for topic in request.topics
        for each in topic.partitions
    ]


def _delete_records(request: Any, answer: Any, name_of: _Name) -> list[TopicPosition]:
    return [
        TopicPosition(name_of(topic), each.partition_index, each.offset)
        for topic in request.topics
        for each in topic.partitions
    ]


_FINDERS: dict[int, Callable[[Any, Any, _Name], list[TopicPosition]]] = {
    0: _produce,
    1: _fetch,
    2: _list_offsets,
    8: _commit,
    21: _delete_records,
    28: _commit,
}


def _named(request: ApiMessage, topics: TopicsById) -> list[TopicPosition]:
    return flat(subjects_of(request, topics).topics.items())


def flat(topics: Iterable[tuple[str, Iterable[int]]]) -> list[TopicPosition]:
    """Partitions by topic as positions; a topic without partitions as a whole."""
    return [
        position
        for name, partitions in topics
        for position in (
            [TopicPosition(name, index) for index in sorted(partitions)] if partitions else [TopicPosition(name)]
        )
    ]
