"""Elections, nodes that go and come back, replicas that move."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.leadership import elect_any, elect_preferred, set_node_up, set_replicas
from odradek.broker.partitions.partition import Partition
from odradek.protocol.errors import ErrorCode, KafkaError


def state(partition: Partition) -> tuple[int, int, list[int]]:
    """(leader, leader epoch, ISR)."""
    return partition.leader_id, partition.leader_epoch, partition.isr


@pytest.fixture
def cluster() -> Cluster:
    return Cluster(nodes=3)


def test_another_replica_takes_over_and_keeps_leading(cluster: Cluster) -> None:
    partition = cluster.topics.create("a", assignments={0: [1, 2]}).partitions[0]
    set_node_up(cluster, 1, False)
    assert state(partition) == (2, 1, [2])
    set_node_up(cluster, 1, True)
    assert state(partition) == (2, 1, [1, 2])
    elect_preferred(cluster, partition)
    assert state(partition) == (1, 2, [1, 2])


def test_without_live_replica_there_is_no_leader(cluster: Cluster) -> None:
    partition = cluster.topics.create("a", assignments={0: [2]}).partitions[0]
    set_node_up(cluster, 2, False)
    assert state(partition) == (-1, 1, [])
    with pytest.raises(KafkaError) as refused:
        elect_any(cluster, partition)
    assert refused.value.code is ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
    set_node_up(cluster, 2, True)
    assert state(partition) == (2, 2, [2])


def test_elections_that_are_not_needed_or_cannot_be(cluster: Cluster) -> None:
    partition = cluster.topics.create("a", assignments={0: [1, 2]}).partitions[0]
    for elect in (elect_any, elect_preferred):
        with pytest.raises(KafkaError) as refused:
            elect(cluster, partition)
        assert refused.value.code is ErrorCode.ELECTION_NOT_NEEDED
    set_node_up(cluster, 1, False)
    with pytest.raises(KafkaError) as refused:
        elect_preferred(cluster, partition)
    assert refused.value.code is ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE


def test_replicas_move_and_the_leader_stays_if_it_can(cluster: Cluster) -> None:
    partition = cluster.topics.create("a", assignments={0: [1, 2]}).partitions[0]
    set_replicas(cluster, partition, [3, 1])
    assert (partition.replicas, state(partition)) == ([3, 1], (1, 0, [3, 1]))
    set_replicas(cluster, partition, [3, 2])
    assert (partition.replicas, state(partition)) == ([3, 2], (3, 1, [3, 2]))


def test_a_node_that_is_up_already_changes_nothing(cluster: Cluster) -> None:
    before = cluster.topics.version
    set_node_up(cluster, 1, True)
    assert cluster.topics.version == before
    with pytest.raises(KeyError):
        set_node_up(cluster, 9, True)
