"""Elections, nodes that go and come back, replicas that move."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.commands import (
    AssignReplicas,
    ElectLeaders,
    Reassignment,
    ReassignPartitions,
    UnfenceBrokers,
)
from odradek.broker.partitions.partition import Partition
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.nodes import set_node_up


def state(partition: Partition) -> tuple[int, int, tuple[int, ...]]:
    """(leader, leader epoch, ISR)."""
    return partition.leader_id, partition.leader_epoch, partition.isr


def elect(cluster: Cluster, *, unclean: bool) -> ErrorCode | None:
    """Elect a leader for a-0: the code of the refusal, if it was refused."""
    (error,) = cluster.controller.ask(ElectLeaders([("a", 0)], unclean=unclean))
    return None if error is None else error.code


def reassign(cluster: Cluster, replicas: list[int]) -> None:
    assert cluster.controller.ask(ReassignPartitions([Reassignment(("a", 0), replicas)])) == [None]


@pytest.fixture
def cluster() -> Cluster:
    return Cluster(nodes=3)


def test_another_replica_takes_over_and_keeps_leading(cluster: Cluster) -> None:
    partition = cluster.create_topic("a", assignments={0: [1, 2]}).partitions[0]
    set_node_up(cluster, 1, False)
    assert state(partition) == (2, 1, (2,))
    set_node_up(cluster, 1, True)
    assert state(partition) == (2, 1, (1, 2))
    assert elect(cluster, unclean=False) is None
    assert state(partition) == (1, 2, (1, 2))


def test_without_live_replica_there_is_no_leader(cluster: Cluster) -> None:
    partition = cluster.create_topic("a", assignments={0: [2]}).partitions[0]
    set_node_up(cluster, 2, False)
    assert state(partition) == (-1, 1, ())
    assert elect(cluster, unclean=True) is ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE
    set_node_up(cluster, 2, True)
    assert state(partition) == (2, 2, (2,))


def test_elections_that_are_not_needed_or_cannot_be(cluster: Cluster) -> None:
    cluster.create_topic("a", assignments={0: [1, 2]})
    for unclean in (False, True):
        assert elect(cluster, unclean=unclean) is ErrorCode.ELECTION_NOT_NEEDED
    set_node_up(cluster, 1, False)
    assert elect(cluster, unclean=False) is ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE


def test_replicas_move_and_the_leader_stays_if_it_can(cluster: Cluster) -> None:
    partition = cluster.create_topic("a", assignments={0: [1, 2]}).partitions[0]
    reassign(cluster, [3, 1])
    assert (partition.replicas, state(partition)) == ((3, 1), (1, 1, (1, 3)))
    reassign(cluster, [3, 2])
    assert (partition.replicas, state(partition)) == ((3, 2), (3, 2, (3, 2)))


def test_a_node_that_is_up_already_changes_nothing(cluster: Cluster) -> None:
    before = cluster.image.offset
    cluster.controller.ask(UnfenceBrokers([1]))
    assert cluster.image.offset == before
    with pytest.raises(KafkaError) as refused:
        cluster.controller.ask(UnfenceBrokers([9]))
    assert refused.value.code is ErrorCode.BROKER_ID_NOT_REGISTERED


def test_a_broker_says_where_its_replicas_are(cluster: Cluster) -> None:
    cluster.create_topic("a", assignments={0: [1, 2]})
    topic = cluster.image.topics["a"]
    before = topic.partitions[0]
    assert len(before.replicas) > 1
    node, directory, foreign = before.replicas[1], bytes(15) + b"\x09", bytes(15) + b"\x0a"
    stranger = max(cluster.nodes) + 1
    cluster.controller.ask(AssignReplicas(node, [(topic.topic_id, 0, directory), (topic.topic_id, 99, directory)]))
    after = cluster.image.topics["a"].partitions[0]
    assert after.directories == (before.directories[0], directory, *before.directories[2:])
    assert (after.leader_epoch, after.partition_epoch) == (before.leader_epoch, before.partition_epoch + 1)
    end = cluster.controller.next_offset
    cluster.controller.ask(AssignReplicas(node, [(topic.topic_id, 0, directory), (bytes(16), 0, directory)]))
    cluster.controller.ask(AssignReplicas(stranger, [(topic.topic_id, 0, foreign)]))
    assert cluster.controller.next_offset == end
