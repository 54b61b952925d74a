"""Topics as group machines see them."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.topics import (
    FixedTopics,
    ImageTopics,
    TopicCache,
    TopicFacts,
    _hash64,
    group_hash,
    topic_hash,
)
from odradek.protocol.uuids import uuid_from_text
from tests.broker.coordinator.group.story_group import stories
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


def test_fixed_topics_tell_names_and_partition_counts() -> None:
    facts = TopicFacts("a", b"i" * 16, ((), ("r",)))
    topics = FixedTopics(facts)
    assert topics.named("a") is topics.by_id(b"i" * 16) is facts
    assert facts.partitions == 2
    assert list(topics.names()) == ["a"]


TOPIC_ID = bytes(range(16))


def test_groups_are_hashed_as_kafka_hashes_them() -> None:
    compared, told = 0, stories("assignments")
    for _, row in told:
        step, answer = row["story"]["steps"][0], row["answer"][0]
        subscribed = set(step["join"]["topics"])
        topics = [topic for topic in step.get("topics", ()) if topic["name"] in subscribed]
        hashes = {t["name"]: topic_hash(t["name"], uuid_from_text(t["id"]), t["racks"]) for t in topics}
        assert group_hash(hashes) == answer["hash"]
        compared += bool(hashes)
    assert compared > len(told) // 2


def test_group_hash_of_no_topics_is_zero() -> None:
    assert group_hash({}) == 0


def test_the_order_of_racks_and_topics_counts_for_nothing() -> None:
    one, other = (topic_hash("t", TOPIC_ID, [racks, []]) for racks in (["a", "b"], ["b", "a"]))
    assert one == other
    assert group_hash({"a": 1, "b": 2}) == group_hash({"b": 2, "a": 1})


def test_everything_else_of_a_topic_counts() -> None:
    hashes = {
        topic_hash("t", TOPIC_ID, [[], []]),
        topic_hash("u", TOPIC_ID, [[], []]),
        topic_hash("t", TOPIC_ID[::-1], [[], []]),
        topic_hash("t", TOPIC_ID, [[], [], []]),
        topic_hash("t", TOPIC_ID, [["a"], []]),
        topic_hash("t", TOPIC_ID, [[], ["a"]]),
    }
    assert len(hashes) == 6


HASHES = {
    0: 3244421341483603138,
    1: 1433843135270481901,
    2: 2058273368586827884,
    3: -6266602912829716452,
    4: 7895465118229274323,
    7: -8177813798836339154,
    8: 6941064856527638883,
    9: -72226354546400344,
    15: -7007203045674962495,
    16: -5131753158909839995,
    17: 8163341949877205007,
    31: -1350609124411935565,
    32: 1873302701886544469,
    33: 4486878507168070088,
    64: 2917965298538373825,
    100: -5362810412169982817,
    127: -7381504916640527093,
    128: 7440608504995537343,
    129: -4150982730466284604,
    130: -6475952254391226709,
    200: 8389308914288017243,
    239: 2127415575477209850,
    240: 7229805477010515663,
    241: -8364630114420064745,
    256: 4339360625268998362,
    300: -172648679454408153,
    511: -2018556248204038629,
    512: -756038794506822371,
    1023: -3284946428344021948,
    1024: -7241394453710343503,
    1025: -9192937061388044938,
    1040: 6990009779698071966,
    1100: -8178887940769061853,
    2048: -6060151295482384687,
    5000: 8762507191635236893,
}
"""By hash4j 0.22.0, the library of Kafka 4.3.1: the hashes of ``n`` bytes that count up from 3 in steps of 7."""


@pytest.mark.parametrize("size", HASHES)
def test_group_hash_of_every_length_class_is_kafkas(size: int) -> None:
    assert _hash64(bytes((7 * i + 3) & 0xFF for i in range(size))) == HASHES[size]


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
    known = TopicCache(source)
    assert known.named("a") is known.named("a") is known.by_id(A.topic_id) is A
    assert source.asked == 1
    assert known.by_id(B.topic_id) is known.named("b") is B
    assert source.asked == 2
    assert sorted(known.names()) == ["a", "b"]


def test_a_topic_that_is_missing_is_asked_for_again() -> None:
    source = CountedTopics(A)
    known = TopicCache(source)
    assert known.named("b") is None
    assert known.by_id(B.topic_id) is None
    assert known.named("b") is None
    assert source.asked == 3


def test_the_hash_leaves_out_topics_that_do_not_exist() -> None:
    known = TopicCache(FixedTopics(A, B))
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

    known = TopicCache(Changing())
    before = known.hash_of(["a"])
    sources.pop(0)
    assert known.named("a") is A
    assert known.hash_of(["a"]) == before
    known.forget(["a", "never known"])
    assert known.named("a") is known.by_id(A.topic_id) is grown
    assert known.hash_of(["a"]) != before
