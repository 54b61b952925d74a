"""What a share group's assignor is told of the members."""

from __future__ import annotations

from odradek.broker.coordinator.group.share.member_specs import group_spec
from odradek.broker.coordinator.group.share.members import ShareMember
from odradek.broker.coordinator.group.target import TargetAssignment
from odradek.broker.coordinator.group.topic_source import FixedTopics, TopicFacts

A, B = bytes(15) + b"\1", bytes(15) + b"\2"
TOPICS = FixedTopics(TopicFacts("a", A, ((), (), ())), TopicFacts("b", B, ((),)))


def members(**topics: set[str]) -> dict[str, ShareMember]:
    return {member_id: ShareMember(member_id, topics=frozenset(names)) for member_id, names in topics.items()}


def test_members_that_subscribe_to_the_same() -> None:
    spec = group_spec(members(one={"a", "b"}, two={"b", "a"}), TargetAssignment(), TOPICS)
    assert spec.homogeneous
    assert {member_id: set(member.topic_ids) for member_id, member in spec.members.items()} == {
        "one": {A, B},
        "two": {A, B},
    }
    assert spec.partition_counts == {A: 3, B: 1}


def test_a_topic_that_does_not_exist_is_left_out_and_counts_as_a_difference() -> None:
    spec = group_spec(members(one={"a"}, two={"a", "missing"}), TargetAssignment(), TOPICS)
    assert not spec.homogeneous
    assert [list(member.topic_ids) for member in spec.members.values()] == [[A], [A]]
    assert spec.partition_counts == {A: 3}
