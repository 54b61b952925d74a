"""The control API's server."""

from __future__ import annotations

import http.client
import socket
from contextlib import closing
from pathlib import Path

import pytest

import odradek
from odradek.broker.facade.remote.operations import ForkOperations
from odradek.broker.facade.thread_bridge import BrokerClosedError
from odradek.control import server as control_server
from odradek.control.server import ControlServer
from tests.frontdoor.control.conftest import Ask, ask


def test_a_token_is_needed_where_one_was_set(broker: odradek.KafkaBroker) -> None:
    with ControlServer(broker, token="s3cret") as server:
        assert ask(server.url, "GET", "/v1/topics", Authorization="Bearer s3cret")[0] == 200
        assert ask(server.url, "GET", "/v1/topics")[0] == 401
        assert ask(server.url, "GET", "/v1/topics", Authorization="Bearer s3cre")[0] == 401
        status, answer = ask(server.url, "GET", "/openapi.json", Authorization="Bearer \xe4")
        assert (status, answer["error"]["type"]) == (401, "TokenError")
        assert "s3cret" not in repr(server)


def test_an_api_that_others_reach_needs_a_token(broker: odradek.KafkaBroker) -> None:
    with pytest.raises(ValueError, match="needs a token"):
        ControlServer(broker, "0.0.0.0")
    with pytest.raises(ValueError, match="not empty"):
        ControlServer(broker, token=" ")
    with ControlServer(broker, "0.0.0.0", token="t") as server:
        port = server.url.rpartition(":")[2]
        headers = {"Authorization": "Bearer t", "Host": "any.example"}
        assert ask(f"http://127.0.0.1:{port}", "GET", "/v1/groups", **headers) == (200, {})


def test_an_address_that_is_taken_is_told(broker: odradek.KafkaBroker) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match="in use"):
            ControlServer(broker, port=taken.getsockname()[1]).start()


def test_nothing_listens_when_it_is_closed(broker: odradek.KafkaBroker) -> None:
    with ControlServer(broker) as server:
        assert repr(server) == f"<ControlServer at {server.url}>"
    with pytest.raises(ConnectionRefusedError):
        ask(server.url, "GET", "/v1/topics")


def test_the_clock_of_the_broker_moves_nothing_of_the_server(broker: odradek.KafkaBroker) -> None:
    with ControlServer(broker) as server, closing(http.client.HTTPConnection(server.url.partition("//")[2])) as idle:
        idle.connect()
        ask(server.url, "POST", "/v1/clock/advance", {"days": 30})
        idle.request("GET", "/v1/groups")
        assert idle.getresponse().read() == b"{}"


def test_a_fork_is_a_broker_with_a_control_api_of_its_own(broker: odradek.KafkaBroker, control: Ask) -> None:
    broker.produce("t", "before", partition=0)
    status, fork = control("POST", "/v1/fork", {})
    assert status == 200
    assert fork["bootstrap_servers"] not in ("", broker.bootstrap_servers)
    assert control("GET", "/v1/forks") == (200, [fork])
    produced = {"topic": "t", "value": "only there", "partition": 0}
    assert ask(fork["control"], "POST", "/v1/produce", produced)[0] == 200
    assert [each["value"] for each in ask(fork["control"], "GET", "/v1/records?topic=t")[1]] == ["before", "only there"]
    assert [each.value for each in broker.records("t")] == [b"before"]
    assert control("POST", "/v1/close-fork", {"fork": fork["id"]}) == (200, None)
    assert control("GET", "/v1/forks") == (200, [])
    with pytest.raises(OSError, match="refused"):
        ask(fork["control"], "GET", "/v1/overview")
    status, told = control("POST", "/v1/close-fork", {"fork": fork["id"]})
    assert (status, told["error"]["message"]) == (400, f"no fork '{fork['id']}' runs")


def test_forks_end_with_the_server_and_so_do_their_forks(broker: odradek.KafkaBroker) -> None:
    with ControlServer(broker) as server:
        fork = ask(server.url, "POST", "/v1/fork", {})[1]
        grandchild = ask(fork["control"], "POST", "/v1/fork", {})[1]
        assert ask(grandchild["control"], "GET", "/v1/topics")[1].keys() == {"t"}
    for each in (fork, grandchild):
        with pytest.raises(OSError, match="refused"):
            ask(each["control"], "GET", "/v1/overview")


def test_forks_want_the_same_token(broker: odradek.KafkaBroker) -> None:
    with ControlServer(broker, token="s3cret") as server:
        fork = ask(server.url, "POST", "/v1/fork", {}, Authorization="Bearer s3cret")[1]
        assert ask(fork["control"], "GET", "/v1/overview")[0] == 401
        assert ask(fork["control"], "GET", "/v1/overview", Authorization="Bearer s3cret")[0] == 200


def test_there_are_not_too_many(control: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_server, "_MOST", 0)
    status, told = control("POST", "/v1/fork", {})
    assert (status, told["error"]["message"]) == (409, "0 forks run already: close_fork ends one")


def test_control_server_is_used_from_python_over_http(broker: odradek.KafkaBroker) -> None:
    broker.produce("t", "before", partition=0)
    with ControlServer(broker, token="s3cret") as server:
        remote = odradek.connect(server.url, "s3cret")
        with remote.fork() as other:
            other.produce("t", "only there", partition=0)
            with other.fork() as third:
                assert len(list(third.records("t"))) == 2
            with other.clock.stopped():
                other.clock.advance(days=30)
            assert other.clock.now_ms() > remote.clock.now_ms() + 29 * 86_400_000
        assert len(list(remote.records("t"))) == 1
        with pytest.raises(BrokerClosedError):
            _ = other.topics
        other.close()
        assert repr(server._forks) == "<Forks: 0>"


def test_a_fork_over_http_keeps_its_logs_in_a_directory(broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    broker.produce("t", "before", partition=0)
    with ControlServer(broker) as server:
        remote = odradek.connect(server.url)
        with remote.fork(data_dir=tmp_path / "fork") as other:
            other.produce("t", "only there", partition=0)
        with pytest.raises(ValueError, match="is not an empty directory"):
            remote.fork(data_dir=tmp_path / "fork")
        with pytest.raises(ValueError, match="is not an absolute path"):
            server._forks.fork("there")
    with odradek.KafkaBroker(nodes=3, data_dir=tmp_path / "fork") as again:
        assert [record.value for record in again.records("t")] == [b"before", b"only there"]


@pytest.mark.long
def test_from_python_in_a_child_process() -> None:
    with odradek.KafkaBroker(topics=["t"], process=True) as broker:
        broker.produce("t", "before")
        with broker.fork() as other:
            assert isinstance(other, odradek.KafkaBroker)
            other.produce("t", "only there")
            assert len(list(other.records("t"))) == 2
            with pytest.raises(RuntimeError, match="runs already"):
                other.start()
            with other.fork() as third:
                assert repr(third).startswith("<KafkaBroker, a fork at http://127.0.0.1:")
        assert len(list(broker.records("t"))) == 1


def test_control_table_of_operations_only_declares() -> None:
    nothing = ForkOperations()
    for ask_for in (nothing.fork, lambda: nothing.forks, lambda: nothing.close_fork("1")):
        with pytest.raises(NotImplementedError):
            ask_for()
