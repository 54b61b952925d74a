"""The orders in which Kafka walks members and assignments, beyond the recorded stories (consumer/test_assignors.py)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.group.assignment import (
    GroupSpec,
    HeldPartitions,
    MemberOrder,
    Partitions,
    Subscriptions,
    TargetAssignment,
    TopicGroups,
    count_down,
    count_up,
    grown_order,
    member_order,
    order_once_stored,
    partition_count,
    stored_order,
)
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import HashTable, hash_of_number, timeline_order

MEMBERS = [f"member-{number}" for number in range(20)]
TOPIC = b"t" * 16


def test_every_member_comes_once_but_those_that_are_gone() -> None:
    order = member_order(MEMBERS, len(MEMBERS), more=["new", MEMBERS[3]], without=[MEMBERS[0]])
    assert sorted(order) == sorted([*MEMBERS[1:], "new"])


def test_the_order_does_not_hang_on_who_is_new() -> None:
    assert member_order(MEMBERS[:-1], 19, more=[MEMBERS[-1]]) == member_order(MEMBERS, 19)


def test_members_of_one_slot_come_latest_first() -> None:
    assert timeline_order(["Aa", "BB"], 2) == ["BB", "Aa"]  # their hashes are equal in Java
    assert timeline_order(["BB", "Aa"], 2) == ["Aa", "BB"]


def test_a_stored_assignment_keeps_its_partitions() -> None:
    other = b"o" * 16
    stored = stored_order({TOPIC: [5, 0, 17], other: []})
    assert {topic_id: sorted(partitions) for topic_id, partitions in stored.items()} == {TOPIC: [0, 5, 17], other: []}
    assert stored == stored_order({other: [], TOPIC: [17, 5, 0]})


@given(st.lists(st.integers(0, 40) | st.integers(65_500, 65_600), unique=True, max_size=12))
def test_the_order_once_stored_is_that_of_a_stored_assignment(partitions: list[int]) -> None:
    assigned = {TOPIC: tuple(partitions)}
    assert order_once_stored(assigned) == stored_order(assigned)


@given(
    st.lists(st.integers(0, 40), unique=True)
    | st.lists(st.integers(0, 150), unique=True, max_size=70)
    | st.lists(st.integers(0, 9).map(lambda number: 16 * number) | st.integers(65_500, 65_600), unique=True)
)
def test_the_order_of_a_set_that_grew_is_that_of_its_table(partitions: list[int]) -> None:
    assert grown_order(partitions) == tuple(HashTable(hash_of_number, partitions))


def test_the_order_once_stored_of_any_number_of_topics() -> None:
    assert order_once_stored({}) == {}
    two: Partitions = {TOPIC: (16, 0, 1), b"o" * 16: (3, 2)}
    assert list(order_once_stored(two).items()) == list(stored_order(two).items())


def test_a_topic_that_vanished_is_the_assignors_failure() -> None:
    spec = GroupSpec({}, True, {TOPIC: 3}, TargetAssignment())
    assert partition_count(spec, TOPIC) == 3
    with pytest.raises(KafkaError) as refused:
        partition_count(spec, b"?" * 16)
    assert refused.value.code is ErrorCode.UNKNOWN_SERVER_ERROR


NAMES = [
    *(f"member-{number}" for number in range(40)),
    "Aa",
    "BB",
    "AaAa",
    "BBBB",
    "AaBB",
    "BBAa",
]  # equal hashes in Java
STEPS = st.lists(st.tuples(st.sampled_from(NAMES), st.booleans(), st.integers(0, 2)), max_size=120)


@given(STEPS)
def test_members_come_go_and_are_asked_for(steps: list[tuple[str, bool, int]]) -> None:
    order, present, peak = MemberOrder(), dict.fromkeys(("first",)), 1
    order.add("first")
    for name, stays, asked in steps:
        if stays and name not in present:
            order.add(name)
            present[name] = None
        elif not stays and name in present:
            order.remove(name)
            del present[name]
        peak = max(peak, len(present) + 1)
        if asked == 1:
            assert order.with_change(peak, name, None) == member_order(list(present), peak, (name,))
            known = list(dict.fromkeys((*present, name)))
            expected = member_order(known, max(peak, len(known)))
            assert order.with_change(peak, name, None, as_member=True) == expected
        if asked == 2:  # another takes the first one's place
            assert order.with_change(peak, name, "first") == member_order(list(present), peak, (name,), ("first",))


A, B = bytes(15) + b"\1", bytes(15) + b"\2"


def test_what_does_not_change_is_given_back_as_it_came() -> None:
    given: Partitions = {B: (2, 1), A: (0,)}
    assert HeldPartitions(given).result() is given


def test_held_partitions_are_copied_by_the_first_change() -> None:
    given: Partitions = {A: (0, 1), B: (3,)}
    holding = HeldPartitions(given)
    holding.add(A, 2)
    holding.remove(A, 0)
    holding.add(B, 3)
    assert (holding.result(), given) == ({A: (1, 2), B: (3,)}, {A: (0, 1), B: (3,)})


def test_the_last_partition_takes_its_topic_with_it_or_leaves_it() -> None:
    removed, released = HeldPartitions({A: (0,), B: (1,)}), HeldPartitions({A: (0,), B: (1,)})
    removed.remove(A, 0)
    released.release(A, 0)
    assert (removed.result(), released.result()) == ({B: (1,)}, {A: (), B: (1,)})


def test_a_topic_is_dropped_whole() -> None:
    holding = HeldPartitions({A: (0, 1, 2), B: (1,)})
    holding.drop(A)
    holding.drop(bytes(16))
    assert holding.result() == {B: (1,)}


def test_counts_go_up_and_down_and_end_with_the_last() -> None:
    counts = {"a": 1}
    count_up(counts, ["a", "b"])
    assert counts == {"a": 2, "b": 1}
    count_down(counts, ["a", "b"])
    assert counts == {"a": 1}
    count_down(counts, ["never counted"])
    assert counts == {"a": 1}


def test_subscriptions_name_each_topic_once() -> None:
    subscriptions = Subscriptions({"a": 1, "b": 2}, {"b": 1, "c": 1})
    assert list(subscriptions) == ["a", "b", "c"]
    assert "c" in subscriptions
    assert "d" not in subscriptions


def test_whether_all_members_name_the_same_topics() -> None:
    assert Subscriptions({"a": 2, "b": 2}).all_name_the_same(2)
    assert not Subscriptions({"a": 2, "b": 1}).all_name_the_same(2)
    assert not Subscriptions({"a": 2}, {"c": 1}).all_name_the_same(2)
    assert Subscriptions({"a": 2}, {"a": 1}).all_name_the_same(2)


def test_whether_one_pattern_brings_all_topics() -> None:
    assert Subscriptions({}, {"a": 1, "b": 1}).all_match_one_regex()
    assert not Subscriptions({}, {"a": 2}).all_match_one_regex()
    assert not Subscriptions({"a": 1}, {"a": 1}).all_match_one_regex()


T, U = b"t" * 16, b"u" * 16


def test_target_assignment_knows_members_and_their_partitions() -> None:
    target = TargetAssignment()
    target.set("a", {T: (0, 1), U: (0,)})
    assert target.of("a") == {T: (0, 1), U: (0,)}
    assert target.of("b") == {}
    assert list(target.by_member) == ["a"]
    assert 1 in target.taken(T)
    assert 2 not in target.taken(T)
    assert 0 not in target.taken(b"v" * 16)


def test_a_partition_that_moves_is_taken_whoever_is_written_first() -> None:
    for order in (("a", "b"), ("b", "a")):
        target = TargetAssignment()
        target.set("a", {T: (0, 1)})
        for member in order:
            target.set(member, {T: (0,) if member == "a" else (1,)})
        assert 1 in target.taken(T)
        target.remove("b")
        assert 1 not in target.taken(T)
        assert 0 in target.taken(T)


def test_a_removed_member_takes_nothing_from_its_successor() -> None:
    target = TargetAssignment()
    target.set("a", {T: (0,)})
    target.set("b", {T: (0,)})
    target.remove("a")
    assert 0 in target.taken(T)
    assert list(target.by_member) == ["b"]
    target.remove("b")
    assert 0 not in target.taken(T)


def test_an_unknown_member_may_be_removed() -> None:
    target = TargetAssignment()
    target.remove("a")
    assert target.by_member == {}


def test_how_much_each_member_has_and_of_which_topics() -> None:
    target = TargetAssignment()
    target.set("a", {T: (0, 1), U: (0,)})
    target.set("b", {U: (1,)})
    assert (dict(target.sizes), set(target.topic_ids)) == ({"a": 3, "b": 1}, {T, U})
    target.set("a", {U: (0,)})
    assert (dict(target.sizes), set(target.topic_ids)) == ({"a": 1, "b": 1}, {U})
    assert target.members_by_size == {1: 2}
    target.set("a", {})
    assert target.members_by_size == {0: 1, 1: 1}
    target.remove("b")
    target.remove("nobody")
    assert (dict(target.sizes), set(target.topic_ids)) == ({"a": 0}, set())
    target.remove("a")
    assert (dict(target.sizes), target.members_by_size) == ({}, {})


def test_groups_are_found_by_any_of_their_topics() -> None:
    groups = TopicGroups()
    groups.update("g", [], ["a", "b"])
    groups.update("h", [], ["b"])
    assert groups.subscribed_to(["a"]) == {"g"}
    assert groups.subscribed_to(["b", "unknown"]) == {"g", "h"}
    assert groups.subscribed_to([]) == set()


def test_a_changed_subscription_replaces_the_old_one() -> None:
    groups = TopicGroups()
    groups.update("g", [], ["a", "b"])
    groups.update("g", ["a", "b"], ["b", "c"])
    assert groups.subscribed_to(["a"]) == set()
    assert groups.subscribed_to(["b"]) == groups.subscribed_to(["c"]) == {"g"}


def test_one_group_that_goes_leaves_the_others() -> None:
    groups = TopicGroups()
    groups.update("g", [], ["a"])
    groups.update("h", [], ["a"])
    groups.update("g", ["a"], [])
    assert groups.subscribed_to(["a"]) == {"h"}


def test_the_answer_is_the_callers_own() -> None:
    groups = TopicGroups()
    groups.update("g", [], ["a"])
    groups.subscribed_to(["a"]).clear()
    assert groups.subscribed_to(["a"]) == {"g"}
