"""Sets of tasks."""

from __future__ import annotations

from odradek.broker.coordinator.group.streams.tasks import NOTHING_HELD, Held, Owned, in_map_order

HELD = Held({"0": {1: 5}}, {"1": frozenset({2})})


def test_any_of() -> None:
    assert Owned({"0": [1, 9]}, {}, {}).any_of(HELD)
    assert Owned({}, {"1": [2]}, {}).any_of(HELD)
    assert not Owned({"1": [2]}, {"0": [1]}, {"0": [1]}).any_of(HELD)
    assert not Owned({}, {}, {}).any_of(HELD)


def test_all_in() -> None:
    assert Owned({"0": [1]}, {"1": [2]}, {}).all_in(HELD)
    assert Owned({}, {}, {}).all_in(HELD)
    assert not Owned({"0": [1, 2]}, {}, {}).all_in(HELD)
    assert not Owned({}, {"0": [1]}, {}).all_in(HELD)


def test_empty() -> None:
    assert NOTHING_HELD.is_empty
    assert not HELD.is_empty


def test_subtopologies_as_kafka_walks_them() -> None:
    assert in_map_order(["10", "2", "0", "1"]) == ["0", "1", "2", "10"]
