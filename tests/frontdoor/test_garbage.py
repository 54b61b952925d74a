"""Refused calls of the registry and the control API leave no circles of references: their memory comes back at once."""

from __future__ import annotations

import gc
import json
import socket
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

import odradek
from odradek.control.server import ControlServer
from tests.frontdoor.control.conftest import ask

_TIMES = 20
VERSIONS = "/subjects/s/versions"
REGISTRY: list[tuple[str, str, Any]] = [
    ("GET", "/nothing", None),
    ("PUT", "/subjects", {}),
    ("POST", VERSIONS, b"{"),
    ("POST", VERSIONS, {"schema": "x"}),
    ("POST", VERSIONS, {"schema": "x" * 1_100_000}),
    ("POST", VERSIONS, {"schema": '{"type":"array","items":' * 2000}),
    ("POST", VERSIONS, {"schema": '{"type":"record","name":"R","fields":[{"name":"a","type":"X"}]}'}),
    ("POST", VERSIONS, {"schema": '{"type":"x"}', "schemaType": "JSON"}),
    ("POST", VERSIONS, {"schema": '{"$ref":"#/x"}', "schemaType": "JSON"}),
    ("POST", VERSIONS, {"schema": '{"$ref":"#"}', "schemaType": "JSON"}),
    ("POST", VERSIONS, {"schema": '"int"', "references": [{"name": "n", "subject": "q", "version": 1}]}),
    ("POST", "/subjects/known/versions", {"schema": '"string"'}),
    ("GET", "/subjects/s/versions/9", None),
    ("GET", "/schemas/ids/x", None),
    ("PUT", "/config/s", {"compatibility": "X"}),
    ("GET", "/config/s", None),
    ("DELETE", "/subjects/s", None),
    ("GET", "/subjects", None),
]
CONTROL: list[tuple[str, str, Any]] = [
    ("GET", "/v1/x", None),
    ("POST", "/v1/kill-node", {"node_id": 9}),
    ("POST", "/v1/kill-node", b"{"),
    ("POST", "/v1/create-topic", {"name": "t"}),
    ("POST", "/v1/create-topic", {"name": "new", "partitions": 10_001}),
    ("POST", "/v1/produce", {"topic": "no", "value": "x"}),
    ("POST", "/v1/produce", {"topic": "t", "value": {"a": 1}}),
    ("POST", "/v1/topics/t/wait", {"records": 1, "timeout": 0}),
    ("POST", "/v1/topics/no/wait", {"records": 1, "timeout": 0}),
    ("POST", "/v1/requests/wait", {"count": 1_000_000, "timeout": 0}),
    ("POST", "/v1/groups/g/wait", {"timeout": 0}),
    ("POST", "/v1/wait", {"fault": 0, "timeout": 0}),
    ("POST", "/v1/undos/x/undo", {}),
    ("GET", "/v1/groups/g/lag", None),
    ("GET", "/v1/records?topic=no", None),
    ("GET", "/v1/records/stream?topic=no", None),
    ("GET", "/v1/requests/stream?state=no", None),
    ("POST", "/v1/topics/t/set-schema", {"schema": "{"}),
    ("POST", "/v1/groups/g/set-offsets", {"offsets": {"no-0": 1}}),
    ("POST", "/v1/clock/set-ms", {"now_ms": -1}),
    ("POST", "/v1/topics/no/delete", {}),
    ("POST", "/v1/reload-coordinator", {"partition": 0}),
    ("GET", "/v1/topics", None),
]
UNREADABLE = [
    b"x\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"POST /v1/heal HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\n{",
    b"POST /subjects/s HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
]


@pytest.fixture(scope="module")
def urls() -> Iterator[tuple[str, str]]:
    """Of the registry and the control API of a broker."""
    with odradek.KafkaBroker(topics=["t"], registry=True, transcript=False) as broker, ControlServer(broker) as control:
        assert ask(broker.schema_registry_url, "POST", "/subjects/known/versions", {"schema": '"int"'})[0] == 200
        yield broker.schema_registry_url, control.url


def circles_after(call: Callable[[], object]) -> int:
    """Objects that only the garbage collector can free, after many calls that were made before."""
    call()
    gc.collect()
    gc.disable()
    try:
        for _ in range(_TIMES):
            call()
        return gc.collect()
    finally:
        gc.enable()


@pytest.mark.long
@pytest.mark.parametrize(("method", "path", "body"), REGISTRY)
def test_a_refused_call_of_the_registry_leaves_nothing(
    urls: tuple[str, str], method: str, path: str, body: object
) -> None:
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    assert circles_after(lambda: ask(urls[0], method, path, data)) < _TIMES


@pytest.mark.long
@pytest.mark.parametrize(("method", "path", "body"), CONTROL)
def test_a_refused_call_of_the_control_api_leaves_nothing(
    urls: tuple[str, str], method: str, path: str, body: object
) -> None:
    assert circles_after(lambda: ask(urls[1], method, path, body)) < _TIMES


@pytest.mark.long
@pytest.mark.parametrize("data", UNREADABLE)
@pytest.mark.parametrize("server", [0, 1])
def test_bytes_that_are_no_request_leave_nothing(urls: tuple[str, str], server: int, data: bytes) -> None:
    host, _, port = urlsplit(urls[server]).netloc.rpartition(":")

    def send() -> None:
        with socket.create_connection((host, int(port))) as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass

    assert circles_after(send) < _TIMES
