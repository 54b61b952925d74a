"""Topics as group machines see them."""

from __future__ import annotations

from odradek.broker.coordinator.group.topic_source import FixedTopics, ImageTopics, TopicFacts
from tests.fakes.data_plane import DataPlane


def test_a_clusters_topics_with_partitions_and_racks() -> None:
    plane = DataPlane(nodes=2, topics={"a": 3, "b": 1})
    topics = ImageTopics(plane.cluster.services.image)
    facts = topics.named("a")
    assert facts is not None
    assert (facts.name, facts.partitions) == ("a", 3)
    assert topics.by_id(facts.topic_id) == facts
    assert {"a", "b"} <= set(topics.names())
    assert topics.named("c") is None
    assert topics.by_id(b"?" * 16) is None


def test_facts_do_not_change_under_who_holds_them() -> None:
    plane = DataPlane(topics={"a": 1})
    topics = ImageTopics(plane.cluster.services.image)
    before = topics.named("a")
    assert before is not None
    plane.topic("b")
    assert topics.named("a") == before
    assert topics.named("b") is not None


def test_fixed_topics() -> None:
    facts = TopicFacts("a", b"i" * 16, ((), ("r",)))
    topics = FixedTopics(facts)
    assert topics.named("a") is topics.by_id(b"i" * 16) is facts
    assert facts.partitions == 2
    assert list(topics.names()) == ["a"]
