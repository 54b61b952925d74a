"""The errors of an answer, with what they are about."""

from __future__ import annotations

from odradek.broker.requests.error_summary import error_name, label, problems_of
from odradek.protocol.generated.messages.create_topics import CreatableTopicResult, CreateTopicsResponse
from odradek.protocol.generated.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse


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
