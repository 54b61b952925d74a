"""The internal topic of a coordinator."""

from __future__ import annotations

from odradek.broker.coordinator.internal_topic import InternalTopic
from tests.fakes.data_plane import DataPlane


def test_it_is_made_on_first_use_and_once() -> None:
    plane = DataPlane(config={"offsets.topic.num.partitions": "3"})
    topic: InternalTopic = plane.cluster.groups.topic
    assert topic.name == "__consumer_offsets"
    assert topic.partitions is None
    partitions = topic.ensure()
    assert [partition.index for partition in partitions] == [0, 1, 2]
    assert topic.ensure() == topic.partitions == partitions


def test_it_is_gone_with_the_topic_and_made_anew() -> None:
    plane = DataPlane(config={"offsets.topic.num.partitions": "2"})
    topic = plane.cluster.groups.topic
    first = list(topic.ensure())
    plane.cluster.delete_topic("__consumer_offsets")
    assert topic.partitions is None
    assert [partition.index for partition in topic.ensure()] == [0, 1]
    assert all(new is not old for new, old in zip(topic.ensure(), first, strict=True))
