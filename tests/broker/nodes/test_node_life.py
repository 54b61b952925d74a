"""Nodes that are stopped, killed, frozen and started, and leaders that move."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from odradek import KafkaBroker
from odradek.broker.config.changes import Assignment, Change
from odradek.broker.facade.topics import PartitionInfo
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.describe_quorum import DescribeQuorumRequest, PartitionData, TopicData
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.conformance.real_kafka import free_ports
from tests.fakes.brokers import broker_fixture
from tests.fakes.wire_client import WireClient


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


def test_a_node_that_starts_does_not_know_configs_of_a_deleted_topic(broker: KafkaBroker) -> None:
    """Kafka's may: it replays the creation of both topics."""
    broker.create_topic("again", config={"message.timestamp.after.max.ms": "1"})
    broker.topic("again").delete()
    broker.create_topic("again")
    broker.kill_node(2)
    broker.start_node(2)
    resource = DescribeConfigsResource(2, "again", ["message.timestamp.after.max.ms"])
    client = WireClient.at(broker.bootstrap_servers.split(",")[1])
    try:
        (told,) = client.request(DescribeConfigsRequest([resource]), 4).results
    finally:
        client.close()
    assert [config.value for config in told.configs] == ["3600000"]


def test_a_node_that_starts_has_the_log_levels_of_its_process(broker: KafkaBroker) -> None:
    levels = broker.cluster.services.log_levels()
    before = levels.levels(2)
    levels.apply(Change(8, "2", [Assignment("kafka", "FATAL")]), 2, validate_only=False)
    broker.stop_node(2)
    broker.start_node(2)
    assert levels.levels(2) == before


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
    broker.topic("spread").move_leader(index, target)
    assert led_by(broker, "spread", 1).leader == target
    with pytest.raises(ValueError, match="no live in-sync replica"):
        broker.topic("single").move_leader(led_by(broker, "single", 1).index, 2)
    with pytest.raises(KafkaError, match="'spread' has no partition 9"):
        broker.topic("spread").move_leader(9, 1)


def test_a_change_that_does_not_fit_the_state_of_a_node_is_refused(broker: KafkaBroker) -> None:
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


@pytest.fixture
def with_one_controller() -> Iterator[KafkaBroker]:
    """Node 1 is broker and controller, node 2 a broker."""
    config = {
        "process.roles": "broker,controller",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": "1@127.0.0.1:0",
        "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
    }
    topics = {"t": {"partitions": 2, "replication_factor": 2}}
    with KafkaBroker(nodes=2, config=config, topics=topics) as running:
        yield running
        assert not running.bugs, running.bugs[0]


def address_of_controller(broker: KafkaBroker) -> str:
    return f"127.0.0.1:{broker.cluster.nodes[1].controllers['CONTROLLER'].port}"


def test_the_broker_of_a_node_stops_and_its_controller_goes_on(with_one_controller: KafkaBroker) -> None:
    broker = with_one_controller
    first, second = broker.bootstrap_servers.split(",")
    controller = address_of_controller(broker)
    with pytest.raises(ValueError, match="last controller that is up"):
        broker.stop_node(1)
    with pytest.raises(ValueError, match="not broker and controller"):
        broker.stop_node(2, broker_only=True)
    with WireClient.at(controller) as connected:
        with broker.stop_node(1, broker_only=True):
            assert [is_open(each) for each in (first, second, controller)] == [False, True, True]
            assert {each.leader for each in broker.topics["t"].partitions} == {2}
            broker.create_topic("more")
            with WireClient.at(second) as client:
                metadata = client.request(MetadataRequest(None), 12)
                assert ([each.node_id for each in metadata.brokers], metadata.controller_id) == ([2], 2)
            asked = DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])])
            described = connected.request(asked, 2)
            assert described.topics[0].partitions[0].leader_id == 1
            with pytest.raises(ValueError, match="down already"):
                broker.stop_node(1, broker_only=True)
        assert is_open(first)
        assert {each.isr for each in broker.topics["t"].partitions} == {(2, 1)}
        assert not connected.request(ApiVersionsRequest("test", "1"), 3).error_code


