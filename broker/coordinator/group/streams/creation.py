"""Creating the internal topics of a topology: repartition topics and changelogs, by the controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from odradek.broker.controller.commands import CreatedTopic, CreateTopics, NewTopic
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.streams.commands import TopicsRefused
from odradek.broker.coordinator.group.streams.effects import CreateInternalTopics
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import KafkaError

Create = Callable[[CreateTopics], Sequence[CreatedTopic | KafkaError]]


class InternalTopics:
    """Performs `CreateInternalTopics`. ``create`` asks the controller.

    A topic that it refuses is told to the group, whose members hear of it with their next heartbeats.
    """

    def __init__(self, create: Create) -> None:
        self._create = create

    def perform(self, shard: Shard[GroupMachine], effect: CreateInternalTopics) -> None:
        """Create the topics."""
        topics = [
            NewTopic(topic.name, topic.partitions, topic.replication_factor or -1, configs=dict(topic.configs))
            for topic in effect.topics
        ]
        outcomes = self._create(CreateTopics(topics))
        reasons = {
            topic.name: outcome.message or outcome.code.name
            for topic, outcome in zip(topics, outcomes, strict=True)
            if isinstance(outcome, KafkaError)
        }
        if reasons:
            shard.follow_up(TopicsRefused(effect.group_id, reasons, effect.retry_ms))
