"""How many members and patterns name a topic."""

from __future__ import annotations

from odradek.broker.coordinator.group.subscriptions import Subscriptions, count_down, count_up


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
