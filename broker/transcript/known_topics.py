"""The names of topics by id, of those that are gone too: requests about them are still told of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.requests.topic_names import HasName, TopicsById

if TYPE_CHECKING:
    from odradek.broker.metadata.delta import MetadataDelta
    from odradek.broker.metadata.image import MetadataImage

_MAX_GONE = 10_000


class _Gone(NamedTuple):
    name: str


class KnownTopics:
    """The topics that a cluster has, and the last 10,000 that it had. Owner: the cluster."""

    def __init__(self, topics: TopicsById) -> None:
        self._topics = topics
        self._gone: dict[bytes, HasName] = {}

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """See `odradek.broker.controller.controller.Publisher`."""
        for topic_id, topic in delta.deleted.items():
            self._gone[topic_id] = _Gone(topic.name)
            if len(self._gone) > _MAX_GONE:
                del self._gone[next(iter(self._gone))]

    def by_id(self, topic_id: bytes) -> HasName | None:
        """The topic, or its name alone if it is gone."""
        return self._topics.by_id(topic_id) or self._gone.get(topic_id)
