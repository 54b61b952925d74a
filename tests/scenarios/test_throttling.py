"""Clients over their quotas: what they are told at once, and how late they are answered next.

Each test sets quotas for client ids of its own. Times are those of the broker's machine, so they are only compared with
what a slow machine cannot make shorter: an answer is never too early.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from confluent_kafka import Producer

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
from odradek.protocol.generated.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.wire_client import ConnectionClosed, WireError, request_frame
from tests.conformance.real_kafka import CONFIG_COMMAND
from tests.fakes.wire_client import WireClient
from tests.scenarios.fixtures import MakeTopic
from tests.scenarios.java_host import JavaHost
from tests.scenarios.target import Target, unique, wait_until
from tests.scenarios.test_console_tools import Shell

Entity = dict[str, str | None]
EARLY_MS = 50
"""How much earlier than told a client may be answered: clocks count differently, in whole milliseconds."""


class Quotas:
    """Sets quotas, and takes them away in the end."""

    def __init__(self, broker: Target) -> None:
        host, port = broker.bootstrap.rsplit(":", 1)
        self.address = host, int(port)
        self._client = WireClient(*self.address, client_id="quota-setter", timeout_s=60)
        self._set: list[tuple[Entity, str]] = []

    def set(self, entity: Entity, key: str, value: float | None) -> None:
        """Set a quota, and wait until the broker knows it."""
        parts = [EntityData(kind, name) for kind, name in entity.items()]
        op = OpData(key, 0.0 if value is None else value, value is None)
        (answer,) = self._client.request(AlterClientQuotasRequest([EntryData(parts, [op])]), 1).entries
        assert answer.error_code == 0, answer
        self._set.append((entity, key))
        asked = [ComponentData(kind, 1 if name is None else 0, name) for kind, name in entity.items()]

        def known() -> bool:
            found = self._client.request(DescribeClientQuotasRequest(asked, True), 1).entries
            values = {each.key: each.value for entry in found for each in entry.values}
            return bool(values.get(key) == value)

        wait_until("the quota", known)

    def close(self) -> None:
        for entity, key in list(self._set):
            self.set(entity, key, None)
        self._client.close()

    @contextmanager
    def client(self, client_id: str | None) -> Iterator[WireClient]:
        client = WireClient(*self.address, client_id=client_id, timeout_s=60)  # type: ignore[arg-type]
        try:
            yield client
        finally:
            client.close()


@pytest.fixture
def quotas(broker: Target) -> Iterator[Quotas]:
    made = Quotas(broker)
    yield made
    made.close()


def batch(size: int) -> bytes:
    return build_batch([Record(0, int(time.time() * 1000), None, bytes(size), ())])


def produce_request(topic: str, size: int, acks: int = 1) -> ProduceRequest:
    data = [TopicProduceData(topic, partition_data=[PartitionProduceData(0, batch(size))])]
    return ProduceRequest(None, acks, 30_000, data)


def fetch_request(topic: str, offset: int = 0) -> FetchRequest:
    topics = [FetchTopic(topic, partitions=[FetchPartition(0, fetch_offset=offset, partition_max_bytes=1 << 20)])]
    return FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1 << 20, session_epoch=-1, topics=topics)


def next_after_ms(client: WireClient, begun: float) -> float:
    """How long after `begun` the client's next request is answered."""
    client.request(ApiVersionsRequest("next", "1"), 3)
    return (time.monotonic() - begun) * 1000


def expected_ms(used: float, quota: float) -> float:
    """A burst into an empty window: ten of its eleven seconds count as passed."""
    return (used / 10 - quota) / quota * 10_000


def test_produce_above_the_quota_is_throttled(quotas: Quotas, make_topic: MakeTopic) -> None:
    topic, client_id = make_topic(), unique("producer")
    request = produce_request(topic, 21_000)
    size = len(request_frame(request, 9, 1, client_id)) - 4
    quotas.set({"client-id": client_id}, "producer_byte_rate", 2000.0)
    with quotas.client(client_id) as client:
        begun = time.monotonic()
        told = client.request(request, 9).throttle_time_ms
        assert expected_ms(size, 2000.0) - 20 <= told <= expected_ms(size, 2000.0) + 20
        assert next_after_ms(client, begun) >= told - EARLY_MS


