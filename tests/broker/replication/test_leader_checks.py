"""Elections that the controller holds by itself, on the broker's clock."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek import KafkaBroker
from odradek.broker.facade.topics import PartitionInfo
from odradek.protocol.generated.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.wire_client import WireClient

INTERVALS = {"leader.imbalance.check.interval.seconds": 100, "unclean.leader.election.interval.ms": 70_000}


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(nodes=3, config=INTERVALS) as running:
        running.clock.freeze()
        running.create_topic("t", replication_factor=3)
        yield running
        assert not running.bugs, running.bugs[0]


def seen(broker: KafkaBroker, topic: str = "t") -> PartitionInfo:
    return broker.topics[topic].partitions[0]


def test_leaders_go_back_to_the_preferred_replica(broker: KafkaBroker) -> None:
    preferred, other = seen(broker).replicas[:2]
    broker.clock.advance(seconds=250)
    broker.topic("t").move_leader(0, other)
    broker.clock.advance(seconds=49)
    assert seen(broker).leader == other
    broker.clock.advance(seconds=1)
    assert (seen(broker).leader, seen(broker).leader_epoch) == (preferred, 2)


def test_a_preferred_replica_that_is_not_in_sync_is_waited_for(broker: KafkaBroker) -> None:
    preferred = seen(broker).replicas[0]
    with broker.kill_node(preferred):
        broker.clock.advance(hours=1)
        led = seen(broker)
        assert led.leader == led.replicas[1]
    broker.clock.advance(seconds=100)
    assert seen(broker).leader == preferred


def test_who_does_not_want_it_keeps_the_leaders() -> None:
    with KafkaBroker(nodes=2, config={"auto.leader.rebalance.enable": False}) as broker:
        broker.clock.freeze()
        broker.create_topic("t", replication_factor=2)
        other = seen(broker).replicas[1]
        broker.topic("t").move_leader(0, other)
        broker.clock.advance(hours=1)
        assert seen(broker).leader == other


def test_a_topic_that_permits_it_gets_an_unclean_leader_in_time(broker: KafkaBroker) -> None:
    leader, *others = seen(broker).replicas
    for node in others:
        broker.topic("t").pause_replication(0, node)
    broker.produce("t", "lost")
    broker.clock.advance(seconds=60)
    assert seen(broker).isr == (leader,)
    broker.kill_node(leader)  # the controller: another one counts anew
    assert seen(broker).leader == -1
    set_unclean(broker, "true")
    broker.clock.advance(seconds=69)
    assert seen(broker).leader == -1, "a changed config alone elects nobody"
    broker.clock.advance(seconds=1)
    assert (seen(broker).leader, seen(broker).isr) == (others[0], (others[0],))
    assert list(broker.records("t")) == []
    broker.heal()
    assert set(seen(broker).isr) == set(seen(broker).replicas)


def set_unclean(broker: KafkaBroker, value: str) -> None:
    host, _, port = broker.bootstrap_servers.split(",")[0].rpartition(":")
    config = AlterableConfig("unclean.leader.election.enable", 0, value)
    with WireClient(host, int(port)) as client:
        answer = client.request(IncrementalAlterConfigsRequest([AlterConfigsResource(2, "t", [config])]))
    assert [one.error_code for one in answer.responses] == [0]
