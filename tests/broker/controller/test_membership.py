"""Nodes as members: registrations, epochs, who is up, who is the controller."""

from __future__ import annotations

from pathlib import Path

from odradek.broker.cluster import Cluster
from odradek.broker.controller.broker_control import register_broker, unregister_broker
from odradek.broker.controller.partition_control import assign_replicas
from odradek.broker.metadata.image import LOST_DIRECTORY
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


def test_a_node_that_was_only_silent_is_the_same_incarnation() -> None:
    cluster = Cluster(nodes=2)
    partition = cluster.create_topic("a", assignments={0: [1, 2]}).partitions[0]
    before = cluster.image.brokers[1]
    cluster.membership.lose(1)
    assert (cluster.controller_id, partition.leader_id) == (2, 2)
    cluster.membership.awake(1)
    assert cluster.image.brokers[1] == before
    assert (cluster.controller_id, partition.isr) == (2, (1, 2))
    for node in (1, 2):
        cluster.membership.lose(node)
    cluster.membership.awake(1)
    assert cluster.controller_id == 1


def test_a_broker_that_is_forgotten_does_not_come_back_when_it_wakes() -> None:
    cluster = Cluster(nodes=2)
    cluster.membership.lose(2)
    cluster.controller.ask(unregister_broker, 2)
    cluster.membership.awake(2)
    assert set(cluster.image.brokers) == {1}
    assert (cluster.membership.broker_epoch(2), cluster.membership.broker_epoch(1)) == (
        -1,
        cluster.image.brokers[1].epoch,
    )
    cluster.membership.dismiss(2)
    assert set(cluster.membership.directories) == {1}
    cluster.membership.shut_down()
    assert set(cluster.image.brokers) == {1}


def test_a_disk_that_works_again_has_its_replicas() -> None:
    cluster = Cluster(nodes=2)
    cluster.create_topic("a", assignments={0: [1, 2], 1: [2, 1], 2: [2, 1]})
    topic = cluster.image.topics["a"]
    cluster.controller.ask(assign_replicas, 1, [(topic.topic_id, index, LOST_DIRECTORY) for index in (0, 1)])
    assert cluster.membership.find_disks(2) == []
    assert cluster.membership.find_disks(1) == [("a", 0), ("a", 1)]
    assert cluster.membership.find_disks(1) == []
    assert [each.isr for each in cluster.image.topics["a"].partitions] == [(1, 2), (2, 1), (2, 1)]


def test_directories_are_told_in_the_order_of_javas_signed_numbers() -> None:
    cluster = Cluster()
    ids = [bytes([first]) + bytes(14) + bytes([last]) for first, last in ((0x7F, 0), (0x80, 0), (0x01, 2), (0x01, 1))]
    cluster.membership.keep_directories({1: ids})
    assert cluster.nodes[1].metadata_directory == ids[0]
    cluster.membership.listening([1])
    assert list(cluster.image.brokers[1].directories) == [ids[1], ids[3], ids[2], ids[0]]
