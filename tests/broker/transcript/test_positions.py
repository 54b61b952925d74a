"""Topics, partitions and offsets of requests."""

from __future__ import annotations

from odradek.broker.transcript.positions import TopicPosition, flat, topic_name
from odradek.protocol.generated.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from tests.fakes.exchanges import ORDERS_ID, Names, recorded


def test_a_position_is_written_as_people_write_it() -> None:
    assert str(TopicPosition("orders")) == "orders"
    assert str(TopicPosition("orders", 1)) == "orders-1"
    assert str(TopicPosition("orders", 1, 5)) == "orders-1@5"
    assert flat([("a", {1, 0}), ("b", set())]) == [TopicPosition("a", 0), TopicPosition("a", 1), TopicPosition("b")]


def test_records_are_where_the_answer_says() -> None:
    data = [PartitionProduceData(index, b"") for index in (0, 1)]
    asked = ProduceRequest(None, 1, 0, [TopicProduceData("", ORDERS_ID, data)])
    told = [PartitionProduceResponse(0, 0, 42), PartitionProduceResponse(1, 6, -1)]
    answer = ProduceResponse([TopicProduceResponse("", ORDERS_ID, told)])
    assert recorded(asked, 13, answer).topics == (("orders", 0, 42), ("orders", 1, None))


def test_offsets_that_are_asked_for() -> None:
    fetch = FetchRequest(topics=[FetchTopic("", ORDERS_ID, [FetchPartition(2, fetch_offset=7)])])
    assert recorded(fetch, 16).topics == (("orders", 2, 7),)
    times = ListOffsetsRequest(topics=[ListOffsetsTopic("t", [ListOffsetsPartition(1, timestamp=-1)])])
    assert recorded(times, 7).topics == (("t", 1, None),)
    commit = OffsetCommitRequest(
        "g", topics=[OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 9)])]
    )
    assert recorded(commit, 8).topics == (("t", 0, 9),)
    delete = DeleteRecordsRequest([DeleteRecordsTopic("t", [DeleteRecordsPartition(0, 3)])])
    assert recorded(delete, 2).topics == (("t", 0, 3),)


def test_others_name_their_topics() -> None:
    assert recorded(MetadataRequest([MetadataRequestTopic(name="a"), MetadataRequestTopic(name="b")]), 12).topics == (
        ("a", None, None),
        ("b", None, None),
    )


def test_a_topic_that_nobody_knows_has_its_id_for_a_name() -> None:
    assert topic_name(Names(), ORDERS_ID) == "orders"
    assert topic_name(Names(), bytes(15) + b"\2") == "AAAAAAAAAAAAAAAAAAAAAg"
