"""Faults for a topic, however a client names it: by name, by id, by its fetch session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek import Fault, KafkaBroker
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.brokers import broker_fixture
from tests.fakes.wire_client import WireClient

broker = broker_fixture(topics={"orders": 2, "other": 1})


@pytest.fixture
def client(broker: KafkaBroker) -> Iterator[WireClient]:
    with WireClient.at(broker.bootstrap_servers) as connected:
        yield connected


def id_of(client: WireClient, topic: str) -> bytes:
    found = client.request(MetadataRequest([MetadataRequestTopic(name=topic)]), 12)
    topic_id: bytes = found.topics[0].topic_id
    return topic_id


def produce(client: WireClient, topic: str, partition: int) -> int:
    """The error code of a Produce that names the topic by its id."""
    batch = build_batch([Record(0, 1, None, b"v")])
    asked = TopicProduceData("", id_of(client, topic), [PartitionProduceData(partition, batch)])
    response = client.request(ProduceRequest(None, -1, 1000, [asked]), 13)
    code: int = response.responses[0].partition_responses[0].error_code
    return code


def test_a_produce_by_topic_id(broker: KafkaBroker, client: WireClient) -> None:
    fault = Fault("Produce", topic="orders", partition=1, answer="NOT_LEADER_OR_FOLLOWER")
    broker.set_faults(fault)
    assert produce(client, "orders", 1) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert produce(client, "orders", 0) == produce(client, "other", 0) == 0
    assert fault.hits == 1
    fault.wait()


def test_a_fetch_that_goes_on_with_its_session(broker: KafkaBroker, client: WireClient) -> None:
    asked = [FetchTopic(topic_id=id_of(client, "orders"), partitions=[FetchPartition(0, partition_max_bytes=1000)])]
    first = client.request(FetchRequest(max_wait_ms=0, session_epoch=0, topics=asked), 16)
    going_on = FetchRequest(max_wait_ms=0, session_id=first.session_id, session_epoch=1, topics=[])
    broker.set_faults(Fault("Fetch", topic="other", answer="KAFKA_STORAGE_ERROR"))
    assert client.request(going_on, 16).error_code == 0
    fault = Fault("Fetch", topic="orders", partition=0, answer="KAFKA_STORAGE_ERROR")
    broker.set_faults(fault)
    going_on.session_epoch = 2
    assert client.request(going_on, 16).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert fault.hits == 1
