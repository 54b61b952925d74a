"""`cub` and `nc`."""

from __future__ import annotations

import pytest

import odradek
from tests.conformance.real_kafka import free_ports
from tests.frontdoor.tools.running import run


def test_cub_and_nc_tell_whether_a_broker_answers(capsys: pytest.CaptureFixture[str]) -> None:
    [free] = free_ports(1)
    with odradek.KafkaBroker() as broker:
        host, port = broker.bootstrap_servers.split(":")
        assert run(f"cub kafka-ready -b {host}:{port} 1 5") == 0
        assert run(f"cub zk-ready {host}:{port}/chroot 5") == 0
        assert run(f"nc -z -v -w 1 {host} {port}") == 0
        assert run(f"cub kafka-ready -b {host}:{port} 2 0") == 1
    assert run(f"nc -z 127.0.0.1 {free}") == 1
    assert run(f"nc -vz 127.0.0.1 {free}") == 1
    assert run(f"cub zk-ready 127.0.0.1:{free} 0") == 1
    assert run(f"cub kafka-ready -b 127.0.0.1:{free} 1 0") == 1
    said = capsys.readouterr().err
    assert f"{host} {port}: open\n" in said
    assert "Expected 2 brokers but found only 1. Timed out." in said
    assert f"127.0.0.1 {free}: Connection refused\n" in said
    assert f"127.0.0.1:{free}: Connection refused\n" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("nc localhost 80", "this nc is odradek's and knows only nc -z"),
        ("nc -z localhost http", "http is not a port"),
        ("cub listeners x", "expected cub kafka-ready -b HOST:PORT"),
    ],
)
def test_what_they_do_not_know_is_refused(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 1
    assert capsys.readouterr().err.startswith(said)
