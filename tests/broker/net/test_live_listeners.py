from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from odradek import KafkaBroker
from tests.conformance.real_kafka import free_ports
from tests.scenarios.listeners import HOST
from tests.scenarios.live_listeners import CHECKS, DONE, Ports, brokers, is_open


@pytest.fixture
def ports() -> Iterator[Ports]:
    found = Ports(*free_ports(4))
    with KafkaBroker(config=found.properties()):
        yield found


@pytest.mark.parametrize("check", CHECKS)
def test_listeners_of_a_running_broker_change_as_in_kafka(ports: Ports, check: Callable[[Ports], None]) -> None:
    check(ports)


def test_a_taken_address_is_told_in_the_log(ports: Ports, caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, ports.extra))
        taken.listen()
        assert ports.alter(listeners=ports.listeners(f"EXTRA://{HOST}:{ports.extra}")) == DONE
    assert "node 0 cannot listen for EXTRA" in caplog.text
    assert not is_open(ports.extra)
    assert brokers(ports.plain) == [ports.plain]


def test_a_tls_listener_without_a_certificate_is_refused(ports: Ports) -> None:
    code, text = ports.alter(
        **{
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,EXTRA:SSL",
            "listeners": ports.listeners(f"EXTRA://{HOST}:{ports.extra}"),
        }
    )
    assert code == 42
    assert text is not None
    assert "listener EXTRA: it speaks TLS, so it needs a certificate" in text
    assert not is_open(ports.extra)


def test_each_of_several_nodes_has_its_own() -> None:
    first, extra = free_ports(2)
    with KafkaBroker(nodes=2) as broker:
        nodes = list(broker.cluster.nodes.values())
        listeners = f"PLAINTEXT://{HOST}:{nodes[1].port},EXTRA://{HOST}:{extra}"
        protocols = "PLAINTEXT:PLAINTEXT,EXTRA:PLAINTEXT"
        own = Ports(nodes[1].port, 0, first, first)
        changes = {"listener.security.protocol.map": protocols, "listeners": listeners}
        assert own.alter_named(changes, str(nodes[1].id)) == DONE
        assert brokers(extra) == []
        assert list(nodes[0].endpoints) == ["PLAINTEXT"]
        broker.stop_node(nodes[1].id)
        assert not is_open(extra)
        broker.start_node(nodes[1].id)
        assert brokers(extra) == []


def test_listeners_that_were_added_are_kept_in_a_data_directory(tmp_path: Path) -> None:
    ports = Ports(*free_ports(4))
    config = {**ports.properties(), "log.dirs": str(tmp_path)}
    with KafkaBroker(config=config):
        assert ports.alter(listeners=ports.listeners(f"EXTRA://{HOST}:{ports.extra}")) == DONE
        assert brokers(ports.extra) == []
    with KafkaBroker(config=config):
        assert brokers(ports.extra) == []
    with socket.socket() as taken:
        taken.bind((HOST, ports.extra))
        with KafkaBroker(config=config):  # what cannot be done is told, and left
            assert brokers(ports.plain) == [ports.plain]
