"""The control API's server."""

from __future__ import annotations

import http.client
import socket
from contextlib import closing

import pytest

import odradek
from odradek.control.server import ControlServer
from tests.frontdoor.control.conftest import ask


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
