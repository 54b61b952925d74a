"""Records of a topic as they come, over HTTP."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import odradek
from odradek.control.server import ControlServer
from tests.frontdoor.control.conftest import Ask


@contextmanager
def stream(broker: odradek.KafkaBroker, path: str) -> Iterator[http.client.HTTPResponse]:
    with ControlServer(broker) as server:
        connection = http.client.HTTPConnection(server.url.partition("//")[2], timeout=60)
        connection.request("GET", path)
        answer = connection.getresponse()
        assert (answer.status, answer.headers["content-type"]) == (200, "application/x-ndjson")
        yield answer
        answer.close()
        connection.close()


def test_records_come_decoded(broker: odradek.KafkaBroker) -> None:
    broker.set_schema("t", '"int"')
    with stream(broker, "/v1/records/stream?topic=t") as answer:
        for value, expected in ((b"\x54", 42), (b"\x02", 1)):
            broker.produce("t", value, partition=1)
            found = json.loads(answer.readline())
            assert (found["record"]["partition"], found["value"]["data"], found["key"]) == (1, expected, None)


def test_the_latest_are_there_at_once(broker: odradek.KafkaBroker) -> None:
    broker.produce_all("t", [odradek.ProducerRecord(text, partition=0) for text in "abc"])
    with stream(broker, "/v1/records/stream?topic=t&partition=0&latest=2") as answer:
        assert [json.loads(answer.readline())["record"]["value"] for _ in range(2)] == ["b", "c"]


def test_it_ends_after_a_number_of_records(broker: odradek.KafkaBroker) -> None:
    broker.produce_all("t", [odradek.ProducerRecord(text, partition=0) for text in "abc"])
    with stream(broker, "/v1/records/stream?topic=t&start=0&limit=2") as answer:
        assert [json.loads(line)["record"]["value"] for line in answer] == ["a", "b"]


def test_the_end_of_the_topic_is_told(broker: odradek.KafkaBroker) -> None:
    with stream(broker, "/v1/records/stream?topic=t") as answer:
        broker.delete_topic("t")
        (line,) = answer
        assert json.loads(line)["error"]["code"] == "UNKNOWN_TOPIC_OR_PARTITION"


@pytest.mark.parametrize(
    ("query", "status"),
    [("topic=gone", 409), ("topic=t&partition=7", 409), ("", 400), ("topic=t&latest=0", 400), ("topic=t&limit=0", 400)],
)
def test_mistakes_are_told(control: Ask, query: str, status: int) -> None:
    found = control("GET", f"/v1/records/stream?{query}")
    assert (found[0], bool(found[1]["error"]["message"])) == (status, True)
