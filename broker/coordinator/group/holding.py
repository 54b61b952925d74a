"""What a member holds while an assignor plans."""

from __future__ import annotations

from odradek.broker.coordinator.group.assignment import Partitions
from odradek.protocol.java_hash_table import DEFAULT_SLOTS, HashTable, slots_for, slots_of_copy
from odradek.protocol.java_maps import hash_of_number, hash_of_uuid


class Holding:
    """A member's partitions. Unchanged, they are given back as they came; the first change copies them."""

    __slots__ = ("_given", "_sets", "_topics")

    def __init__(self, given: Partitions) -> None:
        self._given = given
        self._topics: HashTable | None = None
        self._sets: dict[bytes, HashTable] = {}

    def add(self, topic_id: bytes, partition: int, slots: int = DEFAULT_SLOTS) -> None:
        """``slots``: of the set that the first partition of a topic opens."""
        self._copied().add_first(topic_id)
        if topic_id not in self._sets:
            self._sets[topic_id] = HashTable(hash_of_number, slots=slots)
        self._sets[topic_id].add(partition)

    def remove(self, topic_id: bytes, partition: int) -> None:
        """Give up one partition, and with the last one the topic."""
        self.release(topic_id, partition)
        if not self._sets[topic_id]:
            self.drop(topic_id)

    def release(self, topic_id: bytes, partition: int) -> None:
        """Give up one partition; the topic stays, if without any."""
        self._copied()
        self._sets[topic_id].discard(partition)

    def drop(self, topic_id: bytes) -> None:
        """Give up all partitions of a topic."""
        self._copied().discard(topic_id)
        self._sets.pop(topic_id, None)

    def result(self) -> Partitions:
        """The partitions, in Kafka's order."""
        if self._topics is None:
            return self._given
        return {topic_id: tuple(self._sets[topic_id]) for topic_id in self._topics}

    def _copied(self) -> HashTable:
        if self._topics is None:
            self._topics = HashTable(hash_of_uuid, self._given, slots_for(len(self._given)))
            for topic_id, partitions in self._given.items():
                self._sets[topic_id] = HashTable(hash_of_number, partitions, slots_of_copy(len(partitions)))
        return self._topics
