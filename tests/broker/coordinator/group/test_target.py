"""Target assignments as records say them, one member after the other."""

from __future__ import annotations

from odradek.broker.coordinator.group.target import TargetAssignment

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
