"""The controller is asked for internal topics, and the group is told what it refuses."""

from __future__ import annotations

from typing import Any

from odradek.broker.controller.commands import CreatedTopic, CreateTopics, NewTopic
from odradek.broker.coordinator.group.streams.commands import TopicsRefused
from odradek.broker.coordinator.group.streams.creation import performers
from odradek.broker.coordinator.group.streams.effects import CreateInternalTopics
from odradek.broker.coordinator.group.streams.topology import TopicInfo
from odradek.protocol.errors import ErrorCode, KafkaError


class Shard:
    """The group's shard: notes what follows."""

    def __init__(self) -> None:
        self.followed: list[Any] = []

    def follow_up(self, command: Any) -> None:
        self.followed.append(command)


def test_topics_are_created_and_refusals_told() -> None:
    asked: list[CreateTopics] = []
    refusal = KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, "too many")

    def create(command: CreateTopics) -> list[CreatedTopic | KafkaError]:
        asked.append(command)
        return [CreatedTopic("a", bytes(16), [[1]], {}), refusal]

    shard: Any = Shard()
    topics = [TopicInfo("a", 3, 0, (("cleanup.policy", "compact"),)), TopicInfo("b", 2, 9)]
    performers(create)[CreateInternalTopics](shard, CreateInternalTopics("g", topics, 500))
    assert asked[0].topics == [NewTopic("a", 3, -1, (), {"cleanup.policy": "compact"}), NewTopic("b", 2, 9, (), {})]
    (told,) = shard.followed
    assert isinstance(told, TopicsRefused)
    assert (told.group_id, told.reasons, told.retry_ms) == ("g", {"b": "too many"}, 500)


def test_nothing_refused_nothing_told() -> None:
    shard: Any = Shard()
    effect = CreateInternalTopics("g", [TopicInfo("a", 1)], 1)
    performers(lambda command: [CreatedTopic("a", bytes(16), [[1]], {})])[CreateInternalTopics](shard, effect)
    assert shard.followed == []
