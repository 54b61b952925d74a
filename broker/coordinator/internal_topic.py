"""The internal topic that a kind of coordinator keeps its log in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from odradek.broker.partitions.partition import Partition


class HasPartitions(Protocol):
    """A topic, as far as a coordinator cares."""

    @property
    def partitions(self) -> Sequence[Partition]: ...


class TopicStore(Protocol):
    """Where topics are found."""

    def get(self, name: str) -> HasPartitions | None:
        """The topic of that name, None if there is none."""


class InternalTopic:
    """One internal topic. `partitions[i]` has index i.

    `create(name)` makes it, unless it is there, with the configuration that Kafka gives it.
    """

    __slots__ = ("_create", "_topics", "name")

    def __init__(self, topics: TopicStore, name: str, create: Callable[[str], None]) -> None:
        self._topics = topics
        self._create = create
        self.name = name

    @property
    def partitions(self) -> Sequence[Partition] | None:
        """Its partitions; None while it does not exist."""
        topic = self._topics.get(self.name)
        return None if topic is None else topic.partitions

    def ensure(self) -> Sequence[Partition]:
        """Its partitions; it is created on first use."""
        partitions = self.partitions
        if partitions is None:
            self._create(self.name)
            partitions = self.partitions
            assert partitions is not None
        return partitions
