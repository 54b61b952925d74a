"""Names in the place of topic ids, for the time that somebody looks at a request."""

from __future__ import annotations

from odradek.broker.requests.topic_names import topic_names_filled
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.fakes.data_plane import DataPlane


def test_ids_get_their_names_and_lose_them_again() -> None:
    plane = DataPlane(topics={"a": 1})
    topic_id = plane.cluster.topics.get("a").topic_id  # type: ignore[union-attr]
    produce = ProduceRequest(topic_data=[TopicProduceData("", topic_id, [PartitionProduceData(0, b"")])])
    fetch = FetchRequest(topics=[FetchTopic("", topic_id, [FetchPartition(0)])])
    metadata = MetadataRequest(topics=[MetadataRequestTopic(topic_id=topic_id, name=None)])
    with topic_names_filled(produce, plane.cluster.topics), topic_names_filled(fetch, plane.cluster.topics):
        assert (produce.topic_data[0].name, fetch.topics[0].topic) == ("a", "a")
    with topic_names_filled(metadata, plane.cluster.topics):
        assert metadata.topics is not None
        assert metadata.topics[0].name == "a"
    names: list[object] = [produce.topic_data[0].name, fetch.topics[0].topic, metadata.topics[0].name]
    assert names == ["", "", None]


def test_what_is_unknown_or_named_stays_as_it_is() -> None:
    plane = DataPlane(topics={"a": 1})
    topics = [TopicProduceData("", b"\1" * 16, []), TopicProduceData("b", bytes(16), [])]
    with topic_names_filled(ProduceRequest(topic_data=topics), plane.cluster.topics):
        assert [each.name for each in topics] == ["", "b"]
    with topic_names_filled(HeartbeatRequest(group_id="g"), plane.cluster.topics):
        pass
