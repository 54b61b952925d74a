"""How many members and patterns name a topic."""

from __future__ import annotations

from odradek.broker.coordinator.group.target import Subscriptions, TargetAssignment, TopicGroups, count_down, count_up


def test_counts_go_up_and_down_and_end_with_the_last() -> None:
    counts = {"a": 1}
    count_up(counts, ["a", "b"])
    assert counts == {"a": 2, "b": 1}
    count_down(counts, ["a", "b"])
    assert counts == {"a": 1}
    count_down(counts, ["never counted"])
    assert counts == {"a": 1}


def test_each_topic_comes_once() -> None:
    subscriptions = Subscriptions({"a": 1, "b": 2}, {"b": 1, "c": 1})
    assert list(subscriptions) == ["a", "b", "c"]
    assert "c" in subscriptions
    assert "d" not in subscriptions


def test_a_copy_is_changed_alone() -> None:
    original = Subscriptions({"a": 1}, {"b": 1})
    copy = original.copy()
    count_up(copy.by_name, ["a"])
    count_down(copy.by_regex, ["b"])
    assert (original.by_name, original.by_regex) == ({"a": 1}, {"b": 1})


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


def test_members_and_their_partitions() -> None:
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


def test_another_member_inherits_a_target() -> None:
    target = TargetAssignment()
    target.set("a", {T: (0, 1)})
    target.set("b", {T: (2,)})
    after = target.inherited("a", "new")
    assert after.by_member == {"new": {T: (0, 1)}, "b": {T: (2,)}}
    assert set(after.taken(T)) == {0, 1, 2}
    assert list(target.by_member) == ["a", "b"]


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
