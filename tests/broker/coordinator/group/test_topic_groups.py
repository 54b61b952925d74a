"""A topic that changes finds the groups that subscribe to it."""

from __future__ import annotations

from odradek.broker.coordinator.group.topic_groups import TopicGroups


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
