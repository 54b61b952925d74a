"""What groups remember of their topics, computed once for each topic and kept until it changes."""

from __future__ import annotations

from collections.abc import Iterable

from odradek.broker.coordinator.group.metadata_hash import group_hash, topic_hash
from odradek.broker.coordinator.group.topic_source import TopicSource


class TopicHashes:
    """The hashes of topics by name. Owner: a kind of groups; it must `forget` the topics that change."""

    def __init__(self, topics: TopicSource) -> None:
        self._topics = topics
        self._kept: dict[str, int] = {}

    def of_group(self, subscribed: Iterable[str]) -> int:
        """The metadata hash of a group that subscribes to these topics; those that do not exist count for nothing."""
        hashes: dict[str, int] = {}
        for name in subscribed:
            value = self._kept.get(name)
            if value is None:
                facts = self._topics.named(name)
                if facts is None:
                    continue
                value = self._kept[name] = topic_hash(name, facts.topic_id, [sorted(racks) for racks in facts.racks])
            hashes[name] = value
        return group_hash(hashes)

    def forget(self, topics: Iterable[str]) -> None:
        """These topics have changed."""
        for name in topics:
            self._kept.pop(name, None)
