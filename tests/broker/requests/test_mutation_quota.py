"""Partitions that clients create and delete are tokens of a bucket (KIP-599). Figures by hand."""

from __future__ import annotations

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.broker.requests.test_metering import Asked


@pytest.mark.parametrize("strict", [True, False])
def test_mutations_are_tokens(strict: bool) -> None:
    asked = Asked()
    asked.set(controller_mutation_rate=1.0)  # eleven tokens at first
    create, grow, delete = (7, 3, 6) if strict else (5, 2, 4)
    refused = ErrorCode.THROTTLING_QUOTA_EXCEEDED if strict else ErrorCode.NONE
    topics = [CreatableTopic(name, 8, 1) for name in ("a", "b", "c")]
    created = asked.ask(CreateTopicsRequest(topics, 1000), create)
    assert [topic.error_code for topic in created.topics] == [0, 0, refused]
    assert created.throttle_time_ms == asked.wait_ms == (5_000 if strict else 13_000)  # 16, or 24, of eleven
    growth = CreatePartitionsRequest([CreatePartitionsTopic("a", 10, None)], 1000)
    grown = asked.ask(growth, grow)
    assert [topic.error_code for topic in grown.results] == [refused]
    assert grown.throttle_time_ms == asked.wait_ms == (5_000 if strict else 15_000)
    if strict:
        assert created.topics[2].error_message is grown.results[0].error_message is None
    asked.cluster.clock.advance(asked.wait_ms / 1000)
    doomed = DeleteTopicsRequest([DeleteTopicState("a")], [], 1000) if strict else DeleteTopicsRequest([], ["a"], 1000)
    deleted = asked.ask(doomed, delete)
    assert [topic.error_code for topic in deleted.responses] == [0]
    assert deleted.throttle_time_ms == asked.wait_ms == (0 if strict else 10_000)
    checked = asked.ask(CreateTopicsRequest([CreatableTopic("d", 1, 1)], 1000, True), create)
    assert checked.topics[0].error_code == refused, "what is only validated counts, too"


def test_a_topic_over_the_quota_is_not_created_on_the_way() -> None:
    asked = Asked({"auto.create.topics.enable": "true"})
    asked.set(controller_mutation_rate=1.0)
    asked.ask(CreateTopicsRequest([CreatableTopic("a", 13, 1)], 1000), 7)
    unknown = MetadataRequest([MetadataRequestTopic(name="missing")], True)
    for advance_s, there in ((0, False), (1, False), (1, True)):
        asked.cluster.clock.advance(advance_s)
        assert asked.ask(unknown, 12).throttle_time_ms == asked.wait_ms == 0
        assert ("missing" in asked.cluster.image.topics) == there
