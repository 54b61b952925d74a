"""The rules of HTTP: media types, sizes, hosts, tokens, and requests that are none."""

from __future__ import annotations

import base64
import http.client
import json
import logging
import socket
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import odradek
from odradek.registry.application import LARGEST_BODY, MEDIA_TYPE
from odradek.registry.server import RegistryServer
from tests.frontdoor.registry.conftest import Ask, ask

VERSIONS = "/subjects/s/versions"
INT = {"schema": '"int"'}


def test_answers_have_the_media_type(registry: Ask, broker: odradek.KafkaBroker) -> None:
    connection = http.client.HTTPConnection(urlsplit(broker.schema_registry_url).netloc, timeout=60)
    connection.connect()
    connection.auto_open = 0  # all requests on one connection
    for method, path in (("GET", "/subjects"), ("DELETE", "/subjects/s"), ("GET", "/schemas/types")):
        connection.request(method, path)
        answer = connection.getresponse()
        answer.read()
        assert answer.headers["Content-Type"] == MEDIA_TYPE
    connection.close()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Content_Type": "application/vnd.schemaregistry.v1+json; charset=utf-8"}, 200),
        ({"Content_Type": "application/vnd.schemaregistry+json"}, 200),
        ({"Content_Type": "application/json"}, 200),
        ({"Content_Type": "application/octet-stream"}, 200),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content_Type": "text/plain", "Origin": "http://evil.example"}, 415),
        ({"Origin": "http://127.0.0.1"}, 200),
        ({"Content_Type": "application/xml"}, 415),
        ({"Accept": "text/html, application/*;q=0.5"}, 200),
        ({"Accept": "application/vnd.schemaregistry.v1+json, application/json"}, 200),
        ({"Accept": "text/html"}, 406),
    ],
)
def test_the_registry_answers_in_its_media_types(registry: Ask, headers: dict[str, str], status: int) -> None:
    found, data = registry("POST", VERSIONS, INT, **headers)
    assert found == status
    assert status == 200 or data["error_code"] == status


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, 400),
        (b"", 422, 422),
        (b'"int"', 422, 422),
        (b'{"scheme": "x"}', 422, 422),
        (b'{"schema": "x"}', 422, 42201),
        (b'{"schema": "%s"}' % (b"x" * 10 * LARGEST_BODY), 422, 42209),
        (json.dumps({"schema": "[" * 400_000}).encode(), 422, 42201),
    ],
)
def test_registry_request_with_a_bad_body_leaves_nothing(
    registry: Ask, broker: odradek.KafkaBroker, body: bytes, status: int, code: int
) -> None:
    found, data = registry("POST", VERSIONS, body)
    assert (found, data["error_code"]) == (status, code)
    assert "_schemas" not in broker.topics
    assert registry("GET", "/subjects") == (200, [])


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"schema": '{"type":"enum","name":"E","symbols":["A"],"default":"\\ud800"}'}, "is not among its symbols"),
        ({"schema": '{"type":"record","name":"R","doc":"\\ud800","fields":[]}'}, "surrogates not allowed"),
        ({"schema": '{"title":"\\ud800"}', "schemaType": "JSON"}, "surrogates not allowed"),
        ({"schema": '{"type":"\\ud800"}', "schemaType": "JSON"}, "invalid JSON Schema"),
        ({"schema": '"int"', "references": [{"name": "n", "subject": "s", "version": 2**31}]}, "version 2147483648"),
        ({"schema": '"int"', "metadata": {"properties": {"a": 5}}}, "properties of metadata is not of its type"),
        ({"schema": '"int"', "ruleSet": {"domainRules": [{"name": []}]}}, "name of a rule of the domainRules"),
    ],
)
def test_a_schema_that_makes_no_sense_is_refused_in_words(registry: Ask, asked: object, why: str) -> None:
    status, data = registry("POST", VERSIONS, asked)
    assert (status, data["error_code"]) == (422, 42201)
    assert why in data["message"]


@pytest.mark.long
def test_names_of_referenced_files_that_cannot_be(registry: Ask) -> None:
    proto = {"schema": 'syntax = "proto3"; message M {}', "schemaType": "PROTOBUF"}
    assert registry("POST", "/subjects/p/versions", proto)[0] == 200
    for name, why in (
        ("x" * 256, "is not the path of a .proto file"),
        ("x/" * 3000 + "x", "is too long for the path of a file"),
        ("given.proto/x", "and another imported file cannot both be there"),
        ("../x", "is not the path of a .proto file"),
    ):
        references = [{"name": name, "subject": "p", "version": 1}]
        status, data = registry("POST", "/subjects/q/versions", {**proto, "references": references})
        assert (status, data["error_code"]) == (422, 42201)
        assert why in data["message"]
        assert len(data["message"]) < 400


def test_a_message_cites_no_megabyte(registry: Ask) -> None:
    status, data = registry("POST", VERSIONS, {"schema": json.dumps({"type": "x" * 500_000})})
    assert (status, len(data["message"])) == (422, 4003)


def test_answers_are_left_to_the_caches_of_clients(registry: Ask, broker: odradek.KafkaBroker) -> None:
    """Confluent's registry sends no validators and no lifetimes: clients keep schemas by their ids."""
    registry("POST", VERSIONS, INT)
    for path in ("/schemas/ids/1", f"{VERSIONS}/latest"):
        names = {name.lower() for name in answered(broker, "GET", path).headers}
        assert names == {"date", "content-type", "content-length", "connection"}


