"""The control API, asked over HTTP."""

from __future__ import annotations

import http.client
import json
import re
import threading
from importlib.resources import files
from typing import Any

import pytest

import odradek
from odradek.control.application import SCRIPTS
from odradek.control.server import ControlServer
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from tests.fakes.wire_client import WireClient
from tests.frontdoor.control.conftest import Ask, ask


def test_a_test_in_another_language_has_everything(control: Ask, broker: odradek.KafkaBroker) -> None:
    assert control("POST", "/v1/create-topic", {"name": "orders", "partitions": 3})[1]["name"] == "orders"
    written = control("POST", "/v1/produce", {"topic": "orders", "value": "v", "key": "k", "headers": {"h": "x"}})[1]
    assert broker.records("orders", written["partition"])[0].headers == (("h", b"x"),)
    assert control("POST", "/v1/clock/freeze") == (200, None)
    assert broker.clock.frozen
    before = control("GET", "/v1/clock/now-ms")[1]
    assert control("POST", "/v1/clock/advance", {"seconds": 2})[1] == before + 2000
    faults = [{"api": "Produce", "answer": "NOT_LEADER_OR_FOLLOWER", "times": 1, "topic": "orders"}]
    assert control("POST", "/v1/set-faults", {"faults": faults}) == (200, None)
    assert broker.faults[0].topic == "orders"
    undo = control("POST", "/v1/kill-node", {"node_id": 3})[1]
    assert control("POST", undo["path"] + "/undo") == (200, None)
    hold = control("POST", "/v1/hold", {"transactional_id": "tx", "at": "PrepareCommit"})[1]
    assert control("GET", hold["path"] + "/reached") == (200, False)
    assert control("POST", hold["path"] + "/release") == (200, None)


def test_a_long_list_comes_in_pieces(control: Ask, broker: odradek.KafkaBroker) -> None:
    assert control("GET", "/v1/records?topic=t") == (200, [])
    broker.produce_all(
        "t",
        map(str, range(1234)),
    )
    assert len(control("GET", "/v1/records?topic=t")[1]) == 1234
    assert len(control("POST", "/v1/topics/t/wait", {"records": 1233})[1]) == 1234


def test_records_that_were_waited_for_are_sent_as_they_are_read(broker: odradek.KafkaBroker) -> None:
    broker.produce("t", "x")
    with ControlServer(broker) as server:
        client = begun(server.url, "/v1/topics/t/wait", {"records": 1})
        assert client.getresponse().getheader("Transfer-Encoding") == "chunked"
        client.close()


def test_a_wait_ends_when_it_is_over_and_others_are_served_meanwhile(control: Ask) -> None:
    answers: list[Any] = []
    waiting = threading.Thread(target=lambda: answers.append(control("POST", "/v1/topics/t/wait", {"records": 1})))
    waiting.start()
    assert control("GET", "/v1/groups") == (200, {})
    control("POST", "/v1/produce", {"topic": "t", "value": "x"})
    waiting.join()
    assert [each["value"] for each in answers[0][1]] == ["x"]


def begun(url: str, path: str, body: dict[str, Any]) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(url.partition("//")[2], timeout=60)
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    return connection


