"""Several listeners of a node on the wire: who is told what, and what a node that stops and returns keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek import KafkaBroker
from odradek.broker.metadata.node import Node
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.describe_cluster import DescribeClusterRequest
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.describe_quorum import DescribeQuorumRequest, PartitionData, TopicData
from odradek.protocol.generated.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.wire_client import WireClient

TWO = {
    "listeners": "INSIDE://127.0.0.1:0,OUTSIDE://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "INSIDE",
}
TOLD = {**TWO, "advertised.listeners": "OUTSIDE://localhost:0,INSIDE://kafka.test:9092"}


def _client(node: Node, listener: str) -> WireClient:
    endpoint = node.endpoints[listener]
    return WireClient(endpoint.host, endpoint.port)


@pytest.mark.parametrize("nodes", [1, 3])
def test_each_listener_is_told_its_own_addresses(nodes: int) -> None:
    with KafkaBroker(nodes=nodes, config=TOLD, topics=["t"]) as broker:
        members = broker.cluster.nodes
        ports = {name: [each.endpoints[name].port for each in members.values()] for name in ("INSIDE", "OUTSIDE")}
        told = {
            "INSIDE": [("kafka.test", 9092 + index) for index in range(nodes)],
            "OUTSIDE": [("localhost", port) for port in ports["OUTSIDE"]],
        }
        assert len({*ports["INSIDE"], *ports["OUTSIDE"]}) == 2 * nodes
        for name, addresses in told.items():
            with _client(members[1], name) as client:
                metadata = client.request(MetadataRequest(topics=None))
                assert [(each.host, each.port) for each in metadata.brokers] == addresses
                cluster = client.request(DescribeClusterRequest())
                assert [(each.host, each.port) for each in cluster.brokers] == addresses
                [found] = client.request(FindCoordinatorRequest(coordinator_keys=["g"])).coordinators
                assert (found.host, found.port) == addresses[found.node_id - 1]


def test_without_advertised_listeners_clients_are_told_the_host_they_dialled() -> None:
    with KafkaBroker(config=TWO) as broker:
        node = broker.cluster.nodes[1]
        for name in ("INSIDE", "OUTSIDE"):
            with _client(node, name) as client:
                [told] = client.request(MetadataRequest(topics=[])).brokers
                assert (told.host, told.port) == ("127.0.0.1", node.endpoints[name].port)
        assert broker.bootstrap_servers == f"127.0.0.1:{node.endpoints['INSIDE'].port}"


def test_a_listener_that_is_not_advertised_leads_nowhere() -> None:
    config = {**TWO, "advertised.listeners": "INSIDE://kafka.test:9092"}
    with KafkaBroker(config=config, topics=["t"]) as broker, _client(broker.cluster.nodes[1], "OUTSIDE") as client:
        metadata = client.request(MetadataRequest(topics=[MetadataRequestTopic(name="t")]))
        assert metadata.brokers == []
        [partition] = metadata.topics[0].partitions
        assert (partition.error_code, partition.leader_id) == (ErrorCode.LISTENER_NOT_FOUND, -1)
        assert (partition.replica_nodes, partition.isr_nodes, partition.offline_replicas) == ([1], [1], [1])
        before = client.request(MetadataRequest(topics=[MetadataRequestTopic(name="t")]), max_version=5)
        assert before.topics[0].partitions[0].error_code == ErrorCode.LEADER_NOT_AVAILABLE
        described = client.request(DescribeTopicPartitionsRequest(topics=[TopicRequest("t")]))
        [partition] = described.topics[0].partitions
        assert (partition.error_code, partition.leader_id, partition.offline_replicas) == (ErrorCode.NONE, -1, [1])
        cluster = client.request(DescribeClusterRequest())
        assert (cluster.brokers, cluster.controller_id) == ([], -1)
        [found] = client.request(FindCoordinatorRequest(coordinator_keys=["g"])).coordinators
        assert (found.error_code, found.node_id, found.error_message) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, -1, "")
        single = client.request(FindCoordinatorRequest(key="g"), max_version=3)
        assert single.error_message == "The coordinator is not available."


def test_the_metadata_log_names_what_is_advertised() -> None:
    with KafkaBroker(config=TOLD) as broker:
        node = broker.cluster.nodes[1]
        registered = broker.cluster.image.brokers[1].endpoints
        assert [tuple(each) for each in registered] == [
            ("INSIDE", "kafka.test", 9092, 0),
            ("OUTSIDE", "localhost", node.endpoints["OUTSIDE"].port, 0),
        ]
        assert [tuple(each) for each in broker.cluster.image.controllers[1].endpoints] == [
            ("CONTROLLER", "127.0.0.1", node.controllers["CONTROLLER"].port, 0)
        ]
        with _client(node, "INSIDE") as client:
            asked = DescribeQuorumRequest(topics=[TopicData("__cluster_metadata", [PartitionData(0)])])
            [quorum] = client.request(asked).nodes
        told = [(each.name, each.host, each.port) for each in quorum.listeners]
        assert told == [("CONTROLLER", "127.0.0.1", node.controllers["CONTROLLER"].port)]


def test_a_node_that_returns_has_all_its_listeners() -> None:
    with KafkaBroker(nodes=2, config=TOLD) as broker:
        node = broker.cluster.nodes[2]
        before = {name: each.port for name, each in node.endpoints.items()}
        broker.stop_node(2)
        for name in before:
            with pytest.raises(OSError):
                _client(node, name).close()
        broker.start_node(2)
        assert {name: each.port for name, each in node.endpoints.items()} == before
        for name in before:
            with _client(node, name) as client:
                assert len(client.request(MetadataRequest(topics=[])).brokers) == 2


def test_where_to_listen_is_said_once() -> None:
    with pytest.raises(ValueError, match="do not give host or port as well"):
        KafkaBroker(config=TWO, port=9092)
    with pytest.raises(ValueError, match="Could not find a 'KafkaServer'"):
        KafkaBroker(
            config={
                "listeners": "SASL_SSL://:0",
                "security.inter.broker.protocol": "SASL_SSL",
                "sasl.enabled.mechanisms": "PLAIN",
            }
        )


def test_a_port_in_use_takes_no_other_address() -> None:
    with KafkaBroker() as broker:
        taken = broker.cluster.nodes[1].port
        config = {
            "listeners": f"INSIDE://127.0.0.1:0,OUTSIDE://127.0.0.1:{taken}",
            "listener.security.protocol.map": "INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT",
            "inter.broker.listener.name": "INSIDE",
        }
        second = KafkaBroker(config=config)
        with pytest.raises(OSError, match="in use"):
            second.start()
        assert second.cluster.nodes[1].endpoints["INSIDE"].port == 0


def test_a_name_that_nobody_knows_is_kept_from_any_client() -> None:
    with KafkaBroker() as broker, _client(broker.cluster.nodes[1], "PLAINTEXT") as client:
        for resource, source in (("1", 2), ("", 3)):
            change = AlterableConfig(f"my.own.name{source}", 0, "secret")
            request = IncrementalAlterConfigsRequest([AlterConfigsResource(_BROKER, resource, [change])])
            [altered] = client.request(request).responses
            assert (altered.error_code, altered.error_message) == (ErrorCode.NONE, None)
        [described] = client.request(DescribeConfigsRequest([DescribeConfigsResource(_BROKER, "1", None)])).results
        found = {each.name: each for each in described.configs}
        for name, source in (("my.own.name2", 2), ("my.own.name3", 3)):
            entry = found[name]
            assert (entry.value, entry.config_source, entry.is_sensitive, entry.read_only, entry.config_type) == (
                None,
                source,
                True,
                True,
                0,
            )


def test_serve_starts_with_the_environment_of_a_compose_file(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text(COMPOSE.format(data=tmp_path / "data"))
    with KafkaBroker(config_file=file, topics={"t": 1}) as broker:
        node = broker.cluster.nodes[7]
        assert (node.rack, node.log_dirs) == ("r1", (tmp_path / "data",))
        with _client(node, "EXTERNAL") as client:
            [told] = client.request(MetadataRequest(topics=[])).brokers
        assert (told.node_id, told.host, told.port, told.rack) == (7, "localhost", 9092, "r1")
        assert broker.bootstrap_servers == "kafka:29092"
        assert broker.bootstrap_servers_of("EXTERNAL") == "localhost:9092"
    assert "node.id=7" in (tmp_path / "data" / "meta.properties").read_text().splitlines()


def test_values_and_a_given_directory_go_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text(COMPOSE.format(data=tmp_path / "data"))
    with KafkaBroker(config_file=file, config={"broker.rack": "r2"}, data_dir=tmp_path / "mine") as broker:
        assert (broker.cluster.nodes[7].rack, broker.cluster.nodes[7].log_dirs) == ("r2", (tmp_path / "mine",))
    assert not (tmp_path / "data").exists()


_BROKER = 4
COMPOSE = """\
# What a container's entry point makes of its environment.
process.roles=broker,controller
node.id=7
controller.quorum.voters=7@kafka:29093
listeners=INTERNAL://127.0.0.1:0,EXTERNAL://127.0.0.1:0,CONTROLLER://127.0.0.1:0
advertised.listeners=INTERNAL://kafka:29092,EXTERNAL://localhost:9092
listener.security.protocol.map=CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT
inter.broker.listener.name=INTERNAL
controller.listener.names=CONTROLLER
broker.rack=r1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
num.partitions=3
log.dirs={data}
jmx.port=9101
zookeeper.connect=zookeeper:2181
"""


def test_nodes_may_have_listeners_of_their_own() -> None:
    own = {1: {"listeners": "PLAINTEXT://127.0.0.1:0"}, 2: {"listeners": "PLAINTEXT://localhost:0"}}
    own[2]["advertised.listeners"] = "PLAINTEXT://second.test:9"
    with KafkaBroker(nodes=2, node_config=own) as broker:
        first, second = broker.cluster.nodes.values()
        with _client(second, "PLAINTEXT") as client:
            told = client.request(MetadataRequest([]))

    assert {node.node_id: (node.host, node.port) for node in told.brokers} == {
        1: ("127.0.0.1", first.port),
        2: ("second.test", 9),
    }


def test_a_controller_may_have_listeners_of_its_own() -> None:
    shared = {
        "process.roles": "broker",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": "3000@127.0.0.1:0",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    }
    own = {
        "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
        "controller.listener.names": "CONTROLLER,PLAINTEXT",
    }
    with KafkaBroker(config=shared, node_config={3000: own}) as broker:
        controller = broker.cluster.separate[3000]
        assert list(controller.controllers) == ["CONTROLLER", "PLAINTEXT"]
        for endpoint in controller.controllers.values():
            with WireClient(endpoint.host, endpoint.port) as client:
                told = client.request(DescribeClusterRequest(endpoint_type=2))
                assert [(node.broker_id, node.port) for node in told.brokers] == [(3000, endpoint.port)]
        with _client(broker.cluster.nodes[1], "PLAINTEXT") as client:
            assert [node.broker_id for node in client.request(DescribeClusterRequest()).brokers] == [1]


@pytest.mark.parametrize("names", ["CONTROLLER", "CONTROLLER,PLAINTEXT,OTHER"])
def test_a_controller_listens_for_the_names_of_controllers_alone(names: str) -> None:
    shared = {"process.roles": "broker", "controller.listener.names": "CONTROLLER", "controller.quorum.voters": "3@a:0"}
    own = {"listeners": "PLAINTEXT://:0,CONTROLLER://:0", "controller.listener.names": names}
    with pytest.raises(ValueError, match=r"controller.listener.names"):
        KafkaBroker(config=shared, node_config={3: own})


def test_a_controller_beside_nodes_that_are_both_takes_over() -> None:
    shared = {
        "process.roles": "broker,controller",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": "1@127.0.0.1:0,7@127.0.0.1:0",
        "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
    }
    with KafkaBroker(nodes=2, config=shared, node_config={7: {"process.roles": "controller"}}) as broker:
        quorum = DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])])
        broker.kill_node(1)
        with _client(broker.cluster.nodes[2], "PLAINTEXT") as client:
            told = client.request(quorum).topics[0].partitions[0]
            brokers = client.request(DescribeClusterRequest()).brokers

    assert told.leader_id == 7
    assert sorted(voter.replica_id for voter in told.current_voters) == [1, 7]
    assert [observer.replica_id for observer in told.observers] == [2]
    assert [node.broker_id for node in brokers] == [2]


def test_a_log_in_of_controllers_has_a_listener_of_their_own() -> None:
    shared = {
        "process.roles": "broker",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": "3@a:0",
        "listeners": "PLAINTEXT://:0,LOGIN://:0",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,LOGIN:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    }
    own = {"listeners": "CONTROLLER://:0,LOGIN://:0", "controller.listener.names": "CONTROLLER,LOGIN"}
    with pytest.raises(ValueError, match=r"LOGIN belongs to brokers; one with SASL needs another name"):
        KafkaBroker(config=shared, node_config={3: own})


def test_a_node_without_listeners_beside_one_with_its_own_is_refused() -> None:
    with pytest.raises(ValueError, match="listeners is set for node 2, so set it for every node, or for all together"):
        KafkaBroker(nodes=2, node_config={2: {"listeners": "PLAINTEXT://127.0.0.1:0"}})
