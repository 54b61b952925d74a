"""The transaction APIs answer as Kafka 4.4.0 does, call by call, in every version.

The expected answers are what a real Kafka 4.4.0 gave to the same stories (tests/scenarios/transactions_wire.py records
them; tests/conformance tells the stories to a real one again).
"""

from __future__ import annotations

import json

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.brokers import broker_fixture
from tests.fakes.vectors import recorded
from tests.fakes.wire_client import WireClient
from tests.scenarios.transactions_wire import STORIES, Steps, teller

RECORDED: dict[str, Steps] = recorded("transactions_wire")
broker = broker_fixture(scope="module", config={"offsets.topic.num.partitions": "5"})


@pytest.mark.long("ending v4", "ending v5")
@pytest.mark.parametrize("name", STORIES)
def test_transaction_requests_are_answered_as_recorded(broker: KafkaBroker, name: str) -> None:
    with teller(broker.bootstrap_servers, name.replace(" ", "-")) as one:
        told = json.loads(json.dumps(STORIES[name](one), default=lambda value: value.decode()))
    for step, expected in zip(told, RECORDED[name], strict=True):
        assert step == expected
    assert not broker.bugs


@pytest.mark.parametrize("version", [3, 9, 11, 12])
def test_a_transaction_without_a_name(broker: KafkaBroker, version: int) -> None:
    """An empty transactional id is none to the coordinator: a real Kafka answers INVALID_REQUEST, in every version."""
    batch = build_batch(
        [Record(0, 0, b"k", b"v", ())], producer_id=5, producer_epoch=0, base_sequence=0, transactional=True
    )
    with WireClient.at(broker.bootstrap_servers) as client:
        client.request(CreateTopicsRequest(topics=[CreatableTopic("nameless", 1, 1)], timeout_ms=1000), 5)
        topics = [TopicProduceData("nameless", partition_data=[PartitionProduceData(0, batch)])]
        answer = client.request(ProduceRequest("", -1, 1000, topics), version).responses[0].partition_responses[0]
    assert (answer.error_code, answer.base_offset, answer.log_start_offset) == (ErrorCode.INVALID_REQUEST, -1, -1)
