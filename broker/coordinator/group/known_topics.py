"""What groups know of the cluster's topics: facts and hashes, kept until a topic changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from odradek.broker.coordinator.group.metadata_hash import group_hash, hash_of_topic
from odradek.broker.coordinator.group.topic_source import TopicFacts, TopicSource

_MOST_GROUP_HASHES: Final = 1 << 10


class KnownTopics:
    """A `TopicSource` that remembers. Owner: a kind of groups, which must `forget` the topics that change."""

    def __init__(self, topics: TopicSource) -> None:
        self._topics = topics
        self._facts: dict[str, TopicFacts] = {}
        self._by_id: dict[bytes, TopicFacts] = {}
        self._hashes: dict[str, int] = {}
        self._group_hashes: dict[tuple[str, ...], int] = {}

    def named(self, name: str) -> TopicFacts | None:
        """See `TopicSource`."""
        facts = self._facts.get(name)
        if facts is None:
            facts = self._keep(self._topics.named(name))
        return facts

    def by_id(self, topic_id: bytes) -> TopicFacts | None:
        """See `TopicSource`."""
        facts = self._by_id.get(topic_id)
        if facts is None:
            facts = self._keep(self._topics.by_id(topic_id))
        return facts

    def names(self) -> Iterable[str]:
        """See `TopicSource`."""
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