@pytest.mark.long
def test_hundreds_of_waits_take_no_threads_and_end_with_their_clients(broker: odradek.KafkaBroker) -> None:
    broker.set_faults(odradek.Fault("Produce", delay_ms=1))
    waits: list[tuple[str, dict[str, Any]]] = [
        ("/v1/topics/t/wait", {"records": 5}),
        ("/v1/groups/g/wait", {}),
        ("/v1/wait", {"fault": 0}),
        ("/v1/requests/wait", {"count": 10_000}),
    ]
    with ControlServer(broker) as server:
        hold = ask(server.url, "POST", "/v1/hold", {"transactional_id": "tx", "at": "PrepareCommit"})[1]
        waits.append((f"{hold['path']}/wait", {}))
        threads = threading.active_count()
        clients = [begun(server.url, path, {**body, "timeout": 3600}) for path, body in waits for _ in range(60)]
        while len(broker.cluster.recent.watchers) < 60:
            ask(server.url, "GET", "/v1/topics")
        assert threading.active_count() < threads + 30
        assert ask(server.url, "POST", "/v1/produce", {"topic": "t", "value": "x", "partition": 0})[0] == 200
        for each in clients[:59]:
            each.close()
        ask(server.url, "POST", "/v1/produce-all", {"topic": "t", "records": ["x"] * 4})
        answer = clients[59].getresponse()
        assert (answer.status, len(json.loads(answer.read()))) == (200, 5)
        for each in clients:
            each.close()
        while broker.cluster.recent.watchers:
            ask(server.url, "GET", "/v1/topics")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("GET", "/v2/topics", None, 404, "there is no /v2/topics; GET /openapi.json"),
        ("POST", "/v1/undos/1/undo", None, 404, "no Undo of the id '1'"),
        ("DELETE", "/v1/topics", None, 405, "/v1/topics takes GET, HEAD, not DELETE"),
        ("POST", "/v1/kill-node", {"node_id": 9}, 400, "no node 9: the cluster has 1, 2, 3"),
        ("POST", "/v1/kill-node", {"nod_id": 9}, 400, "did you mean 'node_id'"),
        ("POST", "/v1/kill-node", b"{", 400, "the body is not JSON"),
        ("POST", "/v1/topics/no/move-leader", {"partition": 0, "node_id": 1}, 409, "no topic 'no'"),
        ("POST", "/v1/create-topic", {"name": "t"}, 409, "topic 't'"),
        ("GET", "/v1/groups/g/lag", None, 400, "'g' does not exist"),
        ("GET", "/v1/records?topic=no", None, 409, "no topic 'no'"),
        ("POST", "/v1/topics/t/wait", {"records": 1, "timeout": 0.01}, 409, "0 of 1 records"),
        ("POST", "/v1/produce", {"topic": "t", "value": {"a": 1}}, 400, "expected bytes, text or None as value"),
        ("POST", "/v1/produce", {"topic": "t", "timestamp": 2**63}, 400, "expected milliseconds since 1970"),
        ("POST", "/v1/produce", {"topic": "t", "transactional_id": "x" * 40_000}, 400, "at most 32767 are allowed"),
        ("POST", "/v1/create-topic", b'{"name": "\\ud800"}', 400, "surrogates not allowed"),
        ("POST", "/v1/create-topic", {"name": "new", "partitions": 10_001}, 409, "Excessively large number"),
        ("POST", "/v1/clock/set-ms", {"now_ms": 2**63}, 400, "from 1970 to the year 9999"),
        ("POST", "/v1/clock/set-ms", {"now_ms": -5}, 400, "from 1970 to the year 9999"),
        ("POST", "/v1/clock/set-ms", b'{"now_ms": NaN}', 400, "NaN is not a JSON number"),
        ("POST", "/v1/clock/set-ms", b'{"now_ms": 1e400}', 400, "expected a whole number"),
        ("POST", "/v1/reload-coordinator", {"partition": 0, "topic": "__share_group_state"}, 400, "does not exist yet"),
    ],
)
def test_control_api_refuses_bad_input_with_a_message(
    control: Ask, method: str, path: str, body: Any, status: int, message: str
) -> None:
    found, answer = control(method, path, body)
    assert found == status
    assert message in answer["error"]["message"]


def test_kafkas_refusals_have_their_code(control: Ask) -> None:
    error = control("POST", "/v1/create-topic", {"name": "t"})[1]["error"]
    assert (error["type"], error["code"]) == ("KafkaError", "TOPIC_ALREADY_EXISTS")


@pytest.mark.long
def test_a_body_is_json_and_not_too_large(control: Ask) -> None:
    assert control("POST", "/v1/heal", b"{}", Content_Type="text/plain")[0] == 415
    assert control("POST", "/v1/heal", Origin="http://evil.example")[0] == 415
    assert control("POST", "/v1/produce", b" " * (65 * 1024 * 1024))[0] == 413


