"""The simple assignor gives each member exactly the partitions that Kafka's gave it in the recorded stories."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.group.assignment import GroupSpec, MemberSpec, Partitions, TargetAssignment
from odradek.broker.coordinator.group.share.assignor import Spread, assign, group_spec
from odradek.broker.coordinator.group.share.group import ShareMember
from odradek.broker.coordinator.group.topics import FixedTopics, TopicFacts
from odradek.protocol.java_maps import hash_of_number
from odradek.protocol.uuids import uuid_from_text
from tests.broker.coordinator.group.story_group import PARTS, check_story, tell


def with_states(spec: GroupSpec, step: Any) -> dict[str, Partitions]:
    """The target, where the partitions have a state that the step names."""
    return assign(spec, {uuid_from_text(text): frozenset(indexes) for text, indexes in step["assignable"].items()})


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_the_assignor_of_share_groups_assigns_as_recorded(part: int) -> None:
    tell("share_assignments", part, lambda release, row: check_story(release, row, with_states))


def test_members_whose_topics_are_all_missing_lose_everything() -> None:
    topic_id, target = bytes(15) + b"\1", TargetAssignment()
    target.set("one", {topic_id: (0, 1)})
    members = {"one": MemberSpec(None, [], 0), "two": MemberSpec(None, [], 1)}
    spec = GroupSpec(members, False, {topic_id: 2}, target)
    assert assign(spec, {topic_id: frozenset({0, 1})}) == {"one": {}, "two": {}}  # as Kafka's did in a story


Held = dict[int, list[int]]


def spread(held: Held, subscribers: list[int], partitions: int) -> Held:
    """What members have after the spread."""
    after = {member: list(had) for member, had in held.items()}
    work = Spread(hash_of_number, range(partitions), subscribers)
    for member in sorted(held):
        for partition in held[member]:
            work.hold(member, partition)
    for member, partition in work.losses():
        after[member].remove(partition)
    for member, partition in work.gains():
        assert partition not in after.setdefault(member, [])
        after[member].append(partition)
    return after


def check_even(given: Held, subscribers: list[int], partitions: int) -> None:
    times = Counter(partition for member in subscribers for partition in given.get(member, ()))
    assert times == dict.fromkeys(range(partitions), -(-len(subscribers) // partitions))
    sizes = [len(given.get(member, ())) for member in subscribers]
    assert max(sizes) - min(sizes) <= 1


@given(members=st.integers(1, 12), later=st.integers(0, 12), partitions=st.integers(1, 12))
def test_partitions_are_shared_anew_when_members_of_a_share_group_come(
    members: int, later: int, partitions: int
) -> None:
    first = spread({}, list(range(members)), partitions)
    check_even(first, list(range(members)), partitions)
    everybody = list(range(members + later))
    second = spread(first, everybody, partitions)
    check_even(second, everybody, partitions)
    assert spread(second, everybody, partitions) == second


@given(st.sets(st.integers(0, 9), min_size=1), st.integers(1, 12))
def test_share_assignor_gives_nothing_to_who_does_not_subscribe(gone: set[int], partitions: int) -> None:
    first = spread({}, list(range(10)), partitions)
    rest = [member for member in range(10) if member not in gone]
    if not rest:
        return
    after = spread(first, rest, partitions)
    assert not any(after.get(member) for member in gone)


def test_members_of_a_share_group_get_nothing_of_no_partitions() -> None:
    assert spread({}, [0, 1], 0) == {}


def test_a_partition_that_is_no_longer_offered_counts_as_what_its_member_has() -> None:
    assert spread({0: [0, 1]}, [0], 1) == {0: [1]}  # Kafka takes the first of the member's table


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
