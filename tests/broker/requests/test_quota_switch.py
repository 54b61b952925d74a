"""Metering comes with the first quota of a user or client id and goes with the last."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.broker.requests.test_metering import Asked
from tests.fakes.wire_client import WireClient


def client_of(broker: KafkaBroker, client_id: str) -> WireClient:
    return WireClient.at(broker.bootstrap_servers, client_id=client_id)


def test_without_quotas_nothing_is_metered() -> None:
    asked = Asked()
    dispatcher = asked.cluster.dispatcher
    assert asked.cluster.services.quotas is None
    usual = dispatcher._answer
    asked.set(producer_byte_rate=1.0)
    assert asked.cluster.services.quotas is not None
    assert dispatcher._answer != usual
    asked.set(producer_byte_rate=None)
    assert (dispatcher.meter, dispatcher._answer, asked.cluster.services.quotas) == (None, usual, None)
    asked.set((("ip", None),), connection_creation_rate=1.0)
    assert dispatcher.meter is None, "a quota of addresses costs no request anything"


def test_usage_is_forgotten_with_the_time_and_quotas_stay() -> None:
    asked = Asked()
    asked.set(producer_byte_rate=1000.0)
    asked.set((("ip", None),), connection_creation_rate=1.0)
    assert asked.produce(20_000)[0].throttle_time_ms > 0
    server, image = asked.cluster.server, asked.cluster.image
    assert [server.connection_delay_ms(1, "10.0.0.1") for _ in range(11)] == [0] * 10 + [1000]
    asked.cluster.quota_switch.forget_usage(image)
    asked.cluster.clock.advance(60)
    assert asked.produce(9_000)[0].throttle_time_ms == 0
    assert server.connection_delay_ms(1, "10.0.0.1") == 0
    assert asked.produce(9_000)[0].throttle_time_ms > 0
    without = Asked()
    without.cluster.quota_switch.forget_usage(without.cluster.image)
    assert without.cluster.services.quotas is None


def test_addresses_have_a_switch_of_their_own() -> None:
    asked = Asked()
    server = asked.cluster.server
    usual = server.connection_delay_ms
    asked.set((("ip", None),), connection_creation_rate=1.0)
    assert [server.connection_delay_ms(1, "10.0.0.1") for _ in range(11)] == [0] * 10 + [1000]
    asked.set((("ip", None),), connection_creation_rate=None)
    assert server.connection_delay_ms is usual
    assert usual(1, "10.0.0.1") == 0


def test_quotas_count_after_a_restart_and_the_clock_lets_clients_go(tmp_path: Path) -> None:
    entry = EntryData([EntityData("client-id", "app")], [OpData("controller_mutation_rate", 1.0)])
    with KafkaBroker(data_dir=tmp_path) as broker, client_of(broker, "setter") as client:
        assert [each.error_code for each in client.request(AlterClientQuotasRequest([entry]), 1).entries] == [0]
    with KafkaBroker(data_dir=tmp_path) as broker, client_of(broker, "app") as client, broker.clock.stopped():
        many = CreateTopicsRequest([CreatableTopic("t", 71, 1)], 1000)
        assert client.request(many, 7).throttle_time_ms == 0
        assert client.request(many, 7).throttle_time_ms == 0, "it exists, so it costs nothing"
        more = CreateTopicsRequest([CreatableTopic("u", 1, 1)], 1000)
        answer = client.request(more, 7)
        assert (answer.topics[0].error_code, answer.throttle_time_ms) == (89, 60_000)
        waiting = client.send(more, 7)
        broker.clock.advance(59)
        with client_of(broker, "other") as other:
            assert other.request(ApiVersionsRequest("a", "1"), 3).error_code == 0
        broker.clock.advance(1)
        assert client.receive(more, 7, waiting).topics[0].error_code == 0


def test_a_broker_without_quotas_imports_nothing_of_them() -> None:
    code = "import sys; from odradek.broker.cluster import Cluster; Cluster(); "
    code += "print([name for name in sys.modules if 'quota' in name or 'meter' in name])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.strip() == "['odradek.broker.requests.quota_switch']"


# -- Partitions that clients create and delete are tokens of a bucket (KIP-599). Figures by hand.


@pytest.mark.parametrize("strict", [True, False])
def test_controller_mutations_are_counted_in_tokens(strict: bool) -> None:
    asked = Asked()
    asked.set(controller_mutation_rate=1.0)  # eleven tokens at first
    create, grow, delete = (7, 3, 6) if strict else (5, 2, 4)
    refused = ErrorCode.THROTTLING_QUOTA_EXCEEDED if strict else ErrorCode.NONE
    topics = [CreatableTopic(name, 8, 1) for name in ("a", "b", "c")]
    created = asked.ask(CreateTopicsRequest(topics, 1000), create)
    assert [topic.error_code for topic in created.topics] == [0, 0, refused]
    assert created.throttle_time_ms == asked.wait_ms == (5_000 if strict else 13_000)  # 16, or 24, of eleven
    growth = CreatePartitionsRequest([CreatePartitionsTopic("a", 10, None)], 1000)
    grown = asked.ask(growth, grow)
    assert [topic.error_code for topic in grown.results] == [refused]
    assert grown.throttle_time_ms == asked.wait_ms == (5_000 if strict else 15_000)
    if strict:
        assert created.topics[2].error_message is grown.results[0].error_message is None
    asked.cluster.clock.advance(asked.wait_ms / 1000)
    doomed = DeleteTopicsRequest([DeleteTopicState("a")], [], 1000) if strict else DeleteTopicsRequest([], ["a"], 1000)
    deleted = asked.ask(doomed, delete)
    assert [topic.error_code for topic in deleted.responses] == [0]
    assert deleted.throttle_time_ms == asked.wait_ms == (0 if strict else 10_000)
    checked = asked.ask(CreateTopicsRequest([CreatableTopic("d", 1, 1)], 1000, True), create)
    assert checked.topics[0].error_code == refused, "what is only validated counts, too"


def test_a_topic_over_the_quota_is_not_created_on_the_way() -> None:
    asked = Asked({"auto.create.topics.enable": "true"})
    asked.set(controller_mutation_rate=1.0)
    asked.ask(CreateTopicsRequest([CreatableTopic("a", 13, 1)], 1000), 7)
    unknown = MetadataRequest([MetadataRequestTopic(name="missing")], True)
    for advance_s, there in ((0, False), (1, False), (1, True)):
        asked.cluster.clock.advance(advance_s)
        assert asked.ask(unknown, 12).throttle_time_ms == asked.wait_ms == 0
        assert ("missing" in asked.cluster.image.topics) == there
