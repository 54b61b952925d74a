"""Topics that groups remember until they change."""

from __future__ import annotations

from odradek.broker.coordinator.group.known_topics import KnownTopics
from odradek.broker.coordinator.group.metadata_hash import group_hash, topic_hash
from odradek.broker.coordinator.group.topic_source import FixedTopics, TopicFacts

A = TopicFacts("a", b"a" * 16, ((), ()))
B = TopicFacts("b", b"b" * 16, (("rack",),))


class CountedTopics(FixedTopics):
    """Topics that can be replaced, and count how often they are asked for."""

    asked = 0

    def named(self, name: str) -> TopicFacts | None:
        self.asked += 1
        return super().named(name)

    def by_id(self, topic_id: bytes) -> TopicFacts | None:
        self.asked += 1
        return super().by_id(topic_id)


def test_a_topic_is_asked_for_once_by_name_or_id() -> None:
    source = CountedTopics(A, B)
    known = KnownTopics(source)
    assert known.named("a") is known.named("a") is known.by_id(A.topic_id) is A
    assert source.asked == 1
    assert known.by_id(B.topic_id) is known.named("b") is B
    assert source.asked == 2
    assert sorted(known.names()) == ["a", "b"]


def test_a_topic_that_is_missing_is_asked_for_again() -> None:
    source = CountedTopics(A)
    known = KnownTopics(source)
    assert known.named("b") is None
    assert known.by_id(B.topic_id) is None
    assert known.named("b") is None
    assert source.asked == 3


def test_the_hash_leaves_out_topics_that_do_not_exist() -> None:
    known = KnownTopics(FixedTopics(A, B))
    hashes = {facts.name: topic_hash(facts.name, facts.topic_id, facts.racks) for facts in (A, B)}
    assert known.hash_of(["b", "a", "missing"]) == group_hash(hashes)
    assert known.hash_of(["missing"]) == 0


def test_a_topic_that_changed_is_looked_at_again() -> None:
    grown = TopicFacts("a", A.topic_id, ((), (), ()))
    sources = [CountedTopics(A), CountedTopics(grown)]

    class Changing(FixedTopics):
        def named(self, name: str) -> TopicFacts | None:
            return sources[0].named(name)

        def by_id(self, topic_id: bytes) -> TopicFacts | None:
            return sources[0].by_id(topic_id)

    known = KnownTopics(Changing())
    before = known.hash_of(["a"])
    sources.pop(0)
    assert known.named("a") is A
    assert known.hash_of(["a"]) == before
    known.forget(["a", "never known"])
    assert known.named("a") is known.by_id(A.topic_id) is grown
    assert known.hash_of(["a"]) != before
