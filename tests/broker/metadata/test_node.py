"""What clients are told of where a node is."""

from __future__ import annotations

import pytest

from odradek import KafkaBroker
from odradek.broker.metadata.node import Node, advertised_addresses
from odradek.protocol.messages.metadata import MetadataRequest
from tests.broker.conftest import request_frame, response_of
from tests.broker.probes import Wire


def test_a_client_is_sent_to_where_it_came() -> None:
    node = Node(1, "0.0.0.0", 9092)
    assert node.address_for("10.1.2.3") == ("10.1.2.3", 9092)
    assert node.address_for(None) == ("0.0.0.0", 9092)


def test_an_advertised_address_goes_first() -> None:
    assert Node(1, port=5, advertised=("kafka", 0)).address_for("10.1.2.3") == ("kafka", 5)
    assert Node(1, port=5, advertised=("kafka", 7)).address_for("10.1.2.3") == ("kafka", 7)


@pytest.mark.parametrize(
    ("listeners", "nodes", "expected"),
    [
        ([], 2, []),
        (["PLAINTEXT://kafka:9092"], 1, [("kafka", 9092)]),
        (["PLAINTEXT://kafka:9092"], 3, [("kafka", 9092), ("kafka", 9093), ("kafka", 9094)]),
        (["PLAINTEXT://kafka:0"], 2, [("kafka", 0), ("kafka", 0)]),
        (["PLAINTEXT://a:1", "PLAINTEXT://[::1]:2"], 2, [("a", 1), ("::1", 2)]),
    ],
)
def test_advertised_listeners(listeners: list[str], nodes: int, expected: list[tuple[str, int]]) -> None:
    assert advertised_addresses(listeners, nodes) == expected


@pytest.mark.parametrize("bad", [["kafka:9092"], ["SSL://a:1"], ["PLAINTEXT://a:99999"], ["PLAINTEXT://a:1"] * 2])
def test_bad_advertised_listeners(bad: list[str]) -> None:
    with pytest.raises(ValueError, match=r"advertised\.listeners"):
        advertised_addresses(bad, 3)


@pytest.mark.parametrize(("host", "dialled"), [("0.0.0.0", "127.0.0.1"), ("::1", "::1"), ("localhost", "127.0.0.1")])
def test_metadata_names_the_address_that_was_dialled(host: str, dialled: str) -> None:
    with KafkaBroker(nodes=2, host=host) as broker:
        port = int(broker.bootstrap_servers.split(",")[0].rpartition(":")[2])
        request = MetadataRequest(topics=[])
        with Wire((dialled, port)) as wire:
            wire.send(request_frame(request, 9))
            answer = wire.frame()
    assert answer is not None
    _, response = response_of(request, 9, answer)
    assert [each.host for each in response.brokers] == [dialled, dialled]
    assert len({each.port for each in response.brokers}) == 2


def test_metadata_names_what_the_config_says() -> None:
    with KafkaBroker(config={"advertised.listeners": "PLAINTEXT://kafka.test:1234"}) as broker:
        assert broker.bootstrap_servers == "kafka.test:1234"
        request = MetadataRequest(topics=[])
        node = broker.cluster.nodes[1]
        with Wire((node.host, node.port)) as wire:
            wire.send(request_frame(request, 9))
            answer = wire.frame()
    assert answer is not None
    _, response = response_of(request, 9, answer)
    assert [(each.host, each.port) for each in response.brokers] == [("kafka.test", 1234)]
