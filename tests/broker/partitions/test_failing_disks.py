"""Which partitions feel a disk that fails."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from odradek.broker.partitions.failing_disks import DiskFault


def partition(leader: int, topic: str = "t", index: int = 0) -> Any:
    return SimpleNamespace(topic=SimpleNamespace(name=topic), index=index, leader_id=leader, replicas=(1, 2))


@pytest.mark.parametrize(
    ("chosen", "found", "concerned"),
    [
        ({}, partition(1), True),
        ({}, partition(2), True),  # node 1 follows
        ({"topic": "t"}, partition(1), True),
        ({"topic": "t"}, partition(2), False),
        ({"topic": "t"}, partition(1, "other"), False),
        ({"topic": "t", "partition": 1}, partition(1), False),
        ({"topic": "t", "partition": 1}, partition(1, index=1), True),
    ],
)
def test_disk_fault_concerns_the_partitions_chosen(chosen: dict[str, Any], found: Any, concerned: bool) -> None:
    assert DiskFault(1, "full", lambda: None, **chosen).concerns(found) is concerned


def test_a_follower_refuses_nothing_to_clients_and_is_counted() -> None:
    told: list[int] = []
    fault = DiskFault(1, "write", lambda: told.append(1))
    assert fault.breakage_of(partition(1)).refuses
    breakage = fault.breakage_of(partition(2))
    breakage.meet("write", "log")
    breakage.meet("read", "log")
    assert (fault.hits, len(told), breakage.refuses) == (1, 1, False)