def test_all_brokers_stop_beside_a_controller(with_one_controller: KafkaBroker) -> None:
    broker = with_one_controller
    broker.stop_node(1, broker_only=True)
    broker.kill_node(2)
    assert broker.bootstrap_servers == ""
    assert is_open(address_of_controller(broker))
    assert broker.cluster.controller_id == 1
    broker.start_node(2)
    broker.start_node(1)
    assert {each.leader for each in broker.topics["t"].partitions} == {2}


def test_a_leader_that_was_moved_comes_back_if_it_can(broker: KafkaBroker) -> None:
    here = led_by(broker, "spread", 1)
    first, second, third = here.replicas
    with broker.topic("spread").move_leader(here.index, second):
        assert led_by(broker, "spread", 1).leader == second
    assert led_by(broker, "spread", 1).leader == first
    with broker.topic("spread").move_leader(here.index, second):
        broker.stop_node(first)
    assert led_by(broker, "spread", 1).leader == second
    with broker.topic("spread").move_leader(here.index, third):
        broker.topic("spread").move_leader(here.index, second)
    assert led_by(broker, "spread", 1).leader == second, "somebody else has moved it since"


def test_elect_gives_preferred_leaders_back(broker: KafkaBroker) -> None:
    here = led_by(broker, "spread", 1)
    broker.topic("spread").move_leader(here.index, 2)
    broker.topic("spread").elect(here.index)
    assert led_by(broker, "spread", 1).leader == 1
    broker.topic("spread").elect(here.index, node_id=3)
    assert led_by(broker, "spread", 1).leader == 3
    broker.topic("spread").elect()
    assert led_by(broker, "spread", 1).leader == 1
    broker.topic("spread").elect(here.index)
    with pytest.raises(KafkaError, match="no topic 'nope'"):
        broker.topic("nope").elect()
    with pytest.raises(KafkaError, match="'spread' has no partition 9"):
        broker.topic("spread").elect(9)
    with pytest.raises(ValueError, match="no node 7"):
        broker.topic("spread").elect(here.index, node_id=7)
    with pytest.raises(ValueError, match="is led by node 1: an unclean election needs a partition without a leader"):
        broker.topic("spread").elect(here.index, unclean=True)
    broker.stop_node(1)
    with pytest.raises(ValueError, match="The preferred leader was not available"):
        broker.topic("spread").elect(here.index)


def test_an_unclean_election_loses_what_only_the_dead_had(broker: KafkaBroker) -> None:
    here = led_by(broker, "spread", 1)
    broker.clock.freeze()
    for node in (2, 3):
        broker.topic("spread").pause_replication(here.index, node)
    broker.produce("spread", "lost", partition=here.index)
    broker.clock.advance(minutes=2)
    broker.kill_node(1)
    assert led_by(broker, "spread", 1).leader == -1
    with pytest.raises(ValueError, match="The preferred leader was not available"):
        broker.topic("spread").elect(here.index)
    with pytest.raises(ValueError, match="no live in-sync replica"):
        broker.topic("spread").elect(here.index, node_id=3)
    with pytest.raises(ValueError, match="no live replica"):
        broker.topic("spread").elect(here.index, node_id=1, unclean=True)
    broker.topic("spread").elect(here.index, node_id=3, unclean=True)
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


CONFIG = {
    "broker.session.timeout.ms": 4000,
    "controller.quorum.fetch.timeout.ms": 2000,
    "replica.lag.time.max.ms": 3000,
}


@pytest.fixture
def three_nodes() -> Iterator[KafkaBroker]:
    topic = {"partitions": 3, "replication_factor": 3}
    with KafkaBroker(nodes=3, topics={"t": topic}, config=CONFIG) as running:
        running.clock.freeze()
        yield running
        assert not running.bugs, running.bugs[0]


def partition_led_by(three_nodes: KafkaBroker, node: int) -> PartitionInfo:
    return next(each for each in three_nodes.topics["t"].partitions if each.replicas[0] == node)


def test_a_frozen_node_is_fenced_after_its_session(three_nodes: KafkaBroker) -> None:
    assert partition_led_by(three_nodes, 2).leader == 2
    three_nodes.freeze_node(2)
    three_nodes.clock.advance(seconds=3.9)
    assert partition_led_by(three_nodes, 2).leader == 2
    three_nodes.clock.advance(seconds=0.2)
    now = partition_led_by(three_nodes, 2)
    assert now.leader == now.replicas[1]
    assert 2 not in now.isr
    assert len(three_nodes.bootstrap_servers.split(",")) == 2
    three_nodes.thaw_node(2)
    assert set(partition_led_by(three_nodes, 2).isr) == {1, 2, 3}
    assert len(three_nodes.bootstrap_servers.split(",")) == 3


