"""Nodes that are paused: silent for clients, fenced by the others in time, back when they go on."""

from __future__ import annotations

import select
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from odradek import KafkaBroker
from odradek.broker.facade.topics import PartitionInfo
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.wire_client import WireClient

CONFIG = {
    "broker.session.timeout.ms": 4000,
    "controller.quorum.fetch.timeout.ms": 2000,
    "replica.lag.time.max.ms": 3000,
}


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    topic = {"partitions": 3, "replication_factor": 3}
    with KafkaBroker(nodes=3, topics={"t": topic}, config=CONFIG) as running:
        running.clock.freeze()
        yield running
        assert not running.bugs, running.bugs[0]


def led_by(broker: KafkaBroker, node: int) -> PartitionInfo:
    return next(each for each in broker.topics["t"].partitions if each.replicas[0] == node)


def test_a_frozen_node_is_fenced_after_its_session(broker: KafkaBroker) -> None:
    assert led_by(broker, 2).leader == 2
    broker.freeze_node(2)
    broker.clock.advance(seconds=3.9)
    assert led_by(broker, 2).leader == 2
    broker.clock.advance(seconds=0.2)
    now = led_by(broker, 2)
    assert now.leader == now.replicas[1]
    assert 2 not in now.isr
    assert len(broker.bootstrap_servers.split(",")) == 2
    broker.thaw_node(2)
    assert set(led_by(broker, 2).isr) == {1, 2, 3}
    assert len(broker.bootstrap_servers.split(",")) == 3


def test_a_node_that_thaws_in_time_is_never_fenced(broker: KafkaBroker) -> None:
    epoch = led_by(broker, 2).leader_epoch
    with broker.freeze_node(2):
        broker.clock.advance(seconds=3)
    broker.clock.advance(seconds=60)
    assert (led_by(broker, 2).leader, led_by(broker, 2).leader_epoch) == (2, epoch)


def test_a_frozen_controller_is_followed_by_another_which_counts_anew(broker: KafkaBroker) -> None:
    assert broker.cluster.controller_id == 1
    broker.freeze_node(1)
    broker.clock.advance(seconds=1.9)
    assert broker.cluster.controller_id == 1
    broker.clock.advance(seconds=0.2)
    assert broker.cluster.controller_id == 2
    broker.clock.advance(seconds=3.7)
    assert led_by(broker, 1).leader == 1
    broker.clock.advance(seconds=0.3)
    assert led_by(broker, 1).leader != 1


def test_a_frozen_follower_that_is_behind_leaves_the_isr(broker: KafkaBroker) -> None:
    led = led_by(broker, 2)
    broker.freeze_node(3)
    broker.produce("t", "a", partition=led.index)
    now = led_by(broker, 2)
    assert (now.log_end_offset, now.high_watermark) == (1, 0)
    broker.clock.advance(seconds=6)
    now = led_by(broker, 2)
    assert (set(now.isr), now.high_watermark) == ({1, 2}, 1)
    broker.thaw_node(3)
    assert (set(led_by(broker, 2).isr), led_by(broker, 2).replica_ends[3]) == ({1, 2, 3}, 1)


def test_nobody_fences_while_all_are_frozen(broker: KafkaBroker) -> None:
    for node in (1, 2, 3):
        broker.freeze_node(node)
    broker.clock.advance(seconds=60)
    assert [each.leader for each in broker.topics["t"].partitions] == [
        each.replicas[0] for each in broker.topics["t"].partitions
    ]
    broker.thaw_node(3)
    broker.clock.advance(seconds=7)
    assert {each.leader for each in broker.topics["t"].partitions} == {3}
    broker.heal()
    assert all(set(each.isr) == {1, 2, 3} for each in broker.topics["t"].partitions)


def test_a_frozen_node_can_be_killed_and_not_stopped(broker: KafkaBroker) -> None:
    broker.freeze_node(2)
    with pytest.raises(ValueError, match="node 2 is frozen: thaw it, or kill it"):
        broker.stop_node(2)
    with pytest.raises(ValueError, match="node 2 is frozen: thaw it, or kill it"):
        broker.start_node(2)
    broker.kill_node(2)
    assert led_by(broker, 2).leader != 2
    with pytest.raises(ValueError, match="node 2 is not frozen"):
        broker.thaw_node(2)
    broker.start_node(2)
    assert set(led_by(broker, 2).isr) == {1, 2, 3}


def request(value: bytes, acks: int) -> ProduceRequest:
    batch = build_batch([Record(0, 1, None, value)])
    return ProduceRequest(None, acks, 30_000, [TopicProduceData("t", bytes(16), [PartitionProduceData(0, batch)])])


