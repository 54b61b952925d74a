"""What clients are told of where a node is."""

from __future__ import annotations

import pytest

from odradek import KafkaBroker
from odradek.broker.config.listeners import Listener, SecurityProtocol
from odradek.broker.metadata.node import Endpoint, Node
from odradek.protocol.generated.messages.metadata import MetadataRequest
from tests.broker.conftest import request_frame, response_of
from tests.broker.probes import Wire

_PLAIN = Listener("PLAINTEXT", SecurityProtocol.PLAINTEXT)


def test_a_client_is_sent_to_where_it_came() -> None:
    node = Node(1, endpoints={"PLAINTEXT": Endpoint(_PLAIN, "0.0.0.0", 9092)})
    assert node.address_for("PLAINTEXT", "10.1.2.3") == ("10.1.2.3", 9092)
    assert node.address_for("PLAINTEXT") == ("0.0.0.0", 9092)


def test_an_advertised_address_goes_first() -> None:
    assert Endpoint(_PLAIN, port=5, advertised=("kafka", 0)).address_for("10.1.2.3") == ("kafka", 5)
    assert Endpoint(_PLAIN, port=5, advertised=("kafka", 7)).address_for("10.1.2.3") == ("kafka", 7)


def test_each_listener_has_its_address() -> None:
    secret = Listener("SECRET", SecurityProtocol.SASL_SSL)
    node = Node(1, endpoints={"SECRET": Endpoint(secret, "::", 1), "PLAINTEXT": Endpoint(_PLAIN, "0.0.0.0", 2)})
    assert (node.host, node.port) == ("::", 1)
    assert node.address_for("PLAINTEXT", "a") == ("a", 2)
    assert node.address_for("SECRET", "a") == ("a", 1)
    assert node.address_for("OTHER", "a") is None


def test_a_node_has_a_plain_listener_if_nothing_is_said() -> None:
    assert Node(1).address_for("PLAINTEXT") == ("127.0.0.1", 0)
    assert Node(1).endpoints["PLAINTEXT"] is not Node(2).endpoints["PLAINTEXT"]


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