def test_no_page_of_another_name_gets_in(control: Ask) -> None:
    assert control("GET", "/v1/topics", Host="evil.example:80")[0] == 421
    assert control("GET", "/v1/topics", Host="localhost:80")[0] == 200


def ask_versions(broker: odradek.KafkaBroker) -> None:
    """One request of a client."""
    with WireClient.at(broker.bootstrap_servers, client_id="c") as client:
        client.request(ApiVersionsRequest(), 0)


def test_what_clients_asked_is_told(control: Ask, broker: odradek.KafkaBroker) -> None:
    ask_versions(broker)
    (found,) = control("POST", "/v1/requests/wait", {"api": "ApiVersions", "client_id": "c"})[1]
    assert (found["api"], found["clientId"], found["state"]) == ("ApiVersions", "c", "answered")
    assert control("GET", "/v1/requests?api=ApiVersions&error=false&node=1") == (200, [found])
    assert control("GET", "/v1/requests?topic=t") == (200, [])
    assert control("POST", "/v1/requests/clear") == (200, None)
    assert control("GET", "/v1/requests") == (200, [])
    assert "did you mean 'Produce'" in control("GET", "/v1/requests?api=Produc")[1]["error"]["message"]
    assert control("GET", "/v1/requests/stream?state=no")[0] == 400


def test_what_clients_ask_comes_as_a_stream(broker: odradek.KafkaBroker) -> None:
    with ControlServer(broker) as server:
        connection = http.client.HTTPConnection(server.url.partition("//")[2], timeout=60)
        connection.request("GET", "/v1/requests/stream?api=ApiVersions")
        stream = connection.getresponse()
        assert stream.headers["content-type"] == "application/x-ndjson"
        for _ in range(2):
            ask_versions(broker)
            assert json.loads(stream.readline())["api"] == "ApiVersions"
        stream.close()
        connection.close()


def fetch(url: str, path: str) -> tuple[http.client.HTTPResponse, str]:
    connection = http.client.HTTPConnection(url.partition("//")[2], timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


@pytest.mark.parametrize("path", ["?x", "//", "/page.css/", "/favicon.ico/"])
def test_a_file_is_served_by_each_path_that_finds_it(broker: odradek.KafkaBroker, path: str) -> None:
    with ControlServer(broker) as server:
        assert fetch(server.url, path)[0].status in (200, 204)


@pytest.mark.parametrize(
    ("path", "kind", "part"),
    [
        ("/", "text/html", "<title>odradek"),
        ("/page.css", "text/css", ":root"),
        ("/page.js", "text/javascript", "VIEWS"),
    ],
)
def test_they_are_served_without_a_token_and_with_a_policy(
    broker: odradek.KafkaBroker, path: str, kind: str, part: str
) -> None:
    with ControlServer(broker, token="s3cret") as server:
        answer, text = fetch(server.url, path)
        assert answer.status == 200
        assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
        assert answer.headers["content-security-policy"].startswith("default-src 'self'")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert part in text
        assert fetch(server.url, "/v1/overview")[0].status == 401
        assert fetch(server.url, "/favicon.ico")[0].status == 204


def test_the_page_needs_nothing_from_elsewhere(broker: odradek.KafkaBroker) -> None:
    with ControlServer(broker) as server:
        page = fetch(server.url, "/")[1]
        assert set(re.findall(r'(?:src|href)="([^"]*)"', page)) == {"/page.css", *(f"/{each}.js" for each in SCRIPTS)}
        for name in SCRIPTS:
            script = fetch(server.url, f"/{name}.js")[1]
            assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script) == [], name
            assert set(re.findall(r'from "([^"]*)"', script)) <= {f"./{each}.js" for each in SCRIPTS}
            assert script.count("\n") < 300


def test_each_module_of_the_page_is_served() -> None:
    there = {each.name.removesuffix(".js") for each in files("odradek.control.page").iterdir() if ".js" in each.name}
    assert there == set(SCRIPTS)
