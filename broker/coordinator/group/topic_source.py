"""What groups may know of the cluster's topics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.broker.metadata.image import MetadataImage, TopicImage


class TopicFacts(NamedTuple):
    """One topic at one moment. `racks[i]`: the rack of each replica of partition i, without nodes that have none."""

    name: str
    topic_id: bytes
    racks: tuple[tuple[str, ...], ...]

    @property
    def partitions(self) -> int:
        """How many partitions the topic has."""
        return len(self.racks)


class TopicSource(Protocol):
    """The topics as they are now. Its answers are values: nothing changes under who holds one.

    A machine may look here in `decide` only, never in `replay`: the records must store what was decided.
    """

    def named(self, name: str) -> TopicFacts | None:
        """The topic of that name, None if there is none."""

    def by_id(self, topic_id: bytes) -> TopicFacts | None:
        """The topic of that id, None if there is none."""

    def names(self) -> Iterable[str]:
        """The names of all topics, internal ones too (for subscriptions by regular expression)."""


@mypyc_attr(allow_interpreted_subclasses=True)
class ImageTopics:
    """The topics of a running cluster as a `TopicSource`."""

    def __init__(self, image: MetadataImage) -> None:
        self._image = image

    def named(self, name: str) -> TopicFacts | None:
        """See `TopicSource`."""
        return self._facts(self._image.topics.get(name))

    def by_id(self, topic_id: bytes) -> TopicFacts | None:
        """See `TopicSource`."""
        return self._facts(self._image.topics_by_id.get(topic_id))

    def names(self) -> Iterable[str]:
        """See `TopicSource`."""
        return list(self._image.topics)

    def _facts(self, topic: TopicImage | None) -> TopicFacts | None:
        if topic is None:
            return None
        racks = {broker.id: broker.rack for broker in self._image.brokers.values() if broker.rack is not None}
        places = tuple(
            tuple(racks[replica] for replica in partition.replicas if replica in racks)
            for partition in topic.partitions
        )
        return TopicFacts(topic.name, topic.topic_id, places)


@mypyc_attr(allow_interpreted_subclasses=True)
class FixedTopics:
    """Topics that do not change, as a `TopicSource`: for a machine without a cluster."""

    def __init__(self, *topics: TopicFacts) -> None:
        self._by_name = {topic.name: topic for topic in topics}
        self._by_id = {topic.topic_id: topic for topic in topics}

    def named(self, name: str) -> TopicFacts | None:
        """See `TopicSource`."""
        return self._by_name.get(name)

    def by_id(self, topic_id: bytes) -> TopicFacts | None:
        """See `TopicSource`."""
        return self._by_id.get(topic_id)

    def names(self) -> Iterable[str]:
        """See `TopicSource`."""
        return list(self._by_name)
