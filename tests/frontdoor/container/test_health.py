"""Whether a container is healthy."""

from __future__ import annotations

import pytest

import odradek
from odradek.container import health
from odradek.container.health import plain_port
from tests.conformance.real_kafka import free_ports


@pytest.mark.parametrize(
    ("listeners", "protocols", "port"),
    [
        ("PLAINTEXT://:9092", "", 9092),
        ("IN://0.0.0.0:1,OUT://[::]:2", "IN:SASL_SSL,OUT:PLAINTEXT", 2),
        ("CONTROLLER://:1,A://:2", "CONTROLLER:PLAINTEXT,A:PLAINTEXT", 2),
        ("SSL://:1", "", None),
    ],
)
def test_the_first_listener_of_plain_text(listeners: str, protocols: str, port: int | None) -> None:
    assert plain_port(listeners, protocols) == port


def test_a_broker_that_answers_is_healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    [port] = free_ports(1)
    monkeypatch.setenv("KAFKA_LISTENERS", f"PLAINTEXT://127.0.0.1:{port}")
    assert health.main() == 1
    with odradek.KafkaBroker(port=port):
        assert health.main() == 0