def test_a_node_that_thaws_in_time_is_never_fenced(three_nodes: KafkaBroker) -> None:
    epoch = partition_led_by(three_nodes, 2).leader_epoch
    with three_nodes.freeze_node(2):
        three_nodes.clock.advance(seconds=3)
    three_nodes.clock.advance(seconds=60)
    assert (partition_led_by(three_nodes, 2).leader, partition_led_by(three_nodes, 2).leader_epoch) == (2, epoch)


def test_a_frozen_controller_is_followed_by_another_which_counts_anew(three_nodes: KafkaBroker) -> None:
    assert three_nodes.cluster.controller_id == 1
    three_nodes.freeze_node(1)
    three_nodes.clock.advance(seconds=1.9)
    assert three_nodes.cluster.controller_id == 1
    three_nodes.clock.advance(seconds=0.2)
    assert three_nodes.cluster.controller_id == 2
    three_nodes.clock.advance(seconds=3.7)
    assert partition_led_by(three_nodes, 1).leader == 1
    three_nodes.clock.advance(seconds=0.3)
    assert partition_led_by(three_nodes, 1).leader != 1


def test_a_frozen_follower_that_is_behind_leaves_the_isr(three_nodes: KafkaBroker) -> None:
    led = partition_led_by(three_nodes, 2)
    three_nodes.freeze_node(3)
    three_nodes.produce("t", "a", partition=led.index)
    now = partition_led_by(three_nodes, 2)
    assert (now.log_end_offset, now.high_watermark) == (1, 0)
    three_nodes.clock.advance(seconds=6)
    now = partition_led_by(three_nodes, 2)
    assert (set(now.isr), now.high_watermark) == ({1, 2}, 1)
    three_nodes.thaw_node(3)
    assert (set(partition_led_by(three_nodes, 2).isr), partition_led_by(three_nodes, 2).replica_ends[3]) == (
        {1, 2, 3},
        1,
    )


def test_nobody_fences_while_all_are_frozen(three_nodes: KafkaBroker) -> None:
    for node in (1, 2, 3):
        three_nodes.freeze_node(node)
    three_nodes.clock.advance(seconds=60)
    assert [each.leader for each in three_nodes.topics["t"].partitions] == [
        each.replicas[0] for each in three_nodes.topics["t"].partitions
    ]
    three_nodes.thaw_node(3)
    three_nodes.clock.advance(seconds=7)
    assert {each.leader for each in three_nodes.topics["t"].partitions} == {3}
    three_nodes.heal()
    assert all(set(each.isr) == {1, 2, 3} for each in three_nodes.topics["t"].partitions)


def test_a_frozen_node_can_be_killed_and_not_stopped(three_nodes: KafkaBroker) -> None:
    three_nodes.freeze_node(2)
    with pytest.raises(ValueError, match="node 2 is frozen: thaw it, or kill it"):
        three_nodes.stop_node(2)
    with pytest.raises(ValueError, match="node 2 is frozen: thaw it, or kill it"):
        three_nodes.start_node(2)
    three_nodes.kill_node(2)
    assert partition_led_by(three_nodes, 2).leader != 2
    with pytest.raises(ValueError, match="node 2 is not frozen"):
        three_nodes.thaw_node(2)
    three_nodes.start_node(2)
    assert set(partition_led_by(three_nodes, 2).isr) == {1, 2, 3}


def request(value: bytes, acks: int) -> ProduceRequest:
    batch = build_batch([Record(0, 1, None, value)])
    return ProduceRequest(None, acks, 30_000, [TopicProduceData("t", bytes(16), [PartitionProduceData(0, batch)])])


