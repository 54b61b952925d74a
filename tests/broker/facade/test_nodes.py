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
    return next(each for each in broker.topics[topic].partitions if each.replicas[0] == node)


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


def test_nobody_gets_the_port_of_a_node_that_is_down(broker: KafkaBroker) -> None:
    """The system's next free ports are others, and who asks for that one is told that it is taken."""
    port = broker.cluster.nodes[1].port
    address = f"127.0.0.1:{port}"
    for verb in (broker.stop_node, broker.kill_node):
        with verb(1):
            assert not is_open(address)
            with socket.socket() as other, pytest.raises(OSError, match="in use"):
                other.bind(("127.0.0.1", port))
        assert is_open(address)
    broker.kill_node(1)


def test_a_leader_moves_to_a_replica_in_sync(broker: KafkaBroker) -> None:
    target = led_by(broker, "spread", 1).replicas[2]
    index = led_by(broker, "spread", 1).index
    broker.move_leader("spread", index, target)
    assert led_by(broker, "spread", 1).leader == target
    with pytest.raises(ValueError, match="no live in-sync replica"):
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
    spread = broker.topics["spread"].partitions
    assert {each.leader for each in spread} == {-1}
    for node in (3, 2, 1):
        broker.start_node(node)
    spread = broker.topics["spread"].partitions
    assert {each.leader for each in spread} == {3}
    assert {len(each.isr) for each in spread} == {3}


def test_a_leader_that_was_moved_comes_back_if_it_can(broker: KafkaBroker) -> None:
    here = led_by(broker, "spread", 1)
    first, second, third = here.replicas
    with broker.move_leader("spread", here.index, second):
        assert led_by(broker, "spread", 1).leader == second
    assert led_by(broker, "spread", 1).leader == first
    with broker.move_leader("spread", here.index, second):
        broker.stop_node(first)
    assert led_by(broker, "spread", 1).leader == second
    with broker.move_leader("spread", here.index, third):
        broker.move_leader("spread", here.index, second)
    assert led_by(broker, "spread", 1).leader == second, "somebody else has moved it since"


def test_leaders_are_elected(broker: KafkaBroker) -> None:
    here = led_by(broker, "spread", 1)
    broker.move_leader("spread", here.index, 2)
    broker.elect("spread", here.index)
    assert led_by(broker, "spread", 1).leader == 1
    broker.elect("spread", here.index, node_id=3)
    assert led_by(broker, "spread", 1).leader == 3
    broker.elect("spread")
    assert led_by(broker, "spread", 1).leader == 1
    broker.elect("spread", here.index)
    with pytest.raises(KeyError, match="no topic nope"):
        broker.elect("nope")
    with pytest.raises(KeyError, match="spread-9"):
        broker.elect("spread", 9)
    with pytest.raises(ValueError, match="no node 7"):
        broker.elect("spread", here.index, node_id=7)
    with pytest.raises(ValueError, match="is led by node 1: an unclean election needs a partition without a leader"):
        broker.elect("spread", here.index, unclean=True)
    broker.stop_node(1)
    with pytest.raises(ValueError, match="The preferred leader was not available"):
        broker.elect("spread", here.index)


def test_an_unclean_election_loses_what_only_the_dead_had(broker: KafkaBroker) -> None:
    here = led_by(broker, "spread", 1)
    broker.clock.freeze()
    for node in (2, 3):
        broker.pause_replication("spread", here.index, node)
    broker.produce("spread", "lost", partition=here.index)
    broker.clock.advance(minutes=2)
    broker.kill_node(1)
    assert led_by(broker, "spread", 1).leader == -1
    with pytest.raises(ValueError, match="The preferred leader was not available"):
        broker.elect("spread", here.index)
    with pytest.raises(ValueError, match="no live in-sync replica"):
        broker.elect("spread", here.index, node_id=3)
    with pytest.raises(ValueError, match="no live replica"):
        broker.elect("spread", here.index, node_id=1, unclean=True)
    broker.elect("spread", here.index, node_id=3, unclean=True)
    assert (led_by(broker, "spread", 1).leader, led_by(broker, "spread", 1).isr) == (3, (3,))
    broker.heal()
    broker.produce("spread", "new", partition=here.index)
    assert [record.value for record in broker.records("spread", here.index)] == [b"new"]
    assert led_by(broker, "spread", 1).replica_ends == {1: 1, 2: 1, 3: 1}


def test_a_node_that_crashed_is_not_trusted_as_one_that_stopped(broker: KafkaBroker) -> None:
    """KIP-966: of the replicas that were eligible the crashed one may have lost what it had."""
    broker.create_topic("two", config={"min.insync.replicas": 2}, replication_factor=2)
    first, second = broker.topics["two"].partitions[0].replicas

    def leader() -> int:
        return broker.topics["two"].partitions[0].leader

    broker.stop_node(first)
    broker.stop_node(second)
    broker.start_node(first)
    assert leader() == first
    broker.start_node(second)
    broker.kill_node(first)
    broker.kill_node(second)
    broker.start_node(first)
    assert leader() == -1
    broker.start_node(second)
    assert leader() == second, "the last leader that is known"
