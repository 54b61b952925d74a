"""The transaction APIs answer as Kafka 4.4.0 does, call by call, in every version.

The expected answers are what a real Kafka 4.4.0 gave to the same stories (tests/scenarios/transactions_wire.py records
them; tests/conformance tells the stories to a real one again).
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio

from odradek.broker.cluster import Cluster
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.metadata.image import CONSUMER_OFFSETS
from odradek.broker.requests.context import ConnectionInfo, RequestContext
from odradek.broker.requests.parked_request import is_coroutine
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.generated.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.ask import ask, handler_of
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


# -- TxnOffsetCommit waits for what it must and for nothing else.


class Client:
    """A transactional producer that commits offsets of one partition, without a socket."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        cluster.create_topic("t", partitions=1)
        cluster.services.groups().topic.ensure()
        cluster.services.transactions().topic.ensure()
        answer = ask(cluster, InitProducerIdRequest("tx", 60_000), 4)
        assert answer.error_code == 0
        self.producer = answer.producer_id, answer.producer_epoch

    def commit(self, version: int, offset: int = 5) -> Any:
        """What the handler returns."""
        topics = [TxnOffsetCommitRequestTopic("t", partitions=[TxnOffsetCommitRequestPartition(0, offset)])]
        request = TxnOffsetCommitRequest("tx", "group", *self.producer, topics=topics)
        info = ConnectionInfo()
        context = RequestContext(
            self.cluster.services, self.cluster.nodes[1], info, request.API_KEY, version, 1, "test"
        )
        return handler_of(request)(context, request)

    def end(self) -> None:
        answer = ask(self.cluster, EndTxnRequest("tx", *self.producer, committed=True), 5)
        assert answer.error_code == 0
        self.producer = answer.producer_id, answer.producer_epoch


def code_of(answer: Any) -> int:
    ((partition,),) = [topic.partitions for topic in answer.topics]
    return int(partition.error_code)


async def _commits(version: int) -> None:
    async with Cluster().run() as cluster:
        client = Client(cluster)
        if version < 5:
            assert ask(cluster, AddOffsetsToTxnRequest("tx", *client.producer, "group"), 3).error_code == 0
        for offset in (5, 6):  # the first asks the coordinator, the second is known to the log
            answer = client.commit(version, offset)
            assert not is_coroutine(answer)
            assert code_of(answer) == ErrorCode.NONE
        partition = cluster.services.groups().partition_for("group")
        log = cluster.topics.by_name(CONSUMER_OFFSETS).partitions[partition].log
        assert log.producers.has_ongoing_transaction(*client.producer)


@pytest.mark.parametrize("version", [3, 5])
def test_offset_fetch_is_answered_at_once(version: int) -> None:
    trio.run(_commits, version)


def test_offset_fetch_waits_until_the_last_transaction_has_ended() -> None:
    async def main() -> None:
        async with Cluster().run() as cluster:
            client = Client(cluster)
            assert code_of(client.commit(5)) == ErrorCode.NONE
            hold = cluster.services.transactions().holds.hold("tx", "PrepareCommit")
            client.end()
            waiting = client.commit(5)
            assert is_coroutine(waiting)
            hold.release()
            assert code_of(await waiting) == ErrorCode.NONE

    trio.run(main)


def test_txn_offset_commit_is_refused_when_the_partition_was_not_added() -> None:
    async def main() -> None:
        async with Cluster().run() as cluster:
            answer = Client(cluster).commit(3)
            assert not is_coroutine(answer)
            assert code_of(answer) == ErrorCode.INVALID_TXN_STATE

    trio.run(main)