def test_a_leader_that_thaws_takes_records_until_it_learns_better(three_nodes: KafkaBroker) -> None:
    """As three brokers of Kafka 4.3.1 do: acks=1 is answered, with offsets that others have, and lost."""
    with ExitStack() as clients:
        port = three_nodes.cluster.nodes[1].port
        one, every, new = (clients.enter_context(WireClient("127.0.0.1", port)) for _ in range(3))
        assert one.request(request(b"first", -1), 9).responses[0].partition_responses[0].base_offset == 0
        every.request(MetadataRequest(), 9)
        three_nodes.freeze_node(1)
        asked = [client.send(request(b"stale", acks), 9) for client, acks in ((one, 1), (every, -1), (new, 1))]
        three_nodes.clock.advance(seconds=7)
        assert partition_led_by(three_nodes, 1).leader == 2
        three_nodes.produce("t", "fresh", partition=0)
        three_nodes.thaw_node(1)
        answers = [
            client.receive(request(b"", 1), 9, number).responses[0].partition_responses[0]
            for client, number in zip((one, every, new), asked, strict=True)
        ]
    assert (answers[0].error_code, answers[0].base_offset) == (0, 1)
    assert answers[1].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert answers[2].error_code in (0, ErrorCode.NOT_LEADER_OR_FOLLOWER)  # its connection is new: it may come later
    assert [record.value for record in three_nodes.records("t", 0)] == [b"first", b"fresh"]
    assert set(partition_led_by(three_nodes, 1).isr) == {1, 2, 3}
    assert partition_led_by(three_nodes, 1).replica_ends == {1: 2, 2: 2, 3: 2}


def test_a_leader_with_a_data_directory_knows_better_when_it_answers(tmp_path: Path) -> None:
    topic = {"partitions": 1, "replication_factor": 3}
    with KafkaBroker(nodes=3, topics={"t": topic}, config=CONFIG, data_dir=tmp_path) as three_nodes:
        three_nodes.clock.freeze()
        with WireClient("127.0.0.1", three_nodes.cluster.nodes[1].port) as client:
            client.request(MetadataRequest(), 9)
            three_nodes.freeze_node(1)
            number = client.send(request(b"stale", 1), 9)
            three_nodes.clock.advance(seconds=7)
            three_nodes.thaw_node(1)
            answer = client.receive(request(b"", 1), 9, number).responses[0].partition_responses[0]
            assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert list(three_nodes.records("t")) == []


def test_metadata_of_a_node_that_thaws_is_new_at_once(three_nodes: KafkaBroker) -> None:
    asked = MetadataRequest([MetadataRequestTopic(name="t")])
    with WireClient("127.0.0.1", three_nodes.cluster.nodes[2].port) as client:
        client.request(asked, 9)
        three_nodes.freeze_node(2)
        number = client.send(asked, 9)
        three_nodes.clock.advance(seconds=5)
        three_nodes.thaw_node(2)
        seen = client.receive(asked, 9, number)
    assert 2 not in [each.leader_id for each in seen.topics[0].partitions]
    assert len(seen.brokers) == 3


def test_a_frozen_coordinator_throws_nobody_out() -> None:
    with KafkaBroker(nodes=2, topics=["t"], config={"broker.session.timeout.ms": 600_000}) as three_nodes:
        three_nodes.create_topic("__consumer_offsets", 1, replication_factor=2)
        coordinator = three_nodes.all_topics["__consumer_offsets"].partitions[0].leader
        joining = ConsumerGroupHeartbeatRequest(
            "g", "m", 0, rebalance_timeout_ms=60_000, subscribed_topic_names=["t"], topic_partitions=[]
        )
        with WireClient("127.0.0.1", three_nodes.cluster.nodes[coordinator].port) as client:
            while client.request(joining, 1).error_code:
                pass  # the coordinator loads
        assert len(three_nodes.groups["g"].members) == 1
        three_nodes.clock.freeze()
        three_nodes.freeze_node(coordinator)
        three_nodes.clock.advance(seconds=60)
        assert len(three_nodes.groups["g"].members) == 1
        three_nodes.kill_node(coordinator)
        assert three_nodes.groups["g"].coordinator == 3 - coordinator
        assert len(three_nodes.groups["g"].members) == 1


def test_node_verbs_with_mistakes_are_refused(three_nodes: KafkaBroker) -> None:
    with pytest.raises(ValueError, match="no node 7: the cluster has 1, 2, 3"):
        three_nodes.freeze_node(7)
    undo = three_nodes.freeze_node(2)
    with pytest.raises(ValueError, match="node 2 is frozen already"):
        three_nodes.freeze_node(2)
    three_nodes.kill_node(2)
    undo.undo()
    with pytest.raises(ValueError, match="node 2 is down"):
        three_nodes.freeze_node(2)


