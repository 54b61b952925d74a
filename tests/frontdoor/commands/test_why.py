"""`odradek why`."""

from __future__ import annotations

import pytest

from odradek.__main__ import main
from odradek.broker.facade.threaded import KafkaBroker
from odradek.commands.why import why
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from tests.fakes.brokers import broker_fixture
from tests.fakes.wire_client import WireClient


def test_why_prints_what_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    with KafkaBroker(topics={"orders": 1}) as broker:
        broker.group("g").set_offsets({("orders", 0): 0})
        assert main(["why", "g", "--bootstrap-servers", broker.bootstrap_servers]) == 0
    assert "- group 'g' has no members (Empty): nobody reads for it" in capsys.readouterr().out


def test_why_without_a_broker_says_that_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "g", "--bootstrap-servers", "127.0.0.1:1"]) == 2
    assert capsys.readouterr().err.startswith("odradek why: ")


broker = broker_fixture(topics={"orders": 2, "other": 1})


def asked(broker: KafkaBroker, group: str) -> list[str]:
    return why(group, broker.bootstrap_servers).splitlines()


def test_why_command_tells_of_a_group_without_members(broker: KafkaBroker) -> None:
    broker.produce_all("orders", ["one", "two"])
    broker.produce("orders", "three", partition=0, transactional_id="p-1", transaction="open")
    broker.group("g").set_offsets({("orders", 0): 1})
    assert asked(broker, "g") == [
        "- group 'g' has no members (Empty): nobody reads for it",
        "- records of orders-0 from offset 1 on belong to an open transaction: isolation.level=read_committed does not "
        "see them",
        "topics:",
        "  orders-0  0..2, committed to 1",
        "  orders-1  0..1",
        "groups:",
        "  g: Empty, generation -1, 0 members",
        "    orders-0  committed 1, end 2, lag 1",
    ]


def test_a_group_of_the_consumer_protocol(broker: KafkaBroker) -> None:
    broker.group("first").set_offsets({("orders", 0): 0})  # the coordinator is there
    with WireClient.at(broker.bootstrap_servers, client_id="app") as client:
        beat = ConsumerGroupHeartbeatRequest(
            "g", "m" * 22, 0, rebalance_timeout_ms=60_000, subscribed_topic_names=["order"], topic_partitions=[]
        )
        assert client.request(beat, 1).error_code == 0
        lines = asked(broker, "g")
    assert "- group 'g' subscribes to 'order', which does not exist (did you mean 'orders'?)" in lines
    assert "    app subscribes to order: has no partition" in lines


def test_a_group_that_does_not_exist(broker: KafkaBroker) -> None:
    broker.group("shipping").set_offsets({("orders", 0): 0})
    assert asked(broker, "shiping") == [
        "group 'shiping' does not exist (did you mean 'shipping'?); the groups: shipping"
    ]
