"""Creates the internal topics of a topology: repartition topics and changelogs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.streams.commands import TopicsRefused
from odradek.broker.coordinator.group.streams.topology import TopicInfo
from odradek.broker.runtime.machine import Effect
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import KafkaError


class CreateInternalTopics(Effect):
    """Internal topics of a group's topology are missing; ``topics`` have their partition counts.

    A topic that cannot be created is not asked for again for ``retry_ms``.
    """

    __slots__ = ("group_id", "retry_ms", "topics")

    def __init__(self, group_id: str, topics: Sequence[TopicInfo], retry_ms: int) -> None:
        self.group_id = group_id
        self.topics = topics
        self.retry_ms = retry_ms


Create = Callable[[Sequence[TopicInfo]], Sequence[KafkaError | None]]
"""Has the controller create topics; returns for each the error, or None."""

Performer = Callable[[Shard[GroupMachine], CreateInternalTopics], None]


def performers(create: Create) -> dict[type[Effect], Performer]:
    """The functions that carry out the effects of streams groups.

    A refusal goes to the group, whose members get it with their next heartbeats.
    """

    def create_internal_topics(shard: Shard[GroupMachine], effect: CreateInternalTopics) -> None:
        refusals = create(effect.topics)
        reasons = {
            topic.name: refusal.message or refusal.code.name
            for topic, refusal in zip(effect.topics, refusals, strict=True)
            if refusal is not None
        }
        if reasons:
            shard.follow_up(TopicsRefused(effect.group_id, reasons, effect.retry_ms))

    return {CreateInternalTopics: create_internal_topics}
