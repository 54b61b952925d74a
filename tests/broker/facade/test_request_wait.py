"""Waiting for requests, and being told of them, in both flavours."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import trio

from odradek.broker.facade.call import BrokerClosedError
from odradek.broker.facade.open_broker import open_broker
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.transcript.recorded_request import RecordedRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest
from tests.fakes.wire_client import TrioWireClient, WireClient


@pytest.fixture
def broker() -> Iterator[KafkaBroker]:
    with KafkaBroker(topics={"orders": 1}) as started:
        yield started
        assert started.bugs == []
        assert not started.cluster.recent.watchers


def connected(broker: KafkaBroker) -> WireClient:
    host, _, port = broker.bootstrap_servers.partition(":")
    return WireClient(host, int(port))


def test_what_was_there_counts(broker: KafkaBroker) -> None:
    with connected(broker) as client:
        client.request(HeartbeatRequest("g"), 4)
        client.request(HeartbeatRequest("h"), 4)
    assert [each.group for each in broker.requests.wait_for("Heartbeat", 2)] == ["g", "h"]
    assert [each.group for each in broker.requests.wait_for("Heartbeat", group="h")] == ["h"]


def test_what_comes_later_ends_the_wait(broker: KafkaBroker) -> None:
    with connected(broker) as client:
        client.request(HeartbeatRequest("g"), 4)
        late = threading.Timer(0.05, lambda: client.request(HeartbeatRequest("g"), 4))
        late.start()
        assert len(broker.requests.wait_for("Heartbeat", 2, error="NOT_COORDINATOR")) == 2
        late.join()


def test_a_request_that_still_waits_does_not_count(broker: KafkaBroker) -> None:
    with connected(broker) as client:
        asked = FetchPartition(0, fetch_offset=0, partition_max_bytes=100)
        broker.clock.freeze()
        request = FetchRequest(
            max_wait_ms=500, min_bytes=1, session_epoch=-1, topics=[FetchTopic("orders", partitions=[asked])]
        )
        sent = client.send(request, 12)
        with pytest.raises(TimeoutError, match=r"0 of 1 requests with api='Fetch' after 0.05 s; the last of all:\n"):
            broker.requests.wait_for("Fetch", timeout=0.05)
        broker.clock.advance(1)
        client.receive(request, 12, sent)
        (fetched,) = broker.requests.wait_for("Fetch")
        assert fetched.state == "answered"


def test_a_broker_that_is_closed_ends_the_wait() -> None:
    broker = KafkaBroker().start()
    threading.Timer(0.05, broker.close).start()
    with pytest.raises(BrokerClosedError):
        broker.requests.wait_for("Fetch", timeout=60)


@pytest.mark.parametrize("count", [0, -1, True, "1"])
def test_a_count_is_a_number(broker: KafkaBroker, count: int) -> None:
    with pytest.raises(ValueError, match="1 or more"):
        broker.requests.wait_for("Fetch", count)


def test_following_them(broker: KafkaBroker) -> None:
    told: list[RecordedRequest] = []
    with connected(broker) as client:
        with broker.requests.follow(told.append):
            client.request(HeartbeatRequest("g"), 4)
            broker.requests.wait_for("Heartbeat")
        client.request(MetadataRequest(topics=[]), 12)
    assert [each.api for each in told] == ["Heartbeat"]


def test_clearing_them(broker: KafkaBroker) -> None:
    with connected(broker) as client:
        client.request(MetadataRequest(topics=[]), 12)
        broker.requests.clear()
        assert len(broker.requests) == 0
        client.request(HeartbeatRequest("g"), 4)
    assert broker.requests.count() == 1


def test_in_trio_it_is_awaited() -> None:
    async def main() -> None:
        async with open_broker() as broker, trio.open_nursery() as nursery:
            host, _, port = broker.bootstrap_servers.partition(":")
            client = await TrioWireClient.connect(host, int(port))
            told: list[RecordedRequest] = []
            async with broker.requests.follow(told.append):
                nursery.start_soon(client.request, HeartbeatRequest("g"), 4)
                (beat,) = await broker.requests.wait_for("Heartbeat", timeout=60)
                assert beat.group == told[0].group == "g"
            with pytest.raises(TimeoutError):
                await broker.requests.wait_for("Fetch", timeout=0.01)
            await broker.requests.clear()
            assert len(broker.requests) == 0
            await client.aclose()

    trio.run(main)
