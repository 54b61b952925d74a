"""Requests and records as streams of JSON lines."""

from __future__ import annotations

import gc
import http.client
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from typing import Any

import pytest
import trio
import trio.testing

import odradek
from odradek.control.openapi import document
from odradek.control.server import ControlServer
from odradek.control.streams import STREAMS, RequestStream, streamed
from tests.frontdoor.control.conftest import Ask


def test_the_document_has_the_streams() -> None:
    for each in STREAMS:
        told = document()["paths"][each.path]["get"]
        assert list(told["responses"]["200"]["content"]) == ["application/x-ndjson"]
        assert "latest" in [parameter["name"] for parameter in told["parameters"]]


class Followed:
    """Calls of which only `follow` is asked."""

    def __init__(self) -> None:
        self.told: Any = None
        self.undone = 0

    def follow(self, told: Any) -> Followed:
        self.told = told
        return self

    def undo(self) -> None:
        self.undone += 1


def test_a_reader_that_is_too_slow_is_told_and_cut() -> None:
    followed = Followed()

    async def main() -> list[str]:
        stream = RequestStream({"api": "Fetch"})
        calls: Any = followed
        await stream.begin(calls)
        for _ in range(10_001):
            followed.told(Unmatched())
        await trio.testing.wait_all_tasks_blocked()
        lines = [line async for line in stream.lines()]
        await stream.end()
        return lines

    assert trio.run(main) == ['{"error": {"type": "RuntimeError", "message": "too slow: requests are left out"}}\n']
    assert followed.undone == 1


class Unmatched:
    """A request of another API."""

    class exchange:  # noqa: N801
        api_key = 18


def test_who_wants_the_latest_is_told_how_many_were_left_out() -> None:
    followed = Followed()

    async def main() -> str:
        stream = RequestStream({"api": "Fetch"}, latest=10)
        calls: Any = followed
        await stream.begin(calls)
        for _ in range(1_000):
            followed.told(Unmatched())
        await trio.testing.wait_all_tasks_blocked()
        async with aclosing(stream.lines()) as lines:
            told = await anext(lines)
        await stream.end()
        return told

    assert json.loads(trio.run(main)) == {"left_out": 990}
    assert followed.undone == 1


def test_conditions_that_make_no_sense_are_refused() -> None:
    async def main() -> None:
        with pytest.raises(ValueError, match="no API is called"):
            RequestStream({"api": "Fetsh"})
        with pytest.raises(ValueError, match="latest=0"):
            RequestStream({}, latest=0)

    trio.run(main)


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


def test_control_stream_sends_decoded_records(broker: odradek.KafkaBroker) -> None:
    broker.topic("t").set_schema('"int"')
    with stream(broker, "/v1/records/stream?topic=t") as answer:
        for value, expected in ((b"\x54", 42), (b"\x02", 1)):
            broker.produce("t", value, partition=1)
            found = json.loads(answer.readline())
            assert (found["record"]["partition"], found["value"]["data"], found["key"]) == (1, expected, None)


def test_the_latest_are_there_at_once(broker: odradek.KafkaBroker) -> None:
    broker.produce_all("t", [odradek.ProducerRecord(text, partition=0) for text in "abc"])
    with stream(broker, "/v1/records/stream?topic=t&partition=0&latest=2") as answer:
        assert [json.loads(answer.readline())["record"]["value"] for _ in range(2)] == ["b", "c"]


def test_a_stream_ends_after_a_number_of_records(broker: odradek.KafkaBroker) -> None:
    broker.produce_all("t", [odradek.ProducerRecord(text, partition=0) for text in "abc"])
    with stream(broker, "/v1/records/stream?topic=t&start=0&limit=2") as answer:
        assert [json.loads(line)["record"]["value"] for line in answer] == ["a", "b"]


def test_the_end_of_the_topic_is_told(broker: odradek.KafkaBroker) -> None:
    with stream(broker, "/v1/records/stream?topic=t") as answer:
        broker.topic("t").delete()
        (line,) = answer
        assert json.loads(line)["error"]["code"] == "UNKNOWN_TOPIC_OR_PARTITION"


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("topic=gone", 409),
        ("topic=t&partition=7", 409),
        ("", 400),
        ("topic=t&latest=0", 400),
        ("topic=t&limit=0", 400),
        ("topic=t&starts=a", 400),
    ],
)
def test_control_stream_with_mistakes_is_refused(control: Ask, query: str, status: int) -> None:
    found = control("GET", f"/v1/records/stream?{query}")
    assert (found[0], bool(found[1]["error"]["message"])) == (status, True)


class Endless:
    """A stream that never ends by itself."""

    def __init__(self) -> None:
        self.ended = 0

    async def lines(self) -> AsyncGenerator[str, None]:
        while True:
            yield "{}\n"
            await trio.lowlevel.checkpoint()

    async def end(self) -> None:
        await trio.lowlevel.checkpoint()
        self.ended += 1


@pytest.mark.parametrize("begun", [False, True])
def test_an_answer_that_ends_ends_its_stream(begun: bool) -> None:
    stream = Endless()

    async def main() -> None:
        answer = streamed(stream)
        assert isinstance(answer.body, AsyncGenerator)
        if begun:
            assert await anext(answer.body) == "{}\n"
        await answer.close()

    trio.run(main)
    gc.collect()  # a generator that is left to the collector is warned of, which fails this test
    assert stream.ended == 1


def test_a_reader_that_hangs_up_is_followed_no_longer(broker: odradek.KafkaBroker) -> None:
    with stream(broker, "/v1/requests/stream"):
        assert len(broker.cluster.recent.watchers) == 1
    assert not broker.cluster.recent.watchers


def test_a_stream_may_outlive_its_broker(caplog: pytest.LogCaptureFixture) -> None:
    broker = odradek.KafkaBroker().start()
    with stream(broker, "/v1/requests/stream"):
        broker.close()
    assert caplog.text == ""


def test_a_topic_is_searched_and_each_part_is_counted(broker: odradek.KafkaBroker) -> None:
    broker.produce_all("t", [odradek.ProducerRecord(f"v{each}", partition=each % 2) for each in range(5000)])
    with stream(broker, "/v1/records/stream?topic=t&start=0&contains=V499&limit=11") as answer:
        lines = [json.loads(line) for line in answer]
    found = [each["record"]["value"] for each in lines if "record" in each]
    assert sorted(found) == ["v499", *(f"v{each}" for each in range(4990, 5000))]
    assert [(each["searched"], each["more"]) for each in lines if "searched" in each] == [(4000, True), (1000, False)]


def test_records_begin_at_an_offset_of_each_partition(broker: odradek.KafkaBroker) -> None:
    broker.produce_all("t", [odradek.ProducerRecord(f"v{each}", partition=each % 2) for each in range(10)])
    with stream(broker, "/v1/records/stream?topic=t&starts=4,2&limit=3") as answer:
        found = [json.loads(line)["record"] for line in answer]
    assert [(each["partition"], each["offset"]) for each in found] == [(0, 4), (1, 2), (1, 3)]