# -- the configs that a node has of its own, which may be others when it starts again


BROKER, STATIC = 4, 4


RETENTION = "log.retention.ms"
pair = broker_fixture(nodes=2, topics={"orders": {"partitions": 2, "replication_factor": 2}})


def described(pair: KafkaBroker, node_id: int) -> dict[str, tuple[str | None, int]]:
    """Value and source of each config, as the node tells."""
    node = pair.nodes[node_id]
    with WireClient(node.host, node.port) as client:
        asked = DescribeConfigsResource(BROKER, str(node_id))
        [result] = client.request(DescribeConfigsRequest([asked])).results
    return {each.name: (each.value, each.config_source) for each in result.configs}


def racks_told(pair: KafkaBroker) -> dict[int, str | None]:
    with WireClient(pair.nodes[1].host, pair.nodes[1].port) as client:
        return {each.node_id: each.rack for each in client.request(MetadataRequest(topics=None)).brokers}


def again(pair: KafkaBroker, node_id: int, **values: object) -> None:
    pair.stop_node(node_id)
    pair.start_node(node_id, config={name.replace("_", "."): value for name, value in values.items()})


def test_a_node_has_the_values_that_it_started_with_last(pair: KafkaBroker) -> None:
    again(pair, 2, broker_rack="b", num_partitions=5)
    assert described(pair, 2)["num.partitions"] == ("5", STATIC)
    assert described(pair, 2)["broker.rack"] == ("b", STATIC)
    assert described(pair, 1)["num.partitions"][0] == "1"
    assert racks_told(pair) == {1: None, 2: "b"}
    pair.stop_node(2)
    pair.start_node(2)
    assert described(pair, 2)["num.partitions"] == ("5", STATIC)
    again(pair, 2)
    assert described(pair, 2)["num.partitions"][0] == "1"
    assert racks_told(pair) == {1: None, 2: None}
    assert [sorted(each.isr) for each in pair.topics["orders"].partitions] == [[1, 2], [1, 2]]


def test_what_all_nodes_have_in_common_stays_while_another_one_is_up(pair: KafkaBroker) -> None:
    pair.stop_node(2)
    with pytest.raises(
        ValueError, match=r"max.bytes has one value for all nodes, but it is 1048588 .* 1 and 2000 .* 2"
    ):
        pair.start_node(2, config={"message.max.bytes": 2000, "broker.rack": "b"})
    assert pair.nodes[2].state == "down"
    pair.start_node(2)
    assert racks_told(pair) == {1: None, 2: None}


@pytest.mark.parametrize(
    ("name", "value", "refusal"),
    [
        (
            "authorizer.class.name",
            "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "is not set, as the cluster",
        ),
        ("log.dirs", "/elsewhere", "log.dirs"),
        ("num.partitions", "0", "num.partitions"),
        ("num.partition", "1", "unknown config 'num.partition'"),
        ("odradek.fast", "false", "odradek.fast is not for node 1 alone"),
        ("cordoned.log.dirs", "/elsewhere", "Missing entries : /elsewhere"),
    ],
)
def test_values_with_which_a_node_would_not_start(name: str, value: str, refusal: str) -> None:
    with KafkaBroker() as pair:
        pair.stop_node(1)
        with pytest.raises(ValueError, match=refusal):
            pair.start_node(1, config={name: value})
        pair.start_node(1)
        assert pair.nodes[1].state == "up"


def test_the_last_node_decides_what_all_have_in_common(pair: KafkaBroker) -> None:
    pair.stop_node(1)
    pair.stop_node(2)
    pair.start_node(2, config={"log.retention.ms": 1000})
    assert pair.cluster.topics.by_name("orders").partitions[0].log.config.retention_ms == 1000
    with pytest.raises(
        ValueError, match=r"log.retention.ms has one value for all nodes, but it is not set .* and 1000"
    ):
        pair.start_node(1)
    assert pair.nodes[1].state == "down"
    pair.start_node(1, config={"log.retention.ms": 1000})
    assert described(pair, 1)["log.retention.ms"] == ("1000", STATIC)


