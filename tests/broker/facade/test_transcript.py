"""`broker.requests`: what can be seen of it. Real requests over sockets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

import odradek
from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest
from tests.fakes.wire_client import WireClient


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(topics={"orders": 1}) as started:
        yield started
        assert started.bugs == []


@pytest.fixture
def client(broker: KafkaBroker) -> Iterator[WireClient]:
    host, _, port = broker.bootstrap_servers.partition(":")
    with WireClient(host, int(port), client_id="wire") as connected:
        yield connected


def test_it_is_a_view_of_what_was_asked(broker: KafkaBroker, client: WireClient) -> None:
    requests = broker.requests
    assert len(requests) == 0
    before_ms = broker.clock.now_ms()
    client.request(HeartbeatRequest("g", 1, "m"), 4)
    client.request(MetadataRequest(topics=None), 12)
    (beat,) = requests.wait_for("Heartbeat")
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


def test_it_is_there_when_the_broker_is_closed(tmp_path: Path) -> None:
    with KafkaBroker() as broker:
        host, _, port = broker.bootstrap_servers.partition(":")
        with WireClient(host, int(port)) as client:
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
def test_it_can_be_switched_off(options: dict[str, Any]) -> None:
    with KafkaBroker(**options) as broker:
        host, _, port = broker.bootstrap_servers.partition(":")
        with WireClient(host, int(port)) as client:
            client.request(MetadataRequest(topics=None), 12)
        (one,) = broker.requests.wait_for("Metadata")
        assert (one.request, one.response, one.topics) == (None, None, ())
        assert one.state == "answered"


def test_it_can_be_switched_off_in_trio() -> None:
    async def main() -> None:
        async with odradek.open_broker(transcript=False, config={"num.partitions": 3}) as broker:
            assert broker.cluster.recent.messages is False
            assert broker.cluster.config.get_int("num.partitions") == 3

    trio.run(main)


def test_its_types_are_public() -> None:
    assert {odradek.Transcript, odradek.Requests, odradek.RecordedRequest, odradek.TopicPosition}
