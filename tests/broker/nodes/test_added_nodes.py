"""Nodes that join a running cluster, and leave it."""

from __future__ import annotations

import random
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import odradek
from odradek import KafkaBroker, Security, Snapshot
from odradek.broker.config.node_config import AUTO_JOIN
from odradek.broker.nodes.added_nodes import releases_of
from odradek.client_security.options import ClientSecurity, security_options
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.add_raft_voter import AddRaftVoterRequest, Listener
from odradek.protocol.generated.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from odradek.protocol.generated.messages.alter_configs import AlterableConfig, AlterConfigsRequest, AlterConfigsResource
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.protocol.generated.messages.describe_cluster import DescribeClusterRequest
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.describe_quorum import DescribeQuorumRequest, PartitionData, TopicData
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.unregister_broker import UnregisterBrokerRequest
from odradek.protocol.generated.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from odradek.storage.backend import StorageError
from odradek.wire_client import WireConnection
from tests.fakes.brokers import broker_fixture
from tests.fakes.ports import ports_in_a_row
from tests.fakes.wire_client import WireClient


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    topics: dict[str, Any] = {"orders": {"partitions": 1, "replication_factor": 2}}
    with KafkaBroker(nodes=2, topics=topics) as running:
        yield running
        assert not running.bugs, running.bugs[0]


def asked(broker: KafkaBroker, request: Any, node_id: int = 1) -> Any:
    node = broker.nodes[node_id]
    with WireClient(node.host, node.port) as client:
        return client.request(request)


def told_nodes(broker: KafkaBroker, node_id: int = 1) -> dict[int, int]:
    """The port of each broker, as Metadata tells."""
    return {each.node_id: each.port for each in asked(broker, MetadataRequest(topics=None), node_id).brokers}


def replicas(broker: KafkaBroker, topic: str = "orders") -> list[int]:
    return list(broker.topics[topic].partitions[0].replicas)


def quorum(broker: KafkaBroker) -> tuple[list[int], list[int]]:
    """The ids of voters and observers."""
    data = DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])])
    partition = asked(broker, data).topics[0].partitions[0]
    return [each.replica_id for each in partition.current_voters], [each.replica_id for each in partition.observers]


def test_a_node_joins_and_is_told_to_clients(broker: KafkaBroker) -> None:
    epochs = {number: each.epoch for number, each in broker.cluster.image.brokers.items()}
    assert broker.add_node(config={"broker.rack": "r3"}) == 3
    joined = broker.nodes[3]
    assert (joined.state, joined.rack, joined.leads, joined.replicas) == ("up", "r3", 0, 0)
    for node_id in broker.nodes:
        assert told_nodes(broker, node_id) == {number: node.port for number, node in broker.nodes.items()}
    described = asked(broker, DescribeClusterRequest(), 3).brokers
    assert {each.broker_id: (each.port, each.rack) for each in described}[3] == (joined.port, "r3")
    assert asked(broker, ApiVersionsRequest("a", "1"), 3).error_code == 0
    registered = broker.cluster.image.brokers
    assert registered[3].epoch > max(epochs.values())
    assert len({each.incarnation for each in registered.values()}) == 3
    assert {number: registered[number].epoch for number in epochs} == epochs
    assert broker.bootstrap_servers.endswith(f":{joined.port}")


def test_partitions_move_to_the_new_node_and_the_old_one_leaves(broker: KafkaBroker) -> None:
    broker.produce_all("orders", ["one", "two"])
    new = broker.add_node()
    assert new not in replicas(broker)
    broker.topic("orders").reassign(0, [new, 2])
    broker.topic("orders").elect(0)
    assert broker.topics["orders"].partitions[0].leader == new
    broker.remove_node(1)
    assert list(told_nodes(broker, 2)) == [2, new]
    assert broker.nodes[1].state == "down"
    assert [each.value for each in broker.records("orders")] == [b"one", b"two"]
    broker.start_node(1)
    broker.kill_node(2)
    assert [each.value for each in broker.records("orders")] == [b"one", b"two"]
    broker.start_node(2)
    assert list(told_nodes(broker)) == [1, 2, new]


def test_new_topics_use_the_new_node(broker: KafkaBroker) -> None:
    broker.add_node()
    topic = broker.create_topic("wide", 3, replication_factor=3)
    assert {each.replicas[0] for each in topic.partitions} == {1, 2, 3}