@pytest.mark.skipif(not hasattr(select, "epoll"), reason="the moment is one turn of the poller")
def test_a_leader_that_thaws_takes_records_until_it_learns_better(broker: KafkaBroker) -> None:
    """As three brokers of Kafka 4.3.1 do: acks=1 is answered, with offsets that others have, and lost."""
    with ExitStack() as clients:
        port = broker.cluster.nodes[1].port
        one, every, new = (clients.enter_context(WireClient("127.0.0.1", port)) for _ in range(3))
        assert one.request(request(b"first", -1), 9).responses[0].partition_responses[0].base_offset == 0
        every.request(MetadataRequest(), 9)
        broker.freeze_node(1)
        asked = [client.send(request(b"stale", acks), 9) for client, acks in ((one, 1), (every, -1), (new, 1))]
        broker.clock.advance(seconds=7)
        assert led_by(broker, 1).leader == 2
        broker.produce("t", "fresh", partition=0)
        broker.thaw_node(1)
        answers = [
            client.receive(request(b"", 1), 9, number).responses[0].partition_responses[0]
            for client, number in zip((one, every, new), asked, strict=True)
        ]
    assert (answers[0].error_code, answers[0].base_offset) == (0, 1)
    assert answers[1].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert answers[2].error_code in (0, ErrorCode.NOT_LEADER_OR_FOLLOWER)  # its connection is new: it may come later
    assert [record.value for record in broker.records("t", 0)] == [b"first", b"fresh"]
    assert set(led_by(broker, 1).isr) == {1, 2, 3}
    assert led_by(broker, 1).replica_ends == {1: 2, 2: 2, 3: 2}


def test_a_leader_with_a_data_directory_knows_better_when_it_answers(tmp_path: Path) -> None:
    topic = {"partitions": 1, "replication_factor": 3}
    with KafkaBroker(nodes=3, topics={"t": topic}, config=CONFIG, data_dir=tmp_path) as broker:
        broker.clock.freeze()
        with WireClient("127.0.0.1", broker.cluster.nodes[1].port) as client:
            client.request(MetadataRequest(), 9)
            broker.freeze_node(1)
            number = client.send(request(b"stale", 1), 9)
            broker.clock.advance(seconds=7)
            broker.thaw_node(1)
            answer = client.receive(request(b"", 1), 9, number).responses[0].partition_responses[0]
            assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert list(broker.records("t")) == []


def test_metadata_of_a_node_that_thaws_is_new_at_once(broker: KafkaBroker) -> None:
    asked = MetadataRequest([MetadataRequestTopic(name="t")])
    with WireClient("127.0.0.1", broker.cluster.nodes[2].port) as client:
        client.request(asked, 9)
        broker.freeze_node(2)
        number = client.send(asked, 9)
        broker.clock.advance(seconds=5)
        broker.thaw_node(2)
        seen = client.receive(asked, 9, number)
    assert 2 not in [each.leader_id for each in seen.topics[0].partitions]
    assert len(seen.brokers) == 3


def test_a_frozen_coordinator_throws_nobody_out() -> None:
    with KafkaBroker(nodes=2, topics=["t"], config={"broker.session.timeout.ms": 600_000}) as broker:
        broker.create_topic("__consumer_offsets", 1, replication_factor=2)
        coordinator = broker.all_topics["__consumer_offsets"].partitions[0].leader
        joining = ConsumerGroupHeartbeatRequest(
            "g", "m", 0, rebalance_timeout_ms=60_000, subscribed_topic_names=["t"], topic_partitions=[]
        )
        with WireClient("127.0.0.1", broker.cluster.nodes[coordinator].port) as client:
            while client.request(joining, 1).error_code:
                pass  # the coordinator loads
        assert len(broker.groups["g"].members) == 1
        broker.clock.freeze()
        broker.freeze_node(coordinator)
        broker.clock.advance(seconds=60)
        assert len(broker.groups["g"].members) == 1
        broker.kill_node(coordinator)
        assert broker.groups["g"].coordinator == 3 - coordinator
        assert len(broker.groups["g"].members) == 1


def test_mistakes_are_named(broker: KafkaBroker) -> None:
    with pytest.raises(ValueError, match="no node 7: the cluster has 1, 2, 3"):
        broker.freeze_node(7)
    undo = broker.freeze_node(2)
    with pytest.raises(ValueError, match="node 2 is frozen already"):
        broker.freeze_node(2)
    broker.kill_node(2)
    undo.undo()
    with pytest.raises(ValueError, match="node 2 is down"):
        broker.freeze_node(2)
