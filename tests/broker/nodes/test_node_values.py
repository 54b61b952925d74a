"""Nodes that start again with other configs of their own."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from odradek import KafkaBroker
from odradek.protocol.generated.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.metadata import MetadataRequest
from tests.fakes.brokers import broker_fixture
from tests.fakes.ports import free_ports
from tests.fakes.wire_client import WireClient

BROKER, STATIC = 4, 4


RETENTION = "log.retention.ms"
broker = broker_fixture(nodes=2, topics={"orders": {"partitions": 2, "replication_factor": 2}})


def described(broker: KafkaBroker, node_id: int) -> dict[str, tuple[str | None, int]]:
    """Value and source of each config, as the node tells."""
    node = broker.nodes[node_id]
    with WireClient(node.host, node.port) as client:
        asked = DescribeConfigsResource(BROKER, str(node_id))
        [result] = client.request(DescribeConfigsRequest([asked])).results
    return {each.name: (each.value, each.config_source) for each in result.configs}


def racks_told(broker: KafkaBroker) -> dict[int, str | None]:
    with WireClient(broker.nodes[1].host, broker.nodes[1].port) as client:
        return {each.node_id: each.rack for each in client.request(MetadataRequest(topics=None)).brokers}


def again(broker: KafkaBroker, node_id: int, **values: object) -> None:
    broker.stop_node(node_id)
    broker.start_node(node_id, config={name.replace("_", "."): value for name, value in values.items()})


def test_a_node_has_the_values_that_it_started_with_last(broker: KafkaBroker) -> None:
    again(broker, 2, broker_rack="b", num_partitions=5)
    assert described(broker, 2)["num.partitions"] == ("5", STATIC)
    assert described(broker, 2)["broker.rack"] == ("b", STATIC)
    assert described(broker, 1)["num.partitions"][0] == "1"
    assert racks_told(broker) == {1: None, 2: "b"}
    broker.stop_node(2)
    broker.start_node(2)
    assert described(broker, 2)["num.partitions"] == ("5", STATIC)
    again(broker, 2)
    assert described(broker, 2)["num.partitions"][0] == "1"
    assert racks_told(broker) == {1: None, 2: None}
    assert [sorted(each.isr) for each in broker.topics["orders"].partitions] == [[1, 2], [1, 2]]


def test_what_all_nodes_have_in_common_stays_while_another_one_is_up(broker: KafkaBroker) -> None:
    broker.stop_node(2)
    with pytest.raises(
        ValueError, match=r"max.bytes has one value for all nodes, but it is 1048588 .* 1 and 2000 .* 2"
    ):
        broker.start_node(2, config={"message.max.bytes": 2000, "broker.rack": "b"})
    assert broker.nodes[2].state == "down"
    broker.start_node(2)
    assert racks_told(broker) == {1: None, 2: None}


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
    with KafkaBroker() as broker:
        broker.stop_node(1)
        with pytest.raises(ValueError, match=refusal):
            broker.start_node(1, config={name: value})
        broker.start_node(1)
        assert broker.nodes[1].state == "up"


def test_the_last_node_decides_what_all_have_in_common(broker: KafkaBroker) -> None:
    broker.stop_node(1)
    broker.stop_node(2)
    broker.start_node(2, config={"log.retention.ms": 1000})
    assert broker.cluster.topics.by_name("orders").partitions[0].log.config.retention_ms == 1000
    with pytest.raises(
        ValueError, match=r"log.retention.ms has one value for all nodes, but it is not set .* and 1000"
    ):
        broker.start_node(1)
    assert broker.nodes[1].state == "down"
    broker.start_node(1, config={"log.retention.ms": 1000})
    assert described(broker, 1)["log.retention.ms"] == ("1000", STATIC)


def test_one_node_alone_starts_again_with_other_values() -> None:
    with KafkaBroker(config={"log.retention.ms": 5000}, topics={"orders": 1}) as broker:
        again(broker, 1, message_max_bytes=2000)
        configs = broker.cluster.topics.by_name("orders").config.log_config()
        assert (configs.max_message_bytes, configs.retention_ms) == (2000, 5000)
        assert described(broker, 1)["message.max.bytes"] == ("2000", STATIC)


def test_changes_of_clients_count_before_the_new_values(broker: KafkaBroker) -> None:
    with WireClient(broker.nodes[2].host, broker.nodes[2].port) as client:
        change = AlterConfigsResource(BROKER, "2", [AlterableConfig("max.connections", "100")])
        assert [each.error_code for each in client.request(AlterConfigsRequest([change])).responses] == [0]
    again(broker, 2, max_connections=50)
    assert described(broker, 2)["max.connections"] == ("100", 2)


def is_open(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=30).close()
    except OSError:
        return False
    return True


def test_a_listener_moves_and_another_one_comes() -> None:
    first, moved, stays, more = free_ports(4)
    map_of = {
        "listener.security.protocol.map": "A:PLAINTEXT,B:PLAINTEXT,C:PLAINTEXT",
        "inter.broker.listener.name": "B",
    }
    listeners = f"A://127.0.0.1:{first},B://127.0.0.1:{stays}"
    with KafkaBroker(config={**map_of, "listeners": listeners}) as broker:
        after = f"A://127.0.0.1:{moved},B://127.0.0.1:{stays},C://127.0.0.1:{more}"
        broker.stop_node(1)
        broker.start_node(1, config={"listeners": after})
        assert [is_open(port) for port in (first, moved, stays, more)] == [False, True, True, True]
        assert described(broker, 1)["listeners"] == (after, STATIC)
        again(broker, 1)
        assert [is_open(port) for port in (first, moved, stays, more)] == [True, False, True, False]


def test_a_data_directory_stays_where_it_is(tmp_path: Path) -> None:
    with KafkaBroker(nodes=2, data_dir=tmp_path, topics={"orders": 1}) as broker:
        broker.produce("orders", "one")
        again(broker, 2, num_partitions=5)
        assert described(broker, 2)["num.partitions"] == ("5", STATIC)
        broker.stop_node(2)
        with pytest.raises(ValueError, match=r"log.dirs is .*, as the cluster started"):
            broker.start_node(2, config={"log.dirs": str(tmp_path / "other")})
        broker.start_node(2)
        assert [each.value for each in broker.records("orders")] == [b"one"]


def test_a_separate_controller_starts_again_with_other_values() -> None:
    config = {
        "process.roles": "broker",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": "3000@127.0.0.1:0,3001@127.0.0.1:0",
    }
    with KafkaBroker(config=config) as broker:
        broker.stop_node(3001)
        broker.start_node(3001, config={"num.partitions": 7})
        assert broker.cluster.config.get_int("num.partitions", 3001) == 7
        broker.stop_node(3000)
        assert len(broker.create_topic("orders", -1).partitions) == 7


def test_a_snapshot_and_a_reset_go_back_to_the_values_of_their_time(broker: KafkaBroker) -> None:
    addresses = broker.bootstrap_servers
    again(broker, 2, broker_rack="b")
    snapshot = broker.snapshot()
    again(broker, 2, broker_rack="c")
    again(broker, 1, broker_rack="a")
    broker.restore(snapshot)
    assert [node.rack for node in broker.nodes.values()] == [None, "b"]
    assert racks_told(broker) == {1: None, 2: "b"}
    broker.reset()
    assert racks_told(broker) == {1: None, 2: None}
    assert broker.bootstrap_servers == addresses


def test_a_reset_ends_what_the_last_node_decided(broker: KafkaBroker) -> None:
    broker.kill_node(1)
    broker.kill_node(2)
    broker.start_node(2, config={RETENTION: 1000})
    broker.reset()
    assert [node.state for node in broker.nodes.values()] == ["up", "up"]
    assert described(broker, 2)[RETENTION][0] is None
    assert broker.cluster.topics.by_name("orders").config.log_config().retention_ms == 604_800_000


def test_a_fork_has_the_values_of_the_nodes(broker: KafkaBroker) -> None:
    again(broker, 2, broker_rack="b")
    with broker.fork() as other:
        assert racks_told(other) == {1: None, 2: "b"}