def test_an_added_node_gets_the_id_that_is_asked_for_or_the_next(broker: KafkaBroker) -> None:
    assert broker.add_node(node_id=0) == 0
    assert broker.add_node(node_id=7) == 7
    assert broker.add_node() == 8
    assert list(broker.nodes) == [0, 1, 2, 7, 8]
    for taken in (1, 7):
        with pytest.raises(ValueError, match=f"node {taken} is there already: the cluster has 0, 1, 2, 7, 8"):
            broker.add_node(node_id=taken)
    with pytest.raises(ValueError, match="0 or greater"):
        broker.add_node(node_id=-1)
    with pytest.raises(TypeError, match=r"^node_id=3.5: expected a whole number$"):
        broker.add_node(node_id=3.5)  # type: ignore[arg-type]
    before = broker.cluster.image.brokers[7]
    broker.remove_node(7)
    assert list(broker.nodes) == [0, 1, 2, 8]
    with pytest.raises(ValueError, match="no node 7"):
        broker.start_node(7)
    assert broker.add_node(node_id=7) == 7
    again = broker.cluster.image.brokers[7]
    assert again.epoch > before.epoch
    assert again.directories != before.directories


def test_values_that_do_not_fit_change_nothing(broker: KafkaBroker) -> None:
    offset = broker.cluster.controller.next_offset
    with pytest.raises(
        ValueError, match=r"message.max.bytes has one value for all nodes, but it is 1048588 .* and 20 "
    ):
        broker.add_node(config={"message.max.bytes": 20})
    with pytest.raises(ValueError, match="unknown config 'rack'"):
        broker.add_node(config={"rack": "a"})
    with pytest.raises(ValueError, match=r"log\.dirs is not for node 3: the cluster keeps its logs in memory"):
        broker.add_node(config={"log.dirs": "/a"})
    with pytest.raises(ValueError, match=r"config broker\.rack is None: leave it out for its default"):
        broker.add_node(config={"broker.rack": None})
    with pytest.raises(ValueError, match=r"but it is not set for node . and b for node 3"):
        broker.add_node(config={"inter.broker.listener.name": "b"})
    with pytest.raises(ValueError, match="Missing entries : /a"):
        broker.add_node(config={"cordoned.log.dirs": "/a"})
    assert list(broker.nodes) == [1, 2]
    assert broker.cluster.controller.next_offset == offset
    assert broker.add_node() == 3


def test_a_node_with_replicas_or_an_unknown_one_cannot_be_removed(broker: KafkaBroker) -> None:
    with pytest.raises(ValueError, match="node 2 has a replica of orders-0: reassign it first"):
        broker.remove_node(2)
    with pytest.raises(ValueError, match="no node 9"):
        broker.remove_node(9)
    new = broker.add_node()
    broker.freeze_node(new)
    with pytest.raises(ValueError, match="frozen"):
        broker.remove_node(new)
    broker.kill_node(new)
    broker.remove_node(new)
    broker.topic("orders").delete()
    broker.remove_node(2)
    with pytest.raises(ValueError, match="node 1 is the last broker that is up"):
        broker.remove_node(1)


def homes(broker: KafkaBroker, topic: str = "__consumer_offsets") -> list[set[int]]:
    return [set(partition.replicas) for partition in broker.cluster.image.topics[topic].partitions]


def test_internal_topics_leave_a_node_that_is_removed(broker: KafkaBroker) -> None:
    broker.group("g").set_offsets({("orders", 0): 0})
    assert homes(broker) == [{1, 2}] * 50
    broker.topic("orders").delete()
    broker.create_topic("orders")
    new, further = broker.add_node(), broker.add_node()
    broker.topic("orders").reassign(0, [new])
    broker.group("h").set_offsets({("orders", 0): 0})
    broker.remove_node(1)
    assert {2, new} in homes(broker)
    assert {2, further} in homes(broker)
    broker.remove_node(further)
    assert homes(broker) == [{2, new}] * 50
    assert broker.group("h").offsets["orders", 0].offset == 0


def test_a_node_stays_while_an_internal_topic_cannot_leave_it(broker: KafkaBroker) -> None:
    broker.group("g").set_offsets({("orders", 0): 0})
    new = broker.add_node()
    broker.topic("orders").reassign(0, [1, new])
    paused = broker.topic("__consumer_offsets").pause_replication(7, new)
    with pytest.raises(ValueError, match="node 2 has a replica of __consumer_offsets-7 that cannot move yet"):
        broker.remove_node(2)
    assert broker.nodes[2].state == "up"
    paused.undo()
    broker.remove_node(2)
    assert homes(broker) == [{1, new}] * 50


