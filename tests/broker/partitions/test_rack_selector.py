"""Which replica is closest to a consumer."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.partitions.partition import Partition
from odradek.broker.partitions.rack_selector import closest_replica
from odradek.broker.partitions.replicas import Lag
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record

RACKS: dict[int, str | None] = {1: "a", 2: "b", 3: "b", 4: "b", 5: None}


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(nodes=5)
    partition = made.create_topic("t", assignments={0: [1, 2, 3, 5]}).partitions[0]
    for _ in range(4):
        partition.append(build_batch([Record(0, 1, None, b"v")]), now_ms=1)
    return made


@pytest.fixture
def partition(cluster: Cluster) -> Partition:
    return cluster.topics.by_name("t").partitions[0]


def test_a_consumer_in_the_leaders_rack_or_in_none_stays(partition: Partition) -> None:
    assert closest_replica(partition, "a", 0, RACKS) is None
    assert closest_replica(partition, "z", 0, RACKS) is None


def test_of_equals_the_highest_number_is_taken(partition: Partition) -> None:
    assert closest_replica(partition, "b", 0, RACKS) == 3


def test_a_replica_that_cannot_be_reached_is_left_out(partition: Partition) -> None:
    assert closest_replica(partition, "b", 0, {1: "a", 2: "b"}) == 2


def test_a_replica_has_to_have_the_offset(partition: Partition) -> None:
    assert closest_replica(partition, "b", 4, RACKS) == 3
    assert closest_replica(partition, "b", 5, RACKS) is None
    partition.delete_records(2)
    assert closest_replica(partition, "b", 1, RACKS) is None
    assert closest_replica(partition, "b", 2, RACKS) == 3


def test_who_has_most_is_taken_and_has_to_be_in_sync(cluster: Cluster, partition: Partition) -> None:
    cluster.replicator.hold(partition, 3, Lag(records=2))
    for _ in range(3):
        partition.append(build_batch([Record(0, 1, None, b"v")]), now_ms=1)
    assert closest_replica(partition, "b", 5, RACKS) == 2
    cluster.replicator.node_lost(2)
    cluster.membership.lose(2)
    assert closest_replica(partition, "b", 5, RACKS) == 3
    assert closest_replica(partition, "b", 6, RACKS) is None
