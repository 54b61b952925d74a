"""A broker in a child process."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import odradek
from odradek.broker.facade.process import ProcessBroker


def wait_until_gone(pid: int) -> None:
    end = time.monotonic() + 60
    while Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z":
        assert time.monotonic() < end, "the child lives on"
        time.sleep(0.05)


@pytest.mark.long
def test_a_broker_in_a_process_of_its_own_has_all_methods(tmp_path: Path) -> None:
    options = {"topics": {"t": {"partitions": 2, "config": {"retention.ms": 1000}}}, "data_dir": tmp_path / "data"}
    broker = odradek.KafkaBroker(2, process=True, config={"message.max.bytes": 2000}, **options)  # type: ignore[arg-type]
    assert isinstance(broker, odradek.KafkaBroker)
    assert repr(broker) == "<KafkaBroker: the broker has not been started; use `with` or start()>"
    with broker:
        assert re.fullmatch(r"<KafkaBroker at 127\.0\.0\.1:\d+,127\.0\.0\.1:\d+, in process \d+>", repr(broker))
        assert broker.topics["t"].config == {"retention.ms": "1000"}
        broker.produce("t", "x")
        assert [record.value for record in broker.topic("t").wait(1)] == [b"x"]
        with broker.kill_node(2):
            host, port = broker.bootstrap_servers.split(":")
        with pytest.raises(odradek.KafkaError, match="MESSAGE_TOO_LARGE"):
            broker.produce("t", "x" * 3000)
        socket.create_connection((host, int(port))).close()
        with pytest.raises(RuntimeError, match="starts once"):
            broker.start()
    with pytest.raises(OSError):
        socket.create_connection((host, int(port)), timeout=1)
    with pytest.raises(odradek.BrokerClosedError, match="closed"):
        _ = broker.topics
    broker.close()


@pytest.mark.long
def test_broker_in_a_process_has_the_security_given() -> None:
    security = odradek.Security(users={"alice": "s3cret"}, acls=[odradek.Acl("alice", "READ", topic="t")])
    with odradek.KafkaBroker(process=True, security=security) as broker:
        assert broker.client_config("alice", "kcat")["sasl.password"] == "s3cret"


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"config": {"no.such.config": 1}}, odradek.ConfigError, r"no\.such\.config"),
        ({"topics": {"t": {"config": {"nonsense": 1}}}}, odradek.KafkaError, "topic 't'"),
        ({"nodes": 0}, ValueError, "at least one node"),
    ],
)
def test_what_keeps_it_from_starting_is_raised(options: dict[str, object], kind: type[Exception], message: str) -> None:
    broker = odradek.KafkaBroker(process=True, **options)  # type: ignore[arg-type]
    with pytest.raises(kind, match=message):
        broker.start()
    with pytest.raises(odradek.BrokerClosedError):
        _ = broker.topics


def test_a_clock_cannot_be_in_two_processes() -> None:
    with pytest.raises(ValueError, match="the clock is in the broker's process"):
        odradek.KafkaBroker(process=True, clock=odradek.BrokerClock())


@pytest.mark.long
def test_a_child_that_dies_is_told() -> None:
    broker = odradek.KafkaBroker(process=True).start()
    assert isinstance(broker, ProcessBroker)
    assert broker._child is not None
    os.kill(broker._child.pid, signal.SIGKILL)
    broker._child.wait(60)
    with pytest.raises(odradek.BrokerClosedError, match="closed: its process has ended with status -9"):
        _ = broker.topics
    with pytest.raises(odradek.BrokerClosedError, match="ended by itself, with status -9"):
        broker.close()


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc").exists(), reason="looks into /proc")
def test_a_broker_process_dies_with_its_parent_even_if_that_is_killed() -> None:
    code = """
import odradek, time
broker = odradek.KafkaBroker(process=True).start()
print(broker._child.pid, flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until_gone(child)
