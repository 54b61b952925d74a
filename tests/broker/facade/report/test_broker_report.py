"""Reports of a broker that runs, and of one that has ended."""

from __future__ import annotations

import trio

from odradek.broker.facade.open_broker import open_broker
from odradek.broker.facade.report.broker_report import report_of
from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.fakes.wire_client import WireClient


def test_while_it_runs_and_after_it() -> None:
    with KafkaBroker(topics={"orders": 1}) as broker:
        broker.produce("orders", "one")
        host, _, port = broker.bootstrap_servers.partition(":")
        with WireClient(host, int(port), client_id="app") as client:
            client.request(MetadataRequest([MetadataRequestTopic(name="orders")]), 12)
        first = broker.report()
    after = broker.report()
    for text in (first, after):
        assert "  orders-0  0..1" in text.splitlines()
        assert " Metadata v12 app orders -> 1 node, orders" in text
    assert first.startswith(f"<KafkaBroker at {host}:{port}>, clock ")
    assert after.startswith("<KafkaBroker: the broker is closed>, clock ")


def test_of_a_part_of_the_time() -> None:
    with KafkaBroker(topics={"orders": 1, "other": 1}) as broker:
        host, _, port = broker.bootstrap_servers.partition(":")
        with WireClient(host, int(port)) as client:
            client.request(MetadataRequest([MetadataRequestTopic(name="other")]), 12)
            broker.requests.wait("Metadata")
            now = broker.clock.face.source()
            assert report_of(broker.cluster, broker._look, "t", now, asked_only=True) == ""
            client.request(MetadataRequest([MetadataRequestTopic(name="orders")]), 12)
        text = report_of(broker.cluster, broker._look, "t", now, asked_only=True)
        assert "orders-0" in text
        assert "other" not in text
        assert "other-0" in report_of(broker.cluster, broker._look, "t", now, asked_only=False)


def test_in_trio() -> None:
    async def main() -> None:
        async with open_broker(topics={"orders": 1}) as broker:
            await broker.group("g").set_offsets({("orders", 0): 0})
            assert "orders-0  0..0" in broker.report()
            assert "group 'g' has no members (Empty)" in broker.why("g")
            assert "group 'h' does not exist" in broker.why("h")

    trio.run(main)
