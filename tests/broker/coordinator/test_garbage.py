"""Whatever a client writes into the internal topics: the rest of a partition is loaded, and its ids are served."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.describe_groups import DescribeGroupsRequest
from odradek.protocol.generated.messages.describe_transactions import DescribeTransactionsRequest, TransactionState
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.init_producer_id import InitProducerIdRequest
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.wire_client import WireClient
from tests.scenarios.target import wait_until

CONFIG = {"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"}
TEXT = b"\0\1g"
GARBAGE: Sequence[tuple[bytes, bytes | None]] = [
    (b"", b""),
    (b"\0", b"\0"),
    (b"\x7f\xff", b"a type of the future"),
    (b"\xff\xff" + TEXT, b"\0\0"),
    *((bytes((0, record_type)) + TEXT, b"\x63\x63 a version of the future") for record_type in range(25)),
    *((bytes((0, record_type)) + TEXT, b"\0\0\x1b[2J\n\xff") for record_type in range(25)),
    *((bytes((0, record_type, 0x7F)), b"\0\0") for record_type in range(25)),
    *((bytes((0, record_type)) + TEXT, None) for record_type in range(25)),
]


def put(client: WireClient, topic: str) -> None:
    """As Kafka has it, only a client of this id may."""
    records = [Record(index, 1_700_000_000_000, key, value) for index, (key, value) in enumerate(GARBAGE)]
    data = [TopicProduceData(topic, partition_data=[PartitionProduceData(0, build_batch(records))])]
    client.client_id = "__admin_client"
    [answer] = client.request(ProduceRequest(None, -1, 10_000, data), 9).responses[0].partition_responses
    assert answer.error_code == ErrorCode.NONE


@pytest.mark.long("test_groups_and_transactional_ids_are_served_after_it")
def test_groups_and_transactional_ids_are_served_after_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "odradek.broker.runtime")
    with KafkaBroker(config=CONFIG, topics=["t"]) as broker:
        with WireClient.at(broker.bootstrap_servers) as client:
            for kind, name in enumerate(("group", "id")):
                client.request(FindCoordinatorRequest(name, kind), 3)
            commit = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 5)])
            assert (
                client.request(OffsetCommitRequest("group", topics=[commit]), 8).topics[0].partitions[0].error_code == 0
            )
            producer = client.request(InitProducerIdRequest("id", 60_000), 4)
            for topic in ("__consumer_offsets", "__transaction_state"):
                put(client, topic)
                broker.reload_coordinator(0, topic)

            def describe(name: str) -> tuple[int, TransactionState]:
                [group] = client.request(DescribeGroupsRequest([name]), 4).groups
                [state] = client.request(DescribeTransactionsRequest(["id"]), 0).transaction_states
                return group.error_code, state

            loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            wait_until("both are loaded", lambda: loading not in (describe("g")[0], describe("g")[1].error_code))
            fetch = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("group", topics=None)])
            found = client.request(fetch, 8).groups[0]
            assert found.topics[0].partitions[0].committed_offset == 5
            for name in ("group", "g"):
                code, state = describe(name)
                assert code == ErrorCode.NONE
            assert (state.producer_id, state.transaction_state) == (producer.producer_id, "Empty")
        assert broker.bugs == []
    lines = [record.getMessage() for record in caplog.records if "left out" in record.getMessage()]
    assert [line.partition(":")[0] for line in lines] == ["__consumer_offsets-0", "__transaction_state-0"]
    assert all(line.isprintable() for line in lines)
