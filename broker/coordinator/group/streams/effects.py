"""What streams groups cause outside of their coordinator."""

from __future__ import annotations

from collections.abc import Sequence

from odradek.broker.coordinator.group.streams.topology import TopicInfo
from odradek.broker.runtime.machine import Effect


class CreateInternalTopics(Effect):
    """Internal topics of a group's topology are missing; ``topics`` have their partition counts.

    A topic that cannot be created is not asked for again for ``retry_ms``.
    """

    __slots__ = ("group_id", "retry_ms", "topics")

    def __init__(self, group_id: str, topics: Sequence[TopicInfo], retry_ms: int) -> None:
        self.group_id = group_id
        self.topics = topics
        self.retry_ms = retry_ms
