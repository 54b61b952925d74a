"""What a member holds while an assignor plans."""

from __future__ import annotations

from odradek.broker.coordinator.group.assignment import Partitions
from odradek.broker.coordinator.group.holding import Holding

A, B = bytes(15) + b"\1", bytes(15) + b"\2"


def test_what_does_not_change_is_given_back_as_it_came() -> None:
    given: Partitions = {B: (2, 1), A: (0,)}
    assert Holding(given).result() is given


def test_the_first_change_copies() -> None:
    given: Partitions = {A: (0, 1), B: (3,)}
    holding = Holding(given)
    holding.add(A, 2)
    holding.remove(A, 0)
    holding.add(B, 3)
    assert (holding.result(), given) == ({A: (1, 2), B: (3,)}, {A: (0, 1), B: (3,)})


def test_the_last_partition_takes_its_topic_with_it_or_leaves_it() -> None:
    removed, released = Holding({A: (0,), B: (1,)}), Holding({A: (0,), B: (1,)})
    removed.remove(A, 0)
    released.release(A, 0)
    assert (removed.result(), released.result()) == ({B: (1,)}, {A: (), B: (1,)})


def test_a_topic_is_dropped_whole() -> None:
    holding = Holding({A: (0, 1, 2), B: (1,)})
    holding.drop(A)
    holding.drop(bytes(16))
    assert holding.result() == {B: (1,)}
