"""Produce and fetch through real sockets: what only shows with a network between the two."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from tests.fakes.brokers import broker_fixture
from tests.fakes.wire_client import ConnectionClosed, WireClient
from tests.scenarios.target import wait_until

running = broker_fixture(scope="module", topics={"a": 5, "big": 1})


@pytest.fixture
def client(running: KafkaBroker) -> Iterator[WireClient]:
    with connect(running) as found:
        yield found


def connect(broker: KafkaBroker) -> WireClient:
    return WireClient.at(broker.bootstrap_servers)


def produce(partition: int, value: bytes = b"v", *, topic: str = "a", acks: int = -1) -> ProduceRequest:
    batch = build_batch([Record(0, int(time.time() * 1000), None, value, ())])
    return ProduceRequest(
        None, acks, 1000, [TopicProduceData(topic, partition_data=[PartitionProduceData(partition, batch)])]
    )


def fetch(partition: int, offset: int, *, topic: str = "a", max_bytes: int = 1 << 25, wait_ms: int = 0) -> FetchRequest:
    asked = FetchPartition(partition, fetch_offset=offset, partition_max_bytes=max_bytes)
    topics = [FetchTopic(topic, partitions=[asked])]
    return FetchRequest(max_wait_ms=wait_ms, min_bytes=1, max_bytes=max_bytes, session_epoch=-1, topics=topics)


def values(response: Any) -> list[bytes | None]:
    (topic,) = response.responses
    (data,) = topic.partitions
    assert data.error_code == 0
    return [record.value for batch in iter_batches(data.records or b"") for record in batch.records()]


def until_it_waits(broker: KafkaBroker, partition: int) -> None:
    """Return when a fetch waits for records of the partition."""
    topic = broker.cluster.topics.get("a")
    assert topic is not None
    waiters = topic.partitions[partition].waiters
    wait_until("a fetch that waits", lambda: broker._call(lambda: len(waiters)))


def test_records_come_back_over_tcp_as_they_were_produced(client: WireClient) -> None:
    sent = [b"%d" % i for i in range(50)]
    for value in sent:
        answer = client.request(produce(0, value), 9).responses[0].partition_responses[0]
        assert answer.error_code == 0
    assert values(client.request(fetch(0, 0), 12)) == sent
    assert values(client.request(fetch(0, 48), 12)) == sent[48:]


def test_produce_and_fetch_of_megabytes_over_tcp(client: WireClient) -> None:
    sent = [bytes([65 + i]) * 900_000 for i in range(6)]
    for value in sent:
        client.request(produce(0, value, topic="big"), 9)
    assert values(client.request(fetch(0, 0, topic="big"), 12)) == sent
    assert values(client.request(fetch(0, 1, topic="big", max_bytes=2_000_000), 12)) == sent[1:3]


def test_a_waiting_fetch_is_answered_when_another_connection_produces(running: KafkaBroker, client: WireClient) -> None:
    request = fetch(1, 0, wait_ms=3_600_000)
    correlation_id = client.send(request, 12)
    until_it_waits(running, 1)
    with connect(running) as other:
        other.request(produce(1, b"late"), 9)
    assert values(client.receive(request, 12, correlation_id)) == [b"late"]


def test_advancing_the_clock_ends_a_wait(running: KafkaBroker, client: WireClient) -> None:
    request = fetch(2, 0, wait_ms=300_000)  # a connection may be idle for ten minutes
    correlation_id = client.send(request, 12)
    until_it_waits(running, 2)
    running.clock.advance(minutes=5)
    assert values(client.receive(request, 12, correlation_id)) == []


def test_answers_come_in_the_order_of_the_requests(client: WireClient) -> None:
    slow, quick = fetch(2, 0, wait_ms=50), fetch(0, 0)
    first, second = client.send(slow, 12), client.send(quick, 12)
    assert values(client.receive(slow, 12, first)) == []
    client.receive(quick, 12, second)


def test_a_client_that_leaves_while_it_waits_harms_nobody(running: KafkaBroker, client: WireClient) -> None:
    with connect(running) as leaving:
        leaving.send(fetch(3, 0, wait_ms=3_600_000), 12)
        until_it_waits(running, 3)
    client.request(produce(3, b"x"), 9)
    assert values(client.request(fetch(3, 0), 12)) == [b"x"]


def test_acks_0_is_silent_and_an_error_with_it_closes(running: KafkaBroker) -> None:
    with connect(running) as client:
        before = client.request(produce(4), 9).responses[0].partition_responses[0].base_offset
        client.send(produce(4, acks=0), 9)
        assert client.request(produce(4), 9).responses[0].partition_responses[0].base_offset == before + 2
        client.send(produce(4, topic="nope", acks=0), 9)
        with pytest.raises(ConnectionClosed):
            client.receive_frame()


def test_producer_ids_are_unique_over_connections(running: KafkaBroker) -> None:
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    found = []
    for _ in range(5):
        with connect(running) as client:
            found.append(client.request(request, 4).producer_id)
    assert len(set(found)) == 5
    assert found == sorted(found)


def test_the_node_that_does_not_lead_says_who_does() -> None:
    with KafkaBroker(nodes=3, topics={"r": 3}) as broker:
        ports = [int(address.rpartition(":")[2]) for address in broker.bootstrap_servers.split(",")]
        clients = {number: WireClient("127.0.0.1", port) for number, port in enumerate(ports, 1)}
        topic = broker.cluster.topics.get("r")
        assert topic is not None
        for partition in topic.partitions:
            for number, client in clients.items():
                request = produce(partition.index, topic="r")
                request.topic_data[0].topic_id = topic.topic_id
                response = client.request(request, 13)
                answer = response.responses[0].partition_responses[0]
                if number == partition.leader_id:
                    assert answer.error_code == 0
                    continue
                assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
                assert answer.current_leader.leader_id == partition.leader_id
                assert [each.port for each in response.node_endpoints] == [ports[partition.leader_id - 1]]
        for client in clients.values():
            client.close()
        assert broker.bugs == []