def test_one_node_alone_starts_again_with_other_values() -> None:
    with KafkaBroker(config={"log.retention.ms": 5000}, topics={"orders": 1}) as pair:
        again(pair, 1, message_max_bytes=2000)
        configs = pair.cluster.topics.by_name("orders").config.log_config()
        assert (configs.max_message_bytes, configs.retention_ms) == (2000, 5000)
        assert described(pair, 1)["message.max.bytes"] == ("2000", STATIC)


def test_changes_of_clients_count_before_the_new_values(pair: KafkaBroker) -> None:
    with WireClient(pair.nodes[2].host, pair.nodes[2].port) as client:
        change = AlterConfigsResource(BROKER, "2", [AlterableConfig("max.connections", "100")])
        assert [each.error_code for each in client.request(AlterConfigsRequest([change])).responses] == [0]
    again(pair, 2, max_connections=50)
    assert described(pair, 2)["max.connections"] == ("100", 2)


def test_a_listener_moves_and_another_one_comes() -> None:
    first, moved, stays, more = free_ports(4)
    map_of = {
        "listener.security.protocol.map": "A:PLAINTEXT,B:PLAINTEXT,C:PLAINTEXT",
        "inter.broker.listener.name": "B",
    }
    listeners = f"A://127.0.0.1:{first},B://127.0.0.1:{stays}"
    with KafkaBroker(config={**map_of, "listeners": listeners}) as pair:
        after = f"A://127.0.0.1:{moved},B://127.0.0.1:{stays},C://127.0.0.1:{more}"
        pair.stop_node(1)
        pair.start_node(1, config={"listeners": after})
        assert [is_open(f"127.0.0.1:{port}") for port in (first, moved, stays, more)] == [False, True, True, True]
        assert described(pair, 1)["listeners"] == (after, STATIC)
        again(pair, 1)
        assert [is_open(f"127.0.0.1:{port}") for port in (first, moved, stays, more)] == [True, False, True, False]


def test_a_data_directory_stays_where_it_is(tmp_path: Path) -> None:
    with KafkaBroker(nodes=2, data_dir=tmp_path, topics={"orders": 1}) as pair:
        pair.produce("orders", "one")
        again(pair, 2, num_partitions=5)
        assert described(pair, 2)["num.partitions"] == ("5", STATIC)
        pair.stop_node(2)
        with pytest.raises(ValueError, match=r"log.dirs is .*, as the cluster started"):
            pair.start_node(2, config={"log.dirs": str(tmp_path / "other")})
        pair.start_node(2)
        assert [each.value for each in pair.records("orders")] == [b"one"]


def test_a_separate_controller_starts_again_with_other_values() -> None:
    config = {
        "process.roles": "broker",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": "3000@127.0.0.1:0,3001@127.0.0.1:0",
    }
    with KafkaBroker(config=config) as pair:
        pair.stop_node(3001)
        pair.start_node(3001, config={"num.partitions": 7})
        assert pair.cluster.config.get_int("num.partitions", 3001) == 7
        pair.stop_node(3000)
        assert len(pair.create_topic("orders", -1).partitions) == 7


def test_a_snapshot_and_a_reset_go_back_to_the_values_of_their_time(pair: KafkaBroker) -> None:
    addresses = pair.bootstrap_servers
    again(pair, 2, broker_rack="b")
    snapshot = pair.snapshot()
    again(pair, 2, broker_rack="c")
    again(pair, 1, broker_rack="a")
    pair.restore(snapshot)
    assert [node.rack for node in pair.nodes.values()] == [None, "b"]
    assert racks_told(pair) == {1: None, 2: "b"}
    pair.reset()
    assert racks_told(pair) == {1: None, 2: None}
    assert pair.bootstrap_servers == addresses


def test_a_reset_ends_what_the_last_node_decided(pair: KafkaBroker) -> None:
    pair.kill_node(1)
    pair.kill_node(2)
    pair.start_node(2, config={RETENTION: 1000})
    pair.reset()
    assert [node.state for node in pair.nodes.values()] == ["up", "up"]
    assert described(pair, 2)[RETENTION][0] is None
    assert pair.cluster.topics.by_name("orders").config.log_config().retention_ms == 604_800_000


def test_a_fork_has_the_values_of_the_nodes(pair: KafkaBroker) -> None:
    again(pair, 2, broker_rack="b")
    with pair.fork() as other:
        assert racks_told(other) == {1: None, 2: "b"}
