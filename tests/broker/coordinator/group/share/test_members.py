"""Joining what is stored of topics."""

from __future__ import annotations

from odradek.broker.coordinator.group.share.members import TopicStates, joined

A, B = bytes(16), bytes(15) + b"\1"


def test_partitions_of_both_and_the_name_of_the_second() -> None:
    one = {A: TopicStates("old", frozenset({0, 1}))}
    other = {A: TopicStates("new", frozenset({1, 2})), B: TopicStates("b", frozenset({0}))}
    assert joined(one, other) == {
        A: TopicStates("new", frozenset({0, 1, 2})),
        B: TopicStates("b", frozenset({0})),
    }