def test_produce_without_acks(quotas: Quotas, make_topic: MakeTopic) -> None:
    topic, client_id = make_topic(), unique("producer")
    request = produce_request(topic, 21_000, acks=0)
    size = len(request_frame(request, 9, 1, client_id)) - 4
    quotas.set({"client-id": client_id}, "producer_byte_rate", 2000.0)
    with quotas.client(client_id) as client:
        begun = time.monotonic()
        client.send(request, 9)
        assert next_after_ms(client, begun) >= expected_ms(size, 2000.0) - 20 - EARLY_MS


def test_fetch_above_the_quota_is_throttled(quotas: Quotas, make_topic: MakeTopic) -> None:
    topic, client_id = make_topic(), unique("consumer")
    with quotas.client("filler") as client:
        client.request(produce_request(topic, 19_000), 9)
    quotas.set({"user": "ANONYMOUS", "client-id": client_id}, "consumer_byte_rate", 2000.0)
    with quotas.client(client_id) as client:
        first = client.request(fetch_request(topic), 12)
        assert first.throttle_time_ms == 0
        assert len(first.responses[0].partitions[0].records) == len(batch(19_000))
        begun = time.monotonic()
        second = client.request(fetch_request(topic), 12)
        assert (second.error_code, second.responses) == (0, [])
        assert second.throttle_time_ms > 5_000
        client.close()
    assert time.monotonic() - begun < 60


def test_create_topics_above_the_quota_is_throttled(quotas: Quotas) -> None:
    client_id, name = unique("admin"), unique("mutated")
    quotas.set({"client-id": client_id}, "controller_mutation_rate", 1.0)
    with quotas.client(client_id) as client:
        topics = [CreatableTopic(f"{name}-{at}", 7, 1) for at in range(3)]
        begun = time.monotonic()
        created = client.request(CreateTopicsRequest(topics, 30_000), 7)
        codes = [topic.error_code for topic in created.topics]
        assert sorted(codes) == [0, 0, ErrorCode.THROTTLING_QUOTA_EXCEEDED]
        assert {topic.error_message for topic in created.topics} == {None}
        assert 2_900 <= created.throttle_time_ms <= 3_000  # fourteen of eleven tokens are gone
        assert next_after_ms(client, begun) >= created.throttle_time_ms - EARLY_MS
        made = [topic.name for topic in created.topics if not topic.error_code]
        # What is refused costs nothing; a client of an older version is let pass, and waits.
        old = client.request(CreatePartitionsRequest([CreatePartitionsTopic(made[0], 9, None)], 30_000), 2)
        assert [result.error_code for result in old.results] == [0]
        assert 0 < old.throttle_time_ms <= 2_000
        doomed = DeleteTopicsRequest([DeleteTopicState(made[1])], [], 30_000)
        answer = client.request(doomed, 6)
        assert [topic.error_code for topic in answer.responses] in ([0], [ErrorCode.THROTTLING_QUOTA_EXCEEDED])


def test_a_client_without_an_id_has_no_quota_of_client_ids(quotas: Quotas, make_topic: MakeTopic) -> None:
    topic = make_topic()
    quotas.set({"client-id": unique("other")}, "producer_byte_rate", 1.0)
    with quotas.client(None) as client:
        assert client.request(produce_request(topic, 10_000), 9).throttle_time_ms == 0


def test_request_percentage_waits_a_second_at_most(quotas: Quotas) -> None:
    client_id = unique("busy")
    quotas.set({"client-id": client_id}, "request_percentage", 0.0001)
    with quotas.client(client_id) as client:
        begun = time.monotonic()
        answers = [client.request(MetadataRequest([]), 12).throttle_time_ms for _ in range(2)]
        assert max(answers) == 1000
        assert time.monotonic() - begun >= (answers[0] - EARLY_MS) / 1000


def test_too_many_new_connections_of_an_address(quotas: Quotas) -> None:
    """Ten seconds' worth is served at once, and one more each second; the others are closed, late."""
    with ExitStack() as opened:
        quotas.set({"ip": "127.0.0.1"}, "connection_creation_rate", 1.0)
        begun = time.monotonic()
        clients = [opened.enter_context(quotas.client(f"many-{number}")) for number in range(40)]
        for client in clients:
            client.send(ApiVersionsRequest("many", "1"), 3)
        closed_ms = []
        for number, client in enumerate(clients):
            try:
                client.receive_frame()
            except (ConnectionClosed, WireError):
                closed_ms.append((time.monotonic() - begun) * 1000)
                assert number >= 8
        assert len(closed_ms) >= 40 - 10 - (time.monotonic() - begun) - 1
        assert min(closed_ms) >= 100 - EARLY_MS
        quotas.set({"ip": "127.0.0.1"}, "connection_creation_rate", None)
    with quotas.client("after") as client:
        assert client.request(ApiVersionsRequest("after", "1"), 3).error_code == 0


