"""`broker.requests`: the transcript, and waiting for requests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

import odradek.types
from odradek.broker.facade.open_broker import open_broker
from odradek.broker.facade.thread_bridge import BrokerClosedError
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.transcript.recorded_request import RecordedRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest
from tests.fakes.brokers import broker_fixture
from tests.fakes.wire_client import TrioWireClient, WireClient


@pytest.fixture
def waiting_broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(topics={"orders": 1}) as started:
        yield started
        assert started.bugs == []
        assert not started.cluster.recent.watchers


def connected(waiting_broker: KafkaBroker) -> WireClient:
    return WireClient.at(waiting_broker.bootstrap_servers)


def test_wait_counts_requests_that_were_there(waiting_broker: KafkaBroker) -> None:
    with connected(waiting_broker) as client:
        client.request(HeartbeatRequest("g"), 4)
        client.request(HeartbeatRequest("h"), 4)
    assert [each.group for each in waiting_broker.requests.wait("Heartbeat", 2)] == ["g", "h"]
    assert [each.group for each in waiting_broker.requests.wait("Heartbeat", group="h")] == ["h"]


def test_what_comes_later_ends_the_wait(waiting_broker: KafkaBroker) -> None:
    with connected(waiting_broker) as client:
        client.request(HeartbeatRequest("g"), 4)
        late = threading.Timer(0.05, lambda: client.request(HeartbeatRequest("g"), 4))
        late.start()
        assert len(waiting_broker.requests.wait("Heartbeat", 2, error="NOT_COORDINATOR")) == 2
        late.join()


def test_a_request_that_still_waits_does_not_count(waiting_broker: KafkaBroker) -> None:
    with connected(waiting_broker) as client:
        asked = FetchPartition(0, fetch_offset=0, partition_max_bytes=100)
        waiting_broker.clock.freeze()
        request = FetchRequest(
            max_wait_ms=500, min_bytes=1, session_epoch=-1, topics=[FetchTopic("orders", partitions=[asked])]
        )
        sent = client.send(request, 12)
        with pytest.raises(TimeoutError, match=r"0 of 1 requests with api='Fetch' after 0.05 s; the last of all:\n"):
            waiting_broker.requests.wait("Fetch", timeout=0.05)
        waiting_broker.clock.advance(1)
        client.receive(request, 12, sent)
        (fetched,) = waiting_broker.requests.wait("Fetch")
        assert fetched.state == "answered"


def test_a_broker_that_is_closed_ends_the_wait() -> None:
    waiting_broker = KafkaBroker().start()
    threading.Timer(0.05, waiting_broker.close).start()
    with pytest.raises(BrokerClosedError):
        waiting_broker.requests.wait("Fetch", timeout=60)


@pytest.mark.parametrize("count", [0, -1, True, "1"])
def test_a_count_is_a_number(waiting_broker: KafkaBroker, count: int) -> None:
    with pytest.raises((TypeError, ValueError), match=rf"^count={count!r}: expected (1 or more|a whole number)"):
        waiting_broker.requests.wait("Fetch", count)


def test_requests_can_be_followed(waiting_broker: KafkaBroker) -> None:
    told: list[RecordedRequest] = []
    with connected(waiting_broker) as client:
        with waiting_broker.requests.follow(told.append):
            client.request(HeartbeatRequest("g"), 4)
            waiting_broker.requests.wait("Heartbeat")
        client.request(MetadataRequest(topics=[]), 12)
    assert [each.api for each in told] == ["Heartbeat"]


def test_requests_can_be_cleared(waiting_broker: KafkaBroker) -> None:
    with connected(waiting_broker) as client:
        client.request(MetadataRequest(topics=[]), 12)
        waiting_broker.requests.clear()
        assert len(waiting_broker.requests) == 0
        client.request(HeartbeatRequest("g"), 4)
    assert waiting_broker.requests.count() == 1


def test_in_trio_it_is_awaited() -> None:
    async def main() -> None:
        async with open_broker() as waiting_broker, trio.open_nursery() as nursery:
            client = await TrioWireClient.at(waiting_broker.bootstrap_servers)
            told: list[RecordedRequest] = []
            async with waiting_broker.requests.follow(told.append):
                nursery.start_soon(client.request, HeartbeatRequest("g"), 4)
                (beat,) = await waiting_broker.requests.wait("Heartbeat", timeout=60)
                assert beat.group == told[0].group == "g"
            with pytest.raises(TimeoutError):
                await waiting_broker.requests.wait("Fetch", timeout=0.01)
            await waiting_broker.requests.clear()
            assert len(waiting_broker.requests) == 0
            await client.aclose()

    trio.run(main)


broker = broker_fixture(topics={"orders": 1})


@pytest.fixture
def client(broker: KafkaBroker) -> Iterator[WireClient]:
    with WireClient.at(broker.bootstrap_servers, client_id="wire") as connected:
        yield connected


def test_requests_are_a_view_of_what_was_asked(broker: KafkaBroker, client: WireClient) -> None:
    requests = broker.requests
    assert len(requests) == 0
    before_ms = broker.clock.now_ms()
    client.request(HeartbeatRequest("g", 1, "m"), 4)
    client.request(MetadataRequest(topics=None), 12)
    (beat,) = requests.wait("Heartbeat")
    assert [each.api for each in requests] == ["Heartbeat", "Metadata"]
    assert (requests[0].api, requests[-1].api, len(requests[:1])) == ("Heartbeat", "Metadata", 1)
    assert before_ms <= beat.time_ms <= broker.clock.now_ms()
    assert beat.at >= 0
    assert beat.client_id == "wire"
    assert beat.broker == broker.bootstrap_servers
    assert requests.count("Heartbeat", group="g", error="NOT_COORDINATOR") == 1
    assert requests.filter(error=False)[0].api == "Metadata"
    assert repr(requests) == "<Transcript: 2 requests>"
    assert len(str(requests).splitlines()) == 2


def test_times_follow_the_broker_s_clock(broker: KafkaBroker, client: WireClient) -> None:
    client.request(MetadataRequest(topics=[]), 12)
    broker.clock.freeze()
    client.request(MetadataRequest(topics=[]), 12)
    stands_at = broker.clock.now_ms()
    broker.clock.advance(minutes=5)
    client.request(MetadataRequest(topics=[]), 12)
    broker.clock.resume()
    client.request(MetadataRequest(topics=[]), 12)
    first, second, third, fourth = broker.requests
    assert first.time_ms <= second.time_ms == stands_at
    assert third.time_ms == stands_at + 300_000
    assert fourth.time_ms >= third.time_ms
    assert first.at <= second.at <= third.at <= fourth.at < first.at + 3000


def test_requests_are_there_when_the_broker_is_closed(tmp_path: Path) -> None:
    with KafkaBroker() as broker:
        with WireClient.at(broker.bootstrap_servers) as client:
            client.request(MetadataRequest(topics=[]), 12)
        requests = broker.requests
    assert requests.count("Metadata") == 1
    requests.save(tmp_path / "t.jsonl")
    requests.save_capture(tmp_path / "t.pcap")
    assert (tmp_path / "t.jsonl").read_text().count("\n") == 1
    assert (tmp_path / "t.pcap").stat().st_size > 100


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        {"config": {"odradek.transcript": "false"}},
        {"transcript": False},
        {"transcript": False, "config": {"num.partitions": 3}, "process": True},
    ],
)
def test_the_transcript_can_be_switched_off(options: dict[str, Any]) -> None:
    with KafkaBroker(**options) as broker:
        with WireClient.at(broker.bootstrap_servers) as client:
            client.request(MetadataRequest(topics=None), 12)
        (one,) = broker.requests.wait("Metadata")
        assert (one.request, one.response, one.topics) == (None, None, ())
        assert one.state == "answered"


def test_the_transcript_can_be_switched_off_in_trio() -> None:
    async def main() -> None:
        async with odradek.open_broker(transcript=False, config={"num.partitions": 3}) as broker:
            assert broker.cluster.recent.messages is False
            assert broker.cluster.config.get_int("num.partitions") == 3

    trio.run(main)


def test_types_of_the_transcript_are_public() -> None:
    assert {odradek.Transcript, odradek.Requests, odradek.RecordedRequest, odradek.types.TopicPosition}
