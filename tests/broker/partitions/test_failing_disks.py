"""Which partitions feel a disk that fails."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.nodes.disks import disks_of
from odradek.broker.partitions.failing_disks import DiskFault
from odradek.broker.partitions.partition import Partition
from odradek.storage.backend import StorageError
from tests.fakes.data_plane import START_MS, DataPlane
from tests.fakes.nodes import set_leader


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


# -- in a cluster


@pytest.fixture
def plane() -> DataPlane:
    """Node 1 leads a, node 2 leads b; both have both."""
    plane = DataPlane(nodes=2)
    plane.cluster.create_topic("a", assignments={0: [1, 2]})
    plane.cluster.create_topic("b", assignments={0: [2, 1]})
    disks_of(plane.cluster)
    return plane


def fail(cluster: Cluster, fault: DiskFault) -> DiskFault:
    disks_of(cluster).add(fault)
    return fault


def nothing() -> None:
    """No node halts."""


def told(plane: DataPlane, topic: str) -> str:
    """What an append to the topic meets; nothing if it succeeds."""
    try:
        place(plane, topic).append(plane.batch(), now_ms=START_MS)
    except StorageError as error:
        return (error.message or "").rpartition(": ")[2]
    return ""


def place(plane: DataPlane, topic: str) -> Partition:
    return plane.cluster.topics.by_name(topic).partitions[0]


def test_the_newest_fault_counts_until_it_is_mended(plane: DataPlane) -> None:
    disks = disks_of(plane.cluster)
    fail(plane.cluster, DiskFault(1, "write", nothing, topic="a"))
    newest = fail(plane.cluster, DiskFault(1, "full", nothing, topic="a"))
    assert (told(plane, "a"), told(plane, "b"), newest.hits) == ("No space left on device", "", 1)
    disks.remove(lambda fault: fault is newest)
    assert told(plane, "a") == "Input/output error"
    place(plane, "a").fail(StorageError("a sync was lost"))
    disks.remove(lambda fault: True)
    assert (told(plane, "a"), disks.faults) == ("", [])


def test_a_fault_follows_the_leaders_and_meets_new_topics(plane: DataPlane) -> None:
    fail(plane.cluster, DiskFault(1, "full", nothing, topic="a"))
    set_leader(plane.cluster, "a", 0, 2)
    assert told(plane, "a") == ""
    set_leader(plane.cluster, "a", 0, 1)
    assert told(plane, "a") == "No space left on device"
    everything = fail(plane.cluster, DiskFault(2, "write", nothing))
    plane.cluster.create_topic("c", assignments={0: [2]})
    assert told(plane, "c") == "Input/output error"
    assert (told(plane, "a"), everything.hits) == ("", 2)  # the newer one: its node only follows
    set_leader(plane.cluster, "a", 0, 2)
    assert told(plane, "a") == "Input/output error"


def test_a_disk_has_the_replicas_of_its_node(plane: DataPlane) -> None:
    disks = disks_of(plane.cluster)
    plane.cluster.create_topic("c", assignments={0: [2]})
    of_all, of_one = DiskFault(1, "full", nothing), DiskFault(1, "full", nothing, topic="b")
    assert [each.topic.name for each in disks.named_by(of_all)] == ["a", "b"]
    assert [each.topic.name for each in disks.named_by(of_one)] == ["b"]
