"""Nodes as members: registrations, epochs, who is up, who is the controller."""

from __future__ import annotations

from pathlib import Path

from odradek.broker.cluster import Cluster
from odradek.broker.controller.broker_control import register_broker
from tests.fakes.durable import die, durable, opened
from tests.fakes.nodes import set_node_up


def test_nodes_are_registered_and_up() -> None:
    cluster = Cluster(nodes=2)
    brokers = cluster.image.brokers
    assert [(broker.id, broker.fenced, broker.endpoints[0].name) for broker in brokers.values()] == [
        (1, False, "PLAINTEXT"),
        (2, False, "PLAINTEXT"),
    ]
    assert set(cluster.image.controllers) == {1, 2}
    assert len({broker.incarnation for broker in brokers.values()}) == 2
    assert len({broker.directories for broker in brokers.values()}) == 2


def test_an_address_amends_the_registration() -> None:
    cluster = Cluster()
    before = cluster.image.brokers[1]
    cluster.nodes[1].first.port = 4711
    cluster.membership.listening([1])
    after = cluster.image.brokers[1]
    assert after.endpoints[0].port == 4711
    assert after == before._replace(endpoints=after.endpoints)


def test_a_node_that_is_back_is_another_incarnation() -> None:
    cluster = Cluster(nodes=2)
    before = cluster.image.brokers[2]
    set_node_up(cluster, 2, False)
    assert cluster.image.brokers[2].fenced
    assert not cluster.nodes[2].up
    set_node_up(cluster, 2, True)
    after = cluster.image.brokers[2]
    assert after.incarnation != before.incarnation
    assert after.epoch > before.epoch
    assert cluster.nodes[2].up


def test_the_controller_moves_with_an_epoch() -> None:
    cluster = Cluster(nodes=2)
    log = cluster.controller.log
    assert log is not None
    epoch = log.leader_epoch
    set_node_up(cluster, 1, False)
    assert (cluster.controller_id, log.leader_epoch) == (2, epoch + 1)
    set_node_up(cluster, 1, True)
    assert cluster.controller_id == 2
    set_node_up(cluster, 1, False)
    set_node_up(cluster, 2, False)
    set_node_up(cluster, 1, True)
    assert cluster.controller_id == 1


def test_an_incarnation_that_died_leads_nothing_when_the_next_registers() -> None:
    cluster = Cluster(nodes=2)
    cluster.create_topic("a", assignments={0: [1, 2], 1: [2, 1]})
    broker = cluster.image.brokers[1]
    epoch = cluster.controller.ask(
        register_broker, 1, b"n" * 16, cluster.controller.next_offset, broker.endpoints, None, broker.directories
    )
    assert cluster.image.brokers[1].fenced
    assert cluster.image.brokers[1].epoch == epoch
    assert [partition.leader for partition in cluster.image.topics["a"].partitions] == [2, 2]


def test_brokers_of_another_time_are_fenced(tmp_path: Path) -> None:
    cluster = opened(tmp_path, nodes=2)
    cluster.create_topic("a", assignments={0: [2]})
    die(cluster)
    more = durable(tmp_path, nodes=3)
    more.open_directory()
    assert [broker.fenced for broker in more.image.brokers.values()] == [False, False, False]
    assert more.image.topics["a"].partitions[0].leader == 2
    more.close_logs()
