"""Topics, partitions and offsets of requests."""

from __future__ import annotations

from odradek.broker.cluster import Cluster
from odradek.broker.transcript.topic_positions import FetchSessions, TopicPosition, flat, topic_name
from odradek.protocol.generated.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from odradek.protocol.generated.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
)
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


def test_topic_positions_of_other_requests_are_their_topics() -> None:
    assert recorded(MetadataRequest([MetadataRequestTopic(name="a"), MetadataRequestTopic(name="b")]), 12).topics == (
        ("a", None, None),
        ("b", None, None),
    )


def test_a_topic_that_nobody_knows_has_its_id_for_a_name() -> None:
    assert topic_name(Names(), ORDERS_ID) == "orders"
    assert topic_name(Names(), bytes(15) + b"\2") == "AAAAAAAAAAAAAAAAAAAAAg"


def fetch(epoch: int, *partitions: tuple[int, int], forgotten: tuple[int, ...] = ()) -> FetchRequest:
    topics = [FetchTopic("", ORDERS_ID, [FetchPartition(index, fetch_offset=offset) for index, offset in partitions])]
    gone = [ForgottenTopic("", ORDERS_ID, list(forgotten))] if forgotten else []
    return FetchRequest(session_id=9 if epoch else 0, session_epoch=epoch, topics=topics, forgotten_topics_data=gone)


def test_topic_positions_of_a_fetch_session_are_followed() -> None:
    sessions = FetchSessions(Names())
    assert sessions.read(1, fetch(0, (0, 5), (1, 7)), FetchResponse(session_id=9)) == ()
    assert sessions.read(1, fetch(1, (1, 8)), FetchResponse(session_id=9)) == (("orders", 0, 5), ("orders", 1, 8))
    assert sessions.read(1, fetch(2, forgotten=(0,)), None) == (("orders", 1, 8),)
    assert sessions.read(2, fetch(3), None) == ()  # of another node


def test_a_fetch_without_a_session_names_all() -> None:
    sessions = FetchSessions(Names())
    assert sessions.read(1, fetch(-1, (0, 5)), FetchResponse()) == ()
    assert sessions.read(1, fetch(1), None) == ()


def test_a_deleted_topic_keeps_its_name() -> None:
    cluster = Cluster()
    topic_id = cluster.create_topic("orders", partitions=1).topic_id
    known = cluster.topic_history.by_id(topic_id)
    assert known is cluster.topics.get("orders")
    cluster.delete_topic("orders")
    gone = cluster.topic_history.by_id(topic_id)
    assert gone is not None
    assert gone.name == "orders"
    assert cluster.topic_history.by_id(bytes(16)) is None