def test_an_id_that_a_client_unregistered_starts_again(broker: KafkaBroker) -> None:
    new = broker.add_node()
    broker.stop_node(new)
    assert asked(broker, UnregisterBrokerRequest(new)).error_code == 0
    assert list(told_nodes(broker)) == [1, 2]
    broker.heal()
    assert broker.nodes[new].state == "down"
    broker.start_node(new)
    assert list(told_nodes(broker)) == [1, 2, new]


# -- addresses


def test_add_node_takes_the_port_that_follows() -> None:
    first = ports_in_a_row(3)
    with KafkaBroker(port=first) as broker:
        new = broker.add_node(node_id=3)
        assert told_nodes(broker) == {1: first, new: first + 2}


def test_listeners_for_all_and_of_its_own() -> None:
    config = {
        "listeners": "A://127.0.0.1:0,B://127.0.0.1:0",
        "listener.security.protocol.map": "A:PLAINTEXT,B:PLAINTEXT",
        "inter.broker.listener.name": "A",
    }
    with KafkaBroker(config=config) as broker:
        broker.add_node()
        assert broker.bootstrap_servers_of("B").count(",") == 1
        broker.add_node(config={"listeners": "A://127.0.0.1:0"})
        assert broker.bootstrap_servers_of("B").count(",") == 1
        assert broker.bootstrap_servers_of("A").count(",") == 2


def test_addresses_listed_for_each_node() -> None:
    listed = "PLAINTEXT://127.0.0.1:0,PLAINTEXT://localhost:0"
    with KafkaBroker(nodes=2, config={"listeners": listed, "broker.rack": "a,b"}) as broker:
        with pytest.raises(ValueError, match="listeners lists the addresses of the nodes, and none for node 3"):
            broker.add_node()
        broker.add_node(config={"listeners": "PLAINTEXT://127.0.0.1:0"})
        assert [node.rack for node in broker.nodes.values()] == ["a", "b", None]


