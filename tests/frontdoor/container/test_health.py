"""Whether a container is healthy."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import odradek
from odradek.container import health
from odradek.container.environment import read_environment
from odradek.container.health import client_listener
from tests.conformance.real_kafka import free_ports
from tests.scenarios.authority import Authority


@pytest.mark.parametrize(
    ("listeners", "protocols", "address"),
    [
        ("PLAINTEXT://:9092", "", ("127.0.0.1", 9092, False)),
        ("A://broker:29092, B://0.0.0.0:9092", "A:plaintext, b:PLAINTEXT", ("broker", 29092, False)),
        ("IN://0.0.0.0:1,OUT://[::]:2", "IN:SASL_SSL,OUT:SASL_PLAINTEXT", ("::1", 2, False)),
        ("CONTROLLER://:1,A://[::1]:2", "CONTROLLER:PLAINTEXT,A:PLAINTEXT", ("::1", 2, False)),
        ("SSL://here:1", "", ("here", 1, True)),
        ("CONTROLLER://:1", "", None),
    ],
)
def test_the_first_listener_of_clients(listeners: str, protocols: str, address: tuple[str, int, bool] | None) -> None:
    configs = {"listeners": listeners, "listener.security.protocol.map": protocols}
    assert client_listener(configs) == address


def test_a_listener_without_a_protocol_is_not_healthy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KAFKA_LISTENERS", "PLAINTEXT_HOST://:9092")
    assert health.main() == 1
    assert capsys.readouterr().err == "No security protocol defined for listener PLAINTEXT_HOST\n"


@contextlib.contextmanager
def serving(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> Iterator[None]:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with odradek.KafkaBroker(config=read_environment(os.environ).configs):
        yield


def test_a_broker_that_answers_is_healthy(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    [port] = free_ports(1)
    with serving(monkeypatch, {"KAFKA_LISTENERS": f"PLAINTEXT://127.0.0.1:{port}"}):
        assert health.main() == 0
    assert health.main() == 1
    assert capsys.readouterr().err == f"127.0.0.1:{port}: Connection refused\n"


def test_a_broker_that_wants_a_log_in_is_asked_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    [port] = free_ports(1)
    variables = {
        "KAFKA_CFG_LISTENERS": f"CLIENT://127.0.0.1:{port}",
        "KAFKA_CFG_LISTENER_SECURITY_PROTOCOL_MAP": "CLIENT:SASL_PLAINTEXT",
        "KAFKA_CFG_INTER_BROKER_LISTENER_NAME": "CLIENT",
        "KAFKA_CLIENT_USERS": "alice",
        "KAFKA_CLIENT_PASSWORDS": "secret",
    }
    with serving(monkeypatch, variables):
        assert health.main() == 0
    assert health.main() == 1


@pytest.mark.long
@pytest.mark.parametrize("client_auth", ["none", "required"])
def test_a_broker_behind_tls_is_asked_by_tls(client_auth: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = Authority(tmp_path)
    store = authority.issue("broker", "localhost")
    [port] = free_ports(1)
    variables = {
        "KAFKA_LISTENERS": f"SSL://127.0.0.1:{port}",
        "KAFKA_INTER_BROKER_LISTENER_NAME": "SSL",
        "KAFKA_SSL_KEYSTORE_TYPE": "PEM",
        "KAFKA_SSL_KEYSTORE_LOCATION": str(store),
        "KAFKA_SSL_TRUSTSTORE_TYPE": "PEM",
        "KAFKA_SSL_TRUSTSTORE_LOCATION": str(authority.ca),
        "KAFKA_SSL_CLIENT_AUTH": client_auth,
    }
    with serving(monkeypatch, variables):
        assert health.main() == 0
    assert health.main() == 1


def test_a_listener_in_the_clear_where_tls_is_expected_is_not_healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    with odradek.KafkaBroker() as broker:
        monkeypatch.setenv("KAFKA_LISTENERS", f"SSL://{broker.bootstrap_servers}")
        assert health.main() == 1


def test_a_controller_alone_is_not_healthy(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("KAFKA_LISTENERS", "CONTROLLER://:9093")
    assert health.main() == 1
    assert capsys.readouterr().err == "no listener is for clients\n"


def test_an_environment_that_is_refused_is_not_healthy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOSTNAME_COMMAND", "hostname")
    assert health.main() == 1
    assert "HOSTNAME_COMMAND cannot be honoured" in capsys.readouterr().err
