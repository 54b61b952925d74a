"""``odradek ctl``."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

import odradek
from odradek.__main__ import main
from odradek.control.server import ControlServer
from tests.fakes.brokers import broker_fixture

Run = Callable[..., tuple[int, str, str]]
broker = broker_fixture(nodes=3, topics={"t": 2})


@pytest.fixture
def ctl(
    broker: odradek.KafkaBroker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    """Runs the command: status, standard output and error."""

    def run(*words: str) -> tuple[int, str, str]:
        status = main(["ctl", *words])
        return status, *capsys.readouterr()

    with ControlServer(broker, token="s3cret") as server:
        monkeypatch.setenv("ODRADEK_CONTROL", server.url)
        monkeypatch.setenv("ODRADEK_CONTROL_TOKEN", "s3cret")
        yield run


def test_ctl_calls_operations_by_their_names(ctl: Run, broker: odradek.KafkaBroker) -> None:
    undo = json.loads(ctl("kill-node", "2")[1])
    assert len(broker.bootstrap_servers.split(",")) == 2
    assert ctl("undos", "undo", undo["id"]) == (0, "", "")
    assert len(broker.bootstrap_servers.split(",")) == 3
    before = broker.clock.now_ms()
    assert int(ctl("clock", "advance", "hours=1")[1]) >= before + 3_600_000
    ctl("produce", "t", "5", "key=k=1", "partition=1")
    (record,) = json.loads(ctl("records", "t", "1")[1])
    assert (record["key"], record["value"]) == ("k=1", "5")
    ctl("groups", "set-offsets", "g", '{"t-1": 0}')
    assert json.loads(ctl("groups", "info", "g")[1])["lag"] == 1
    ctl("set-faults", '[{"api": "Produce", "drop": true}]')
    assert broker.faults[0].drop
    assert ctl("bootstrap-servers")[1] == broker.bootstrap_servers + "\n"


def test_alone_it_lists_what_there_is(ctl: Run) -> None:
    status, out, _ = ctl()
    assert status == 0
    assert "kill-node NODE_ID\n    Take a node down like a crash" in out
    assert "groups wait GROUP [members] [partitions] [timeout]" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("kil-node", "2"),
            "no operation is called kil-node (did you mean 'kill-node'?); `odradek ctl` alone lists them",
        ),
        (("kill-node", "9"), "no node 9: the cluster has 1, 2, 3"),
        (("kill-node", "two"), "node_id='two': expected a whole number"),
        (("kill-node", "1", "2"), "too many values: odradek ctl kill-node NODE_ID"),
        (("kill-node",), "kill-node needs node_id"),
        (("groups", "info"), "groups info needs GROUP: odradek ctl groups info GROUP"),
        (
            ("delete-topic", "t"),
            "no operation is called delete-topic (did you mean 'topics delete TOPIC'?); `odradek ctl` alone lists them",
        ),
        (
            ("set-offsets", "g"),
            "no operation is called set-offsets (did you mean 'groups set-offsets GROUP'?); "
            "`odradek ctl` alone lists them",
        ),
        (
            ("topics", "t", "wait", "1"),
            "the operation comes first: odradek ctl topics wait TOPIC RECORDS [partition] [isolation] [timeout]",
        ),
        (("heal", "--token", "wrong"), "the token is missing or wrong: Authorization: Bearer TOKEN"),
        (("heal", "--at", "https://x"), "--at https://x: expected http://HOST:PORT"),
    ],
)
def test_ctl_tells_a_mistake_in_one_line(ctl: Run, words: tuple[str, ...], says: str) -> None:
    assert ctl(*words) == (2, "", f"odradek ctl: {says}\n")


def test_ctl_without_a_broker_says_that_nobody_listens(ctl: Run) -> None:
    status, _, error = ctl("heal", "--at", "http://127.0.0.1:1")
    assert status == 2
    assert error.startswith("odradek ctl: no control API answers at http://127.0.0.1:1: ")


def test_lines_of_a_stream_come_as_they_are_said(broker: odradek.KafkaBroker) -> None:
    """Behind a pipe, too, where Python would keep them until it has many."""
    broker.produce("t", "before", partition=0)
    with ControlServer(broker) as server:
        command = [sys.executable, "-m", "odradek", "ctl", "records", "stream", "topic=t", "start=0"]
        process = subprocess.Popen([*command, "--at", server.url], stdout=subprocess.PIPE)
        assert process.stdout is not None
        try:
            assert "before" in process.stdout.readline().decode()
            broker.produce("t", "later", partition=0)
            assert "later" in process.stdout.readline().decode()
            assert process.poll() is None
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def test_a_stream_that_is_refused_is_one_line(ctl: Run) -> None:
    assert ctl("records", "stream", "nowhere")[0] == 2


def test_help_says_what_is_typed_here(ctl: Run) -> None:
    assert '``{"orders-0": 5}``' in ctl("groups", "set-offsets", "--help")[1]
    assert "condition" not in ctl("groups", "wait", "--help")[1]