def test_an_address_that_is_taken_changes_nothing(broker: KafkaBroker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        config = {"listeners": "PLAINTEXT://127.0.0.1:0"}
        with KafkaBroker(config=config) as given:
            taken = f"PLAINTEXT://127.0.0.1:{other.getsockname()[1]}"
            with pytest.raises(OSError, match="cannot listen on"):
                given.add_node(config={"listeners": taken})
            assert list(given.nodes) == [1]
            assert list(given.cluster.image.brokers) == [1]
            assert given.add_node() == 2


def test_a_client_logs_in_at_the_new_node() -> None:
    with KafkaBroker(security=Security(tls=True, users={"alice": "a-secret"})) as broker:
        new = broker.add_node()
        node = broker.nodes[new]
        options = security_options(broker.client_config("alice"))
        with WireClient(node.host, node.port, security=ClientSecurity.parse(options)) as client:
            assert len(client.request(MetadataRequest(topics=None)).brokers) == 2


# -- the quorum


def test_where_the_voters_are_static_it_only_observes(broker: KafkaBroker) -> None:
    new = broker.add_node()
    assert quorum(broker) == ([1, 2], [new])
    broker.stop_node(1)
    with pytest.raises(ValueError, match="node 2 is the last controller that is up"):
        broker.stop_node(2)
    assert new not in broker.cluster.image.controllers


DYNAMIC = {
    "controller.quorum.bootstrap.servers": "127.0.0.1:0",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
}


def test_in_a_dynamic_quorum_it_may_become_a_voter() -> None:
    with KafkaBroker(nodes=1, config=DYNAMIC) as broker:
        new = broker.add_node()
        assert quorum(broker) == ([1], [new])
        directory = broker.cluster.nodes[new].metadata_directory
        add = AddRaftVoterRequest(None, 1000, new, directory, [Listener("CONTROLLER", "localhost", 1)])
        assert ErrorCode(asked(broker, add).error_code) is ErrorCode.NONE
        assert quorum(broker) == ([1, new], [])
        with pytest.raises(ValueError, match="node 2 is a voter of the quorum: remove it from the voters first"):
            broker.remove_node(new)
        broker.stop_node(1)
        assert broker.cluster.controller_id == new
        assert broker.create_topic("orders").name == "orders"


@pytest.mark.parametrize("is_up", [True, False])
def test_a_node_that_joined_leads_the_quorum_until_a_reset(is_up: bool) -> None:
    with KafkaBroker(nodes=1, config=DYNAMIC) as broker:
        before = broker.snapshot()
        new = broker.add_node()
        quorum = broker.cluster.quorum
        quorum.add(broker.cluster.nodes[new])
        quorum.remove(broker.cluster.nodes[1])
        assert broker.cluster.controller_id == new
        after = broker.snapshot()
        if not is_up:
            broker.stop_node(1)
        broker.reset()
        assert (broker.cluster.controller_id, [node.id for node in quorum.voters]) == (1, [1])
        broker.create_topic("orders")
        broker.restore(after)
        assert (broker.cluster.controller_id, [node.id for node in quorum.voters]) == (new, [new])
        broker.create_topic("more")
        broker.restore(before)
        assert (broker.cluster.controller_id, [node.id for node in quorum.voters]) == (1, [1])
        broker.create_topic("last")
        assert list(told_nodes(broker)) == [1]


def test_in_zookeeper_mode_it_may_become_the_controller() -> None:
    with KafkaBroker(kafka_version="3.6", zookeeper=True) as broker:
        new = broker.add_node()
        broker.stop_node(1)
        assert broker.cluster.controller_id == new
        broker.start_node(1)
        broker.remove_node(new)
        assert broker.cluster.controller_id == 1
        assert list(broker.nodes) == [1]


# -- with all else


def test_a_snapshot_from_before_and_one_from_after(broker: KafkaBroker) -> None:
    before = broker.snapshot()
    new = broker.add_node(config={"broker.rack": "r"})
    broker.topic("orders").reassign(0, [new, 1])
    broker.produce("orders", "one")
    after = broker.snapshot()
    broker.restore(before)
    assert list(broker.nodes) == list(told_nodes(broker)) == [1, 2]
    assert replicas(broker) != [new, 1]
    broker.restore(after)
    assert told_nodes(broker) == {number: node.port for number, node in broker.nodes.items()}
    assert list(broker.nodes) == [1, 2, new]
    assert broker.nodes[new].rack == "r"
    assert replicas(broker) == [new, 1]
    assert [each.value for each in broker.records("orders")] == [b"one"]


def test_a_snapshot_from_before_a_node_left(broker: KafkaBroker) -> None:
    new = broker.add_node()
    broker.topic("orders").reassign(0, [new, 2])
    snapshot = broker.snapshot()
    broker.remove_node(1)
    broker.restore(snapshot)
    assert list(told_nodes(broker)) == [1, 2, new]
    broker.kill_node(new)
    snapshot = broker.snapshot()
    broker.start_node(new)
    broker.restore(snapshot)
    assert broker.nodes[new].state == "down"


def test_a_snapshot_in_which_all_nodes_are_down() -> None:
    with KafkaBroker() as broker:
        new = broker.add_node()
        broker.stop_node(new)
        broker.stop_node(1)
        snapshot = broker.snapshot()
        broker.start_node(1)
        broker.start_node(new)
        broker.restore(snapshot)
        assert [node.state for node in broker.nodes.values()] == ["down", "down"]


def test_a_fork_has_the_nodes_that_joined_and_not_those_that_left(broker: KafkaBroker, tmp_path: Path) -> None:
    new = broker.add_node(node_id=5, config={"broker.rack": "r"})
    broker.topic("orders").reassign(0, [new, 2])
    broker.produce("orders", "one")
    broker.remove_node(1)
    with broker.fork() as other:
        assert told_nodes(other, 2) == {number: other.nodes[number].port for number in (2, 5)}
        assert other.nodes[5].port != broker.nodes[5].port
        assert other.nodes[5].rack == "r"
        assert [each.value for each in other.records("orders")] == [b"one"]
        other.produce("orders", "two")
    with pytest.raises(ValueError, match="node 5 joined the running cluster: a fork of it is in memory"):
        broker.fork(tmp_path / "fork").__enter__()


def test_a_reset_returns_to_the_nodes_of_the_start(broker: KafkaBroker) -> None:
    new = broker.add_node()
    broker.topic("orders").reassign(0, [new, 2])
    broker.remove_node(1)
    broker.freeze_node(new)
    broker.reset()
    assert list(broker.nodes) == list(told_nodes(broker)) == [1, 2]
    assert broker.add_node() == new


def test_failures_of_a_node_that_joined(broker: KafkaBroker) -> None:
    new = broker.add_node()
    broker.topic("orders").reassign(0, [1, new])
    with broker.kill_node(new):
        assert broker.topics["orders"].partitions[0].isr == (1,)
    with broker.topic("orders").pause_replication(0, new):
        broker.produce("orders", "one")
        assert broker.topics["orders"].partitions[0].replica_ends[new] == 0
    with broker.cut(1, new):
        broker.produce("orders", "two")
        assert broker.topics["orders"].partitions[0].replica_ends[new] == 1
    with broker.freeze_node(new):
        broker.clock.advance(seconds=60)
        assert new not in broker.topics["orders"].partitions[0].isr
    assert broker.topics["orders"].partitions[0].replica_ends == {1: 2, new: 2}
    with broker.refuse_connections(new), pytest.raises(OSError, match="refused"):
        asked(broker, MetadataRequest(topics=None), new)
    assert broker.nodes[new].behind == 0


def test_a_node_that_is_gone_leaves_nothing_that_a_test_said_of_it(broker: KafkaBroker) -> None:
    new = broker.add_node()
    broker.cut(1, new)
    broker.cut("client", new)
    broker.slow(2, new, ms=100)
    broker.topic("orders").pause_replication(0, new)
    broker.remove_node(new)
    assert not list(broker.cluster.replicator.held_back())
    broker.heal()
    broker.add_node()
    broker.topic("orders").reassign(0, [1, new])
    assert sorted(broker.topics["orders"].partitions[0].isr) == [1, new]


def test_an_upgrade_takes_the_nodes_that_joined() -> None:
    with KafkaBroker(kafka_version="4.3") as broker:
        new = broker.add_node()
        assert broker.nodes[new].release == "4.3"
        broker.upgrade("4.4", new)
        assert [node.release for node in broker.nodes.values()] == ["4.3", "4.4"]
        broker.upgrade("4.4")
        newest = broker.add_node()
        assert broker.nodes[newest].release == "4.4"


def test_a_cluster_of_one_that_grows_hands_leaders_back() -> None:
    with KafkaBroker(topics=["orders"]) as broker:
        new = broker.add_node()
        broker.topic("orders").reassign(0, [new, 1])
        assert broker.topics["orders"].partitions[0].leader == 1
        broker.clock.advance(hours=1)
        assert broker.topics["orders"].partitions[0].leader == new


def test_a_change_for_the_only_broker_is_none_for_topics_of_two() -> None:
    with KafkaBroker(topics=["orders"]) as broker:
        change = AlterConfigsResource(4, "1", [AlterableConfig("log.retention.ms", "1000")])
        assert [each.error_code for each in asked(broker, AlterConfigsRequest([change])).responses] == [0]
        log = broker.cluster.topics.by_name("orders").partitions[0].log
        assert log.config.retention_ms == 1000
        new = broker.add_node()
        assert log.config.retention_ms == 7 * 24 * 3600 * 1000
        broker.remove_node(new)
        assert log.config.retention_ms == 1000


def test_a_data_directory_takes_no_node(tmp_path: Path) -> None:
    with KafkaBroker(nodes=2, data_dir=tmp_path) as broker, pytest.raises(ValueError, match="start it with more nodes"):
        broker.add_node()
    with KafkaBroker(nodes=3, data_dir=tmp_path) as broker:
        assert list(broker.nodes) == [1, 2, 3]


def test_a_controller_is_no_broker() -> None:
    config = {
        "process.roles": "broker",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": "2@127.0.0.1:0",
    }
    with KafkaBroker(config=config) as broker:
        with pytest.raises(ValueError, match="node 2 is there already: the cluster has 1, 2"):
            broker.add_node(node_id=2)
        assert broker.add_node() == 3
        assert quorum(broker) == ([2], [1, 3])
        with pytest.raises(ValueError, match="node 2 is no broker"):
            broker.remove_node(2)


def change(broker: KafkaBroker, chance: random.Random, snapshots: list[Snapshot]) -> None:
    """One thing that a test may do to nodes; ValueError where it cannot be done now."""
    node_id = chance.choice(list(broker.nodes))
    what: list[Callable[[], object]] = [
        lambda: broker.add_node(config=chance.choice([{}, {"broker.rack": "r"}])),
        lambda: broker.remove_node(node_id),
        lambda: broker.kill_node(node_id),
        lambda: broker.stop_node(node_id),
        lambda: broker.start_node(node_id),
        lambda: broker.start_node(node_id, config={"num.partitions": chance.randint(1, 3)}),
        lambda: broker.freeze_node(node_id),
        lambda: broker.thaw_node(node_id),
        lambda: broker.topic("orders").reassign(0, chance.sample(list(broker.nodes), min(2, len(broker.nodes)))),
        lambda: broker.clock.advance(seconds=20),
        lambda: snapshots.append(broker.snapshot()),
        lambda: broker.restore(chance.choice(snapshots)) if snapshots else None,
        broker.heal,
        broker.reset,
    ]
    chance.choice(what)()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("config", [{}, {**DYNAMIC, AUTO_JOIN: True}], ids=["static", "dynamic"])
def test_any_changes_of_nodes_leave_all_of_one_mind(config: dict[str, Any], seed: int) -> None:
    chance = random.Random(seed)
    snapshots: list[Snapshot] = []
    with KafkaBroker(nodes=2, config=config, topics={"orders": 1}) as broker:
        broker.clock.freeze()
        for _ in range(25):
            with suppress(ValueError, KafkaError):
                change(broker, chance, snapshots)
            cluster = broker.cluster
            assert list(cluster.nodes) == list(cluster.config.node_ids)
            registered = cluster.image.brokers
            assert set(registered) <= set(cluster.nodes)
            for node_id, node in cluster.nodes.items():
                assert node.up == (node_id in registered and not registered[node_id].fenced)
            assert cluster.controller_id in cluster.members
        assert not broker.bugs, broker.bugs[0]


# -- other releases


FETCH, SHARE_FETCH = 1, 78
TOPIC, BROKER = 2, 4
LATER = "group.consumer.assignment.interval.ms"
"""A config that 4.4 has and 3.6 has not."""
old = broker_fixture(kafka_version="3.6", nodes=3, topics={"t": {"partitions": 3, "replication_factor": 3}})
"""Three nodes of Kafka 3.6."""


def connect(broker: odradek.KafkaBroker, node: int) -> WireConnection:
    return WireConnection("127.0.0.1", broker.nodes[node].port)


def api_versions(broker: odradek.KafkaBroker, node: int) -> ApiVersionsResponse:
    request = ApiVersionsRequest("tests", "1")
    with connect(broker, node) as connection:
        answer: ApiVersionsResponse = connection.receive(request, 3, connection.send(request, 3))
    return answer


def highest(broker: odradek.KafkaBroker, node: int) -> dict[int, int]:
    return {each.api_key: each.max_version for each in api_versions(broker, node).api_keys}


def supported(broker: odradek.KafkaBroker, node: int) -> tuple[int, int]:
    told = {each.name: (each.min_version, each.max_version) for each in api_versions(broker, node).supported_features}
    return told["metadata.version"]


def configs(broker: odradek.KafkaBroker, node: int) -> dict[str, str | None]:
    request = DescribeConfigsRequest([DescribeConfigsResource(BROKER, str(node), None)])
    with connect(broker, node) as connection:
        answer = connection.receive(request, 1, connection.send(request, 1))
    return {each.name: each.value for each in answer.results[0].configs}


def update(broker: odradek.KafkaBroker, node: int, **levels: int) -> tuple[int, str | None]:
    """What UpdateFeatures v2 answers."""
    keys = [FeatureUpdateKey(name.replace("_", "."), level) for name, level in levels.items()]
    request = UpdateFeaturesRequest(1000, keys)
    with connect(broker, node) as connection:
        answer = connection.receive(request, 2, connection.send(request, 2))
    return answer.error_code, answer.error_message


def versions(broker: odradek.KafkaBroker) -> list[str]:
    return [node.release for node in broker.nodes.values()]


def test_one_node_is_of_the_newer_release(old: odradek.KafkaBroker) -> None:
    before = highest(old, 2)
    old.upgrade("4.4", node=2)
    assert versions(old) == ["3.6", "4.4", "3.6"]
    assert highest(old, 1) == highest(old, 3) == before
    assert SHARE_FETCH not in before
    assert highest(old, 2)[SHARE_FETCH] == 2
    assert highest(old, 2)[FETCH] == before[FETCH] + 3
    assert (supported(old, 1), supported(old, 2)) == ((1, 14), (7, 33))
    assert (LATER in configs(old, 1), LATER in configs(old, 2)) == (False, True)


def test_its_connections_end_and_others_lead(old: odradek.KafkaBroker) -> None:
    request = ApiVersionsRequest("tests", "1")
    with connect(old, 1) as kept, connect(old, 2) as cut:
        for each in (kept, cut):  # an answer says that the node has accepted the connection, not only the kernel
            each.receive(request, 3, each.send(request, 3))
        old.upgrade("4.4", node=2)
        assert kept.receive(request, 3, kept.send(request, 3)).error_code == ErrorCode.NONE
        with pytest.raises((ConnectionError, EOFError)):
            cut.receive(request, 3, cut.send(request, 3))
    assert 2 not in {partition.leader for partition in old.topics["t"].partitions}
    assert all(2 in partition.isr for partition in old.topics["t"].partitions if 2 in partition.replicas)


def test_levels_stay_until_they_are_upgraded(old: odradek.KafkaBroker) -> None:
    old.upgrade("4.4")
    assert versions(old) == ["4.4"] * 3
    assert old.cluster.image.features == {"metadata.version": 14}
    assert update(old, 1, metadata_version=33) == (ErrorCode.NONE, None)
    assert old.cluster.image.features == {"metadata.version": 33}


def test_levels_wait_for_the_oldest_node(old: odradek.KafkaBroker) -> None:
    old.upgrade("4.4", node=1)
    old.upgrade("4.4", node=2)
    text = "The update failed for all features since the following feature had an error: Invalid update version"
    assert update(old, 1, metadata_version=33) == (
        ErrorCode.INVALID_UPDATE_VERSION,
        f"{text} 33 for feature metadata.version. Broker 3 only supports versions 1-14",
    )
    assert update(old, 1, group_version=1) == (
        ErrorCode.INVALID_UPDATE_VERSION,
        f"{text} 1 for feature group.version. Broker 3 does not support this feature.",
    )
    assert old.cluster.image.features == {"metadata.version": 14}


def test_a_cluster_has_the_defaults_of_its_oldest_node(old: odradek.KafkaBroker) -> None:
    def limit() -> int:
        return old.cluster.topics.by_name("t").partitions[0].log.config.message_timestamp_after_max_ms

    old.produce("t", b"one", partition=0)
    no_limit = limit()
    old.upgrade("4.4", node=1)
    old.upgrade("4.4", node=2)
    assert limit() == no_limit > 3_600_000
    old.upgrade("4.4", node=3)
    assert limit() == 3_600_000


def test_a_node_that_is_down_starts_as_the_newer_release(old: odradek.KafkaBroker) -> None:
    old.stop_node(3)
    old.upgrade("4.4", node=3)
    assert old.nodes[3].state == "down"
    old.start_node(3)
    assert supported(old, 3) == (7, 33)


def test_a_node_that_restarts_forgets_what_clients_have_used() -> None:
    """From 4.4 on the time to wait for a quota is an int at most; before, one that is longer wraps."""
    entry = EntryData([EntityData("client-id", None)], [OpData("consumer_byte_rate", 1e-9)])
    fetch = FetchRequest(max_wait_ms=0, topics=[FetchTopic("t", partitions=[FetchPartition(0)])])
    with odradek.KafkaBroker(kafka_version="4.3", nodes=2, topics={"t": 1}) as broker, broker.clock.stopped():
        with connect(broker, 1) as connection:
            request = AlterClientQuotasRequest([entry])
            connection.receive(request, 1, connection.send(request, 1))

        def told(node: int) -> int:
            with connect(broker, node) as connection:
                answer: FetchResponse = connection.receive(fetch, 11, connection.send(fetch, 11))
            return answer.throttle_time_ms

        longest = 2**31 - 1
        assert told(1) < longest
        broker.upgrade("4.4", node=1)
        assert told(1) == longest
        assert told(2) < longest


def test_single_nodes_are_upgraded_with_their_records() -> None:
    with odradek.KafkaBroker(kafka_version="3.6", topics={"t": 1}) as broker:
        broker.produce("t", b"one")
        broker.upgrade("4.4")
        broker.produce("t", b"two")
        assert [record.value for record in broker.records("t")] == [b"one", b"two"]
        assert SHARE_FETCH in highest(broker, 1)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda broker: broker.upgrade("4.9"), r"'4\.9'; it knows 2\.8, 3\.3, .*4\.4$"),
        (lambda broker: broker.upgrade("2.8"), "KRaft as a preview only"),
        (lambda broker: broker.upgrade("4.4", node=4), "no node 4: the cluster has 1, 2, 3"),
    ],
)
def test_release_change_of_a_node_that_cannot_be_is_refused(
    call: Callable[[odradek.KafkaBroker], None], why: str, old: odradek.KafkaBroker
) -> None:
    with pytest.raises(ValueError, match=why):
        call(old)
    assert versions(old) == ["3.6"] * 3


