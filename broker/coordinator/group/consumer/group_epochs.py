"""The epochs of consumer groups, with what is stored of their topics: a hash, or in Kafka 4.0 the topics themselves."""

from __future__ import annotations

from collections.abc import Iterable

from odradek.broker.coordinator.group.consumer.group import ConsumerGroup
from odradek.broker.coordinator.group.consumer.records import epoch_record, partition_metadata_record
from odradek.broker.coordinator.group.settings import GroupConfigs
from odradek.broker.coordinator.group.topics import TopicCache
from odradek.broker.runtime.machine import NewRecord
from odradek.protocol.java_hash_table import HashTable, slots_for
from odradek.protocol.java_maps import hash_of_text


class GroupEpochs:
    """Decides whether groups begin another epoch. Owner: the consumer kind."""

    def __init__(self, topics: TopicCache, configs: GroupConfigs) -> None:
        self._topics = topics
        self._configs = configs

    @property
    def stores_topics(self) -> bool:
        """Whether groups store their topics, not a hash of them."""
        return self._configs.release.stores_topics_of_groups

    def next(self, group: ConsumerGroup, subscribed: Iterable[str], *, bump: bool) -> tuple[int, list[NewRecord]]:
        """The group's epoch, and the records of another one: `bump` begins one, and so do changed topics."""
        if self.stores_topics:
            return self._next_of_topics(group, list(subscribed), bump)
        metadata_hash = self._topics.hash_of(subscribed)
        if not bump and metadata_hash == group.metadata_hash:
            return group.epoch, []
        return group.epoch + 1, [epoch_record(group.group_id, group.epoch + 1, metadata_hash)]

    def _next_of_topics(self, group: ConsumerGroup, subscribed: list[str], bump: bool) -> tuple[int, list[NewRecord]]:
        topics: dict[str, tuple[bytes, int]] = {}
        for name in HashTable(hash_of_text, subscribed, slots_for(len(subscribed))):
            facts = self._topics.named(name)
            if facts is not None:
                topics[name] = facts.topic_id, facts.partitions
        records: list[NewRecord] = []
        if topics != (group.stored_topics or {}):
            records.append(partition_metadata_record(group.group_id, topics))
        if not bump and not records:
            return group.epoch, []
        return group.epoch + 1, [*records, epoch_record(group.group_id, group.epoch + 1, 0)]
