"""The registry's requests in `broker.requests`."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import odradek
from odradek.registry.server import RegistryServer
from tests.frontdoor.registry.conftest import Ask, ask

INT = {"schema": '"int"'}


def test_requests_are_beside_those_of_kafka(registry: Ask, broker: odradek.KafkaBroker) -> None:
    registry("POST", "/subjects/s/versions?normalize=true", INT, User_Agent="my-client")
    registry("GET", "/schemas/ids/9")
    registered, missing = broker.requests.filter("SchemaRegistry")
    assert registered.http is not None
    assert (registered.http.method, registered.http.path) == ("POST", "/subjects/s/versions?normalize=true")
    assert (registered.http.status, registered.http.answer) == (200, b'{"id": 1}')
    assert b'"schema"' in registered.http.body
    assert (registered.client_id, registered.size, registered.state) == ("my-client", 21, "answered")
    assert registered.broker == urlsplit(broker.schema_registry_url).netloc
    assert (missing.http and missing.http.status, missing.errors) == (404, ("error 40403",))
    assert "GET /schemas/ids/9 -> 40403 there is no schema with the id 9" in str(missing)
    assert broker.requests.count("SchemaRegistry", error=True) == 1
    assert (registered.request, registered.response, registered.topics) == (None, None, ())


def test_refused_requests_are_there_without_their_token() -> None:
    with odradek.KafkaBroker() as broker, RegistryServer(broker, token="secret") as server:
        ask(server.url, "GET", "/subjects", Authorization="Bearer hunter2")
        [refused] = broker.requests
        assert refused.errors == ("error 401",)
        assert "hunter2" not in str(refused.exchange)


def test_a_test_waits_for_a_request(registry: Ask, broker: odradek.KafkaBroker) -> None:
    client = threading.Thread(target=registry, args=("GET", "/subjects"))
    client.start()
    [request] = broker.requests.wait("SchemaRegistry")
    client.join()
    assert request.http is not None
    assert request.http.answer == b"[]"


def test_a_client_that_goes_is_cut(broker: odradek.KafkaBroker) -> None:
    host, port = urlsplit(broker.schema_registry_url).netloc.split(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(b"POST /subjects/s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{")
    [request] = broker.requests.wait("SchemaRegistry")
    assert (request.state, request.cut) == ("cut", "the client has gone")


def test_of_a_long_path_and_agent_the_beginning_is_kept(registry: Ask, broker: odradek.KafkaBroker) -> None:
    registry("GET", "/schemas/ids/9?" + "x" * 30_000, User_Agent="y" * 20_000)
    [request] = broker.requests
    assert request.http is not None
    assert len(request.http.path) < 1100
    assert request.client_id == "y" * 256


def test_without_a_transcript_bodies_are_not_kept() -> None:
    with odradek.KafkaBroker(registry=True, transcript=False) as broker:
        ask(broker.schema_registry_url, "POST", "/subjects/s/versions", INT)
        [request] = broker.requests
        assert request.http is not None
        assert (request.http.path, request.http.body, request.http.answer) == ("/subjects/s/versions", b"", b"")


def test_they_are_saved_and_left_out_of_captures(registry: Ask, broker: odradek.KafkaBroker, tmp_path: Path) -> None:
    registry("GET", "/nothing")
    broker.requests.save(tmp_path / "all.jsonl")
    broker.requests.save_capture(tmp_path / "all.pcap")
    from odradek.broker.transcript.request_list import load_transcript

    [read] = load_transcript((tmp_path / "all.jsonl").read_text().splitlines())
    [written] = broker.requests
    assert (str(read), read.http) == (str(written), written.http)
    only_the_header = 24
    assert (tmp_path / "all.pcap").stat().st_size == only_the_header


def test_large_bodies_are_cut_short(registry: Ask, broker: odradek.KafkaBroker) -> None:
    symbols = ",".join(f'"S{number}"' for number in range(1000))
    schema = f'{{"type":"enum","name":"E","symbols":[{symbols}]}}'
    registry("POST", "/subjects/s/versions", {"schema": schema})
    registry("GET", "/schemas/ids/1")
    sent, got = broker.requests
    assert sent.http is not None
    assert (len(sent.http.body), sent.size > len(schema)) == (1024, True)
    assert f" -> 200 ({got.response_size:,} bytes)" in str(got)


@pytest.mark.long
def test_another_process_tells_them_too() -> None:
    with odradek.KafkaBroker(process=True, registry=True) as broker:
        ask(broker.schema_registry_url, "GET", "/subjects")
        [request] = broker.requests.filter("SchemaRegistry")
        assert request.http is not None
        assert request.http.path == "/subjects"
