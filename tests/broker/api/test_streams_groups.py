"""StreamsGroupHeartbeat and StreamsGroupDescribe, beyond what the recorded conversations say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.describe_groups import DescribeGroupsRequest
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.streams_group_describe import StreamsGroupDescribeRequest
from odradek.protocol.generated.messages.streams_group_heartbeat import (
    KeyValue,
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TopicInfo,
    Topology,
)
from odradek.protocol.generated.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.fakes.wire_client import WireClient


class Talk:
    """A broker with a topic "t" of two partitions, and a client of it."""

    def __init__(self, broker: KafkaBroker) -> None:
        self.broker = broker
        self.client = WireClient.at(broker.bootstrap_servers, client_id="test")
        self.ask(CreateTopicsRequest(topics=[CreatableTopic("t", 2, 1)], timeout_ms=1000))
        self.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]))

    def ask(self, request: Any, version: int | None = None) -> Any:
        return self.client.request(request, version)


@pytest.fixture
def talk() -> Iterator[Talk]:
    with KafkaBroker(config={"group.streams.assignment.interval.ms": "0"}) as broker:
        talk = Talk(broker)
        yield talk
        talk.client.close()
        assert broker.bugs == []


def joining(member: str = "m", **options: Any) -> StreamsGroupHeartbeatRequest:
    changelog = TopicInfo("counts-changelog", 0, 0, [KeyValue("cleanup.policy", "compact")])
    topology = Topology(0, [Subtopology("0", ["t"], state_changelog_topics=[changelog])])
    return StreamsGroupHeartbeatRequest(
        "g",
        member,
        0,
        rebalance_timeout_ms=1000,
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        topology=topology,
        process_id="p",
        **options,
    )


def test_internal_topics_are_made_with_their_configs(talk: Talk) -> None:
    first = talk.ask(joining())
    assert [status.status_code for status in first.status] == [3]
    (topic,) = talk.ask(MetadataRequest(topics=[MetadataRequestTopic(name="counts-changelog")])).topics
    assert len(topic.partitions) == 2
    second = talk.ask(StreamsGroupHeartbeatRequest("g", "m", 2))
    assert [(row.subtopology_id, row.partitions) for row in second.active_tasks] == [("0", [0, 1])]
    (described,) = talk.ask(StreamsGroupDescribeRequest(["g"])).groups
    assert described.topology.subtopologies[0].state_changelog_topics[0].partitions == 2
    assert described.group_state == "Stable"


def test_counts_are_described_as_soon_as_they_are_decided(talk: Talk) -> None:
    talk.ask(CreateTopicsRequest(topics=[CreatableTopic("counts-changelog", 2, 1)], timeout_ms=1000))
    assert talk.ask(joining()).status == []

    def counts() -> int:
        (group,) = talk.ask(StreamsGroupDescribeRequest(["g"])).groups
        return int(group.topology.subtopologies[0].state_changelog_topics[0].partitions)

    assert counts() == 0
    talk.ask(StreamsGroupHeartbeatRequest("g", "m", 2))
    assert counts() == 2


def test_streams_group_apis_are_refused_while_streams_version_is_0(talk: Talk) -> None:
    off = FeatureUpdateKey("streams.version", 0, upgrade_type=2)
    assert talk.ask(UpdateFeaturesRequest(feature_updates=[off])).error_code == ErrorCode.NONE
    assert talk.ask(joining()).error_code == ErrorCode.UNSUPPORTED_VERSION
    (group,) = talk.ask(StreamsGroupDescribeRequest(["g"])).groups
    assert group.error_code == ErrorCode.UNSUPPORTED_VERSION


def test_a_topic_that_the_controller_refuses(talk: Talk) -> None:
    wrong = joining()
    assert wrong.topology is not None
    wrong.topology.subtopologies[0].state_changelog_topics[0].replication_factor = 7
    talk.ask(wrong)
    (status,) = talk.ask(StreamsGroupHeartbeatRequest("g", "m", 2)).status
    assert "Creation failed: counts-changelog (" in status.status_detail
    names = [topic.name for topic in talk.ask(MetadataRequest(topics=None)).topics]
    assert "counts-changelog" not in names


def test_a_group_of_another_kind_and_none(talk: Talk) -> None:
    talk.ask(joining())
    (classic,) = talk.ask(DescribeGroupsRequest(["g"])).groups
    assert classic.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    (unknown,) = talk.ask(StreamsGroupDescribeRequest(["none"])).groups
    assert (unknown.error_code, unknown.error_message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group none not found.")


def test_streams_heartbeat_with_a_tag_twice_is_an_unknown_server_error(talk: Talk) -> None:
    twice = joining(client_tags=[KeyValue("k", "1"), KeyValue("k", "2")])
    assert talk.ask(twice).error_code == ErrorCode.UNKNOWN_SERVER_ERROR


@pytest.mark.long
def test_streams_heartbeat_with_two_thousand_subtopologies_is_answered(talk: Talk) -> None:
    many = joining()
    many.topology = Topology(0, [Subtopology(str(number), ["t"]) for number in range(2_000)])
    answer = talk.ask(many)
    assert answer.error_code == ErrorCode.NONE
    assert sum(len(row.partitions) for row in answer.active_tasks) == 4_000


def test_streams_group_apis_are_refused_where_the_protocol_is_not_offered() -> None:
    with KafkaBroker(config={"group.coordinator.rebalance.protocols": "classic,consumer"}) as broker:
        talk = Talk(broker)
        assert talk.ask(joining()).error_code == ErrorCode.UNSUPPORTED_VERSION
        (group,) = talk.ask(StreamsGroupDescribeRequest(["g"])).groups
        assert group.error_code == ErrorCode.UNSUPPORTED_VERSION
        talk.client.close()


def test_a_member_that_leaves_is_told_nothing_of_tasks(talk: Talk) -> None:
    joined = talk.ask(joining())
    assert joined.acceptable_recovery_lag == 10_000
    left = talk.ask(StreamsGroupHeartbeatRequest("g", "m", -1, rebalance_timeout_ms=-1))
    assert (left.error_code, left.member_epoch, left.acceptable_recovery_lag) == (0, -1, -1)
    assert left.task_offset_interval_ms == 0