def test_confluent_tells_of_it(quotas: Quotas, make_topic: MakeTopic) -> None:
    topic, client_id = make_topic(), unique("confluent")
    quotas.set({"client-id": client_id}, "producer_byte_rate", 2000.0)
    seen: list[Any] = []
    settings: dict[str, Any] = {"bootstrap.servers": "{}:{}".format(*quotas.address), "client.id": client_id}
    settings |= {"throttle_cb": lambda event: seen.append(event.throttle_time), "log_level": 2, "linger.ms": 0}
    settings |= {"statistics.interval.ms": 50, "stats_cb": lambda text: seen.append(json.loads(text))}
    producer = Producer(settings)
    producer.produce(topic, bytes(21_000))
    producer.flush(60)
    wait_until("the callback", lambda: producer.poll(0.05) >= 0 and any(isinstance(each, float) for each in seen))
    assert max(each for each in seen if isinstance(each, float)) > 0.3


@pytest.mark.jdk
def test_the_java_producer_measures_it(quotas: Quotas, make_topic: MakeTopic, java: JavaHost) -> None:
    topic, client_id = make_topic(), unique("java")
    quotas.set({"client-id": client_id}, "producer_byte_rate", 2000.0)
    arguments = ["--topic", topic, "--num-records", "2", "--record-size", "21000", "--throughput", "-1"]
    arguments += ["--bootstrap-server", "{}:{}".format(*quotas.address), "--print-metrics"]
    arguments += ["--command-property", f"client.id={client_id}", "batch.size=1"]
    told = java.tool("org.apache.kafka.tools.ProducerPerformance", *arguments)
    assert told.status == 0, told
    lines = [line for line in told.stdout.splitlines() if line.startswith("producer-metrics:produce-throttle-time-max")]
    assert len(lines) == 1
    assert float(lines[0].rsplit(":", 1)[1]) > 300


@pytest.mark.jdk
def test_the_configs_tool_sets_quotas(broker: Target, java: JavaHost) -> None:
    shell = Shell(java, broker.bootstrap)
    command, name = CONFIG_COMMAND, unique("u")
    entities = {
        ("--entity-type", "users", "--entity-name", name): f"user-principal '{name}'",
        ("--entity-type", "clients", "--entity-name", name): f"client-id '{name}'",
        ("--entity-type", "users", "--entity-name", name, "--entity-type", "clients", "--entity-default"): name,
    }
    for arguments, shown in entities.items():
        shell.run(command, "--alter", *arguments, "--add-config", "producer_byte_rate=1024,request_percentage=50")

        def described(arguments: tuple[str, ...] = arguments) -> str:
            # For users the tool goes on to ask for SCRAM credentials; only the quotas matter here.
            return java.tool(command, "--bootstrap-server", shell.bootstrap, "--describe", *arguments).stdout

        wait_until("the quota", lambda described=described: "producer_byte_rate=1024.0" in described())  # type: ignore[misc]
        assert shown in described()
        assert "request_percentage=50.0" in described()
        shell.run(command, "--alter", *arguments, "--delete-config", "producer_byte_rate,request_percentage")
        wait_until("no quota", lambda described=described: "producer_byte_rate" not in described())  # type: ignore[misc]
    ip = ("--entity-type", "ips", "--entity-name", "10.11.12.13")
    shell.run(command, "--alter", *ip, "--add-config", "connection_creation_rate=7")
    wait_until("the rate", lambda: "connection_creation_rate=7.0" in shell.run(command, "--describe", *ip).stdout)
    shell.run(command, "--alter", *ip, "--delete-config", "connection_creation_rate")
    refused = shell.run(command, "--alter", *ip, "--add-config", "producer_byte_rate=7", status=1)
    assert "producer_byte_rate" in refused.stdout + refused.stderr
