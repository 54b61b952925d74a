"""What requests are about, of every shape that they have."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.requests.request_topics import (
    Subjects,
    error_name,
    label,
    problems_of,
    subjects_of,
    topic_names_filled,
)
from odradek.protocol.generated.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from odradek.protocol.generated.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from odradek.protocol.generated.messages.create_topics import CreatableTopicResult, CreateTopicsResponse
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from odradek.protocol.generated.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from tests.fakes.data_plane import DataPlane

# -- Names in the place of topic ids, for the time that somebody looks at a request.


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


class _Named:
    name = "orders"


class _Topics:
    def by_id(self, topic_id: bytes) -> _Named | None:
        return _Named() if topic_id == b"1" * 16 else None


def about(request: Any, **session: Any) -> Subjects:
    return subjects_of(request, _Topics(), **session)


@pytest.mark.parametrize(
    ("request_", "topics"),
    [
        (
            ProduceRequest(
                topic_data=[TopicProduceData("a", partition_data=[PartitionProduceData(0), PartitionProduceData(3)])]
            ),
            {"a": {0, 3}},
        ),
        (
            ProduceRequest(topic_data=[TopicProduceData("", b"1" * 16, [PartitionProduceData(2)])]),
            {"orders": {2}},
        ),
        (
            FetchRequest(
                topics=[FetchTopic("a", partitions=[FetchPartition(1)])], forgotten_topics_data=[ForgottenTopic("b")]
            ),
            {"a": {1}},
        ),
        (FetchRequest(topics=[FetchTopic(topic_id=b"2" * 16, partitions=[FetchPartition(1)])]), {}),
        (
            MetadataRequest(topics=[MetadataRequestTopic(name="a"), MetadataRequestTopic(b"1" * 16, None)]),
            {"a": set(), "orders": set()},
        ),
        (DeleteTopicsRequest(topic_names=["a", "b"], timeout_ms=1000), {"a": set(), "b": set()}),
        (DescribeConfigsRequest([DescribeConfigsResource(2, "a"), DescribeConfigsResource(4, "1")]), {"a": set()}),
    ],
)
def test_request_topics_tells_topics_and_partitions(request_: Any, topics: dict[str, set[int]]) -> None:
    assert about(request_).topics == topics


def test_request_topics_tells_groups_and_transactional_ids() -> None:
    fetched = about(
        OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup("g", topics=[OffsetFetchRequestTopics("a", partition_indexes=[4])])]
        )
    )
    assert (fetched.groups, fetched.topics) == ({"g"}, {"a": {4}})
    assert about(FindCoordinatorRequest(key="g")).groups == {"g"}
    quota = AlterClientQuotasRequest([EntryData([EntityData("user", "u")], [OpData("producer_byte_rate", 1.0)])])
    assert about(quota) == Subjects({}, set(), set()), "its keys are no groups"
    assert about(FindCoordinatorRequest(key_type=1, coordinator_keys=["t"])).transactional_ids == {"t"}
    added = about(
        AddPartitionsToTxnRequest(
            transactions=[AddPartitionsToTxnTransaction("t", topics=[AddPartitionsToTxnTopic("a", [1])])]
        )
    )
    assert (added.transactional_ids, added.topics) == ({"t"}, {"a": {1}})


def test_a_session_says_what_its_requests_do_not() -> None:
    assert about(FetchRequest(session_id=5), session=[("a", 1), ("a", 2)]).topics == {"a": {1, 2}}


def test_a_whole_topic_means_each_partition() -> None:
    found = Subjects({"whole": set(), "part": {1}}, set(), set())
    assert found.concern("whole", 7)
    assert found.concern("part", 1)
    assert not found.concern("part", 7)
    assert not found.concern("other", None)
    assert found.concern(None, None)
    assert found.concern(None, 7)


# -- The errors of an answer, with what they are about.


def test_errors_are_told_with_their_place_and_message() -> None:
    data = [PartitionProduceResponse(0), PartitionProduceResponse(1, 6)]
    answer = ProduceResponse([TopicProduceResponse("orders", partition_responses=data)])
    assert list(problems_of(answer)) == [(6, "orders-1 NOT_LEADER_OR_FOLLOWER")]
    refused = CreateTopicsResponse(topics=[CreatableTopicResult(name="a b", error_code=17, error_message="bad name")])
    assert list(problems_of(refused)) == [(17, "a b INVALID_TOPIC_EXCEPTION (bad name)")]


def test_names() -> None:
    assert (error_name(6), error_name(-999)) == ("NOT_LEADER_OR_FOLLOWER", "error -999")
    assert label(PartitionProduceResponse(3)) == "3"
    assert label(ProduceResponse()) == ""
