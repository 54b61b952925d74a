"""ConsumerGroupHeartbeat and ConsumerGroupDescribe: what the recorded conversations do not say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from tests.fakes.wire_client import WireClient


class Talk:
    """A broker with a topic "t" of two partitions, and a client of it."""

    def __init__(self, broker: KafkaBroker) -> None:
        self.broker = broker
        self.client = WireClient.at(broker.bootstrap_servers, client_id="test")
        broker.create_topic("t", 2)
        self.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]))

    def ask(self, request: Any, version: int | None = None) -> Any:
        return self.client.request(request, version)


@pytest.fixture
def talk() -> Iterator[Talk]:
    with KafkaBroker(config={"group.consumer.assignment.interval.ms": "0"}) as broker:
        talk = Talk(broker)
        yield talk
        talk.client.close()
        assert broker.bugs == []


def joining(member_id: str = "m", **options: Any) -> ConsumerGroupHeartbeatRequest:
    values: dict[str, Any] = {"subscribed_topic_names": ["t"], "topic_partitions": [], "rebalance_timeout_ms": 60_000}
    epoch = options.pop("member_epoch", 0)
    return ConsumerGroupHeartbeatRequest("g", member_id, epoch, **(values | options))


def test_a_member_gets_its_partitions_in_order(talk: Talk) -> None:
    answer = talk.ask(joining())
    assert (answer.error_code, answer.member_id) == (ErrorCode.NONE, "m")
    assert [row.partitions for row in answer.assignment.topic_partitions] == [[0, 1]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rebalance_timeout_ms": -1}, "RebalanceTimeoutMs must be provided in first request."),
        ({"topic_partitions": None}, "TopicPartitions must be empty when (re-)joining."),
        ({"topic_partitions": [TopicPartitions(b"t" * 16, [0])]}, "TopicPartitions must be empty when (re-)joining."),
        (
            {"subscribed_topic_names": None},
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        ({"instance_id": " "}, "InstanceId can't be empty."),
        ({"rack_id": ""}, "RackId can't be empty."),
        ({"member_id": ""}, "MemberId can't be empty."),
        ({"member_epoch": -2}, "InstanceId can't be null."),
        ({"member_epoch": -3}, "MemberEpoch is invalid."),
        ({"member_epoch": -3, "instance_id": "i"}, "MemberEpoch is invalid."),
    ],
)
def test_a_wrong_heartbeat_says_what_is_wrong(talk: Talk, options: dict[str, Any], message: str) -> None:
    answer = talk.ask(joining(**options))
    assert (answer.error_code, answer.error_message) == (ErrorCode.INVALID_REQUEST, message)


def test_a_member_of_version_0_gets_its_id(talk: Talk) -> None:
    answer = talk.ask(joining(""), version=0)
    assert answer.error_code == ErrorCode.NONE
    assert answer.member_id


def test_assignors_that_are_not_served_are_refused_by_name(talk: Talk) -> None:
    answer = talk.ask(joining(server_assignor="mine"))
    assert answer.error_code == ErrorCode.UNSUPPORTED_ASSIGNOR
    assert answer.error_message == "ServerAssignor mine is not supported. Supported assignors: uniform, range."


def test_groups_are_described_beside_those_that_are_none(talk: Talk) -> None:
    talk.ask(joining(rack_id="r"))
    groups = talk.ask(ConsumerGroupDescribeRequest(["", "g", "missing"], include_authorized_operations=True)).groups
    by_id = {group.group_id: group for group in groups}
    assert by_id[""].error_code == ErrorCode.INVALID_GROUP_ID
    assert by_id["missing"].error_code == ErrorCode.GROUP_ID_NOT_FOUND
    group = by_id["g"]
    assert (group.error_code, group.group_state, group.assignor_name) == (ErrorCode.NONE, "Stable", "uniform")
    assert group.authorized_operations != by_id["missing"].authorized_operations
    (member,) = group.members
    assert (member.member_id, member.rack_id, member.client_id) == ("m", "r", "test")
    for assignment in (member.assignment, member.target_assignment):
        assert [(row.topic_name, row.partitions) for row in assignment.topic_partitions] == [("t", [0, 1])]


def test_deleted_topics_are_left_out_of_descriptions(talk: Talk) -> None:
    talk.ask(joining())
    talk.ask(DeleteTopicsRequest(topics=[DeleteTopicState("t")], timeout_ms=1000))
    (group,) = talk.ask(ConsumerGroupDescribeRequest(["g"])).groups
    assert [member.assignment.topic_partitions for member in group.members] == [[]]


def test_consumer_group_apis_are_refused_while_group_version_is_0(talk: Talk) -> None:
    talk.ask(UpdateFeaturesRequest(feature_updates=[FeatureUpdateKey("group.version", 0, False, 2)]))
    assert talk.ask(joining()).error_code == ErrorCode.UNSUPPORTED_VERSION
    (group,) = talk.ask(ConsumerGroupDescribeRequest(["g"])).groups
    assert group.error_code == ErrorCode.UNSUPPORTED_VERSION


def test_consumer_group_apis_are_refused_where_the_protocol_is_not_offered() -> None:
    with KafkaBroker(config={"group.coordinator.rebalance.protocols": "classic,streams"}) as broker:
        talk = Talk(broker)
        assert talk.ask(joining()).error_code == ErrorCode.UNSUPPORTED_VERSION
        (group,) = talk.ask(ConsumerGroupDescribeRequest(["g"])).groups
        assert group.error_code == ErrorCode.UNSUPPORTED_VERSION
        talk.client.close()