def test_a_frozen_node_cannot_restart(old: odradek.KafkaBroker) -> None:
    with old.freeze_node(2), pytest.raises(ValueError, match="node 2 is frozen"):
        old.upgrade("4.4")
    assert versions(old) == ["3.6"] * 3


def test_zookeeper_has_no_way_to_kraft() -> None:
    with odradek.KafkaBroker(kafka_version="2.8", nodes=2) as broker:
        broker.upgrade("3.9", node=2)
        assert highest(broker, 2)[FETCH] > highest(broker, 1)[FETCH]
        with pytest.raises(ValueError, match=r"no ZooKeeper mode of Kafka 4\.4"):
            broker.upgrade("4.4")


def test_older_software_needs_older_levels(old: odradek.KafkaBroker) -> None:
    old.upgrade("4.4")
    old.upgrade("3.6", node=1)
    assert versions(old) == ["3.6", "4.4", "4.4"]
    old.upgrade("4.4")
    update(old, 1, metadata_version=33)
    with pytest.raises(ValueError, match=r"support finalized version 33 of metadata\.version.* between 1 and 14, incl"):
        old.upgrade("3.6", node=1)
    assert versions(old) == ["4.4"] * 3


def test_a_snapshot_has_the_releases_of_its_time(old: odradek.KafkaBroker) -> None:
    old.upgrade("4.4", node=1)
    old.produce("t", b"one", partition=0)
    mixed = old.snapshot()
    old.upgrade("4.4")
    update(old, 1, metadata_version=33)
    with old.fork() as newer:
        assert (versions(newer), newer.cluster.image.features) == (["4.4"] * 3, {"metadata.version": 33})
        assert [record.value for record in newer.records("t")] == [b"one"]
    old.restore(mixed)
    assert (versions(old), old.cluster.config.release.name) == (["4.4", "3.6", "3.6"], "3.6")
    assert (old.cluster.image.features, supported(old, 2)) == ({"metadata.version": 14}, (1, 14))


