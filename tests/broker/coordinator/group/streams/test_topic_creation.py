"""Internal topics are asked for, and the group is told what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from odradek.broker.coordinator.group.streams.commands import TopicsRefused
from odradek.broker.coordinator.group.streams.topic_creation import CreateInternalTopics, performers
from odradek.broker.coordinator.group.streams.topology import TopicInfo
from odradek.protocol.errors import ErrorCode, KafkaError

TOPICS = [TopicInfo("a", 3), TopicInfo("b", 2, 9), TopicInfo("c", 1)]


class Shard:
    """The group's shard: notes what follows."""

    def __init__(self) -> None:
        self.followed: list[Any] = []

    def follow_up(self, command: Any) -> None:
        self.followed.append(command)


def followed(*refusals: KafkaError | None) -> list[Any]:
    """What follows when the topics are refused like this."""
    asked: list[Sequence[TopicInfo]] = []

    def create(topics: Sequence[TopicInfo]) -> Sequence[KafkaError | None]:
        asked.append(topics)
        return refusals

    shard: Any = Shard()
    performers(create)[CreateInternalTopics](shard, CreateInternalTopics("g", TOPICS, 500))
    assert asked == [TOPICS]
    return list(shard.followed)


def test_refusals_are_told() -> None:
    too_many = KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, "too many")
    (told,) = followed(None, too_many, KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS))
    assert isinstance(told, TopicsRefused)
    assert (told.group_id, told.retry_ms) == ("g", 500)
    assert told.reasons == {"b": "too many", "c": "TOPIC_ALREADY_EXISTS"}


def test_nothing_refused_nothing_told() -> None:
    assert followed(None, None, None) == []
