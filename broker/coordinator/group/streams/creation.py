"""Creating the internal topics of a topology: repartition topics and changelogs, by the controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from odradek.broker.controller.commands import CreatedTopic, CreateTopics, NewTopic
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.streams.commands import TopicsRefused
from odradek.broker.coordinator.group.streams.effects import CreateInternalTopics
from odradek.broker.runtime.machine import Effect
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import KafkaError

Create = Callable[[CreateTopics], Sequence[CreatedTopic | KafkaError]]
Performer = Callable[[Shard[GroupMachine], CreateInternalTopics], None]


def performers(create: Create) -> dict[type[Effect], Performer]:
    """What carries out the effects of streams groups; ``create`` asks the controller.

    What it refuses is told to the group, whose members hear of it with their next heartbeats.
    """

    def create_internal_topics(shard: Shard[GroupMachine], effect: CreateInternalTopics) -> None:
        topics = [
            NewTopic(topic.name, topic.partitions, topic.replication_factor or -1, configs=dict(topic.configs))
            for topic in effect.topics
        ]
        outcomes = create(CreateTopics(topics))
        reasons = {
            topic.name: outcome.message or outcome.code.name
            for topic, outcome in zip(topics, outcomes, strict=True)
            if isinstance(outcome, KafkaError)
        }
        if reasons:
            shard.follow_up(TopicsRefused(effect.group_id, reasons, effect.retry_ms))

    return {CreateInternalTopics: create_internal_topics}