def test_registry_answers_head_and_options(registry: Ask, broker: odradek.KafkaBroker) -> None:
    registry("POST", VERSIONS, INT)
    head, got = (answered(broker, method, "/schemas/ids/1") for method in ("HEAD", "GET"))
    assert (head.status, head.read(), head.headers["Content-Length"]) == (200, b"", got.headers["Content-Length"])
    assert answered(broker, "HEAD", "/schemas/ids/2").status == 404
    options = answered(broker, "OPTIONS", VERSIONS)
    assert (options.status, options.headers["Allow"], options.read()) == (200, "GET, HEAD, POST, OPTIONS", b"")
    assert answered(broker, "OPTIONS", "/nothing").status == 404
    assert answered(broker, "PUT", VERSIONS).headers["Allow"] == "GET, HEAD, POST"


def answered(broker: odradek.KafkaBroker, method: str, path: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(urlsplit(broker.schema_registry_url).netloc, timeout=60)
    connection.request(method, path, headers={"Connection": "close"})
    return connection.getresponse()


def test_registry_refuses_unknown_paths_and_methods(registry: Ask) -> None:
    assert registry("GET", "/nothing")[1]["error_code"] == 404
    assert registry("GET", "/contexts/.c/nothing")[1]["error_code"] == 404
    status, data = registry("POST", "/subjects", INT)
    assert (status, data) == (405, {"error_code": 405, "message": "/subjects takes GET, HEAD, not POST"})
    assert registry("GET", "/subjects/") == (200, [])


def test_a_web_page_of_another_name_is_refused(registry: Ask) -> None:
    assert registry("GET", "/subjects", Host="evil.example")[0] == 421


def test_a_web_page_of_another_server_registers_nothing(registry: Ask, broker: odradek.KafkaBroker) -> None:
    """It can send a Blob without a type."""
    connection = http.client.HTTPConnection(urlsplit(broker.schema_registry_url).netloc, timeout=60)
    connection.request("POST", VERSIONS, json.dumps(INT), {"Origin": "http://evil.example"})
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["error_code"]) == (415, 415)
    connection.close()
    assert registry("GET", "/subjects") == (200, [])


def test_a_token_is_shown_as_clients_can() -> None:
    with odradek.KafkaBroker() as broker, RegistryServer(broker, token="secret") as server:
        basic = [base64.b64encode(each).decode() for each in (b"any:secret", b"any:wrong", b"\xff")]
        for shown, status in (
            ("", 401),
            ("Bearer wrong", 401),
            ("Bearer secret", 200),
            (f"Basic {basic[0]}", 200),
            (f"Basic {basic[1]}", 401),
            (f"Basic {basic[2]}", 401),
            ("Basic ä", 401),
        ):
            headers = {"Authorization": shown} if shown else {}
            assert ask(server.url, "GET", "/subjects", **headers)[0] == status, shown


def test_a_broker_that_has_ended_is_said() -> None:
    broker = odradek.KafkaBroker().start()
    with RegistryServer(broker) as server:
        broker.close()
        status, data = ask(server.url, "GET", "/subjects")
    assert (status, data) == (500, {"error_code": 50001, "message": "the broker is closed"})


def test_a_bug_is_told_and_logged(
    registry: Ask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("odradek.registry.state.RegistryState.subjects", None)
    with caplog.at_level(logging.ERROR, "odradek.registry"):
        status, data = registry("GET", "/subjects")
    assert (status, data["error_code"]) == (500, 500)
    assert "bug in the registry: GET /subjects" in caplog.text


def test_faults_of_the_registry_are_answered(registry: Ask, broker: odradek.KafkaBroker) -> None:
    late = odradek.Fault(registry=True, delay_ms=1)
    fault = odradek.Fault(registry="POST /subjects/s", times=1, answer=50001)
    broker.set_faults(late, fault)
    assert registry("GET", "/subjects") == (200, [])
    assert registry("POST", VERSIONS, INT) == (500, {"error_code": 50001, "message": "answered by a fault"})
    assert registry("POST", VERSIONS, INT) == (200, {"id": 1})
    broker.produce("orders", "a")
    assert (late.hits, fault.hits) == (3, 1)
    broker.set_faults()
    assert registry("GET", "/subjects") == (200, ["s"])
    assert late.hits == 3


def test_a_request_without_an_answer(registry: Ask, broker: odradek.KafkaBroker) -> None:
    broker.set_faults(
        odradek.Fault(registry="POST", cut=True, times=1),
        odradek.Fault(registry="POST", drop=True, times=1),
        odradek.Fault(registry="POST", lose=True, times=1),
    )
    with pytest.raises(http.client.RemoteDisconnected):
        registry("POST", VERSIONS, INT)
    assert registry("GET", "/subjects") == (200, [])
    for count, stored in ((2, []), (3, ["s"])):
        connection = http.client.HTTPConnection(urlsplit(broker.schema_registry_url).netloc, timeout=60)
        connection.request("POST", VERSIONS, json.dumps(INT), {"Content-Type": MEDIA_TYPE})
        broker.requests.wait("SchemaRegistry", count, state="cut", timeout=60)
        assert connection.sock is not None
        connection.sock.setblocking(False)
        with pytest.raises(BlockingIOError):
            connection.sock.recv(1)
        connection.close()
        assert registry("GET", "/subjects") == (200, stored)


@pytest.mark.long
def test_registry_faults_work_in_another_process() -> None:
    with odradek.KafkaBroker(process=True, registry=True) as broker:
        fault = odradek.Fault(registry="/mode", answer=503)
        broker.set_faults(fault)
        assert ask(broker.schema_registry_url, "GET", "/mode")[0] == 503
        broker.wait(fault)
        assert fault.hits == 1
        assert repr(broker.faults) == "[Fault(registry='/mode', answer=503)]"


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
