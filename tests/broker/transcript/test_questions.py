"""What requests ask for, in words."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.transcript.questions import asked
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.end_txn import EndTxnRequest
from odradek.protocol.generated.messages.fetch import FetchRequest
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest
from odradek.protocol.generated.messages.sync_group import SyncGroupRequest
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.exchanges import recorded

BATCH = build_batch([Record(number, 1000, None, b"value", ()) for number in range(2)])


@pytest.mark.parametrize(
    ("request_", "version", "text"),
    [
        (
            ProduceRequest("t-1", -1, 0, [TopicProduceData("t", partition_data=[PartitionProduceData(0, BATCH)])]),
            9,
            "transaction t-1 t-0 2 records",
        ),
        (
            ProduceRequest(None, 0, 0, [TopicProduceData("t", partition_data=[PartitionProduceData(3, BATCH)])]),
            9,
            "t-3 2 records acks=0",
        ),
        (FetchRequest(), 12, "(nothing)"),
        (
            ListOffsetsRequest(
                topics=[
                    ListOffsetsTopic(
                        "t", [ListOffsetsPartition(index, timestamp=time) for index, time in enumerate((-1, -2, 500))]
                    )
                ]
            ),
            7,
            "t-0 latest, t-1 earliest, t-2 at time 500",
        ),
        (MetadataRequest(topics=None), 12, "all topics"),
        (MetadataRequest(topics=[]), 12, "no topic"),
        (MetadataRequest([MetadataRequestTopic(name="t")]), 12, "t"),
        (FindCoordinatorRequest(coordinator_keys=["g"]), 4, "group g"),
        (FindCoordinatorRequest(key="t-1", key_type=1), 3, "transaction t-1"),
        (
            JoinGroupRequest("g", protocol_type="consumer", protocols=[JoinGroupRequestProtocol("range")]),
            5,
            "group g joins, consumer: range",
        ),
        (JoinGroupRequest("g", member_id="m", protocol_type="connect"), 5, "group g joins again, connect: "),
        (SyncGroupRequest("g", 4), 3, "group g generation 4"),
        (SaslHandshakeRequest("PLAIN"), 1, "PLAIN"),
        (ApiVersionsRequest("lib", "1.0"), 3, "lib 1.0"),
        (EndTxnRequest("t-1", committed=True), 3, "transaction t-1 commit"),
        (EndTxnRequest("t-1", committed=False), 3, "transaction t-1 abort"),
        (ConsumerGroupHeartbeatRequest("g", "m", 0), 0, "group g joins"),
        (ConsumerGroupHeartbeatRequest("g", "m", 4), 0, "group g epoch 4"),
        (ConsumerGroupHeartbeatRequest("g", "m", -1), 0, "group g leaves"),
        (CreateTopicsRequest([CreatableTopic(f"t{n}", 1, 1) for n in range(6)]), 7, "t0 t1 t2 t3 +2 more"),
    ],
)
def test_in_words(request_: Any, version: int, text: str) -> None:
    one = recorded(request_, version)
    assert asked(one, one.request) == text


def test_records_whose_headers_are_gone_are_not_counted() -> None:
    two = BATCH[:61] + bytes(2 * len(BATCH) - 61)
    one = recorded(
        ProduceRequest(None, 1, 0, [TopicProduceData("t", partition_data=[PartitionProduceData(0, two)])]), 9
    )
    assert asked(one, one.request) == "t-0 records"
