"""The cluster's topics as groups see them, and the hash by which a group detects their changes.

The hash covers the names, partitions and racks of the subscribed topics. It is stored with the group's epoch
(KIP-1101): when a topic changes, the new hash differs and the group rebalances. A topic that does not exist is not part
of the hash.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

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
        """The number of partitions."""
        return len(self.racks)


class TopicSource(Protocol):
    """The current topics. The answers are values, which never change.

    A machine may use this in `decide` only, never in `replay`: the records must store the decision.
    """

    def named(self, name: str) -> TopicFacts | None:
        """The topic with that name; None without one."""

    def by_id(self, topic_id: bytes) -> TopicFacts | None:
        """The topic with that id; None without one."""

    def names(self) -> Iterable[str]:
        """The names of all topics, internal ones too (for subscriptions by regular expression)."""


@mypyc_attr(allow_interpreted_subclasses=True)
class ImageTopics:
    """The topics of a running cluster as a `TopicSource`."""

    def __init__(self, image: MetadataImage) -> None:
        self._image = image

    def named(self, name: str) -> TopicFacts | None:
        return self._facts(self._image.topics.get(name))

    def by_id(self, topic_id: bytes) -> TopicFacts | None:
        return self._facts(self._image.topics_by_id.get(topic_id))

    def names(self) -> Iterable[str]:
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
        return self._by_name.get(name)

    def by_id(self, topic_id: bytes) -> TopicFacts | None:
        return self._by_id.get(topic_id)

    def names(self) -> Iterable[str]:
        return list(self._by_name)


StoredTopics = Mapping[str, tuple[bytes, int]]
"""The topics of a group as Kafka 4.0 stores them: name -> id and number of partitions."""

_INT32 = Struct("<i")
_MAGIC = b"\0"


def topic_hash(name: str, topic_id: bytes, racks: Sequence[Sequence[str]]) -> int:
    """The hash of one topic; `racks` has, for each partition, the racks of its replicas (empty where unknown)."""
    parts = [_MAGIC, topic_id[7::-1], topic_id[:7:-1], _text(name), _INT32.pack(len(racks))]
    for partition, names in enumerate(racks):
        parts.append(_INT32.pack(partition))
        for rack in sorted(names, key=_order):
            parts += (_INT32.pack(len(rack.encode("utf-16-le")) // 2), _text(rack))
    return _hash64(b"".join(parts))


@lru_cache(maxsize=1 << 8)
def hash_of_topic(topic: TopicFacts) -> int:
    """The same for `TopicFacts`; cached, because each coordinator asks for its groups."""
    return topic_hash(topic.name, topic.topic_id, topic.racks)


def group_hash(topic_hashes: Mapping[str, int]) -> int:
    """The hash of a group from those of its topics by name; 0 without any."""
    if not topic_hashes:
        return 0
    ordered = sorted(topic_hashes, key=_order)
    return _hash64(b"".join(topic_hashes[name].to_bytes(8, "little", signed=True) for name in ordered))


def _hash64(data: bytes) -> int:
    """XXH3 as a signed number of 64 bits, as Java has it."""
    from xxhash import xxh3_64_digest

    return int.from_bytes(xxh3_64_digest(data), "big", signed=True)


def _text(text: str) -> bytes:
    units = text.encode("utf-16-le", "surrogatepass")
    return units + _INT32.pack(len(units) // 2)


def _order(text: str) -> bytes:
    """The order of `String.compareTo`."""
    return text.encode("utf-16-be", "surrogatepass")


_MOST_GROUP_HASHES: Final = 1 << 10


class TopicCache:
    """A `TopicSource` with a cache. Owner: a kind of groups, which must `forget` the topics that change.

    ``version`` grows with each change.
    """

    def __init__(self, topics: TopicSource) -> None:
        self.version = 0
        self._topics = topics
        self._facts: dict[str, TopicFacts] = {}
        self._by_id: dict[bytes, TopicFacts] = {}
        self._hashes: dict[str, int] = {}
        self._group_hashes: dict[tuple[str, ...], int] = {}

    def named(self, name: str) -> TopicFacts | None:
        facts = self._facts.get(name)
        if facts is None:
            facts = self._keep(self._topics.named(name))
        return facts

    def by_id(self, topic_id: bytes) -> TopicFacts | None:
        facts = self._by_id.get(topic_id)
        if facts is None:
            facts = self._keep(self._topics.by_id(topic_id))
        return facts

    def names(self) -> Iterable[str]:
        return self._topics.names()

    def hash_of(self, subscribed: Iterable[str]) -> int:
        """The metadata hash of a group that subscribes to these topics; those that do not exist count for nothing."""
        names = tuple(subscribed)
        known = self._group_hashes.get(names)
        if known is not None:
            return known
        hashes: dict[str, int] = {}
        for name in names:
            value = self._hashes.get(name)
            if value is None:
                facts = self.named(name)
                if facts is None:
                    continue
                value = self._hashes[name] = hash_of_topic(facts)
            hashes[name] = value
        known = group_hash(hashes)
        if len(hashes) == len(names):  # a topic that does not exist may come
            if len(self._group_hashes) >= _MOST_GROUP_HASHES:
                self._group_hashes.clear()
            self._group_hashes[names] = known
        return known

    def forget(self, topics: Iterable[str]) -> None:
        """These topics have changed."""
        self.version += 1
        self._group_hashes.clear()
        for name in topics:
            facts = self._facts.pop(name, None)
            if facts is not None:
                self._by_id.pop(facts.topic_id, None)
            self._hashes.pop(name, None)

    def _keep(self, facts: TopicFacts | None) -> TopicFacts | None:
        if facts is not None:
            self._facts[facts.name] = self._by_id[facts.topic_id] = facts
        return facts
