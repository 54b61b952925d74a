"""What a node's place in the cluster says of its configs."""

from __future__ import annotations

from pathlib import Path

from odradek.broker.api.node_configs import own_configs
from odradek.broker.cluster import Cluster


def test_a_plain_node() -> None:
    cluster = Cluster(nodes=2)
    cluster.nodes[2].first.port = 9093
    assert own_configs(cluster.nodes[2]) == {
        "broker.id": "2",
        "controller.listener.names": "CONTROLLER",
        "listeners": "PLAINTEXT://127.0.0.1:9093",
        "node.id": "2",
        "process.roles": "broker,controller",
    }


def test_rack_address_and_directory_show(tmp_path: Path) -> None:
    cluster = Cluster(data_dir=tmp_path)
    cluster.nodes[1].rack = "r1"
    cluster.nodes[1].first.advertised = ("kafka.test", 7)
    own = own_configs(cluster.nodes[1])
    assert own["broker.rack"] == "r1"
    assert own["advertised.listeners"] == "PLAINTEXT://kafka.test:7"
    assert own["log.dirs"] == str(tmp_path)


def test_node_id_numbers_the_first_node(tmp_path: Path) -> None:
    cluster = Cluster(nodes=3, config={"node.id": "0"}, data_dir=tmp_path)
    assert list(cluster.nodes) == [0, 1, 2]
    assert cluster.controller_id == 0
    assert own_configs(cluster.nodes[2])["node.id"] == "2"
    cluster.open_directory()
    cluster.close_logs()
    assert "node.id=0" in (tmp_path / "node-0" / "meta.properties").read_text().splitlines()
