"""Who votes, who leads, how far each has the metadata log: what a real Kafka tells of nodes that go and come."""

from __future__ import annotations

from odradek.broker.cluster import Cluster
from odradek.broker.controller.quorum import UNKNOWN, Progress
from odradek.protocol.message import ZERO_UUID
from tests.fakes.nodes import set_node_up

SEPARATE = {
    "process.roles": "broker",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "3000@127.0.0.1:0,3001@127.0.0.1:0,3002@127.0.0.1:0",
}


def voters(cluster: Cluster) -> dict[int, Progress]:
    return {each.node_id: each for each in cluster.quorum.progress()[0]}


def observers(cluster: Cluster) -> dict[int, Progress]:
    return {each.node_id: each for each in cluster.quorum.progress()[1]}


def test_a_voter_that_is_up_has_the_whole_log() -> None:
    cluster = Cluster(nodes=3, config={"controller.quorum.bootstrap.servers": "localhost:9093"})
    cluster.create_topic("t")
    end = cluster.controller.next_offset
    assert {each.end_offset for each in voters(cluster).values()} == {end}
    assert observers(cluster) == {}
    ids = {node_id: each.directory_id for node_id, each in voters(cluster).items()}
    assert ids == {node.id: node.metadata_directory for node in cluster.nodes.values()}
    assert ZERO_UUID not in ids.values()


def test_of_static_voters_no_directory_is_known() -> None:
    cluster = Cluster(nodes=2)
    assert cluster.controller.kraft_version == 0
    assert {each.directory_id for each in voters(cluster).values()} == {ZERO_UUID}


def test_a_follower_that_goes_stays_where_it_was() -> None:
    cluster = Cluster(nodes=3)
    set_node_up(cluster, 3, False)
    gone = voters(cluster)[3]
    cluster.create_topic("t")
    assert voters(cluster)[3] == gone
    assert gone.end_offset < cluster.controller.next_offset
    set_node_up(cluster, 3, True)
    assert voters(cluster)[3].end_offset == cluster.controller.next_offset


def test_a_new_leader_knows_nothing_of_the_one_before() -> None:
    cluster = Cluster(nodes=3)
    epoch = cluster.quorum.leader_epoch
    set_node_up(cluster, 1, False)
    assert (cluster.controller_id, cluster.quorum.leader_epoch) == (2, epoch + 1)
    assert voters(cluster)[1][2:] == (UNKNOWN, UNKNOWN, UNKNOWN)
    set_node_up(cluster, 1, True)
    assert cluster.controller_id == 2
    assert voters(cluster)[1].end_offset == cluster.controller.next_offset


def test_separate_controllers_lead_and_brokers_observe() -> None:
    cluster = Cluster(nodes=2, config=SEPARATE)
    assert list(voters(cluster)) == [3000, 3001, 3002]
    assert list(observers(cluster)) == [1, 2]
    assert cluster.controller_id == 3000
    assert cluster.controller.kraft_version == 0
    assert {each.directory_id for each in voters(cluster).values()} == {ZERO_UUID}
    assert observers(cluster)[1].directory_id == cluster.nodes[1].metadata_directory
    assert sorted(cluster.image.controllers) == [3000, 3001, 3002]
    assert sorted(cluster.image.brokers) == [1, 2]
    cluster.membership.lose_controller(3000)
    assert cluster.controller_id == 3001
    cluster.membership.join_controllers([3000])
    assert cluster.controller_id == 3001


def test_a_new_leader_knows_no_observer_that_is_gone() -> None:
    cluster = Cluster(nodes=2, config=SEPARATE)
    set_node_up(cluster, 2, False)
    assert list(observers(cluster)) == [1, 2]
    cluster.membership.lose_controller(3000)
    assert list(observers(cluster)) == [1]


def test_the_last_controller() -> None:
    cluster = Cluster(nodes=2, config=SEPARATE)
    for node_id in (3000, 3001):
        assert not cluster.quorum.is_last(node_id)
        cluster.membership.lose_controller(node_id)
    assert cluster.quorum.is_last(3002)
    assert not Cluster(nodes=1).quorum.is_last(1)
