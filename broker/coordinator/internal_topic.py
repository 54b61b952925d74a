"""The internal topic that a kind of coordinator keeps its log in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from odradek.broker.partitions.partition import Partition


class HasPartitions(Protocol):
    """A topic, as far as a coordinator cares."""

    @property
    def partitions(self) -> Sequence[Partition]: ...


class TopicStore(Protocol):
    """Where internal topics are found and made."""

    def get(self, name: str) -> HasPartitions | None:
        """The topic of that name, None if there is none."""

    def ensure_internal(self, name: str) -> HasPartitions:
        """The internal topic of that name, created if need be with the configuration that Kafka gives it."""


class InternalTopic:
    """One internal topic. ``partitions[i]`` has index i."""

    __slots__ = ("_topics", "name")

    def __init__(self, topics: TopicStore, name: str) -> None:
        self._topics = topics
        self.name = name

    @property
    def partitions(self) -> Sequence[Partition] | None:
        """Its partitions; None while it does not exist."""
        topic = self._topics.get(self.name)
        return None if topic is None else topic.partitions

    def ensure(self) -> Sequence[Partition]:
        """Its partitions; it is created on first use."""
        return self.partitions or self._topics.ensure_internal(self.name).partitions