def test_a_reset_goes_back_to_the_release_of_the_start(old: odradek.KafkaBroker) -> None:
    old.upgrade("4.4")
    update(old, 1, metadata_version=33)
    old.reset(data=False)
    assert versions(old) == ["4.4"] * 3
    old.reset()
    assert {release.name for release in releases_of(old.cluster).values()} == {"3.6"}
    assert old.cluster.image.features == {"metadata.version": 14}
    assert (supported(old, 3), LATER in configs(old, 3)) == ((1, 14), False)


def test_data_directories_are_of_releases_that_keep_them(tmp_path: Path) -> None:
    with odradek.KafkaBroker(kafka_version="4.3", data_dir=tmp_path, topics={"t": 1}) as broker:
        broker.produce("t", b"one")
        with pytest.raises(ValueError, match=r"data directories from Kafka 4\.3 on, not as Kafka 3\.6"):
            broker.upgrade("3.6")
        broker.upgrade("4.4")
        assert update(broker, 1, metadata_version=33, share_version=2) == (ErrorCode.NONE, None)
    with odradek.KafkaBroker(kafka_version="4.4", data_dir=tmp_path) as broker:
        assert [record.value for record in broker.records("t")] == [b"one"]
        assert broker.cluster.image.feature("share.version") == 2
    older = odradek.KafkaBroker(kafka_version="4.3", data_dir=tmp_path)
    with pytest.raises(StorageError, match=r"metadata\.version 33"):
        older.start()


def test_a_directory_with_a_feature_that_the_release_has_not_is_refused(tmp_path: Path) -> None:
    with odradek.KafkaBroker(kafka_version="4.3", data_dir=tmp_path) as broker:
        broker.upgrade("4.4")
        assert update(broker, 1, share_version=2) == (ErrorCode.NONE, None)
    older = odradek.KafkaBroker(kafka_version="4.3", data_dir=tmp_path)
    with pytest.raises(StorageError, match=r"the metadata has share\.version 2, and this release supports 0 to 1"):
        older.start()
