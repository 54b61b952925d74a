"""Nodes that go and come back, and leaders that move, as clients see it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from odradek import KafkaBroker
from odradek.broker.facade.topics import PartitionInfo


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    topics: dict[str, Any] = {"single": 3, "spread": {"partitions": 3, "replication_factor": 3}}
    with KafkaBroker(nodes=3, topics=topics) as running:
        yield running
        assert not running.bugs, running.bugs[0]


def led_by(broker: KafkaBroker, topic: str, node: int) -> PartitionInfo:
    return next(each for each in broker.topics()[topic].partitions if each.replicas[0] == node)


def is_open(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=30).close()
    except OSError:
        return False
    return True


def test_a_node_that_stops_hands_its_partitions_over(broker: KafkaBroker) -> None:
    before = broker.bootstrap_servers.split(",")
    was = led_by(broker, "spread", 2)
    broker.stop_node(2)
    now = led_by(broker, "spread", 2)
    assert now.leader == was.replicas[1]
    assert now.leader_epoch == was.leader_epoch + 1
    assert 2 not in now.isr
    assert broker.bootstrap_servers.split(",") == [before[0], before[2]]
    assert [is_open(each) for each in before] == [True, False, True]


def test_a_partition_without_another_replica_waits_for_its_node(broker: KafkaBroker) -> None:
    broker.stop_node(2)
    alone = led_by(broker, "single", 2)
    assert (alone.leader, alone.isr) == (-1, ())
    broker.start_node(2)
    again = led_by(broker, "single", 2)
    assert (again.leader, again.isr) == (2, (2,))
    assert again.leader_epoch == alone.leader_epoch + 1


def test_a_node_comes_back_at_its_address_and_in_sync(broker: KafkaBroker) -> None:
    before = broker.bootstrap_servers
    broker.stop_node(1)
    assert broker.cluster.controller_id == 2
    broker.start_node(1)
    assert broker.bootstrap_servers == before
    assert all(is_open(each) for each in before.split(","))
    back = led_by(broker, "spread", 1)
    assert set(back.isr) == {1, 2, 3}
    assert back.leader != 1


def test_a_leader_moves_to_a_replica_in_sync(broker: KafkaBroker) -> None:
    target = led_by(broker, "spread", 1).replicas[2]
    index = led_by(broker, "spread", 1).index
    broker.move_leader("spread", index, target)
    assert led_by(broker, "spread", 1).leader == target
    with pytest.raises(ValueError, match="no live replica"):
        broker.move_leader("single", led_by(broker, "single", 1).index, 2)
    with pytest.raises(KeyError, match="spread-9"):
        broker.move_leader("spread", 9, 1)


def test_nonsense_is_refused(broker: KafkaBroker) -> None:
    with pytest.raises(ValueError, match="no node 7"):
        broker.stop_node(7)
    with pytest.raises(ValueError, match="up already"):
        broker.start_node(1)
    broker.stop_node(1)
    with pytest.raises(ValueError, match="down already"):
        broker.stop_node(1)


def test_all_nodes_may_stop_and_return(broker: KafkaBroker) -> None:
    for node in (1, 2, 3):
        broker.stop_node(node)
    assert broker.bootstrap_servers == ""
    spread = broker.topics()["spread"].partitions
    assert {each.leader for each in spread} == {-1}
    for node in (3, 2, 1):
        broker.start_node(node)
    spread = broker.topics()["spread"].partitions
    assert {each.leader for each in spread} == {3}
    assert {len(each.isr) for each in spread} == {3}
